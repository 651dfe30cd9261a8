"""Requests over connections of our own, against a real server on the loopback."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from kova_ls.llm._transport import DirectBody, DirectTransport, transport_for

TLS = Path(__file__).parents[1] / "data" / "tls"
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
SHORT = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
Answer = Callable[["Peer"], Awaitable[None]]


class Peer:
    """The server's end of one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.bodies: list[bytes] = []

    async def take(self) -> bytes:
        """Read one request; returns its body."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1])
            for line in head.lower().split(b"\r\n")
            if line.startswith(b"content-length")
        )
        self.bodies.append(await self.reader.readexactly(length))
        return self.bodies[-1]

    async def say(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()


@asynccontextmanager
async def serving(
    answer: Answer, context: ssl.SSLContext | None = None
) -> AsyncIterator[tuple[str, list[Peer]]]:
    peers: list[Peer] = []

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = Peer(reader, writer)
        peers.append(peer)
        try:
            await answer(peer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(meet, "127.0.0.1", 0, ssl=context)
    scheme = "https" if context else "http"
    try:
        yield f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", peers
    finally:
        server.close()
        for peer in peers:
            peer.writer.close()


def post(url: str, *, silent_s: float | None = None, body: bytes = b"hello") -> httpx.Request:
    limits = {"connect": 5.0, "read": silent_s}
    return httpx.Request("POST", url, content=body, extensions={"timeout": limits})


async def read(response: httpx.Response) -> bytes:
    return b"".join([piece async for piece in response.stream])  # type: ignore[union-attr]


async def poured(response: httpx.Response, take: Callable[[bytes], None]) -> None:
    assert isinstance(response.stream, DirectBody)
    try:
        await response.stream.pour(take)
    finally:
        await response.aclose()


async def test_connections_are_used_again() -> None:
    async def answer(peer: Peer) -> None:
        while True:
            await peer.take()
            await peer.say(SHORT)

    transport = DirectTransport()
    async with serving(answer) as (url, peers):
        for number in range(3):
            response = await transport.handle_async_request(post(url, body=b"%d" % number))
            assert await read(response) == b"ok"
        assert [peer.bodies for peer in peers] == [[b"0", b"1", b"2"]]
        await transport.aclose()


async def test_pieces_come_as_they_arrive_and_together_when_they_came_together() -> None:
    go = asyncio.Event()

    async def answer(peer: Peer) -> None:
        await peer.take()
        await peer.say(CHUNKED + b"1\r\na\r\n1\r\nb\r\n")
        await go.wait()
        await peer.say(b"1\r\nc\r\n0\r\n\r\n")

    transport = DirectTransport()
    async with serving(answer) as (url, _):
        response = await transport.handle_async_request(post(url))
        seen: list[bytes] = []
        async for piece in response.stream:  # type: ignore[union-attr]
            seen.append(piece)
            go.set()
        assert seen == [b"ab", b"c"]
        await transport.aclose()


async def test_poured_pieces_come_as_they_arrive_and_the_connection_is_used_again() -> None:
    go = asyncio.Event()

    async def answer(peer: Peer) -> None:
        await peer.take()
        await peer.say(CHUNKED + b"1\r\na\r\n1\r\nb\r\n")
        await go.wait()
        await peer.say(b"1\r\nc\r\n0\r\n\r\n")
        await peer.take()
        await peer.say(SHORT)

    seen: list[bytes] = []

    def take(piece: bytes) -> None:
        seen.append(piece)
        go.set()

    transport = DirectTransport()
    async with serving(answer) as (url, peers):
        response = await transport.handle_async_request(post(url, silent_s=5))
        await poured(response, take)
        assert seen == [b"ab", b"c"]
        await poured(await transport.handle_async_request(post(url)), take)
        assert seen == [b"ab", b"c", b"ok"]
        assert len(peers) == 1
        await transport.aclose()


async def test_pouring_ends_with_what_the_taker_raises() -> None:
    ended = asyncio.Event()

    async def answer(peer: Peer) -> None:
        await peer.take()
        await peer.say(CHUNKED + b"1\r\na\r\n")
        assert await peer.reader.read() == b""
        ended.set()

    def refuse(piece: bytes) -> None:
        raise LookupError(piece)

    async with serving(answer) as (url, _):
        response = await DirectTransport().handle_async_request(post(url))
        with pytest.raises(LookupError):
            await poured(response, refuse)
        await asyncio.wait_for(ended.wait(), 5)


async def test_nothing_is_poured_after_a_cancel() -> None:
    arrived = asyncio.Event()
    seen: list[bytes] = []

    async def answer(peer: Peer) -> None:
        await peer.take()
        await peer.say(CHUNKED + b"1\r\na\r\n")
        await arrived.wait()
        await peer.say(b"1\r\nb\r\n")

    def take(piece: bytes) -> None:
        seen.append(piece)
        arrived.set()

    async with serving(answer) as (url, _):
        response = await DirectTransport().handle_async_request(post(url))
        task = asyncio.ensure_future(poured(response, take))
        await arrived.wait()
        task.cancel()
        stream = response.stream
        assert isinstance(stream, DirectBody)
        assert stream._connection is not None
        stream._connection.data_received(b"1\r\nc\r\n")
        with pytest.raises(asyncio.CancelledError):
            await task
        assert seen == [b"a"]


@pytest.mark.parametrize("rest", [b"", b"5\r\nhal", b"rubbish\r\n"])
async def test_pouring_tells_of_an_answer_that_breaks_off(rest: bytes) -> None:
    async def answer(peer: Peer) -> None:
        await peer.take()
        await peer.say(CHUNKED + b"2\r\nhi\r\n" + rest)

    async with serving(answer) as (url, _):
        response = await DirectTransport().handle_async_request(post(url))
        with pytest.raises(httpx.RemoteProtocolError):
            await poured(response, lambda _: None)


async def test_pouring_waits_through_no_longer_silence_than_allowed() -> None:
    async def answer(peer: Peer) -> None:
        await peer.take()
        await peer.say(CHUNKED + b"1\r\na\r\n")
        await peer.reader.read()

    async with serving(answer) as (url, _):
        response = await DirectTransport().handle_async_request(post(url, silent_s=0.05))
        with pytest.raises(httpx.ReadTimeout):
            await poured(response, lambda _: None)


async def test_an_idle_connection_that_the_server_closed_is_replaced() -> None:
    async def answer(peer: Peer) -> None:
        await peer.take()
        await peer.say(SHORT)

    transport = DirectTransport()
    async with serving(answer) as (url, peers):
        for _ in range(2):
            assert await read(await transport.handle_async_request(post(url))) == b"ok"
        assert [peer.bodies for peer in peers] == [[b"hello"], [b"hello"]]
        await transport.aclose()


async def test_a_fresh_connection_that_breaks_is_told_and_not_tried_again() -> None:
    async def answer(peer: Peer) -> None:
        await peer.take()

    async with serving(answer) as (url, peers):
        with pytest.raises((httpx.ReadError, httpx.RemoteProtocolError)):
            await DirectTransport().handle_async_request(post(url))
        assert len(peers) == 1


@pytest.mark.parametrize("rest", [b"", b"5\r\nhal"])
async def test_an_answer_that_breaks_off_is_an_error(rest: bytes) -> None:
    async def answer(peer: Peer) -> None:
        await peer.take()
        await peer.say(CHUNKED + b"2\r\nhi\r\n" + rest)

    async with serving(answer) as (url, _):
        response = await DirectTransport().handle_async_request(post(url))
        with pytest.raises(httpx.RemoteProtocolError):
            await read(response)


async def test_an_answer_without_a_length_ends_with_its_connection() -> None:
    async def answer(peer: Peer) -> None:
        await peer.take()
        await peer.say(b"HTTP/1.1 200 OK\r\n\r\nall there is")

    transport = DirectTransport()
    async with serving(answer) as (url, peers):
        for _ in range(2):
            response = await transport.handle_async_request(post(url))
            assert await read(response) == b"all there is"
        assert len(peers) == 2


async def test_leaving_an_answer_closes_the_connection() -> None:
    ended = asyncio.Event()

    async def answer(peer: Peer) -> None:
        await peer.take()
        await peer.say(CHUNKED + b"2\r\nhi\r\n")
        assert await peer.reader.read() == b""
        ended.set()

    async with serving(answer) as (url, _):
        response = await DirectTransport().handle_async_request(post(url))
        async for piece in response.stream:  # type: ignore[union-attr]
            assert piece == b"hi"
            break
        await response.aclose()
        await asyncio.wait_for(ended.wait(), 5)


async def test_cancelling_while_the_model_thinks_closes_the_connection() -> None:
    asked, ended = asyncio.Event(), asyncio.Event()

    async def answer(peer: Peer) -> None:
        await peer.take()
        asked.set()
        assert await peer.reader.read() == b""
        ended.set()

    async with serving(answer) as (url, _):
        task = asyncio.ensure_future(DirectTransport().handle_async_request(post(url)))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(ended.wait(), 5)


async def test_silence_has_a_limit() -> None:
    async def answer(peer: Peer) -> None:
        await peer.take()
        await peer.reader.read()

    async with serving(answer) as (url, _):
        with pytest.raises(httpx.ReadTimeout):
            await DirectTransport().handle_async_request(post(url, silent_s=0.05))


async def test_nobody_there_is_told() -> None:
    server = await asyncio.start_server(lambda r, w: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    with pytest.raises(httpx.ConnectError):
        await DirectTransport().handle_async_request(post(f"http://127.0.0.1:{port}/"))


@pytest.mark.parametrize("url", ["ftp://x/", "file:///etc/passwd", "/v1"])
async def test_other_schemes_are_refused(url: str) -> None:
    with pytest.raises(httpx.UnsupportedProtocol):
        await DirectTransport().handle_async_request(post(url))


async def test_rubbish_is_no_http() -> None:
    async def answer(peer: Peer) -> None:
        await peer.take()
        await peer.say(b"220 mail.example ESMTP\r\n\r\n")

    async with serving(answer) as (url, _):
        with pytest.raises(httpx.RemoteProtocolError):
            await DirectTransport().handle_async_request(post(url))


async def test_a_large_body_goes_out_whole() -> None:
    async def answer(peer: Peer) -> None:
        body = await peer.take()
        await peer.say(b"HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n%08d" % len(body))

    transport = DirectTransport()
    async with serving(answer) as (url, _):
        response = await transport.handle_async_request(post(url, body=b"x" * 5_000_000))
        assert await read(response) == b"05000000"
        await transport.aclose()


async def test_a_server_is_asked_for_its_certificate() -> None:
    async def answer(peer: Peer) -> None:
        await peer.take()
        await peer.say(SHORT)

    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.load_cert_chain(TLS / "cert.pem", TLS / "key.pem")
    knowing = ssl.create_default_context(cafile=TLS / "cert.pem")
    async with serving(answer, own) as (url, _):
        transport = DirectTransport(knowing)
        assert await read(await transport.handle_async_request(post(url))) == b"ok"
        await transport.aclose()
        with pytest.raises(httpx.ConnectError):
            await DirectTransport().handle_async_request(post(url))


def test_a_proxy_of_the_environment_is_httpx_business(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "kova_ls.llm._transport.getproxies", lambda: {"https": "http://127.0.0.1:9"}
    )
    assert isinstance(transport_for("https://models.example/v1"), httpx.AsyncHTTPTransport)
    assert isinstance(transport_for("http://models.example/v1"), DirectTransport)
    assert isinstance(transport_for("https://127.0.0.1/v1"), DirectTransport)
