"""The facts that a call is judged by."""

import os

import pytest

from kova_ls.engine.judge import (
    Resolver,
    facts,
    git_dir_is_own,
    judge,
    resolver,
    workspace_path,
)
from kova_ls.tools import by_name
from kova_ls.tools._base import ToolError
from kova_ls.vocabulary import Decision, RootSource
from tests.support.stage import Stage, call, say


@pytest.fixture
async def stage(tmp_path):
    stage = Stage(tmp_path, [say("Done.")])
    yield stage
    await stage.close()


def verdict(session, name, **arguments):
    tool = by_name(name)
    return judge(session, tool, tool.args.model_validate(arguments))[1].decision


async def test_the_facts_are_those_of_now(stage):
    session = stage.create(level="auto-edit", mode="plan")
    known = facts(session)
    assert (known.mode, known.level) == ("plan", "auto-edit")
    assert known.workspace == workspace_path(session) == stage.editor.folders[0]
    assert known.home == os.path.realpath(stage.root / "home")
    assert known.data_dir == os.path.realpath(stage.root / "data")
    session.configure("tester", level="ask")
    assert facts(session).level == "ask"


async def test_further_folders_count_while_their_editor_is_there(stage, tmp_path):
    session = stage.create()
    more = os.path.realpath(tmp_path)
    stage.editor.folders = (*stage.editor.folders, more)
    assert facts(session).roots == ()
    session.origin = stage.editor
    assert [(root.path, root.source) for root in facts(session).roots] == [
        (more, RootSource.EDITOR)
    ]
    stage.engine.detached(stage.editor)
    assert facts(session).roots == ()


async def test_an_untrusted_editor_grants_no_folder(tmp_path):
    stage = Stage(tmp_path, [say("Done.")], trusted=False)
    session = stage.create()
    stage.editor.folders = (*stage.editor.folders, os.path.realpath(tmp_path))
    session.origin = stage.editor
    assert facts(session).roots == ()
    await stage.close()


async def test_a_link_out_of_the_workspace_is_outside(stage, tmp_path):
    session = stage.create(level="workspace-write")
    (tmp_path / "outside").mkdir()
    (stage.workspace / "link").symlink_to(tmp_path / "outside")
    assert verdict(session, "write", path="a.txt", content="x") is Decision.ALLOW
    assert verdict(session, "write", path="link/a.txt", content="x") is not Decision.ALLOW
    assert verdict(session, "write", path="../outside/a.txt", content="x") is not Decision.ALLOW


async def test_the_engines_own_folders_ask_below_auto(stage):
    session = stage.create(level="auto-edit")
    for folder in ("kova", "data", "run"):
        path = str(stage.root / folder / "x")
        assert verdict(session, "write", path=path, content="x") is not Decision.ALLOW


async def test_a_path_that_cannot_be_is_an_error(stage):
    session = stage.create()
    with pytest.raises(ToolError):
        resolver(session)("a\0b")


def test_a_folder_without_git_is_fine(tmp_path):
    assert git_dir_is_own(str(tmp_path))
    assert git_dir_is_own(None)


def test_a_repository_of_ones_own_is_fine_above_too(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub").mkdir()
    assert git_dir_is_own(str(tmp_path))
    assert git_dir_is_own(str(tmp_path / "sub"))


def test_a_folder_in_the_shape_of_a_repository_is_not(tmp_path):
    (tmp_path / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "objects").mkdir()
    assert not git_dir_is_own(str(tmp_path))


def test_a_git_link_or_a_file_that_points_elsewhere_is_not(tmp_path):
    for name in ("elsewhere", "linked", "pointing"):
        (tmp_path / name).mkdir()
    (tmp_path / "linked" / ".git").symlink_to(tmp_path / "elsewhere")
    assert not git_dir_is_own(str(tmp_path / "linked"))
    (tmp_path / "pointing" / ".git").write_text(f"gitdir: {tmp_path / 'elsewhere'}\n")
    assert not git_dir_is_own(str(tmp_path / "pointing"))
    (tmp_path / "elsewhere" / "gitdir").write_text(f"{tmp_path / 'pointing' / '.git'}\n")
    assert git_dir_is_own(str(tmp_path / "pointing"))


def test_a_git_directory_in_the_workspace_that_any_tool_could_write_is_not(tmp_path):
    fake, sub = tmp_path / "fake", tmp_path / "sub"
    fake.mkdir()
    sub.mkdir()
    (sub / ".git").write_text(f"gitdir: {fake}\n")
    (fake / "gitdir").write_text(f"{sub / '.git'}\n")
    assert not git_dir_is_own(str(sub), str(tmp_path))
    own = tmp_path / ".git" / "worktrees" / "sub"
    own.mkdir(parents=True)
    (sub / ".git").write_text(f"gitdir: {own}\n")
    (own / "gitdir").write_text(f"{sub / '.git'}\n")
    assert git_dir_is_own(str(sub), str(tmp_path))


async def test_git_asks_in_a_folder_whose_git_directory_is_elsewhere(stage):
    session = stage.create()
    workspace = stage.editor.folders[0]
    stage.engine.grants.remember(workspace, ("cd *", "pushd *", "git log *"))
    (stage.workspace / "sub").mkdir()
    (stage.workspace / "fake").mkdir()
    commands = ("cd sub && git log", "pushd sub; git log", "cd sub; ls; git log")
    for command in commands[:2]:
        assert verdict(session, "bash", command=command) is Decision.ALLOW
    assert verdict(session, "bash", command="git log", cwd="sub") is Decision.ALLOW
    (stage.workspace / "sub" / ".git").write_text("gitdir: ../fake\n")
    for command in (*commands, "cd -P sub; git log"):
        assert verdict(session, "bash", command=command) is Decision.ASK
    assert verdict(session, "bash", command="git log", cwd="sub") is Decision.ASK
    assert verdict(session, "bash", command="git log") is Decision.ALLOW


async def test_the_file_that_makes_a_folder_a_git_directory_is_guarded(stage):
    """What was put there before would run."""
    session = stage.create(level="auto-edit")
    folder = stage.workspace / "sub"
    assert verdict(session, "write", path=str(folder / "HEAD"), content="x") is Decision.ALLOW
    (folder / "refs").mkdir(parents=True)
    assert verdict(session, "write", path=str(folder / "HEAD"), content="x") is Decision.ASK
    (folder / "HEAD").write_text("")
    (folder / "refs").rmdir()
    assert verdict(session, "write", path=str(folder / "objects/x"), content="x") is Decision.ASK
    assert verdict(session, "write", path=str(folder / "x"), content="x") is Decision.ALLOW


async def test_a_verdict_is_taken_anew_after_a_rule_was_remembered(stage):
    session = stage.create()
    assert verdict(session, "bash", command="make -v") is Decision.ASK
    stage.engine.grants.remember(stage.editor.folders[0], ("make *",))
    assert verdict(session, "bash", command="make -v") is Decision.ALLOW
    assert call("bash")


async def test_a_folder_shaped_like_a_git_directory_is_guarded(stage):
    """Whoever uses git in it would run its hooks."""
    session = stage.create(level="workspace-write")
    folder = stage.workspace / "vendor" / "innocent"
    (folder / "refs").mkdir(parents=True)
    path = str(folder / "hooks" / "post-checkout")
    assert verdict(session, "write", path=path, content="x") is Decision.ALLOW
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    assert verdict(session, "write", path=path, content="x") is Decision.ASK


async def test_a_module_of_the_folder_asks_in_place_of_pythons_own(stage):
    session = stage.create()
    stage.engine.grants.remember(stage.editor.folders[0], ("python3 -m json.tool *",))
    command = "python3 -m json.tool a.json"
    assert verdict(session, "bash", command=command) is Decision.ALLOW
    (stage.workspace / "argparse.py").write_text("print('mine')\n")
    assert verdict(session, "bash", command=command) is Decision.ASK


@pytest.mark.parametrize("path", ["file://[x", "file:///a%00b", "a\0b"])
def test_a_path_that_can_name_no_file_is_said(tmp_path, path):
    with pytest.raises(ToolError, match="no file"):
        Resolver(str(tmp_path), str(tmp_path))(path)
