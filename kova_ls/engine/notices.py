"""What the engine itself says in a transcript."""

from secrets import token_hex
from typing import TYPE_CHECKING, Literal

from kova_ls.journal import records as r
from kova_ls.values import NoticeItem

if TYPE_CHECKING:
    from kova_ls.engine.session import Session


def notice(session: "Session", level: Literal["info", "warning", "error"], text: str) -> None:
    """Put a message of the engine into the transcript of the running turn."""
    turn_id, step_id = session.state.turn_id, session.state.step_id
    item = NoticeItem(item_id=token_hex(8), level=level, text=text)
    session.record(r.ItemStarted(turn_id=turn_id, step_id=step_id, item=item))
    session.record(r.ItemCompleted(turn_id=turn_id, step_id=step_id, item=item))


def tell_notices(session: "Session") -> None:
    """Put what the running call left to say into the transcript."""
    notices, session.notices = session.notices, []
    for text in notices:
        notice(session, "warning", text)
