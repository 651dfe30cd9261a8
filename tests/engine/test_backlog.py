import pytest

from kova_ls.engine.backlog import check_room
from kova_ls.errors import RequestFailed
from kova_ls.journal.records import QueuedPrompt
from kova_ls.values import TextPart


def waiting(count, chars=1):
    part = TextPart(text="x" * chars)
    return [QueuedPrompt(prompt_id=str(n), turn_id=str(n), input=(part,)) for n in range(count)]


def test_there_is_room_for_some_and_always_for_one():
    check_room(waiting(63), (TextPart(text="x"),))
    check_room([], (TextPart(text="x" * 2_000_000),))


@pytest.mark.parametrize("full", [waiting(64), waiting(2, 500_000)])
def test_a_full_queue_says_so(full):
    with pytest.raises(RequestFailed) as caught:
        check_room(full, (TextPart(text="x"),))
    assert caught.value.code == "limitExceeded"
