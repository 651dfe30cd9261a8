import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from kova_ls.llm._base import ModelRequest
from kova_ls.llm._http import _together, join_url
from kova_ls.llm.openai_chat import open_adapter
from kova_ls.vocabulary import Outcome
from tests.llm.wire import Played, call, data, settings


def said(text: str, finish: str | None = "stop") -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}]}


OK = data(said("a"))
CALL = {"index": 0, "id": "c", "function": {"name": "read", "arguments": "{}"}}
CALLED = data({"choices": [{"index": 0, "delta": {"tool_calls": [CALL]}}]})
OVERLOADED = {"error": {"type": "overloaded_error", "message": "Overloaded"}}


def status(code: int, said: Any = None, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(code, json={"error": said or {"message": "x"}}, headers=named)


class Broken(httpx.AsyncByteStream):
    """A body that breaks off with a network error."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece
        raise httpx.ReadError("gone")


def broken(*pieces: bytes) -> httpx.Response:
    return httpx.Response(200, stream=Broken(*pieces))


@pytest.mark.parametrize(
    ("first", "code"),
    [
        (status(408), "timedOut"),
        (status(409), "serverError"),
        (status(429), "rateLimited"),
        (status(500), "serverError"),
        (status(503), "overloaded"),
        (status(529), "overloaded"),
        (broken(), "brokenStream"),
        (broken(CALLED[:-20]), "brokenStream"),
        (httpx.RemoteProtocolError("closed"), "brokenStream"),
        (httpx.ConnectTimeout("slow"), "noNetwork"),
        (httpx.ReadTimeout("silent"), "timedOut"),
        (b"", "brokenStream"),
        (data(OVERLOADED), "overloaded"),
    ],
)
async def test_what_may_pass_is_tried_again(first: Any, code: str):
    server = Played(first, OK)
    made = await call(open_adapter(settings("openai-chat"), "k", **server.seams))
    assert made.reply
    assert (made.reply.text, made.reply.outcome) == ("a", Outcome.COMPLETE)
    assert made.retries == [(1, 0.5, code)]
    assert server.waits == [0.5]
    assert made.deltas == [("text", "a")]


@pytest.mark.parametrize("code", [400, 401, 403, 404, 413, 422])
async def test_what_will_not_pass_is_told_at_once(code: int):
    server = Played(status(code))
    made = await call(open_adapter(settings("openai-chat"), "k", **server.seams))
    assert made.failure
    assert made.failure.status == code
    assert made.retries == []


async def test_waits_grow_and_end():
    server = Played(*[status(500)] * 5)
    made = await call(open_adapter(settings("openai-chat"), "k", **server.seams))
    assert made.failure
    assert made.failure.code == "serverError"
    assert server.waits == [0.5, 1.0, 2.0, 4.0]
    assert [number for number, _, _ in made.retries] == [1, 2, 3, 4]


async def test_jitter_shortens_a_wait():
    server = Played(status(500), OK)
    seams = {**server.seams, "jitter": lambda: 1.0}
    await call(open_adapter(settings("openai-chat"), "k", **seams))
    assert server.waits == [0.375]


async def test_the_wait_asked_for_is_kept():
    date = "Wed, 21 Oct 2026 07:28:00 GMT"
    later = "Wed, 21 Oct 2026 07:28:07 GMT"
    server = Played(
        status(429, retry_after="3"),
        status(429, retry_after_ms="1500"),
        status(429, retry_after=later, date=date),
        status(429, {"message": "x", "details": [{"retryDelay": "2s"}]}),
        OK,
    )
    made = await call(open_adapter(settings("openai-chat"), "k", **server.seams))
    assert made.reply
    assert server.waits == [3.0, 1.5, 7.0, 2.0]


async def test_a_wait_that_is_too_long_is_not_waited():
    server = Played(status(429, retry_after="3600"))
    made = await call(open_adapter(settings("openai-chat"), "k", **server.seams))
    assert made.failure
    assert (made.failure.code, made.failure.retry_after_s) == ("rateLimited", 3600.0)


@pytest.mark.parametrize(
    ("rest", "outcome", "code"),
    [
        ((), Outcome.TRUNCATED, "brokenStream"),
        ((data(OVERLOADED),), Outcome.ERROR, "overloaded"),
    ],
)
async def test_what_was_shown_is_not_asked_for_again(
    rest: tuple[bytes, ...], outcome: Outcome, code: str
):
    server = Played(broken(data(said("half", None)), *rest))
    made = await call(open_adapter(settings("openai-chat"), "k", **server.seams))
    assert made.reply
    assert made.reply.error
    assert (made.reply.text, made.reply.outcome) == ("half", outcome)
    assert (made.reply.error.code, made.reply.error.retryable) == (code, True)
    assert len(server.requests) == 1


@pytest.mark.parametrize("end", [broken(CALLED), CALLED, CALLED + data(OVERLOADED)])
async def test_nothing_is_asked_again_after_a_complete_call(end: Any):
    server = Played(end)
    made = await call(open_adapter(settings("openai-chat"), "k", **server.seams))
    assert made.reply
    assert [one.id for one in made.reply.calls] == ["c"]
    assert made.reply.outcome in (Outcome.TRUNCATED, Outcome.ERROR)
    assert len(server.requests) == 1


async def test_a_break_after_the_end_is_no_error():
    server = Played(broken(OK))
    made = await call(open_adapter(settings("openai-chat"), "k", **server.seams))
    assert made.reply
    assert (made.reply.outcome, made.reply.error) == (Outcome.COMPLETE, None)


async def test_an_answer_outside_any_event_is_shown():
    message = {"role": "assistant", "content": "a", "reasoning": "hm"}
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    server = Played(json.dumps(whole).encode())
    made = await call(open_adapter(settings("openai-chat"), "k", **server.seams))
    assert made.deltas == [("reasoning", "hm"), ("text", "a")]


async def test_a_compressed_answer_is_read():
    packed = httpx.Response(
        200, headers={"content-encoding": "gzip"}, stream=httpx.ByteStream(gzip.compress(OK))
    )
    made = await call(open_adapter(settings("openai-chat"), "k", **Played(packed).seams))
    assert made.deltas == [("text", "a")]


async def test_a_missing_key_is_told_before_anything_is_sent():
    server = Played()
    made = await call(open_adapter(settings("openai-chat"), None, **server.seams))
    assert made.failure
    assert made.failure.code == "noKey"
    assert "WORK_KEY" in made.failure.message
    bare = settings("openai-chat", base_url=None, api_key_env=None)
    made = await call(open_adapter(bare, None, **server.seams))
    assert made.failure
    assert "api_key_env" in made.failure.message
    assert server.requests == []


@pytest.mark.parametrize("variable", [None, "WORK_KEY"])
async def test_a_local_server_is_tried_without_a_key(variable: str | None):
    server = Played(OK, status(401, {"message": "who are you"}))
    own = settings("openai-chat", base_url="http://127.0.0.1:1/v1", api_key_env=variable)
    made = await call(open_adapter(own, None, **server.seams))
    assert made.reply
    assert "authorization" not in server.requests[0].headers
    made = await call(open_adapter(own, None, **server.seams))
    assert made.failure
    assert made.failure.code == "noKey"


async def test_headers_and_key_are_sent_and_never_shown():
    leak = {"message": "bad key k-secret-value with tok-77"}
    server = Played(status(401, leak), data({"error": {"message": "no tok-77", "code": 400}}))
    model = settings("openai-chat", headers={"X-Team": "tok-77"})
    for _ in range(2):
        made = await call(open_adapter(model, "k-secret-value", **server.seams))
        assert made.failure
        assert "secret" not in made.failure.message
        assert "tok-77" not in made.failure.message
    sent = server.requests[0].headers
    assert sent["authorization"] == "Bearer k-secret-value"
    assert sent["x-team"] == "tok-77"
    assert sent["accept-encoding"] == "identity"


async def test_a_local_server_that_is_not_there_is_told_at_once():
    server = Played(httpx.ConnectError("refused"))
    own = settings("openai-chat", base_url="http://127.0.0.1:8080/v1", api_key_env=None)
    made = await call(open_adapter(own, None, **server.seams))
    assert made.failure
    assert (made.failure.code, made.retries) == ("noNetwork", [])
    assert made.failure.message == (
        "Nothing answers at http://127.0.0.1:8080: is the server running? "
        "Start it, or correct base_url in config.toml."
    )


async def test_an_address_that_is_none_is_told():
    own = settings("openai-chat", base_url="models.example/v1")
    made = await call(open_adapter(own, "k"))
    assert made.failure
    assert made.failure.code == "badRequest"
    assert "http://" in made.failure.message


async def test_the_context_window_is_added_to_the_usage():
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    server = Played(data({**said("a"), "usage": usage}))
    made = await call(open_adapter(settings("openai-chat", context_window=99), "k", **server.seams))
    assert made.reply
    assert (made.reply.usage.context_tokens, made.reply.usage.context_window) == (7, 99)


@pytest.mark.parametrize(
    ("base", "path", "url"),
    [
        ("https://a/v1", "chat/completions", "https://a/v1/chat/completions"),
        ("https://a/v1/", "v1/messages", "https://a/v1/messages"),
        ("https://a", "v1/messages", "https://a/v1/messages"),
    ],
)
def test_addresses_are_joined(base: str, path: str, url: str):
    assert join_url(base, path) == url


Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
HEAD = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-type: text/event-stream\r\n\r\n"


def in_chunk(body: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(body), body)


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[str]:
    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                int(line.split(b":")[1])
                for line in head.lower().split(b"\r\n")
                if line.startswith(b"content-length")
            )
            await reader.readexactly(length)
            await handler(reader, writer)
        finally:
            writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


async def test_cancelling_closes_the_connection():
    was_closed = asyncio.Event()
    was_shown = asyncio.Event()

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + in_chunk(data(said("a", None))))
        assert await reader.read() == b""
        was_closed.set()

    async with serving(handler) as url:
        adapter = open_adapter(settings("openai-chat", base_url=url, api_key_env=None), None)
        request = ModelRequest("", [], ())
        running = asyncio.ensure_future(
            adapter.run(request, lambda *_: was_shown.set(), lambda *_: None)
        )
        await was_shown.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await was_closed.wait()
        await adapter.close()


async def test_a_piece_is_shown_as_soon_as_it_arrives():
    was_shown = asyncio.Event()

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + in_chunk(data(said("a", None))))
        await was_shown.wait()
        writer.write(in_chunk(data(said("b"))) + b"0\r\n\r\n")
        await writer.drain()

    shown: list[str] = []

    def sink(kind: str, piece: str) -> None:
        shown.append(piece)
        was_shown.set()

    async with serving(handler) as url:
        adapter = open_adapter(settings("openai-chat", base_url=url, api_key_env=None), None)
        reply = await adapter.run(ModelRequest("", [], ()), sink, lambda *_: None)
        await adapter.close()
    assert (shown, reply.text) == (["a", "b"], "ab")


async def test_a_connection_dropped_on_the_way_is_tried_again():
    n_calls = 0

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal n_calls
        n_calls += 1
        writer.write(HEAD + in_chunk(b": wait\n\n"))
        if n_calls == 2:
            writer.write(in_chunk(OK) + b"0\r\n\r\n")
        await writer.drain()

    async def no_wait(_: float) -> None:
        pass

    async with serving(handler) as url:
        model = settings("openai-chat", base_url=url, api_key_env=None)
        made = await call(open_adapter(model, None, sleep=no_wait))
    assert made.reply
    assert made.reply.text == "a"
    assert [code for _, _, code in made.retries] == ["brokenStream"]


def test_pieces_that_came_together_are_joined_in_order() -> None:
    pieces = [("reasoning", "a"), ("reasoning", "b"), ("text", "c"), ("reasoning", "d")]
    assert _together(pieces) == [("reasoning", "ab"), ("text", "c"), ("reasoning", "d")]
    assert _together([]) == []
