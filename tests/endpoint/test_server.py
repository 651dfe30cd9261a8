"""Every request gets an answer, whatever is wrong with it."""

import asyncio
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kova_ls.endpoint import framing
from kova_ls.endpoint.hub import Hub
from kova_ls.protocol.methods import METHODS
from tests.support.stage import Stage, call, say
from tests.support.wire import Wire

ASKED = sorted(name for name, row in METHODS.items() if row.sender == "client" and row.result)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["jsonrpc", "id", "method", "params", "sessionId", "input", "type", "uri", "cursor"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def is_plain_json(value):
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


def plain(message):
    """Say whether an error holds no traceback, no Python error and no path of the package."""
    text = json.dumps(message.get("error"))
    return not any(word in text for word in ("Traceback", "kova_ls/", ".py", "Error("))


@pytest.mark.parametrize("method", ASKED)
@pytest.mark.parametrize("params", [None, [], "text", 5, {"sessionId": 5}, {"sessionId": "none"}])
async def test_every_method_answers_whatever_its_params(wire, method, params):
    answer = await wire.ask(method, params)
    assert plain(answer)
    if "error" in answer:
        assert isinstance(answer["error"]["data"]["code"], str)
        assert answer["error"]["code"] != -32603


@pytest.mark.parametrize(
    ("method", "params", "field"),
    [
        ("kova/turn/start", {"sessionId": "s"}, "input"),
        ("kova/turn/start", {"sessionId": "s", "input": []}, "input"),
        ("kova/turn/start", {"sessionId": "s", "input": [{"type": "song"}]}, "input.0"),
        (
            "kova/turn/start",
            {"sessionId": "s", "input": [{"type": "text"}]},
            "input.0.text.text",
        ),
        ("kova/session/attach", {"sessionId": "s", "cursor": {"epoch": "e"}}, "cursor.seq"),
        ("kova/session/list", {"limit": 0}, "limit"),
        ("kova/session/configure", {"sessionId": "s", "mode": "wild"}, "mode"),
    ],
)
async def test_bad_params_name_their_field(wire, method, params, field):
    error = await wire.error(method, params)
    assert (error["code"], error["data"]["code"]) == (-32602, "invalidParams")
    assert error["data"]["field"] == field
    assert error["message"].startswith(field)


async def test_an_unknown_method_is_not_found(wire):
    error = await wire.error("kova/turn/sing", {})
    assert (error["code"], error["data"]["code"]) == (-32601, "methodNotFound")
    assert (await wire.error("textDocument/hover", {}))["code"] == -32601


@pytest.mark.parametrize("request_id", [None, True, {}, [], {"a": 1}])
async def test_an_id_that_is_no_id_is_refused(wire, request_id):
    wire.send({"jsonrpc": "2.0", "id": request_id, "method": "kova/engine/status"})
    last = await wire.until(lambda m: "error" in m)
    assert (last["id"], last["error"]["code"]) == (None, -32600)


@pytest.mark.parametrize("request_id", [0, -1, 2**60, 1.5, "", "é\u2028", "\ud800"])
async def test_any_string_or_number_comes_back_as_the_id(wire, request_id):
    message = {"jsonrpc": "2.0", "id": request_id, "method": "kova/engine/status"}
    wire.send(json.dumps(message).encode())
    body = json.dumps(request_id)
    while not any(json.loads(b).get("id") == json.loads(body) for b in wire.pipe.frames[1:]):
        await asyncio.sleep(0.001)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 100_000, -32700),
        (b'{"id": NaN}', -32700),
        (b"[]", -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"kova/engine/status"}]', -32600),
        (b'"hello"', -32600),
        (b"7", -32600),
        (b"null", -32600),
        (b"{}", -32600),
        (b'{"id": 1}', -32600),
        (b'{"id": 1, "method": 5}', -32600),
    ],
)
async def test_what_is_no_message_is_said(wire, body, code):
    wire.send(body)
    answer = await wire.until(lambda m: "error" in m)
    assert answer["error"]["code"] == code
    assert plain(answer)
    assert (await wire.ask("kova/engine/status"))["result"]["version"]


async def test_a_nested_jsonrpc_key_is_data(wire):
    session = await wire.create()
    arguments = {"jsonrpc": "2.0", "id": 1, "method": "exit"}
    error = await wire.error(
        "kova/permission/explain", {"sessionId": session, "tool": "read", "input": arguments}
    )
    assert error["code"] == -32602


async def test_a_bad_frame_ends_the_connection_with_a_word(wire):
    wire.endpoint.data_received(b"GET / HTTP/1.1\r\n\r\n")
    answer = await wire.until(lambda m: "error" in m)
    assert answer["error"]["code"] == -32700
    assert wire.pipe.is_closed


async def test_before_initialize_only_initialize_is_answered(stage):
    wire = Wire(stage)
    wire.notify("textDocument/didOpen", {})
    assert (await wire.error("kova/session/list", {}))["code"] == -32002
    await wire.initialize()
    assert await wire.result("kova/session/list", {}) == {"sessions": []}


async def test_initialize_comes_once(wire):
    assert (await wire.error("initialize", {"capabilities": {}}))["code"] == -32600


async def test_without_a_common_version_the_editor_is_refused(stage):
    wire = Wire(stage)
    options = {"kova": {"versions": [99]}}
    error = await wire.error("initialize", {"initializationOptions": options})
    assert error["code"] == -32602
    assert "[99]" in error["message"]
    assert "[1]" in error["message"]
    assert (await wire.error("kova/session/list", {}))["code"] == -32002
    await wire.initialize()


@pytest.mark.parametrize(
    "params",
    [
        None,
        [],
        {"workspaceFolders": 5, "rootUri": 7},
        {"workspaceFolders": [{"uri": "file://["}, {"uri": "file:///a%00"}, 5, {}]},
        {"initializationOptions": {"kova": {"versions": [{}, 1], "client": 3}}},
        {"initializationOptions": {"kova": {"versions": [1], "capabilities": []}}},
    ],
)
async def test_any_initialize_is_answered(stage, params):
    answer = await Wire(stage).ask("initialize", params)
    assert plain(answer)


async def test_what_came_before_the_engine_was_loaded_is_answered_in_order(stage):
    wire = Wire(stage)
    wire.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}})
    for number in (2, 3):
        wire.send({"jsonrpc": "2.0", "id": number, "method": "kova/engine/status"})
    await wire.answer_to(3)
    assert [m["id"] for m in wire.messages] == [1, 2, 3]


async def test_an_engine_that_cannot_be_loaded_answers_all_the_same(stage, caplog):
    def fail():
        raise PermissionError(13, "Permission denied")

    wire = Wire(
        stage, Hub(fail, stop=lambda: None, on_change=lambda: None, kova_home=str(stage.root))
    )
    wire.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}})
    answer = await wire.ask("kova/engine/status")
    assert answer["error"]["data"]["code"] == "internalError"
    assert plain(answer)
    assert wire.pipe.is_closed
    assert "Permission denied" in caplog.text


async def test_shutdown_refuses_what_follows_and_exit_closes(wire):
    assert await wire.result("shutdown") is None
    assert (await wire.error("kova/session/list", {}))["code"] == -32600
    wire.notify("exit", None)
    assert wire.pipe.is_closed


async def test_malformed_notifications_harm_nothing(wire, caplog):
    for method in (
        "textDocument/didOpen",
        "textDocument/didChange",
        "textDocument/didSave",
        "textDocument/didClose",
        "workspace/didChangeWorkspaceFolders",
        "$/cancelRequest",
        "kova/unknown",
    ):
        for params in (None, [], {}, {"textDocument": 5}, {"event": []}, {"id": []}):
            wire.notify(method, params)
    assert await wire.result("kova/session/list", {}) == {"sessions": []}


async def test_a_fault_of_ours_has_an_id_and_no_content(wire, monkeypatch, caplog):
    from kova_ls.endpoint import answer as module

    def fault(_endpoint, _params):
        raise ZeroDivisionError("the secret")

    monkeypatch.setitem(module.HANDLERS, "kova/engine/status", fault)
    answer = await wire.ask("kova/engine/status")
    assert answer["error"]["code"] == -32603
    assert answer["error"]["data"]["incident"] in caplog.text
    assert "secret" not in json.dumps(answer)


async def test_a_request_can_be_cancelled(tmp_path):
    stage = Stage(tmp_path, [call("bash", command="make")])
    wire = Wire(stage)
    await wire.initialize()
    session = await wire.create()
    await wire.start(session)
    await wire.event("approval.requested")
    asking = {"jsonrpc": "2.0", "id": 77, "method": "kova/turn/interrupt"}
    wire.send({**asking, "params": {"sessionId": session}})
    wire.notify("$/cancelRequest", {"id": 77})
    assert (await wire.answer_to(77))["error"]["code"] == -32800
    await stage.close()


async def test_folders_are_followed_live(wire, tmp_path):
    session = await wire.create()
    (tmp_path / "more").mkdir()
    folder = {"uri": (tmp_path / "more").as_uri(), "name": "more"}
    wire.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [folder]}})
    assert wire.endpoint.folders[1:] == (str((tmp_path / "more").resolve()),)
    wire.notify("workspace/didChangeWorkspaceFolders", {"event": {"removed": [folder]}})
    assert len(wire.endpoint.folders) == 1
    assert session


async def test_what_the_editor_is_asked_ends_with_it(wire):
    asking = asyncio.ensure_future(wire.endpoint.ask("window/showDocument", {}))
    request = await wire.until(lambda m: m.get("method") == "window/showDocument")
    wire.send({"jsonrpc": "2.0", "id": request["id"], "result": {"success": True}})
    assert await asking == {"success": True}
    asking = asyncio.ensure_future(wire.endpoint.ask("window/showDocument", {}))
    await asyncio.sleep(0)
    wire.leave()
    with pytest.raises(ConnectionError, match="gone"):
        await asking


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(
    messages=st.lists(
        st.one_of(
            JSON.map(
                lambda value: json.dumps(value, allow_nan=False) if is_plain_json(value) else "{"
            ),
            st.builds(
                lambda method, params, request_id: json.dumps(
                    {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
                ),
                st.sampled_from([name for name in ASKED if name != "kova/engine/stop"]),
                JSON.filter(is_plain_json),
                st.integers(1, 5) | st.text(max_size=3),
            ),
        ),
        max_size=8,
    )
)
def test_no_messages_make_it_stop_answering(tmp_path_factory, messages):
    async def talk():
        stage = Stage(tmp_path_factory.mktemp("fuzz"), [say("Done.")])
        wire = Wire(stage)
        await wire.initialize()
        for message in messages:
            wire.endpoint.data_received(framing.frame(message.encode("utf-8", "surrogatepass")))
        answer = await asyncio.wait_for(wire.ask("kova/engine/status"), 5)
        assert "result" in answer
        for received in wire.messages:
            assert plain(received)
            assert received.get("error", {}).get("code") != -32603, received
        await stage.close()

    asyncio.run(talk())
