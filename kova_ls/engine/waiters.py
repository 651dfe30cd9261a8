"""Turns that wait for a person: woken by an answer, judged anew when what rules them changed."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kova_ls.engine.places import workspace_path

if TYPE_CHECKING:
    from kova_ls.engine.session import Session


@dataclass(slots=True)
class Waiter:
    """A turn that waits for a person."""

    future: asyncio.Future[None]
    rejudge: Callable[[str], None]
    """Called with `mode` or `level` when one of them changed."""
    look: Callable[[], None] = lambda: None
    """Called after everything that an editor says: its documents may have moved."""

    def wake(self) -> None:
        """Let the turn look again."""
        if not self.future.done():
            self.future.set_result(None)


def wake(session: "Session", ask_id: str) -> None:
    """Let the turn go on that waits for an approval or a question."""
    waiter = session.waiters.pop(ask_id, None)
    if waiter is not None:
        waiter.wake()


def rejudge(session: "Session", by: str) -> None:
    """Judge open cards anew: what is allowed now goes on, what is blocked is refused."""
    for waiter in tuple(session.waiters.values()):
        waiter.rejudge(by)


def rejudge_grants(session: "Session") -> None:
    """Judge open cards anew when the permission files changed since they were last judged."""
    grants = session.engine.grants.load(workspace_path(session))
    if grants != session.judged_by:
        session.judged_by = grants
        rejudge(session, "rule")
