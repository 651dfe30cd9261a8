import pytest

from kova_ls.cli.client import Client, Refused
from kova_ls.errors import DaemonUnavailable


@pytest.fixture
def attached(fake_engine):
    def make(**handlers):
        engine = fake_engine(**handlers)
        return engine, Client(engine.far)

    return make


def test_the_handshake_says_who_and_where(attached):
    engine, client = attached()
    found = client.initialize(
        folder_uri="file:///w", folder_name="w", trusted=True, name="me", version="1"
    )
    assert found == {"version": 1}
    (method, params), *_ = engine.heard
    kova = params["initializationOptions"]["kova"]
    assert (method, params["workspaceFolders"]) == (
        "initialize",
        [{"uri": "file:///w", "name": "w"}],
    )
    assert (kova["versions"], kova["trusted"]) == ([1], True)


def test_what_is_told_before_the_answer_waits_in_order(attached):
    engine, client = attached(
        session_list=lambda _: engine.event("a", {}) or engine.event("b", {}) or {"n": 1}
    )
    assert client.request("kova/session/list", {}) == {"n": 1}
    assert [message["params"]["type"] for message in client.inbox] == ["a", "b"]


def test_answers_may_come_in_any_order(attached):
    _, client = attached(one=lambda _: {"n": 1}, two=lambda _: {"n": 2})
    first, second = client.send("kova/one", {}), client.send("kova/two", {})
    found = {}
    while len(found) < 2:
        client.pump()
        for number in (second, first):
            answer = client.answer(number)
            if answer is not None:
                found[number] = answer
    assert found == {first: {"n": 1}, second: {"n": 2}}


def test_a_refusal_carries_word_and_message(attached):
    error = {"code": -32022, "message": "A turn runs. Wait.", "data": {"code": "turnBusy"}}
    _, client = attached(turn_start=lambda _: {"error": error})
    with pytest.raises(Refused) as refused:
        client.request("kova/turn/start", {})
    assert (refused.value.code, refused.value.message) == ("turnBusy", "A turn runs. Wait.")


def test_requests_of_the_engine_are_answered(attached):
    engine, client = attached(ping=lambda _: {})

    def ask(method, number):
        engine.send({"jsonrpc": "2.0", "id": number, "method": method, "params": {}})

    ask("window/showDocument", 1)
    ask("kova/editor/state", 2)
    client.request("kova/ping", {})
    client.request("kova/ping", {})
    assert engine.answered == [
        {"jsonrpc": "2.0", "id": 1, "result": {"success": False}},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "error": {"code": -32601, "message": "A terminal cannot do 'kova/editor/state'."},
        },
    ]


def test_an_engine_that_ends_is_named(attached):
    engine, client = attached()
    engine.end()
    with pytest.raises(DaemonUnavailable, match="kova-ls run --continue"):
        client.request("kova/session/list", {})


def test_frames_may_come_in_any_pieces(attached):
    engine, client = attached()
    body = b'{"jsonrpc":"2.0","method":"kova/event","params":{}}'
    for byte in b"Content-Length: %d\r\nX: y\r\n\r\n%s" % (len(body), body):
        engine.sock.sendall(bytes([byte]))
        if not client.inbox:
            client.pump()
    assert list(client.inbox) == [{"jsonrpc": "2.0", "method": "kova/event", "params": {}}]
