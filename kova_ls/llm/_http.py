"""Call a model over HTTP: one client per adapter, streamed bytes, retries.

Order: an answer's pieces reach the sink as they arrive, before `call` returns.
Invariant: a call is not repeated once a piece of the answer was shown or a tool call was
complete; what arrived is then returned with its error, since a piece cannot be taken back.
Invariant: cancelling closes the connection at once.
"""

import asyncio
import random
import socket
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Literal, TypeVar
from urllib.parse import urlsplit

import httpx

from kova_ls.config import ModelSettings
from kova_ls.errors import AdapterFailure
from kova_ls.llm._base import Decoder, ModelReply, OnRetry, Sink
from kova_ls.llm._failure import Endpoint, classify, error_of, no_key
from kova_ls.llm._transport import DirectBody, transport_for
from kova_ls.vocabulary import Outcome

_FIRST_WAIT_S = 0.5
_LONGEST_BACKOFF_S = 30.0
_LONGEST_WAIT_S = 120.0
"""A provider that asks for a longer wait is not waited for."""
_ERROR_BODY_BYTES = 1_000_000

_Cause = TypeVar("_Cause", bound=BaseException)

Sleep = Callable[[float], Awaitable[object]]
Piece = tuple[Literal["text", "reasoning"], str]


class HttpCaller:
    """Posts to one URL and reads the streamed answer."""

    def __init__(
        self,
        settings: ModelSettings,
        url: str,
        *,
        api_key: str | None,
        key_header: tuple[str, str],
        headers: dict[str, str] | None = None,
        needs_key: bool,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Sleep = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """`key_header`: name and prefix of the header that carries the key."""
        self.where = Endpoint(
            url=url,
            model=settings.model,
            key_env=settings.api_key_env,
            has_key=api_key is not None,
            secrets=tuple(filter(None, (api_key, *settings.headers.values()))),
        )
        self._settings = settings
        # A server on this machine seldom checks the key; when it does, its answer says so.
        self._misses_key = api_key is None and (
            needs_key or (settings.api_key_env is not None and not self.where.is_local)
        )
        self._sleep = sleep
        self._jitter = jitter
        sent = {
            "content-type": "application/json",
            "accept": "text/event-stream",
            "accept-encoding": "identity",
            "user-agent": "kova-ls",
            **(headers or {}),
        }
        if api_key is not None:
            sent[key_header[0]] = key_header[1] + api_key
        sent.update({name.lower(): value for name, value in settings.headers.items()})
        self._headers = sent
        self._transport = transport
        self._url: httpx.URL | None = None

    async def call(
        self,
        build: Callable[[], bytes],
        open_decoder: Callable[[Endpoint], Decoder],
        sink: Sink,
        on_retry: OnRetry,
        *,
        adapt: Callable[[AdapterFailure], bool] | None = None,
    ) -> ModelReply:
        """Post the body that `build` gives and return the whole answer.

        `adapt` may change what `build` gives after a rejected request and returns True when
        that is worth a second try; each such change happens once, without a wait.
        Raises: AdapterFailure when no usable answer came.
        """
        if self._misses_key:
            raise no_key(self.where)
        attempt = 0
        while True:
            try:
                return await self._once(build(), open_decoder, sink)
            except AdapterFailure as failure:
                if adapt is not None and _is_about_parameters(failure) and adapt(failure):
                    continue
                attempt += 1
                wait_s = self._wait_s(attempt, failure)
                if wait_s is None:
                    raise
                on_retry(attempt, wait_s, failure)
            await self._sleep(wait_s)

    async def close(self) -> None:
        """Give back connections."""
        if self._transport is not None:
            await self._transport.aclose()

    def _wait_s(self, attempt: int, failure: AdapterFailure) -> float | None:
        """Return how long to wait before the next try; None to give up."""
        if not failure.retryable or attempt > self._settings.max_retries:
            return None
        if failure.retry_after_s is not None:
            asked_s = failure.retry_after_s
            return asked_s if asked_s <= _LONGEST_WAIT_S else None
        backoff_s = min(_FIRST_WAIT_S * 2 ** (attempt - 1), _LONGEST_BACKOFF_S)
        return backoff_s * (1 - 0.25 * self._jitter())

    async def _once(
        self, body: bytes, open_decoder: Callable[[Endpoint], Decoder], sink: Sink
    ) -> ModelReply:
        decoder = open_decoder(self.where)
        was_shown = False
        broken: AdapterFailure | None = None
        feed = decoder.feed

        def take(chunk: bytes) -> None:
            nonlocal was_shown
            for kind, piece in _together(feed(chunk)):
                was_shown = True
                sink(kind, piece)

        try:
            response = await self._post(body)
            try:
                if response.status_code != 200:
                    raise await self._rejected(response)
                encoding = response.headers.get("content-encoding", "identity")
                if encoding == "identity" and isinstance(response.stream, DirectBody):
                    await response.stream.pour(take)
                else:
                    async for chunk in response.aiter_bytes():
                        take(chunk)
            finally:
                await response.aclose()
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            broken = self._network_failure(error)
        reply = decoder.finish()
        if not was_shown:
            self._show(reply, sink)
        return self._judge(reply, broken)

    def _judge(self, reply: ModelReply, broken: AdapterFailure | None) -> ModelReply:
        """Return what is usable; raise when nothing is."""
        if broken is not None and reply.outcome is Outcome.TRUNCATED:
            reply = replace(reply, error=broken)
        is_failure = reply.outcome in (Outcome.ERROR, Outcome.TRUNCATED)
        if is_failure and reply.error and not (reply.text or reply.reasoning or reply.calls):
            raise reply.error
        usage = reply.usage.model_copy(
            update={
                "context_tokens": reply.usage.input_tokens + reply.usage.output_tokens,
                "context_window": self._settings.context_window,
            }
        )
        return replace(reply, usage=usage)

    @staticmethod
    def _show(reply: ModelReply, sink: Sink) -> None:
        """Show an answer that came in one piece, outside any event."""
        shown: tuple[tuple[Literal["reasoning", "text"], str], ...] = (
            ("reasoning", reply.reasoning),
            ("text", reply.text),
        )
        for kind, piece in shown:
            if piece:
                sink(kind, piece)

    async def _rejected(self, response: httpx.Response) -> AdapterFailure:
        body = bytearray()
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > _ERROR_BODY_BYTES:
                break
        return classify(
            error_of(bytes(body)),
            self.where,
            status=response.status_code,
            headers=response.headers,
        )

    def _network_failure(self, error: Exception) -> AdapterFailure:
        where = self.where
        if isinstance(error, httpx.UnsupportedProtocol | httpx.InvalidURL):
            return AdapterFailure(
                "badRequest",
                f"{where.url.rpartition('@')[2]!r} is no address of a server. "
                "Let base_url in config.toml begin with http:// or https://.",
            )
        if isinstance(error, httpx.ReadTimeout):
            return AdapterFailure(
                "timedOut",
                f"{where.host} sent nothing for {self._settings.idle_timeout_s:g} s. "
                "Try again, or raise idle_timeout_s of this model in config.toml.",
                retryable=True,
            )
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.ProxyError):
            if (broken := _cause(error, ssl.SSLError)) is not None:
                return _tls_failure(broken, where)
            if _cause(error, socket.gaierror) is not None:
                return AdapterFailure(
                    "noNetwork",
                    f"The name {urlsplit(where.url).hostname} cannot be found. "
                    "Check the network and base_url in config.toml.",
                    retryable=True,
                )
            if where.is_local:
                return AdapterFailure(
                    "noNetwork",
                    f"Nothing answers at {_address(where.url)}: is the server running? "
                    "Start it, or correct base_url in config.toml.",
                )
            return AdapterFailure(
                "noNetwork",
                f"{where.host} cannot be reached ({type(error).__name__}). "
                "Check the network, the proxy and base_url.",
                retryable=True,
            )
        if isinstance(error, httpx.DecodingError):
            return AdapterFailure(
                "badAnswer",
                f"{where.host} sent bytes that cannot be decompressed. Check base_url.",
            )
        return AdapterFailure(
            "brokenStream",
            f"The connection to {where.host} broke ({type(error).__name__}). Try again.",
            retryable=True,
        )

    async def _post(self, body: bytes) -> httpx.Response:
        """Return the answer once its head is there.

        The transport is asked without a client: redirects, cookies and the like are not wanted.
        """
        if self._url is None:
            # Taken apart once: httpx takes a tenth of a call for it.
            self._url = httpx.URL(self.where.url)
        if self._transport is None:
            try:
                self._transport = transport_for(self.where.url)
            except (ImportError, ValueError) as error:
                raise AdapterFailure(
                    "noNetwork",
                    "The proxy that the environment names is of a kind that is not spoken here. "
                    "Name an http:// proxy in HTTPS_PROXY, or add the host to NO_PROXY.",
                ) from error
        silent_s = self._settings.idle_timeout_s
        return await self._transport.handle_async_request(
            httpx.Request(
                "POST",
                self._url,
                headers=self._headers,
                content=body,
                extensions={
                    "timeout": {
                        "connect": self._settings.connect_timeout_s,
                        "read": silent_s,
                        "write": silent_s,
                        "pool": silent_s,
                    }
                },
            )
        )


def _together(pieces: list[Piece]) -> list[Piece]:
    """Join the pieces of one kind that arrived together: a flood is then cheap, and none waits."""
    joined: list[Piece] = []
    start = 0
    while start < len(pieces):
        kind = pieces[start][0]
        stop = start + 1
        while stop < len(pieces) and pieces[stop][0] == kind:
            stop += 1
        joined.append((kind, "".join(text for _, text in pieces[start:stop])))
        start = stop
    return joined


def _cause(error: BaseException, kind: type[_Cause]) -> _Cause | None:
    """Return the error of this kind that led to `error`."""
    at: BaseException | None = error
    while at is not None and not isinstance(at, kind):
        at = at.__cause__ or at.__context__
    return at


def _tls_failure(error: ssl.SSLError, where: Endpoint) -> AdapterFailure:
    if isinstance(error, ssl.SSLCertVerificationError):
        return AdapterFailure(
            "noNetwork",
            f"The certificate of {where.host} is not trusted ({error.verify_message}). "
            "Name the file of the authority that signed it in SSL_CERT_FILE, and start the "
            "engine again.",
        )
    return AdapterFailure(
        "noNetwork",
        f"{where.host} does not speak TLS as expected ({error.reason or 'broken off'}). "
        "If it speaks plain HTTP, let base_url in config.toml begin with http://.",
    )


def _is_about_parameters(failure: AdapterFailure) -> bool:
    """Tell a request that the server did not like from one that nothing can mend.

    "This model … is not supported" may speak of the model or of a parameter.
    """
    return failure.status in (None, 400, 422) and failure.code in ("badRequest", "noSuchModel")


def _address(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def join_url(base: str, path: str) -> str:
    """Append a method's path to a base address that may already end with the path's beginning."""
    base = base.rstrip("/")
    first = path.strip("/").split("/")[0]
    if base.endswith("/" + first):
        base = base[: -len(first) - 1]
    return f"{base}/{path.strip('/')}"
