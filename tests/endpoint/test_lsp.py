"""An editor without a Kova client, over a connection in memory."""

import asyncio
import json
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kova_ls.endpoint import lsp
from tests.support.plain import PlainEditor
from tests.support.stage import Stage, call, say

EDIT = call("edit", path="a.txt", old_string="one", new_string="two")


async def opened(stage, **capabilities):
    editor = PlainEditor(stage)
    await editor.open(**capabilities)
    return editor


async def test_only_a_plain_editor_hears_of_the_commands(stage, wire):
    answer = await PlainEditor(stage).open()
    assert answer["capabilities"]["executeCommandProvider"] == {"commands": list(lsp.COMMANDS)}
    assert answer["capabilities"]["codeActionProvider"]
    assert answer["capabilities"]["codeLensProvider"] == {"resolveProvider": False}
    error = await wire.error("workspace/executeCommand", {"command": "kova.ask"})
    assert error["code"] == -32601


def test_pygls_is_imported_only_when_it_is_needed():
    code = (
        "import sys, kova_ls.endpoint.server, kova_ls.endpoint.handlers, kova_ls.engine;"
        "sys.exit(any(name in sys.modules for name in ('pygls', 'lsprotocol')))"
    )
    import subprocess

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_a_prompt_is_answered_on_a_page(tmp_path):
    stage = Stage(tmp_path, [say("It is <b>42</b>.")])
    editor = await opened(stage)
    answer = await editor.run("kova.ask", "What is it?")
    assert answer["status"] == "started"
    shown = await editor.shows_document()
    assert shown == {"uri": answer["transcript"], "takeFocus": False}
    page = (stage.root / "data/sessions" / answer["sessionId"] / "transcript.md").read_text()
    assert page.endswith("\n## You\n\n> What is it?\n\n## Kova\n\nIt is &lt;b>42&lt;/b>.\n")
    assert editor.events == []
    await stage.close()


async def test_a_turn_has_its_progress(tmp_path):
    stage = Stage(tmp_path, [EDIT, say("Done.")], files={"a.txt": "one\n"})
    editor = await opened(stage)
    await editor.run("kova.ask", "Change it.")
    token = await editor.shows_progress()
    await editor.told("Kova waits")
    await editor.run("kova.pending")
    await editor.chooses("Allow once")
    await editor.until(
        lambda _: editor.progress(token)[-1:] == [{"kind": "end", "message": "done"}]
    )
    begin, *between, _ = editor.progress(token)
    assert begin["kind"] == "begin"
    assert begin["cancellable"] is True
    assert begin["title"] == "Kova: Change it."
    assert "waits for your answer" in [said["message"] for said in (begin, *between)]
    await stage.close()


async def test_a_card_is_announced_and_answered_only_when_asked_for(tmp_path):
    stage = Stage(tmp_path, [EDIT, say("Done.")], files={"a.txt": "one\n"})
    editor = await opened(stage)
    session = await editor.run("kova.ask", "Change it.")
    await editor.shows_progress()
    assert "kova.pending" in await editor.told("Kova waits: Edit a.txt")
    assert editor.requests("window/showMessageRequest") == []
    assert stage.engine.get(session["sessionId"]).state.level.value == "ask"

    assert await editor.run("kova.pending") == {"pending": 1}
    ids = [m.get("id") for m in editor.messages]
    asked = await editor.chooses(None)
    titles = [m.get("method") for m in editor.messages]
    assert titles.index("window/showMessageRequest") > ids.index(f"r{3}")
    assert [action["title"] for action in asked["actions"]] == ["Deny", "Allow once"]
    assert "+two" in asked["message"]
    for _ in range(20):
        await asyncio.sleep(0)
    assert (stage.workspace / "a.txt").read_text() == "one\n"

    await editor.run("kova.pending")
    await editor.chooses("Allow once")
    await editor.shows_document()
    assert (stage.workspace / "a.txt").read_text() == "two\n"
    await stage.close()


@pytest.mark.parametrize("answer", [{"title": "Allow"}, {"title": 5}, [], "Allow once", {}])
async def test_no_other_answer_is_a_yes(tmp_path, answer):
    stage = Stage(tmp_path, [EDIT, say("Done.")], files={"a.txt": "one\n"})
    editor = await opened(stage)
    session_id = (await editor.run("kova.ask", "Change it."))["sessionId"]
    await editor.told("Kova waits")
    await editor.run("kova.pending")
    editor.reply(await editor.asked("window/showMessageRequest"), answer)
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(stage.engine.get(session_id).state.approvals) == 1
    assert (stage.workspace / "a.txt").read_text() == "one\n"
    await editor.run("kova.pending")
    await editor.chooses("Deny")
    await editor.shows_document()
    assert (stage.workspace / "a.txt").read_text() == "one\n"
    await stage.close()


async def test_asked_again_what_was_put_before_is_withdrawn(tmp_path):
    stage = Stage(tmp_path, [EDIT, say("Done.")], files={"a.txt": "one\n"})
    editor = await opened(stage)
    await editor.run("kova.ask", "Change it.")
    await editor.told("Kova waits")
    await editor.run("kova.pending")
    first = await editor.asked("window/showMessageRequest")
    await editor.run("kova.pending")
    await editor.until(
        lambda m: m.get("method") == "$/cancelRequest" and m["params"]["id"] == first["id"]
    )
    editor.reply(first, {"title": "Allow once"})
    second = await editor.asked("window/showMessageRequest")
    assert (stage.workspace / "a.txt").read_text() == "one\n"
    editor.reply(second, {"title": "Deny"})
    await editor.shows_document()
    await stage.close()


async def test_a_card_answered_elsewhere_is_said(tmp_path):
    stage = Stage(tmp_path, [EDIT, say("Done.")], files={"a.txt": "one\n"})
    editor = await opened(stage)
    session_id = (await editor.run("kova.ask", "Change it."))["sessionId"]
    await editor.told("Kova waits")
    await editor.run("kova.pending")
    request = await editor.asked("window/showMessageRequest")
    session = stage.engine.get(session_id)
    session.respond(
        session.state.approvals[0].approval_id, "deny", "other", feedback=None, option=None
    )
    editor.reply(request, {"title": "Allow once"})
    assert await editor.told("already answered") == "Kova: already answered: deny by other."
    await stage.close()


async def test_what_waited_before_the_editor_came_is_announced(tmp_path):
    stage = Stage(tmp_path, [EDIT, say("Done.")], files={"a.txt": "one\n"})
    first = await opened(stage)
    await first.run("kova.ask", "Change it.")
    await first.told("Kova waits")
    first.leave()
    second = await opened(stage)
    await second.told("Kova waits: Edit a.txt")
    await second.run("kova.pending")
    await second.chooses("Allow once")
    await second.shows_document()
    assert (stage.workspace / "a.txt").read_text() == "two\n"
    await stage.close()


async def test_cancelled_progress_stops_the_turn(tmp_path):
    stage = Stage(tmp_path, [EDIT], files={"a.txt": "one\n"})
    editor = await opened(stage)
    await editor.run("kova.ask", "Change it.")
    token = await editor.shows_progress()
    await editor.told("Kova waits")
    editor.notify("window/workDoneProgress/cancel", {"token": token})
    await editor.told("Kova: interrupted")
    assert editor.progress(token)[-1] == {"kind": "end", "message": "interrupted"}
    await stage.close()


async def test_an_editor_that_shows_nothing_is_told_all(tmp_path):
    stage = Stage(tmp_path, [say("It is\n42.")])
    editor = await opened(stage, window={}, workspace={}, textDocument={})
    session = await editor.run("kova.ask", "What is it?")
    assert await editor.told("Kova: It is")
    path = stage.root / "data/sessions" / session["sessionId"] / "transcript.md"
    assert str(path) in await editor.told("Kova writes the conversation to")
    assert editor.requests("window/showDocument") == []
    assert editor.requests("window/workDoneProgress/create") == []
    await stage.close()


async def test_a_failed_turn_is_told(tmp_path):
    stage = Stage(tmp_path, [{"error": {"code": "refused", "message": "No credit left."}}])
    editor = await opened(stage)
    await editor.run("kova.ask", "Hello")
    assert await editor.told("No credit left.") == "Kova: failed: No credit left."
    await stage.close()


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


@pytest.mark.parametrize(
    "message",
    [
        {"method": "workspace/executeCommand"},
        {"method": "workspace/executeCommand", "params": None},
        {"method": "workspace/executeCommand", "params": {"command": 5}},
        {"method": "workspace/executeCommand", "params": {"command": "kova.sing"}},
        {"method": "workspace/executeCommand", "params": {}, "error": {"code": 1}},
        {"method": "textDocument/codeAction", "params": {"textDocument": {"uri": 1}}},
        {"method": "textDocument/codeLens", "params": []},
    ],
)
async def test_a_malformed_request_is_answered_without_a_traceback(stage, message):
    editor = await opened(stage)
    editor.send({"jsonrpc": "2.0", "id": 99, **message})
    error = (await editor.answer_to(99))["error"]
    assert error["code"] == -32602
    assert "Traceback" not in json.dumps(error)


async def test_a_fault_of_ours_has_an_id_and_no_content(stage, monkeypatch, caplog):
    from kova_ls.endpoint import lsp_commands

    async def fault(_lsp, _arguments):
        raise ZeroDivisionError("the secret")

    monkeypatch.setitem(lsp_commands.CALLS, "kova.stop", fault)
    error = await (await opened(stage)).fails("kova.stop")
    assert error["code"] == -32603
    assert error["data"]["incident"] in caplog.text
    assert "secret" not in json.dumps(error)


async def test_nested_messages_in_arguments_are_data(tmp_path):
    stage = Stage(tmp_path, [say("Hi.")])
    editor = await opened(stage)
    argument = {"prompt": "Hi", "jsonrpc": "2.0", "id": 1, "method": "exit", "file-path": 1}
    assert (await editor.run("kova.ask", argument))["status"] == "started"
    await stage.close()


async def test_late_and_unknown_answers_harm_nothing(tmp_path):
    stage = Stage(tmp_path, [say("Hi."), say("Ho.")])
    editor = await opened(stage)
    await editor.run("kova.ask", "Hi")
    request = await editor.asked("window/showDocument")
    for _ in range(3):
        editor.reply(request, {"success": True})
    for body in ({"result": 5}, {"error": {"code": 1, "message": "no"}}, {"error": "no"}):
        editor.send({"jsonrpc": "2.0", "id": f"{lsp.REQUEST_PREFIX}77", **body})
    assert await editor.run("kova.stop") == {"stopped": []}
    await stage.close()


async def test_an_editor_that_leaves_takes_its_requests_along(tmp_path):
    stage = Stage(tmp_path, [EDIT, say("Done.")], files={"a.txt": "one\n"})
    editor = await opened(stage)
    session_id = (await editor.run("kova.ask", "Change it."))["sessionId"]
    await editor.told("Kova waits")
    await editor.run("kova.pending")
    await editor.asked("window/showMessageRequest")
    editor.leave()
    await asyncio.sleep(0)
    names = {task.get_name() for task in asyncio.all_tasks()}
    assert "pending" not in names
    assert len(stage.engine.get(session_id).state.approvals) == 1
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
