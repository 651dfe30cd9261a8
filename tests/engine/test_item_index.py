"""Items by their place in the journal, and what of a journal the state depends on."""

import shutil
from pathlib import Path

import pytest

from kova_ls.engine import machine
from kova_ls.engine.item_index import ItemIndex, last_todos, telling
from kova_ls.journal import records as r
from kova_ls.journal.store import Journal, Stored
from kova_ls.values import NoticeItem, Todo, TodosBlock, ToolCallItem, Verdict
from kova_ls.vocabulary import Decision, ItemStatus

GOLDEN = sorted((Path(__file__).parents[1] / "golden" / "journals").glob("v*/*.jsonl"))


def read_back(tmp_path: Path, golden: Path) -> list[Stored]:
    copy = tmp_path / "journal.jsonl"
    shutil.copy(golden, copy)
    journal, stored = Journal.open(copy)
    journal.close()
    return stored


def fold(stored: list[Stored]) -> machine.State | None:
    state = None
    for entry in stored:
        state = machine.fold(state, entry.record)
    return state


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_tells_gives_the_same_state_as_all_at_every_cut(tmp_path: Path, golden: Path) -> None:
    stored = read_back(tmp_path, golden)
    assert len(telling(stored)) < len(stored)
    for end in range(1, len(stored) + 1):
        assert fold(telling(stored[:end])) == fold(stored[:end]), f"after record {end}"


def started(seq: int, name: str) -> Stored:
    return Stored(seq, 0, r.ItemStarted(item=notice(name)))


def ended(seq: int, name: str) -> Stored:
    return Stored(seq, 0, r.ItemCompleted(item=notice(name)))


def notice(name: str) -> NoticeItem:
    return NoticeItem(item_id=name, level="info", text=name)


def test_an_item_is_read_at_its_end_or_while_open_at_its_start() -> None:
    index = ItemIndex()
    for entry in (started(3, "a"), started(4, "b"), ended(7, "a"), started(9, "c"), ended(11, "c")):
        index.add(entry)
    assert index.page(None, 10) == ([7, 4, 11], None)


def test_pages_meet_without_gap_or_overlap() -> None:
    index = ItemIndex()
    for number in range(7):
        index.add(started(10 * number + 1, str(number)))
        index.add(ended(10 * number + 2, str(number)))
    seen: list[int] = []
    before: int | None = None
    while True:
        seqs, before = index.page(before, 3)
        seen = seqs + seen
        if before is None:
            break
    assert seen == [10 * number + 2 for number in range(7)]


def test_the_last_task_list_counts() -> None:
    def call(seq: int, *todos: Todo) -> Stored:
        item = ToolCallItem(
            item_id=str(seq),
            call_id=str(seq),
            tool="TodoList",
            args={},
            title="",
            verdict=Verdict(decision=Decision.ALLOW),
            status=ItemStatus.OK,
            display=(TodosBlock(todos=todos),) if todos else (),
        )
        return Stored(seq, 0, r.ItemCompleted(item=item))

    first, second = Todo(text="a", status="pending"), Todo(text="b", status="done")
    assert last_todos([call(1, first), call(2, second), call(3), ended(4, "x")]) == (second,)
    assert last_todos([ended(1, "x")]) == ()
