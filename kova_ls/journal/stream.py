"""Append, then announce: the one way a session's facts reach anyone.

Order: subscribers hear records in the order of `seq`, each after it was written; deltas between.
Invariant: a subscriber that raises is dropped and harms neither the session nor the others.
"""

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from kova_ls.journal.records import Record
from kova_ls.journal.store import Journal, Stored

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of an unfinished item; told once, never stored."""

    at: float
    turn_id: str
    step_id: str | None
    item_id: str
    kind: str
    """`reply`, `reasoning` or `toolCall`."""
    offset: int
    """Characters of the item before this piece."""
    text: str


Subscriber = Callable[[Stored | Delta], None]


class Stream:
    """A journal with listeners."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._subscribers: list[tuple[Subscriber, int]] = []
        """With the last `seq` that each knew when it came."""
        self._held: list[Stored | Delta] | None = None

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Hear everything appended from now on; returns the way out.

        What is in the journal but still held back is not heard: who comes now has read it there.
        """
        entry = (subscriber, self.journal.seq)
        self._subscribers.append(entry)

        def leave() -> None:
            if entry in self._subscribers:
                self._subscribers.remove(entry)

        return leave

    @property
    def is_heard(self) -> bool:
        """True while someone hears it."""
        return bool(self._subscribers)

    def append(self, record: Record, at: float, apply: Callable[[], None]) -> Stored:
        """Write the record, let the caller `apply` it, then tell it.

        Raises: RequestFailed (`diskFailed`); then nothing was applied or told.
        """
        stored = self.journal.append(record, at)
        apply()
        self.tell(stored)
        return stored

    @asynccontextmanager
    async def synced(self) -> AsyncGenerator[None]:
        """Tell what is appended inside only after it is on the disk; order is kept."""
        self._held = self._held or []
        try:
            yield
            await self.journal.sync()
        finally:
            held, self._held = self._held, None
            for fact in held or ():
                self.tell(fact)

    def tell(self, fact: Stored | Delta) -> None:
        """Tell a written record, or a delta."""
        if self._held is not None:
            self._held.append(fact)
            return
        for entry in tuple(self._subscribers):
            subscriber, known_seq = entry
            if isinstance(fact, Stored) and fact.seq <= known_seq:
                continue
            try:
                subscriber(fact)
            except Exception:  # noqa: BLE001 - a listener harms neither session nor others
                _log.exception("a subscriber failed and was dropped")
                if entry in self._subscribers:
                    self._subscribers.remove(entry)
