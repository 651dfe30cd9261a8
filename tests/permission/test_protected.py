import pytest

from kova_ls.permission.effects import ReadPath, WritePath
from kova_ls.permission.protected import GUARDED, Guarded, find_guard
from kova_ls.vocabulary import ApprovalLevel
from tests.support.permit import WORKSPACE, decide, facts


def place(path: str) -> str:
    if path.startswith("~/"):
        return f"/home/u/{path[2:]}"
    return path if path.startswith("/") else f"{WORKSPACE}/{path}"


def write(path: str) -> WritePath:
    return WritePath(place(path), place(path))


def read(path: str) -> ReadPath:
    return ReadPath(place(path), place(path))


@pytest.mark.parametrize("entry", GUARDED, ids=lambda entry: entry.reason)
def test_every_entry_keeps_what_its_examples_say(entry: Guarded) -> None:
    assert entry.examples
    for path in entry.examples:
        assert find_guard(place(path), facts()) is not None, path
        assert decide(write(path), facts(level=ApprovalLevel.AUTO_EDIT)) == "ask", path
        assert decide(write(path), facts(level=ApprovalLevel.AUTO)) == "allow", path
        if entry.kind == "sensitive":
            assert find_guard(place(path), facts(), for_reading=True) is entry, path
            assert decide(read(path)) == "ask", path
    for path in entry.others:
        assert find_guard(place(path), facts()) is not entry, path


@pytest.mark.parametrize(
    "path",
    [
        *(".kova/permissions.json", ".kova/permissions.local.json", "a/.kova/x", ".KOVA/x"),
        *("~/.kova/permissions.json", "~/.local/share/kova-ls/x", "/run/user/1/kova-ls/s"),
        *(".git", "sub/.git/config", ".GIT/hooks/x", ".git /x", "git~1/config", "~/.gitconfig"),
        *("node_modules/.bin/eslint", "/opt/tools/x", "~/.bashrc", "~/.config/x", ".envrc"),
        *(".github/workflows/a.yml", ".vscode/settings.json", "x.code-workspace", ".npmrc"),
    ],
)
def test_what_grants_permission_or_runs_later_asks_to_be_written(path: str) -> None:
    for level in (ApprovalLevel.WORKSPACE_WRITE, ApprovalLevel.AUTO_EDIT):
        assert decide(write(path), facts(level=level)) == "ask"


@pytest.mark.parametrize(
    "path", ["src/a.py", ".gitignore", ".github/CODEOWNERS", "kova/x", "a.env.py"]
)
def test_ordinary_files_are_written_freely(path: str) -> None:
    assert decide(write(path)) == "allow"


def test_a_folder_shaped_like_a_git_directory_is_protected() -> None:
    path = place("bare/hooks/x")
    assert decide(WritePath(path, path, is_git_dir=True)) == "ask"
    assert decide(WritePath(path, path)) == "allow"


def test_the_name_by_which_a_file_was_asked_counts_too() -> None:
    assert decide(WritePath(place("data/x"), place(".git/hooks/x"))) == "ask"
    assert decide(WritePath(place(".git/hooks/x"), place("data/x"))) == "ask"


def test_case_counts_where_the_disk_folds_it() -> None:
    effect = WritePath("/home/U/.KOVA2/x", "/home/U/.KOVA2/x")
    given = facts(kova_home="/home/u/.kova2", level=ApprovalLevel.AUTO_EDIT)
    assert decide(effect, given) == "allow"
    assert decide(effect, facts(kova_home="/home/u/.kova2", case_folds=True)) == "ask"


def test_reading_what_is_only_protected_is_free() -> None:
    for path in (".git/config", ".vscode/settings.json", "~/.gitconfig", "/etc/hosts", "~/.bashrc"):
        assert decide(read(path)) == "allow", path


def test_a_folder_above_what_is_guarded_is_not() -> None:
    for path in ("~/.docker", "~/.gem", "~/.config"):
        assert decide(read(path)) == "allow", path
    for path in ("~/.local", "~/.m2", "~/.local/share"):
        assert find_guard(place(path), facts()) is None, path


def test_a_workspace_may_stand_in_a_folder_of_the_machine() -> None:
    effect = WritePath("/usr/src/app/a.py", "/usr/src/app/a.py")
    assert decide(effect, facts(workspace="/usr/src/app")) == "allow"
    assert decide(effect, facts(level=ApprovalLevel.AUTO_EDIT)) == "ask"
