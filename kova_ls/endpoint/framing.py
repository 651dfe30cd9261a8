"""LSP frames and JSON-RPC envelopes: bytes in, messages out, and back.

Our own loop, since pygls 2.1.1 takes nested objects with a `jsonrpc` key for messages, leaves
requests with bad params unanswered and puts tracebacks into errors.
Invariant: light to import: an editor's `initialize` is answered before the engine is loaded.
"""

import json
from collections.abc import Iterator
from typing import Any, cast

import orjson

MAX_MESSAGE_BYTES = 64 * 1024 * 1024
"""Larger ones from an editor end the connection."""

PARSE_ERROR, INVALID_REQUEST = -32700, -32600


class BadFrame(Exception):
    """A header that cannot be understood: nothing after it can be trusted."""


class Framer:
    """Cuts a byte stream into message bodies."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._length: int | None = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Take any number of bytes and yield the bodies that became complete.

        Raises: BadFrame.
        """
        self._buffer += data
        while True:
            if self._length is None:
                stop = self._buffer.find(b"\r\n\r\n")
                if stop < 0:
                    if len(self._buffer) > 8192:
                        raise BadFrame("no end of header within 8 KiB")
                    return
                self._length = _content_length(bytes(self._buffer[:stop]))
                del self._buffer[: stop + 4]
            if len(self._buffer) < self._length:
                return
            body = bytes(self._buffer[: self._length])
            del self._buffer[: self._length]
            self._length = None
            yield body


def _content_length(header: bytes) -> int:
    for line in header.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip().isdigit():
            length = int(value)
            if length > MAX_MESSAGE_BYTES:
                raise BadFrame(f"a message of {length:,} bytes is too large")
            return length
    raise BadFrame("no Content-Length header")


def frame(body: bytes) -> bytes:
    """Return a body with its header."""
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def parse(body: bytes) -> Any:
    """Return the JSON value. Raises: ValueError."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        # Lone surrogates and numbers beyond a double are legal JSON that orjson refuses.
        return json.loads(body, parse_constant=_refuse_constant)


class NoMessage(Exception):
    """A body that is no JSON-RPC message; the text says what to send."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def message(body: bytes) -> dict[str, Any]:
    """Return the message that a body holds. Raises: NoMessage."""
    try:
        value = parse(body)
    except (ValueError, RecursionError) as error:
        text = f"Not JSON: {str(error)[:200]}. Send one JSON object per frame."
        raise NoMessage(PARSE_ERROR, text) from error
    if not isinstance(value, dict):
        what = "A batch is not part of LSP" if isinstance(value, list) else "Not an object"
        text = f"{what}: send one JSON-RPC object per frame."
        raise NoMessage(INVALID_REQUEST, text)
    return cast(dict[str, Any], value)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def dump(value: Any) -> bytes:
    """Return JSON bytes of plain values."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, separators=(",", ":")).encode()


def result(request_id: Any, body: bytes) -> bytes:
    """Return the frame of an answer; `body` is the result's JSON."""
    return frame(b'{"jsonrpc":"2.0","id":%s,"result":%s}' % (dump(request_id), body))


def error(request_id: Any, code: int, message: str, data: dict[str, Any] | None = None) -> bytes:
    """Return the frame of a failed answer."""
    body: dict[str, Any] = {"code": code, "message": message}
    if data:
        body["data"] = data
    return frame(b'{"jsonrpc":"2.0","id":%s,"error":%s}' % (dump(request_id), dump(body)))


def notification(method: str, params: bytes) -> bytes:
    """Return the frame of a notification; `params` is JSON."""
    return frame(b'{"jsonrpc":"2.0","method":"%s","params":%s}' % (method.encode(), params))


def request(request_id: str, method: str, params: bytes) -> bytes:
    """Return the frame of a request to the editor; `params` is JSON."""
    return frame(
        b'{"jsonrpc":"2.0","id":"%s","method":"%s","params":%s}'
        % (request_id.encode(), method.encode(), params)
    )
