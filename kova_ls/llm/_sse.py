"""Cut a stream of bytes into server-sent events.

Invariant: no IO; the events do not depend on where the bytes were split.
Invariant: text is never decoded here, so a character may be split anywhere.
Source: WHATWG HTML, "Server-sent events", interpreting an event stream.
"""

Event = tuple[bytes, bytes]
"""Event name (empty when the stream gives none) and data."""

_FIELDS = (b"data", b"event", b"id", b"retry")


class EventCutter:
    """Holds the unfinished line and event between two pieces."""

    __slots__ = ("_after_cr", "_data", "_name", "_partial", "_seen_line", "stray")

    def __init__(self) -> None:
        self._partial: list[bytes] = []
        self._data: list[bytes] = []
        self._name = b""
        self._after_cr = False
        self._seen_line = False
        self.stray: list[bytes] = []
        """Lines that belong to no event stream, such as a plain JSON body."""

    def feed(self, piece: bytes) -> list[Event]:
        """Return the events that this piece completes."""
        if self._after_cr and piece:
            if piece[0] == 0x0A:
                piece = piece[1:]
            self._after_cr = False
        if b"\r" in piece:
            self._after_cr = piece[-1] == 0x0D
            piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = piece.split(b"\n")
        rest = lines.pop()
        if not lines:
            if rest:
                self._partial.append(rest)
            return []
        if self._partial:
            self._partial.append(lines[0])
            lines[0] = b"".join(self._partial)
            self._partial.clear()
        if rest:
            self._partial.append(rest)
        return self._take(lines)

    def finish(self) -> list[Event]:
        """Return what a stream that ends without its blank line leaves behind."""
        last = b"".join(self._partial)
        self._partial.clear()
        if any(name.startswith(last) for name in _FIELDS):
            last = b""
        return self._take([last, b""])

    def _take(self, lines: list[bytes]) -> list[Event]:
        events: list[Event] = []
        data = self._data
        if not self._seen_line:
            self._seen_line = True
            lines[0] = lines[0].removeprefix(b"\xef\xbb\xbf")
        for line in lines:
            if not line:
                if data:
                    events.append((self._name, data[0] if len(data) == 1 else b"\n".join(data)))
                    data.clear()
                self._name = b""
            elif line.startswith(b"data:"):
                data.append(line[6:] if line[5:6] == b" " else line[5:])
            elif line.startswith(b"event:"):
                self._name = line[6:].strip()
            elif line[0] != 0x3A and line.partition(b":")[0] not in _FIELDS:
                self.stray.append(line)
        return events
