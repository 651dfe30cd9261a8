import pytest

from kova_ls.permission.effects import RunCommand
from kova_ls.permission.module_folders import git_folders, module_folders
from tests.support.permit import WORKSPACE, decide, facts, rule_on

HERE = WORKSPACE


@pytest.mark.parametrize(
    ("command", "folders"),
    [
        ("python3 -m json.tool a", (HERE,)),
        ("cat a | python3 -m json.tool", (HERE,)),
        ("cd /x && python3 -m py_compile a.py", (HERE, "/x")),
        ("cd src; cd ../b; python -m ruff check", (HERE, f"{HERE}/src", "/home/u/b", f"{HERE}/b")),
        ("cd ~/x && python -m black .", (HERE, "/home/u/x")),
        ('cd "$HOME/x" && python -m black .', (HERE, "/home/u/x")),
        ("cd && python -m pip list", (HERE, "/home/u")),
        ("python -m pip list && cd /x", (HERE,)),
        ("cd a/b && uv run python -m pip list", (HERE, f"{HERE}/a/b", f"{HERE}/a")),
        ("cd /x && python3 -m pytest", ()),
        ("cd /x && ls -m json.tool", ()),
        ("python3 json.tool", ()),
        ("cd $X && python3 -m json.tool a", ()),
        ("pushd /x && popd && python3 -m json.tool a", (HERE, "/x")),
        ("cd /x && ls && cd - && python3 -m json.tool a", (HERE, "/x")),
    ],
)
def test_the_folders_where_modules_run(command: str, folders: tuple[str, ...]) -> None:
    assert set(module_folders(command, HERE, "/home/u", HERE)) == set(folders)


@pytest.mark.parametrize(
    "before",
    [
        *(
            "cd $X",
            "cd -",
            "cd '~/x'",
            "cd a*",
            "cd -P x",
            "cd a b",
            "pushd +1",
            "popd",
            "cd ~other",
        ),
        *("gunzip -k black.py.gz", "xz -d x", "gzip -d -- x -c", "gcc -shared -o black.so a.c"),
        *("pandoc a.md -t plain -o black.py", "git checkout -t o/x"),
        *("git checkout x", "git pull -q", "gh repo clone a/b", 'cd "$X"', "cd $HOME/$X"),
    ],
)
def test_a_folder_that_cannot_be_told_asks(before: str) -> None:
    first = before.split(" ", maxsplit=1)[0]
    given = facts(f"{first} *", "python -m json.tool *", "python -m pytest *")
    ruling = rule_on(f"{before} && python -m json.tool a", given)
    assert ruling.decision.value == "ask"
    assert ruling.reasons[0].code == "local_module"
    assert ruling.rules == ()
    assert decide(f"{before} && python -m pytest", given) == "allow"


def test_what_only_looks_is_no_obstacle() -> None:
    given = facts("cd *", "git log *", "ls *", "echo *", "python3 -m py_compile *")
    command = "cd /x/y && git log -1 && ls && python3 -m py_compile a.py && echo OK"
    assert decide(command, given) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "python -m json.tool a & git checkout x",
        "python -m json.tool a | git checkout x",
        "python -m json.tool a |& cat | gunzip -k x.gz",
        "python -m json.tool a && ls & gunzip x.gz",
        "ls; python -m json.tool a | cat && ls & cat\ngunzip x.gz",
    ],
)
def test_what_runs_beside_it_may_bring_files_too(command: str) -> None:
    given = facts(
        "python -m json.tool *", "git checkout *", "gunzip *", "cat *", "ls *", "git commit *"
    )
    assert decide(command, given) == "ask"
    for after in (
        "&& git commit -m x",
        "; gunzip x.gz",
        "| cat && git commit -m x",
        "& cat",
        "&& cat a | gunzip x.gz",
    ):
        assert decide(f"python -m json.tool a {after}", given) == "allow"
    for before in ("gunzip -c x.gz |", "gcc --version &&", "cat a |"):
        assert decide(f"{before} python -m json.tool", facts(*ALL)) == "allow"


ALL = ("python -m json.tool *", "gunzip *", "gcc *", "cat *")


def test_a_line_that_may_be_in_too_many_folders_asks() -> None:
    """Each `cd` may fail, so the folders double."""
    given = facts("cd *", "python -m json.tool *")
    moves = [f"cd {name}" for name in "abcde"]
    assert decide("; ".join([*moves[:4], "python -m json.tool x"]), given) == "allow"
    assert decide("; ".join([*moves, "python -m json.tool x"]), given) == "ask"


@pytest.mark.parametrize(
    ("command", "folders"),
    [
        ("git log", (HERE,)),
        ("cd sub && git add . && git commit -m x", (HERE, f"{HERE}/sub")),
        ("pushd /x && git log && popd && git log", (HERE, "/x")),
        ("ls", ()),
        ("cd $X && ls git", ()),
        ("cd $X && git log", None),
        ("cd -P x; git log", None),
    ],
)
def test_the_folders_where_git_runs(command: str, folders: tuple[str, ...] | None) -> None:
    found = git_folders(command, HERE, "/home/u")
    assert found == folders if found is None or folders is None else set(found) == set(folders)


def test_the_folder_of_a_new_environment_is_looked_at() -> None:
    """Its pip starts there."""
    found = module_folders("cd a && python -m venv --clear-x .venv", HERE, "/home/u", HERE)
    assert {f"{HERE}/a/.venv", f"{HERE}/.venv", HERE, f"{HERE}/a"} <= set(found)


def test_a_module_of_the_folder_asks() -> None:
    given = facts("python -m json.tool *", "python -m pytest *", "python -m black *")
    local = frozenset({"argparse", "click", "pytest"})
    for command, decision in (
        ("python -m json.tool a", "ask"),
        ("python -m pytest", "allow"),
        ("python -m black .", "ask"),
    ):
        effect = RunCommand(command, WORKSPACE, local)
        assert decide(effect, given) == decision
        assert bool(rule_on(effect, given).rules) == (decision == "allow")
    assert decide(RunCommand("python -m json.tool a", WORKSPACE, frozenset({"click"})), given) == (
        "allow"
    )


@pytest.mark.parametrize("option", ["-c", "-v", "-B", "-W", "-mm", "--"])
def test_no_other_option_than_m_names_a_module(option: str) -> None:
    ruling = rule_on(f"python {option} pytest", facts("python -m pytest *", "python *"))
    assert ruling.decision.value == "ask"
    assert ruling.rules == ()
