"""The open documents below a card that waits: when one moves, what it shows is computed anew.

Invariant: a card gives way only to one that shows something else. Where nothing can be computed,
as in the midst of typing, it stays: a yes is checked against the texts in any case.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from kova_ls.engine.overlays import SharedOverlays
from kova_ls.permission.effects import Effect, WritePath

if TYPE_CHECKING:
    from kova_ls.engine.session import Session
    from kova_ls.engine.workspace import Document

QUIET_S = 0.3
"""How long nobody typed before a card is computed anew."""


class CardWatch:
    """Looks at the documents that a call would write, as they were when it was made."""

    def __init__(
        self,
        session: "Session",
        effects: Sequence[Effect],
        is_outdated: Callable[[], Awaitable[bool]],
    ) -> None:
        self._session = session
        self._paths = [effect.path for effect in effects if isinstance(effect, WritePath)]
        self._is_outdated = is_outdated
        self._seen = self._documents()
        self._timer: asyncio.TimerHandle | None = None
        self._review: asyncio.Task[None] | None = None

    def look(self, give_way: Callable[[], None]) -> None:
        """Compare the documents with those last seen; `give_way` when the card is outdated."""
        now = self._documents()
        if now == self._seen:
            return
        self._seen = now
        self.close()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(QUIET_S, self._begin, give_way)

    def _begin(self, give_way: Callable[[], None]) -> None:
        self._review = self._session.engine.spawn(
            self._compute(give_way), name=f"card of {self._session.id}"
        )

    async def _compute(self, give_way: Callable[[], None]) -> None:
        if await self._is_outdated():
            self._review = None  # what it wakes closes the watch, and must not end it
            give_way()

    def close(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()
        if self._review is not None:
            self._review.cancel()

    def _documents(self) -> "list[Document | None]":
        overlays = SharedOverlays(self._session.origin, self._session.engine.editors)
        return [overlays.get(path) for path in self._paths]
