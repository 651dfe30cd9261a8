"""What a plain editor can execute."""

import asyncio
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kova_ls.endpoint import lsp
from tests.support.plain import PlainEditor, opened
from tests.support.stage import Stage, call, say

EDIT = call("edit", path="a.txt", old_string="one", new_string="two")


async def test_folders_named_in_the_settings_are_trusted(tmp_path):
    stage = Stage(
        tmp_path, [say("Hi.")], settings=f"trusted_folders = [{json.dumps(str(tmp_path / 'ws'))}]"
    )
    editor = await opened(stage)
    assert (await editor.run("kova.newSession"))["level"] == "workspace-write"
    assert (await editor.run("kova.level", "auto-edit"))["level"] == "auto-edit"
    other = tmp_path / "other"
    other.mkdir()
    folder = {"uri": other.as_uri(), "name": "other"}
    editor.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [folder]}})
    assert (await editor.fails("kova.level", "auto"))["data"]["code"] == "notTrusted"
    assert (await editor.run("kova.newSession"))["level"] == "ask"
    await stage.close()


async def test_broken_settings_trust_nothing(tmp_path):
    stage = Stage(tmp_path, [], settings="trusted_folders = 5")
    editor = await opened(stage)
    assert (await editor.run("kova.newSession"))["level"] == "ask"
    assert (await editor.fails("kova.level", "auto"))["data"]["code"] == "notTrusted"
    await stage.close()


ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["prompt", "uri", "range", "diagnostic", "sessionId", "hunkIds", "start", "message"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(st.lists(st.tuples(st.sampled_from(lsp.COMMANDS), st.lists(ANY, max_size=2)), max_size=5))
def test_no_arguments_make_it_stop_answering(tmp_path_factory, calls):
    async def talk():
        stage = Stage(tmp_path_factory.mktemp("fuzz"), [say("Hi.")] * 8)
        editor = await opened(stage)
        for command, arguments in calls:
            params = {"command": command, "arguments": arguments}
            answer = await asyncio.wait_for(editor.ask("workspace/executeCommand", params), 5)
            assert answer.get("error", {}).get("code") != -32603, answer
        await stage.close()

    asyncio.run(talk())


def said(stage, session_id):
    """Return the parts of the first prompt."""
    records = stage.engine.get(session_id).journal.read(1, 100)
    [started] = [s.record for s in records if s.tag == "turn.started"][:1]
    return [part.model_dump(mode="json", exclude_none=True) for part in started.input]


async def test_a_selection_is_taken_as_the_editor_has_it(tmp_path):
    stage = Stage(tmp_path, [say("Hi.")], files={"a.txt": "old\n"})
    editor = await opened(stage)
    uri = f"{editor.folder}/a.txt"
    document = {"uri": uri, "languageId": "text", "version": 1, "text": "a😀b unsaved\nnext\n"}
    editor.notify("textDocument/didOpen", {"textDocument": document})
    span = {"start": {"line": 0, "character": 3}, "end": {"line": 0, "character": 7}}
    answer = await editor.run("kova.ask", {"prompt": "Why?", "uri": uri, "range": span})
    assert said(stage, answer["sessionId"]) == [
        {"type": "text", "text": "Why?"},
        {"type": "selection", "uri": uri, "range": span, "text": "b un"},
    ]
    await stage.close()


async def test_a_place_means_its_line_and_needs_no_prompt(tmp_path):
    stage = Stage(tmp_path, [say("Hi.")])
    editor = await opened(stage)
    uri = f"{editor.folder}/a.txt"
    document = {"uri": uri, "languageId": "text", "version": 1, "text": "one\ntwo three\nfour"}
    editor.notify("textDocument/didOpen", {"textDocument": document})
    place = {"line": 1, "character": 5}
    answer = await editor.run("kova.ask", {"uri": uri, "range": {"start": place, "end": place}})
    text, selection = said(stage, answer["sessionId"])
    assert text["text"].startswith("Explain this.")
    assert selection["text"] == "two three"
    await stage.close()


async def test_a_file_that_is_not_open_is_mentioned(tmp_path):
    stage = Stage(tmp_path, [say("Hi.")], files={"a.txt": "old\n"})
    editor = await opened(stage)
    uri = f"{editor.folder}/a.txt"
    answer = await editor.run("kova.ask", {"prompt": "Why?", "uri": uri})
    assert said(stage, answer["sessionId"])[1] == {"type": "file", "uri": uri}
    await stage.close()


async def test_a_diagnostic_goes_along(tmp_path):
    stage = Stage(tmp_path, [say("Hi.")])
    editor = await opened(stage)
    uri = f"{editor.folder}/a.txt"
    span = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
    diagnostic = {"message": "bad", "range": span, "severity": 1}
    answer = await editor.run("kova.ask", {"uri": uri, "diagnostic": diagnostic})
    assert said(stage, answer["sessionId"]) == [
        {"type": "text", "text": "Fix this problem."},
        {"type": "diagnostic", "uri": uri, **diagnostic},
    ]
    await stage.close()


@pytest.mark.parametrize(
    ("command", "arguments", "words"),
    [
        ("kova.ask", ["  "], "kova.ask takes a prompt"),
        ("kova.ask", [{"compose": True, "uri": "file:///a", "range": {"start": 1}}], "start"),
        ("kova.ask", [{"uri": "file:///a", "range": {"start": 1}}], "start"),
        ("kova.ask", [{"uri": "file:///a", "diagnostic": []}], "range"),
        ("kova.mode", [], "agent, plan, ask, goal"),
        ("kova.level", [{}], "ask, workspace-write, auto-edit, auto"),
        ("kova.goal", ["more"], "show, pause, resume, cancel, budget"),
        ("kova.answer", [], "kova.answer needs the answer"),
        ("kova.answer", ["yes"], "No question is open"),
        ("kova.open", [], "kova.ask"),
        ("kova.keep", [], "kova.keep needs"),
        ("kova.revert", [{"sessionId": "none"}], "no session"),
    ],
)
async def test_wrong_arguments_say_how_it_is_done(stage, command, arguments, words):
    error = await (await opened(stage)).fails(command, *arguments)
    assert words in error["message"]
    assert error["code"] in (-32602, -32021)


async def test_without_a_folder_nothing_begins(stage):
    editor = PlainEditor(stage)
    await editor.result("initialize", {"capabilities": {}})
    assert (await editor.fails("kova.ask", "Hi"))["data"]["code"] == "noWorkspace"


async def test_one_conversation_goes_on_until_a_new_one_is_begun(tmp_path):
    stage = Stage(tmp_path, [say("Hi."), say("Ho.")])
    editor = await opened(stage)
    first = await editor.run("kova.ask", "Hi")
    await editor.shows_document()
    second = await editor.run("kova.ask", "Ho")
    assert second["sessionId"] == first["sessionId"]
    await editor.run("kova.newSession")
    third = await editor.run("kova.ask", "Hi")
    assert third["sessionId"] != first["sessionId"]
    await editor.shows_document()
    await stage.close()


async def test_a_prompt_to_a_busy_conversation_waits(tmp_path):
    stage = Stage(tmp_path, [EDIT, say("Hi.")], files={"a.txt": "one\n"})
    editor = await opened(stage)
    await editor.run("kova.ask", "Change it.")
    await editor.told("Kova waits")
    assert (await editor.run("kova.ask", "And then?"))["status"] == "queued"
    await editor.told("your prompt comes next")
    stopped = await editor.run("kova.stop")
    assert any("Edit a.txt" in what for what in stopped["stopped"])
    await editor.told("Kova: interrupted")
    await editor.shows_document()
    await stage.close()


async def test_mode_and_page_by_command(tmp_path):
    stage = Stage(tmp_path, [say("Hi.")])
    editor = await opened(stage)
    assert (await editor.run("kova.mode", "plan"))["mode"] == "plan"
    page = await editor.run("kova.open")
    shown = await editor.shows_document()
    assert shown == {"uri": page["uri"], "takeFocus": True}
    await stage.close()


async def test_an_untrusted_editor_does_not_act_in_a_trusted_conversation(tmp_path):
    stage = Stage(
        tmp_path, [say("Hi.")], settings=f"trusted_folders = [{json.dumps(str(tmp_path / 'ws'))}]"
    )
    editor = await opened(stage)
    first = await editor.run("kova.newSession")
    assert first["level"] == "workspace-write"
    stage._settings = ""
    stage.script("script", [say("Hi.")])
    second = await editor.run("kova.ask", "Hi")
    assert second["sessionId"] != first["sessionId"]
    assert stage.engine.get(second["sessionId"]).state.level.value == "ask"
    await stage.close()


async def test_changes_have_a_page(tmp_path):
    stage = Stage(tmp_path, [EDIT, say("Done.")], files={"a.txt": "one\n"})
    editor = await opened(stage)
    assert await editor.run("kova.changes") == {"changes": 0}
    await editor.told("no change waits")
    await editor.run("kova.ask", "Change it.")
    await editor.told("Kova waits")
    await editor.run("kova.pending")
    await editor.chooses("Allow once")
    await editor.shows_document()
    found = await editor.run("kova.changes")
    assert found["changes"] == 1
    assert (await editor.shows_document())["uri"] == found["uri"]
    page = (stage.engine.data_dir / "sessions").glob("*/changes.md")
    assert "+two" in next(page).read_text()
    assert (await editor.run("kova.revert"))["remaining"] == 0
    assert (stage.workspace / "a.txt").read_text() == "one\n"
    await stage.close()


async def test_a_goal_is_shown_paused_and_cancelled(tmp_path):
    create = call("goal", action="create", objective="Green.")
    slow = say(["one ", "two ", "three"], delay_ms=50)
    stage = Stage(tmp_path, [create, say("So."), slow, slow])
    editor = await opened(stage)
    assert "no conversation" in (await editor.fails("kova.goal"))["message"]
    await editor.run("kova.mode", "goal")
    assert await editor.run("kova.goal") == {}
    await editor.told("Kova: this conversation has no goal.")
    await editor.run("kova.ask", "Make it green.")
    await editor.told("Kova: the goal is active: Green.")
    assert (await editor.run("kova.goal", "budget", 5))["goal"]["budget"] == {"turns": 5}
    assert "budget" not in (await editor.run("kova.goal", "budget"))["goal"]
    assert (await editor.run("kova.goal", "pause"))["goal"]["status"] == "paused"
    await editor.told("Kova: the goal is paused: Green.")
    assert (await editor.run("kova.goal", "resume"))["goal"]["status"] == "active"
    await editor.run("kova.stop")
    await editor.told("Kova: the goal is paused: Green. (The turn was stopped.)")
    assert (await editor.run("kova.goal", "cancel"))["goal"]["status"] == "cancelled"
    await editor.told("Kova: the goal is cancelled: Green.")
    await stage.close()
