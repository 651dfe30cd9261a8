"""What one editor sent and what was not handled yet: in order, a little at a time.

Invariant: light to import; an editor that sends more than can be handled waits itself and keeps
no other one waiting.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Any

Message = dict[str, Any]

_SHARE_S = 0.02
"""Of a round of the loop, for one editor; a message that takes longer is the last of its round."""


class Inbox:
    """The messages of one editor."""

    def __init__(
        self,
        handle: Callable[[Message], None],
        *,
        hold: Callable[[bool], None],
        settle: Callable[[], None],
    ) -> None:
        """`hold` is told whether to stop reading; `settle` is called after some were handled late."""
        self._handle = handle
        self._hold = hold
        self._settle = settle
        self._waiting: deque[Message] = deque()
        self._is_open = False
        self._until = 0.0

    def start_round(self) -> None:
        """Begin the editor's share anew; called when bytes of it arrive."""
        self._until = time.perf_counter() + _SHARE_S

    def put(self, message: Message) -> None:
        """Handle a message, now or later."""
        if self._is_open and not self._waiting and time.perf_counter() < self._until:
            self._handle(message)
            return
        if self._is_open and not self._waiting:
            self._hold(True)
            asyncio.get_running_loop().call_soon(self._go_on)
        self._waiting.append(message)

    def open(self) -> None:
        """Handle what waited for the engine, and from now on what comes."""
        self._is_open = True
        if self._waiting:
            self._hold(True)
            self._go_on()

    def take_all(self) -> list[Message]:
        """Return and forget what waits."""
        waiting, self._waiting = list(self._waiting), deque()
        return waiting

    def _go_on(self) -> None:
        self.start_round()
        try:
            while self._waiting and time.perf_counter() < self._until:
                self._handle(self._waiting.popleft())
        finally:
            if self._waiting:
                asyncio.get_running_loop().call_soon(self._go_on)
            else:
                self._hold(False)
        self._settle()
