"""A session as editors first see it: the snapshot, and pages of events from a cursor."""

from dataclasses import dataclass

from kova_ls.endpoint.project import Projector
from kova_ls.engine import Session
from kova_ls.engine.judge import facts
from kova_ls.engine.places import workspace_path
from kova_ls.engine.workspace import file_uri
from kova_ls.journal import records as r
from kova_ls.l10n import Language
from kova_ls.protocol.event import Event
from kova_ls.protocol.session import Cursor, SessionSnapshot, TurnEnd
from kova_ls.vocabulary import Detail

_PAGE_ITEMS = 50
_PAGE_BYTES = 100_000


@dataclass(frozen=True, slots=True)
class EventPage:
    """Events after a cursor."""

    events: tuple[Event, ...]
    last_seq: int
    more: bool = False
    reset: bool = False


def snapshot(session: Session, *, with_items: bool = True) -> SessionSnapshot:
    """Return the session as it stands; the last items that fit into one message."""
    state = session.state
    items: list[r.Item] = []
    before: int | None = None
    if with_items:
        items, before = items_page(session, None, _PAGE_ITEMS)
    granted = session.engine.grants.load(workspace_path(session))
    return SessionSnapshot(
        session_id=state.session_id,
        title=state.title,
        workspace=state.workspace,
        roots=tuple(
            r.RootEntry(uri=file_uri(root.path), source=root.source)
            for root in facts(session).roots
        ),
        mode=state.mode,
        level=state.level,
        model=state.model,
        parent_id=state.parent_id,
        state=state.status,
        turn_id=state.turn_id,
        ended=_end(state.ended),
        queue=state.queue,
        items=tuple(items),
        items_before=before,
        approvals=state.approvals,
        questions=state.questions,
        usage=state.usage,
        goal=state.goal,
        watermark=Cursor(epoch=state.epoch, seq=session.journal.seq),
        notices=granted.notices,
    )


def _end(ended: r.TurnCompleted | None) -> TurnEnd | None:
    if ended is None:
        return None
    return TurnEnd(
        turn_id=ended.turn_id,
        stop_reason=ended.stop_reason,
        error=ended.error,
        stopped=ended.stopped,
    )


def items_page(
    session: Session, before_seq: int | None, limit: int
) -> tuple[list[r.Item], int | None]:
    """Return a page of items, oldest first; fewer than `limit` when they are large."""
    items, earlier = session.items(before_seq, limit)
    room = _PAGE_BYTES
    for index in range(len(items) - 1, -1, -1):
        room -= len(items[index].model_dump_json())
        if room < 0 and index < len(items) - 1:
            return session.items(before_seq, len(items) - index - 1)
    return items, earlier


def events_page(
    session: Session, cursor: Cursor | None, detail: Detail, language: Language
) -> EventPage:
    """Return the first page of what came after the cursor; none without a cursor.

    A cursor of another epoch, or one ahead of the journal, asks for a whole snapshot (`reset`).
    """
    last = session.journal.seq
    if cursor is None:
        return EventPage((), last)
    if cursor.epoch != session.state.epoch or cursor.seq > last:
        return EventPage((), last, reset=True)
    first = cursor.seq + 1
    stop = last
    while stop > first and session.journal.size_bytes(first, stop) > _PAGE_BYTES:
        stop = first + (stop - first) // 2
    projector = Projector(session.id, session.state.epoch)
    events = tuple(
        projector.event(stored, detail, language) for stored in session.journal.read(first, stop)
    )
    return EventPage(events, max(stop, cursor.seq), more=stop < last)
