"""What goes out on one connection: frames of one round of the loop leave together."""

import asyncio
import logging

_log = logging.getLogger(__name__)
_MAX_UNREAD_BYTES = 64 * 1024 * 1024
"""An editor that leaves more unread has hung, whatever it asks for."""


class Outgoing:
    """Frames on their way to one editor; without a connection they are dropped."""

    def __init__(self) -> None:
        self.transport: asyncio.WriteTransport | None = None
        """The connection; None before it is made and after it is lost."""
        self._frames: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Send a frame, together with all others of this round of the loop."""
        if not self._frames:
            asyncio.get_running_loop().call_soon(self.send)
        self._frames.append(data)

    def write_now(self, data: bytes) -> None:
        """Send a frame, and what waits before it, without waiting for the round to end."""
        self._frames.append(data)
        self.send()

    def send(self) -> None:
        """Send what waits."""
        if not self._frames:
            return
        data, self._frames = b"".join(self._frames), []
        if self.transport is None or self.transport.is_closing():
            return
        self.transport.write(data)
        if self.transport.get_write_buffer_size() > _MAX_UNREAD_BYTES:
            _log.warning("an editor reads nothing any more; its connection was ended")
            self.transport.abort()

    def close(self) -> None:
        """End the connection once everything written has gone out."""
        self.send()
        if self.transport is not None:
            self.transport.close()

    @property
    def n_waiting(self) -> int:
        """Bytes that the editor has not taken."""
        if self.transport is None:
            return 0
        return self.transport.get_write_buffer_size() + sum(map(len, self._frames))
