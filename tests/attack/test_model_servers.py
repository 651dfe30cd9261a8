"""Call models on real servers that misbehave in every way a server can."""

import asyncio
import gzip
import json
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from kova_ls.llm.openai_chat import open_adapter
from tests.llm.wire import Call, call, data, settings

KEY = "sk-live-0123456789abcdef"
TLS = Path(__file__).parents[1] / "data" / "tls"


def said(**delta: Any) -> bytes:
    return data({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})


STOP = data({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}) + b"data: [DONE]\n\n"
OK = said(content="hi") + STOP
CALLED = said(tool_calls=[{"index": 0, "id": "c", "function": {"name": "x", "arguments": "{}"}}])


def head(status: int, length: int | None = None, **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} X", "connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    lines += [f"content-length: {length}"] if length is not None else []
    return "\r\n".join([*lines, "", ""]).encode()


def answer(status: int, body: bytes = b"", **headers: str) -> bytes:
    return head(status, len(body), **headers) + body


def complaint(message: str, **more: Any) -> bytes:
    return json.dumps({"error": {"message": message, **more}}).encode()


GOOD = answer(200, OK)
"""Anything after it is not sent; a `None` among the answers closes without a word."""


@asynccontextmanager
async def serving(
    *answers: bytes | None, context: ssl.SSLContext | None = None
) -> AsyncIterator[tuple[str, list[bytes]]]:
    rest = list(answers)
    asked: list[bytes] = []

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            first = await reader.readexactly(1)
            is_tls = first == b"\x16"
            asked.append(first if is_tls else first + await reader.readuntil(b"\r\n\r\n"))
            if (given := rest.pop(0)) is not None:
                writer.write(given)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, IndexError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(meet, "127.0.0.1", 0, ssl=context)
    async with server:
        scheme = "https" if context else "http"
        yield f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", asked


async def calling(url: str) -> tuple[Call, list[float]]:
    waits: list[float] = []

    async def sleep(wait_s: float) -> None:
        waits.append(wait_s)

    model = settings("openai-chat", base_url=url, max_retries=1)
    made = await call(open_adapter(model, KEY, sleep=sleep, jitter=lambda: 0.0))
    texts = [made.failure.message] if made.failure else []
    if made.reply is not None and made.reply.error is not None:
        texts.append(made.reply.error.message)
    for text in texts:
        assert KEY not in text
        assert text.endswith(".")
        assert "Traceback" not in text
    return made, waits


@pytest.mark.parametrize(
    ("first", "wait_s"),
    [
        (answer(429, complaint("slow"), retry_after="3"), 3.0),
        (answer(429, complaint("slow"), retry_after_ms="250"), 0.25),
        (
            answer(
                429,
                retry_after="Mon, 30 Nov 2026 10:00:07 GMT",
                date="Mon, 30 Nov 2026 10:00:00 GMT",
            ),
            7.0,
        ),
        (answer(429, complaint("Limit reached. Please try again in 7.5s.")), 7.5),
        (
            answer(429, x_ratelimit_remaining_requests="0", x_ratelimit_reset_requests="1m2s"),
            62.0,
        ),
        (answer(500, complaint("oops")), 0.5),
        (answer(502, b"<html><title>502 Bad Gateway</title></html>"), 0.5),
        (answer(503, b"Loading model"), 0.5),
        (answer(524, b"<html>a timeout occurred</html>"), 0.5),
        (answer(529, complaint("Overloaded", type="overloaded_error")), 0.5),
        (None, 0.5),
        (b"HTTP/1.1 200 OK\r\ncontent-le", 0.5),
        (head(200, 10), 0.5),
        (head(200) + b": wait\n\n", 0.5),
        (head(200, 999) + said(role="assistant"), 0.5),
        (head(200, transfer_encoding="chunked") + b"zz\r\nrubbish", 0.5),
        (answer(200), 0.5),
        (answer(200, data({"error": {"type": "overloaded_error", "message": "Later"}})), 0.5),
        (answer(200, b"event: error\n" + data({"error": {"code": 503, "message": "x"}})), 0.5),
        (answer(200, CALLED[:-25]), 0.5),
    ],
)
async def test_what_may_pass_is_asked_again(first: bytes | None, wait_s: float) -> None:
    async with serving(first, GOOD) as (url, asked):
        made, waits = await calling(url)
    assert made.reply is not None
    assert (made.reply.text, waits, len(asked)) == ("hi", [wait_s], 2)


@pytest.mark.parametrize(
    ("first", "code", "words"),
    [
        (answer(400, complaint("context length exceeded")), "contextTooLong", "Compact"),
        (answer(400), "badRequest", "config.toml"),
        (answer(401, complaint(f"Incorrect API key provided: {KEY}")), "badKey", "WORK_KEY"),
        (answer(402, complaint("Insufficient credits")), "rateLimited", "credit"),
        (answer(403, b"<html><h1>Blocked</h1></html>"), "badKey", "Blocked"),
        (answer(404, b"404 page not found"), "noSuchModel", "/v1/chat/completions"),
        (answer(405, b'{"detail":"Method Not Allowed"}'), "badRequest", "/v1/chat/completions"),
        (answer(413, b"<html>Too Large</html>"), "contextTooLong", "Compact"),
        (answer(422, b'{"detail":[{"loc":["body"],"msg":"too odd"}]}'), "badRequest", "too odd"),
        (answer(429, complaint("daily"), retry_after="7200"), "rateLimited", "in 2 h"),
        (answer(429, complaint("x", code="insufficient_quota")), "rateLimited", "credit"),
        (answer(301), "badRequest", "base_url"),
        (
            answer(307, location="https://a.example/v1/x?k=1"),
            "badRequest",
            "https://a.example/v1/x",
        ),
        (answer(204), "badRequest", "204"),
        (answer(200, b"<html>please log in</html>"), "badAnswer", "please log in"),
        (answer(200, complaint("no such model")), "noSuchModel", "`model`"),
        (answer(200, b'{"detail":"Unauthorized"}'), "badKey", "WORK_KEY"),
        (answer(200, b"nonsense", content_encoding="gzip"), "badAnswer", "decompressed"),
        (answer(503, complaint("x"), x_should_retry="false"), "overloaded", "another model"),
    ],
)
async def test_what_will_not_pass_says_what_to_do(first: bytes, code: str, words: str) -> None:
    async with serving(first, GOOD) as (url, asked):
        made, waits = await calling(url)
    assert made.failure is not None
    assert (made.failure.code, waits, len(asked)) == (code, [], 1)
    assert words in made.failure.message


@pytest.mark.parametrize(
    ("first", "outcome"),
    [
        (head(200) + said(content="half"), "truncated"),
        (head(200, 9999) + said(content="half"), "truncated"),
        (head(200) + said(content="half") + b'data: {"choices": [{"del', "truncated"),
        (answer(200, said(content="half") + data({"error": {"message": "gone"}})), "error"),
        (head(200) + CALLED, "truncated"),
        (answer(200, CALLED + data({"error": {"code": 503, "message": "x"}})), "error"),
    ],
)
async def test_what_was_shown_or_called_is_never_asked_again(first: bytes, outcome: str) -> None:
    async with serving(first, GOOD) as (url, asked):
        made, waits = await calling(url)
    assert made.reply is not None
    assert (made.reply.outcome, waits, len(asked)) == (outcome, [], 1)
    assert made.reply.error is not None


@pytest.mark.parametrize(
    "body",
    [
        answer(200, json.dumps({"choices": [{"message": {"content": "hi"}}]}).encode()),
        answer(200, gzip.compress(OK), content_encoding="gzip"),
        head(200) + OK.replace(b"\n", b"\r"),
        head(200) + b"\xef\xbb\xbf" + OK.replace(b"\n", b"\r\n"),
        head(200) + OK.rstrip(),
    ],
)
async def test_odd_ways_to_answer_are_answers(body: bytes) -> None:
    async with serving(body) as (url, _):
        made, _ = await calling(url)
    assert made.reply is not None
    assert made.reply.text == "hi"


async def test_a_certificate_that_nobody_vouches_for_is_told() -> None:
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.load_cert_chain(TLS / "cert.pem", TLS / "key.pem")
    async with serving(GOOD, context=own) as (url, asked):
        made, waits = await calling(url)
    assert made.failure is not None
    assert (made.failure.code, waits, asked) == ("noNetwork", [], [])
    assert "SSL_CERT_FILE" in made.failure.message


async def test_a_server_without_tls_is_told() -> None:
    async with serving(answer(400)) as (url, _):
        made, waits = await calling(url.replace("http:", "https:"))
    assert made.failure is not None
    assert (made.failure.code, waits) == ("noNetwork", [])
    assert "http://" in made.failure.message


async def test_a_name_that_is_not_found_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nowhere(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", nowhere)
    made, waits = await calling("https://models.invalid/v1")
    assert made.failure is not None
    assert (made.failure.code, waits) == ("noNetwork", [0.5])
    assert "models.invalid cannot be found" in made.failure.message


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "odd://127.0.0.1:9"])
async def test_a_proxy_that_is_not_spoken_is_told(
    monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setattr("kova_ls.llm._transport.getproxies", lambda: {"all": proxy})
    made, waits = await calling("https://models.invalid/v1")
    assert made.failure is not None
    assert (made.failure.code, waits) == ("noNetwork", [])
    assert "NO_PROXY" in made.failure.message


async def test_a_proxy_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        proxy = f"http://user:{KEY}@127.0.0.1:{closed.getsockname()[1]}"
    monkeypatch.setattr("kova_ls.llm._transport.getproxies", lambda: {"https": proxy})
    made, waits = await calling("https://models.invalid/v1")
    assert made.failure is not None
    assert (made.failure.code, waits) == ("noNetwork", [0.5])
    assert "proxy" in made.failure.message


async def test_the_proxy_is_asked_and_its_refusal_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(answer(407), answer(407)) as (url, asked):
        proxy = url.removesuffix("/v1")
        monkeypatch.setattr("kova_ls.llm._transport.getproxies", lambda: {"https": proxy})
        made, _ = await calling("https://models.invalid/v1")
    assert asked[0].startswith(b"CONNECT models.invalid:443")
    assert made.failure is not None
    assert (made.failure.code, "proxy" in made.failure.message) == ("noNetwork", True)
