"""What the engine asked an editor, and has no answer to yet.

Invariant: every question ends: answered, cancelled, out of time, or with the connection.
"""

import asyncio
from collections.abc import Callable
from secrets import token_hex
from typing import Any

from kova_ls.endpoint import framing, handshake


class Asked:
    """The open requests to one editor."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._open: dict[str, asyncio.Future[Any]] = {}

    async def ask(self, method: str, params: dict[str, Any], timeout_s: float) -> Any:
        """Ask and return the result. Raises: TimeoutError, ConnectionError."""
        request_id = f"kova-{token_hex(4)}"
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._open[request_id] = future
        self._write(framing.request(request_id, method, framing.dump(params)))
        try:
            async with asyncio.timeout(timeout_s):
                return await future
        except (TimeoutError, asyncio.CancelledError):
            self._write(framing.notification("$/cancelRequest", framing.dump({"id": request_id})))
            raise
        finally:
            self._open.pop(request_id, None)

    def answered(self, request_id: str, message: dict[str, Any]) -> None:
        """Take an answer; one that nobody waits for is passed over."""
        future = self._open.get(request_id)
        if future is None or future.done():
            return
        if "error" in message:
            text = handshake.dig(message["error"], "message")
            future.set_exception(ConnectionError(str(text)))
        else:
            future.set_result(message["result"])

    def lose(self) -> None:
        """End all: the editor is gone."""
        for future in self._open.values():
            if not future.done():
                future.set_exception(ConnectionError("the editor is gone"))
