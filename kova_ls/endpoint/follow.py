"""One editor following one session: which facts it is sent, and when.

Invariant: a durable event is sent or the editor is told to attach again; never silently dropped.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from kova_ls.endpoint.outgoing import Outgoing
from kova_ls.endpoint.project import Projector, projector_of
from kova_ls.engine import Session
from kova_ls.journal.store import Stored
from kova_ls.journal.stream import Delta
from kova_ls.l10n import Language
from kova_ls.vocabulary import Detail

_DROP_DELTAS_BYTES = 1_000_000
_GIVE_UP_BYTES = 8_000_000


class Follower:
    """Sends a session's facts to one editor."""

    def __init__(
        self,
        projector: Projector,
        detail: Detail,
        max_latency_s: float,
        out: Outgoing,
        *,
        give_up: Callable[[], None],
        language: Language,
    ) -> None:
        self._projector = projector
        self._detail = detail
        self._max_latency_s = max_latency_s
        self._out = out
        self._give_up = give_up
        self._language = language
        self._held: list[Delta] = []
        self._timer: asyncio.TimerHandle | None = None

    def __call__(self, fact: Stored | Delta) -> None:
        """Take a fact of the session's stream."""
        waiting = self._out.n_waiting
        if isinstance(fact, Delta):
            if self._detail is Detail.DELTAS and waiting < _DROP_DELTAS_BYTES:
                self._delta(fact)
            return
        self._flush()
        if waiting > _GIVE_UP_BYTES:
            self._give_up()
            return
        self._out.write(self._projector.frame(fact, self._detail, self._language))

    def _delta(self, delta: Delta) -> None:
        if self._max_latency_s <= 0:
            self._out.write_now(self._projector.frame(delta, self._detail))
            return
        last = self._held[-1] if self._held else None
        if last is not None and last.item_id == delta.item_id:
            self._held[-1] = replace(last, text=last.text + delta.text)
        else:
            self._held.append(delta)
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._max_latency_s, self._flush)

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        held, self._held = self._held, []
        for delta in held:
            self._out.write(self._projector.frame(delta, self._detail))

    def close(self) -> None:
        """Send what is held."""
        self._flush()


def follow(
    session: Session,
    detail: Detail,
    max_latency_s: float,
    out: Outgoing,
    *,
    give_up: Callable[[], None],
    language: Language,
) -> Callable[[], None]:
    """Send an editor the session's facts from now on; returns what ends it."""
    follower = Follower(
        projector_of(session),
        detail,
        min(max(max_latency_s, 0.0), 1.0),
        out,
        give_up=give_up,
        language=language,
    )
    leave = session.stream.subscribe(follower)

    def stop() -> None:
        leave()
        follower.close()

    return stop
