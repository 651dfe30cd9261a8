"""Where a session's items stand in its journal, so that no item need be kept in memory."""

from array import array
from collections.abc import Iterable

from kova_ls.journal import records as r
from kova_ls.journal.store import Journal, Stored
from kova_ls.values import Item, Todo, TodosBlock, ToolCallItem

_STARTED = "item.started"
_COMPLETED = "item.completed"
_LIST_TOOL = "TodoList"


class ItemIndex:
    """Seq of each item's start and end, in the order of their starts."""

    def __init__(self) -> None:
        self._starts = array("Q")
        self._ends = array("Q")
        """Same length; 0 while the item is open."""
        self._open: dict[str, int] = {}

    def add(self, stored: Stored) -> None:
        """Take the next record of the journal."""
        tag = stored.tag
        if tag == _STARTED:
            self._open[stored.item_id or ""] = len(self._starts)
            self._starts.append(stored.seq)
            self._ends.append(0)
        elif tag == _COMPLETED:
            self._ends[self._open.pop(stored.item_id or "")] = stored.seq

    def page(self, before_seq: int | None, limit: int) -> tuple[list[int], int | None]:
        """Return, oldest first, where the newest items before a place are best read.

        That is the end of each, or its start while it is open; and the place for the page before,
        None when this is the first.
        """
        stop = len(self._starts)
        if before_seq is not None:
            while stop and self._starts[stop - 1] >= before_seq:
                stop -= 1
        start = max(0, stop - limit)
        seqs = [self._ends[index] or self._starts[index] for index in range(start, stop)]
        return seqs, (self._starts[start] if start else None)

    def read(
        self, journal: Journal, still_open: Iterable[Item], before_seq: int | None, limit: int
    ) -> tuple[list[Item], int | None]:
        """Return the items of a page, those still open as they are now, and the place before it."""
        seqs, before = self.page(before_seq, limit)
        now = {item.item_id: item for item in still_open}
        found: list[Item] = []
        for seq in seqs:
            record = journal.read(seq, seq)[0].record
            assert isinstance(record, r.ItemStarted | r.ItemCompleted)
            found.append(now.get(record.item.item_id, record.item))
        return found, before


_WITHIN_A_TURN = frozenset(
    str(kind.model_fields["type"].default)
    for kind in (
        r.TurnSuspended,
        r.TurnResumed,
        r.StepStarted,
        r.ModelReplied,
        r.StepCompleted,
        r.ItemStarted,
        r.ItemUpdated,
        r.ItemCompleted,
        r.ApprovalRequested,
        r.ApprovalResolved,
        r.QuestionRequested,
        r.QuestionResolved,
    )
)
"""Records that leave nothing behind once their turn has ended, but for what the person said."""


def telling(stored: list[Stored]) -> list[Stored]:
    """Return the records that the state depends on: ended turns need not be gone through.

    Invariant: folding these gives the same state as folding all.
    """
    last_end = 0
    for index in range(len(stored) - 1, -1, -1):
        if stored[index].tag == "turn.completed":
            last_end = index
            break
    return [
        entry
        for index, entry in enumerate(stored)
        if index > last_end
        or entry.tag not in _WITHIN_A_TURN
        or (entry.tag in (_STARTED, _COMPLETED) and entry.item_kind == "userMessage")
    ]


def last_todos(stored: list[Stored]) -> tuple[Todo, ...]:
    """Return the task list as the last call about it left it."""
    for entry in reversed(stored):
        if entry.tag != _COMPLETED or entry.item_tool != _LIST_TOOL:
            continue
        record = entry.record
        if isinstance(record, r.ItemCompleted) and isinstance(record.item, ToolCallItem):
            for block in record.item.display:
                if isinstance(block, TodosBlock):
                    return block.todos
    return ()
