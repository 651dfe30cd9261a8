"""What a running call may use."""

import os

import pytest

from kova_ls.engine.context import CallContext
from kova_ls.engine.judge import resolver
from kova_ls.permission.effects import RunCommand
from kova_ls.tools._base import ToolError
from tests.support.play import play
from tests.support.stage import Stage, call, say

END = say("Done.")


@pytest.fixture
async def stage(tmp_path):
    stage = Stage(tmp_path, [END], files={"a.txt": "disk\n"})
    yield stage
    await stage.close()


def context(session, *effects):
    return CallContext(session, "call", effects, resolve=resolver(session), emit=lambda text: None)


async def test_a_command_that_was_not_judged_is_not_run(stage):
    session = stage.create()
    workspace = stage.editor.folders[0]
    ctx = context(session, RunCommand("echo a", workspace))
    for command, cwd in (("touch made", workspace), ("echo a", "/")):
        with pytest.raises(ToolError, match="not judged"):
            await ctx.run_command(command, cwd=cwd, timeout_s=5)
    assert not (stage.workspace / "made").exists()
    result = await ctx.run_command("echo a", cwd=workspace, timeout_s=5)
    assert (result.exit_code, result.output) == (0, "a\n")


async def test_a_path_that_was_not_judged_is_not_read(stage):
    session = stage.create()
    ctx = context(session)
    with pytest.raises(ToolError):
        await ctx.workspace.read_text(os.path.join(stage.editor.folders[0], "a.txt"))


async def test_keys_do_not_reach_programs(stage):
    config = stage.root / "kova/config.toml"
    config.write_text(config.read_text() + '[models.far]\napi = "gemini"\napi_key_env = "MY_KEY"\n')
    stage.engine.models.read()
    session = stage.create()
    stage.editor.env = {**stage.env, "MY_KEY": "secret", "OTHER": "kept"}
    session.origin = stage.editor
    env = context(session).shell_env
    assert "MY_KEY" not in env
    assert env["OTHER"] == "kept"


async def test_an_output_has_a_place_of_its_own(stage):
    session = stage.create()
    ctx = context(session)
    first, second = ctx.save_output(b"one"), ctx.save_output(b"two")
    assert first != second
    assert first[0].startswith(f"{session.id}/output-")
    with open(first[1], "rb") as file:
        assert file.read() == b"one"


def test_a_file_is_shown_by_the_editors_own_means():
    shown = []
    transcript = play(
        [call("open_file", path="a.txt", line=3), END],
        files={"a.txt": "x\n" * 9},
        after=lambda stage, _: shown.extend(stage.editor.shown),
        only=("call", "turn"),
    )
    assert "tester was asked to show a.txt" in transcript
    ((uri, line_no),) = shown
    assert uri.endswith("/ws/a.txt")
    assert line_no == 3


def test_a_panel_needs_an_editor_that_has_its_kind():
    shown = []

    def offer(stage, _session):
        stage.editor.panel_kinds = frozenset({"markdown", "file"})

    transcript = play(
        [
            call("open_plugin_panel", kind="markdown", title="T", markdown="# x"),
            call("open_file", path="a.txt", line=3),
            END,
        ],
        files={"a.txt": "x\n" * 9},
        before=offer,
        after=lambda stage, _: shown.extend(stage.editor.shown),
        only=("call", "turn"),
    )
    assert "asked to open the panel 'T'" in transcript
    panel, file = shown
    assert (panel["kind"], panel["markdown"], panel["preserve_focus"]) == ("markdown", "# x", True)
    assert (file["kind"], file["line"], file["preserve_focus"]) == ("file", 2, True)


def test_todos_outlive_their_call():
    todos = []
    entries = [{"title": "One", "status": "done"}, {"title": "Two", "status": "pending"}]
    play(
        [call("TodoList", todos=entries), END],
        after=lambda _, session: todos.extend(todo.text for todo in session.todos),
    )
    assert todos == ["One", "Two"]
