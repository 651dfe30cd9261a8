"""Turns that nothing works on any more and whose end could not be written.

Invariant: the person is told at once, and the turn is ended as soon as that can be written.
"""

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from kova_ls.errors import KovaError

if TYPE_CHECKING:
    from kova_ls.engine.session import Session

AGAIN_S = 5.0


def is_stranded(session: "Session") -> bool:
    """True when nothing works on the turn: its end could not be written, or it never began."""
    return session.turn is None and session.state.turn_id is not None and not session.leaving


def end_stranded(session: "Session") -> tuple[str, ...]:
    """End such a turn, and say what it left open. Raises: RequestFailed (`diskFailed`)."""
    from kova_ls.engine.turn import end_left

    stopped = end_left(session)
    session.go_on()
    return stopped


def strand(session: "Session", why: BaseException | None) -> None:
    """Say that the turn has stopped, and try again and again to write that."""
    if isinstance(why, KovaError):
        session.engine.on_warning(
            f"A turn has stopped, and its end cannot be written yet. {why.message}"
        )
    session.engine.spawn(_settle(session), name=f"end of {session.id}")


async def _settle(session: "Session") -> None:
    while True:
        await asyncio.sleep(AGAIN_S)
        if not is_stranded(session):
            return
        with suppress(KovaError):
            end_stranded(session)
