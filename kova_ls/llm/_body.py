"""Read the body of an HTTP/1.1 answer from what its connection brings. No IO.

h11 reads the heads; for a body, whose every piece someone waits for, it takes several times as long.
Invariant: the content does not depend on where the bytes were split.
Source: RFC 9112, sections 6 and 7.
"""

import re
from collections.abc import Iterable

_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?")
_TRAILER = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\x00-\x08\x0a-\x1f\x7f]*")
_LONGEST_LINE = 16_384
_EMPTY = (204, 304)


class BadBody(Exception):
    """What came is not the body that its head announced."""


class Body:
    """The body of one answer while it arrives."""

    def __init__(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> None:
        """`headers` as h11 checked them: names in lower case, `chunked` or one length at most."""
        fields = dict(headers)
        self._is_chunked = b"transfer-encoding" in fields
        length = fields.get(b"content-length")
        self._left = None if length is None or self._is_chunked else int(length)
        """Of the body, or of the chunk; None between chunks, and where the end is the only sign."""
        self._held = b""
        """The beginning of a line."""
        self._is_behind_chunk = False
        self._is_behind_last = False
        self.is_ended = status in _EMPTY or self._left == 0
        self.has_surplus = False
        """Something came that is not of this body any more."""

    def feed(self, data: bytes) -> bytes:
        """Take any number of bytes and return the content in them. Raises: BadBody."""
        if self.is_ended:
            self.has_surplus |= bool(data)
            return b""
        if self._is_chunked:
            return self._chunks(self._held + data if self._held else data)
        if self._left is None:
            return data
        content = data[: self._left]
        self._left -= len(content)
        self.is_ended = self._left == 0
        self.has_surplus = len(content) < len(data)
        return content

    def end(self) -> None:
        """Take note that nothing more comes. Raises: BadBody when something is missing."""
        if not self.is_ended and (self._is_chunked or self._left is not None):
            raise BadBody("the connection ended before the answer did")
        self.is_ended = True

    def _chunks(self, data: bytes) -> bytes:
        pieces: list[bytes] = []
        at = 0
        self._held = b""
        while not self.is_ended:
            if self._left is not None:
                piece = data[at : at + self._left]
                pieces.append(piece)
                at += len(piece)
                if len(piece) < self._left:
                    self._left -= len(piece)
                    break
                self._left, self._is_behind_chunk = None, True
            stop = data.find(b"\r\n", at)
            if stop < 0:
                self._held = data[at:]
                if len(self._held) > _LONGEST_LINE:
                    raise BadBody("a line between its pieces does not end")
                break
            self._line(data[at:stop])
            at = stop + 2
        self.has_surplus = self.is_ended and at < len(data)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _line(self, line: bytes) -> None:
        """Take what stands between chunks: the end of one, the size of the next, or a trailer."""
        if self._is_behind_chunk:
            if line:
                raise BadBody("a piece is longer than it said")
            self._is_behind_chunk = False
        elif self._is_behind_last:
            self.is_ended = not line
            if line and _TRAILER.fullmatch(line) is None:
                raise BadBody(f"{line[:40]!r} stands behind the last piece")
        elif (size := _SIZE.fullmatch(line)) is None:
            raise BadBody(f"{line[:40]!r} is no size of a piece")
        elif (n_bytes := int(size[1], 16)) == 0:
            self._is_behind_last = True
        else:
            self._left = n_bytes
