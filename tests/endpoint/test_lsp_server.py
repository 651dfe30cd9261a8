"""pygls behind our framing: every request answered, nothing leaked."""

import asyncio
import gc
import json
import weakref

import pytest

from kova_ls.endpoint import lsp
from tests.support.plain import opened
from tests.support.stage import Stage, call, say

EDIT = call("edit", path="a.txt", old_string="one", new_string="two")


@pytest.mark.parametrize(
    "message",
    [
        {"method": "workspace/executeCommand"},
        {"method": "workspace/executeCommand", "params": None},
        {"method": "workspace/executeCommand", "params": {"command": 5}},
        {"method": "workspace/executeCommand", "params": {"command": "kova.sing"}},
        {"method": "workspace/executeCommand", "params": {}, "error": {"code": 1, "message": "x"}},
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


async def test_an_editor_that_left_is_forgotten(tmp_path):
    stage = Stage(tmp_path, [EDIT, say("Done.")], files={"a.txt": "one\n"})
    editor = await opened(stage)
    await editor.run("kova.ask", "Change it.")
    await editor.told("Kova waits")
    await editor.run("kova.pending")
    await editor.asked("window/showMessageRequest")
    server = editor.endpoint.plain._server
    requests = server.protocol._request_futures
    left = weakref.ref(server.protocol)
    assert requests
    editor.leave()
    assert not requests
    for _ in range(5):
        await asyncio.sleep(0)
    del editor, server
    gc.collect()
    assert left() is None
    await stage.close()
