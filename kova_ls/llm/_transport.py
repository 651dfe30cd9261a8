"""An httpx transport over asyncio and h11: what a model call needs, and nothing between.

httpx' own goes through a pool and a second event-loop layer that cost more than all the rest of a
step. This one keeps idle connections, hands on everything that has arrived in one piece, and
leaves reading and writing HTTP/1.1 to h11. Proxies are left to httpx.
Invariant: closing or cancelling an answer that is not at its end closes the connection.
"""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Callable
from typing import Any, cast
from urllib.request import getproxies, proxy_bypass

import h11
import httpx

_IDLE_S = 30.0
_MAX_IDLE = 4
_Place = tuple[str, str, int]


class DirectTransport(httpx.AsyncBaseTransport):
    """Sends requests over connections of its own."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        """`context` judges servers' certificates; by default as httpx does."""
        self._idle: dict[_Place, list[_Connection]] = {}
        self._ssl = context

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request and return the answer once its head is there.

        Raises: httpx.ConnectError, ConnectTimeout, ReadError, ReadTimeout, RemoteProtocolError,
        UnsupportedProtocol.
        """
        url = request.url
        if url.scheme not in ("http", "https") or not url.host:
            raise httpx.UnsupportedProtocol(f"{url.scheme!r} is not spoken here")
        place = (url.scheme, url.host, url.port or (443 if url.scheme == "https" else 80))
        limits: dict[str, float | None] = request.extensions.get("timeout", {})
        while True:
            connection = self._take(place)
            is_fresh = connection is None
            if connection is None:
                connection = await self._connect(place, limits.get("connect"))
            try:
                head = await connection.send(request, limits.get("read"))
                break
            except (httpx.ReadError, httpx.RemoteProtocolError):
                connection.close()
                # The server gave up an idle connection just now; it has not seen the request.
                if is_fresh or connection.has_received:
                    raise
            except BaseException:
                connection.close()
                raise
        return httpx.Response(
            head.status_code,
            headers=list(head.headers),
            stream=DirectBody(self, place, connection, limits.get("read")),
        )

    async def aclose(self) -> None:
        """Close what is idle."""
        for connections in self._idle.values():
            for connection in connections:
                connection.close()
        self._idle.clear()

    def _take(self, place: _Place) -> "_Connection | None":
        connections = self._idle.get(place, [])
        while connections:
            connection = connections.pop()
            if connection.is_usable and time.monotonic() - connection.idle_since < _IDLE_S:
                return connection
            connection.close()
        return None

    def give_back(self, place: _Place, connection: "_Connection") -> None:
        """Keep a connection whose answer was read to its end, when it can be used again."""
        connections = self._idle.setdefault(place, [])
        if len(connections) < _MAX_IDLE and connection.start_next_cycle():
            connection.idle_since = time.monotonic()
            connections.append(connection)
        else:
            connection.close()

    async def _connect(self, place: _Place, limit_s: float | None) -> "_Connection":
        scheme, host, port = place
        context: ssl.SSLContext | None = None
        if scheme == "https":
            if self._ssl is None:
                self._ssl = httpx.create_ssl_context()
                self._ssl.set_alpn_protocols(["http/1.1"])
            context = self._ssl
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(limit_s):
                _, connection = await loop.create_connection(
                    _Connection,
                    host,
                    port,
                    ssl=context,
                    server_hostname=host if context is not None else None,
                )
        except TimeoutError as error:
            raise httpx.ConnectTimeout(str(error)) from error
        except OSError as error:
            raise httpx.ConnectError(str(error)) from error
        return connection


class _Connection(asyncio.Protocol):
    """One connection and the HTTP state on it."""

    def __init__(self) -> None:
        self._http = h11.Connection(h11.CLIENT)
        self._transport: asyncio.Transport | None = None
        self._arrived: asyncio.Future[None] | None = None
        self._writable: asyncio.Future[None] | None = None
        self._lost: Exception | None = None
        self._is_lost = False
        self.listener: Callable[[], None] | None = None
        """Called in the moment when something happens, in place of waking who waits."""
        self.heard_at = 0.0
        self.has_received = False
        """Something of the present answer came."""
        self.idle_since = 0.0

    # -- asyncio ------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self.has_received = True
        self._http.receive_data(data)
        self._tell()

    def eof_received(self) -> None:
        self._http.receive_data(b"")
        self._tell()

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_lost = True
        self._lost = exc
        self._tell()
        self._wake(self._writable)

    def pause_writing(self) -> None:
        self._writable = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        self._wake(self._writable)
        self._writable = None

    def _tell(self) -> None:
        self.heard_at = time.monotonic()
        if self.listener is not None:
            self.listener()
        else:
            self._wake(self._arrived)

    @staticmethod
    def _wake(future: "asyncio.Future[None] | None") -> None:
        if future is not None and not future.done():
            future.set_result(None)

    # -- HTTP ---------------------------------------------------------------------------------

    @property
    def is_usable(self) -> bool:
        """True while an idle connection was neither closed nor sent anything unasked."""
        return not self._is_lost and not self.has_received

    def start_next_cycle(self) -> bool:
        """Make ready for the next request; False when the server wants no more."""
        if self._is_lost or self._http.our_state is not h11.DONE:
            return False
        if self._http.their_state is not h11.DONE or self._http.trailing_data[0]:
            return False
        self._http.start_next_cycle()
        self.has_received = False
        return True

    async def send(self, request: httpx.Request, limit_s: float | None) -> h11.Response:
        """Send a request in one piece and return the head of the answer."""
        assert self._transport is not None
        head = h11.Request(
            method=request.method.encode(),
            target=request.url.raw_path,
            headers=[
                (name, value)
                for name, value in request.headers.raw
                if name.lower() != b"transfer-encoding"
            ],
        )
        body = await request.aread()
        pieces = [self._http.send(head), self._http.send(h11.Data(data=body))]
        pieces.append(self._http.send(h11.EndOfMessage()))
        # A head that goes first wakes the server, which then keeps us from sending the rest.
        self._transport.write(b"".join(piece for piece in pieces if piece))
        if self._writable is not None:
            await self._writable
        while True:
            event = await self.next_event(limit_s)
            if isinstance(event, h11.Response):
                return event

    async def next_event(self, limit_s: float | None) -> Any:
        """Return the next event of the answer, waiting for it."""
        while True:
            event = self.poll()
            if event is not h11.NEED_DATA:
                return event
            loop = asyncio.get_running_loop()
            self._arrived = arrived = loop.create_future()
            timer = None
            if limit_s is not None:
                timer = loop.call_later(limit_s, _time_out, arrived)
            try:
                await arrived
            finally:
                self._arrived = None
                if timer is not None:
                    timer.cancel()

    def poll(self) -> Any:
        """Return the next event at hand, or NEED_DATA when more may come.

        Raises: httpx.RemoteProtocolError, ReadError.
        """
        try:
            event = self._http.next_event()
        except h11.RemoteProtocolError as error:
            raise httpx.RemoteProtocolError(str(error)) from error
        if event is h11.NEED_DATA and self._is_lost:
            raise httpx.ReadError(str(self._lost or "the connection was closed"))
        return event

    def close(self) -> None:
        """End the connection at once."""
        if self._transport is not None:
            self._transport.abort()


def _time_out(arrived: "asyncio.Future[None]") -> None:
    if not arrived.done():
        arrived.set_exception(httpx.ReadTimeout("the server was silent for too long"))


class DirectBody(httpx.AsyncByteStream):
    """The body of an answer as it arrives."""

    def __init__(
        self,
        transport: DirectTransport,
        place: _Place,
        connection: _Connection,
        limit_s: float | None,
    ) -> None:
        self._transport = transport
        self._place = place
        self._connection: _Connection | None = connection
        self._limit_s = limit_s
        self._early: Any = None
        """An event that was waited for and not yet handed on."""

    async def pour(self, take: Callable[[bytes], None]) -> None:
        """Hand each piece to `take` in the moment when it arrives, until the answer ends.

        Waking a task for each would cost another round of the loop. Raises: what `take` raises.
        """
        connection = self._connection
        assert connection is not None
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[None] = loop.create_future()
        timer: asyncio.TimerHandle | None = None

        def listen() -> None:
            if ended.done():
                return
            try:
                piece, is_end = self._next_piece(connection)
                if piece:
                    take(piece)
                if is_end and not ended.done():
                    ended.set_result(None)
            except Exception as error:  # noqa: BLE001 - raised where the answer is waited for
                if not ended.done():
                    ended.set_exception(error)

        def watch(limit_s: float) -> None:
            nonlocal timer
            left_s = connection.heard_at + limit_s - time.monotonic()
            if left_s > 0:
                timer = loop.call_later(left_s, watch, limit_s)
            else:
                _time_out(ended)

        connection.listener = listen
        try:
            listen()
            if self._limit_s is not None:
                watch(self._limit_s)
            await ended
        finally:
            connection.listener = None
            if timer is not None:
                timer.cancel()
        self._finish(connection)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        connection = self._connection
        assert connection is not None
        while True:
            piece, is_end = self._next_piece(connection)
            if piece:
                yield piece
            if is_end:
                self._finish(connection)
                return
            if not piece:
                self._early = await connection.next_event(self._limit_s)

    def _next_piece(self, connection: _Connection) -> tuple[bytes, bool]:
        """Return what is there, in one piece, and whether the answer is at its end."""
        pieces: list[bytes] = []
        event, self._early = self._early or connection.poll(), None
        while isinstance(event, h11.Data):
            pieces.append(bytes(event.data))
            event = connection.poll()
        is_end = isinstance(event, h11.EndOfMessage)
        if not is_end and event is not h11.NEED_DATA:
            raise httpx.RemoteProtocolError(f"unexpected {type(event).__name__}")
        return b"".join(pieces), is_end

    def _finish(self, connection: _Connection) -> None:
        self._connection = None
        self._transport.give_back(self._place, connection)

    async def aclose(self) -> None:
        """Close the connection unless the answer was read to its end."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def transport_for(url: str) -> httpx.AsyncBaseTransport:
    """Return the direct transport, or httpx' own where the environment names a proxy."""
    parts = httpx.URL(url)
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    is_local = parts.host in ("localhost", "127.0.0.1", "::1")
    if proxy and not is_local and not proxy_bypass(parts.host):
        return httpx.AsyncHTTPTransport(proxy=proxy)
    return DirectTransport()
