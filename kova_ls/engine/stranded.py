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
        if not session.is_stranded:
            return
        with suppress(KovaError):
            session.end_stranded()
