import pytest

from kova_ls.engine.backlog import enqueue, known, without
from kova_ls.engine.machine import State
from kova_ls.errors import RequestFailed
from kova_ls.journal.records import QueuedPrompt
from kova_ls.values import TextPart
from kova_ls.vocabulary import StartStatus

SMALL = (TextPart(text="x"),)


def waiting(count, chars=1):
    part = TextPart(text="x" * chars)
    return [QueuedPrompt(prompt_id=str(n), turn_id=str(n), input=(part,)) for n in range(count)]


def test_a_prompt_waits_behind_the_others():
    before = waiting(63)
    *others, last = enqueue(before, SMALL, "p", "an editor")
    assert others == before
    assert (last.prompt_id, last.input, last.client) == ("p", SMALL, "an editor")
    assert last.turn_id


def test_there_is_always_room_for_one():
    assert len(enqueue([], (TextPart(text="x" * 2_000_000),), "p", None)) == 1


@pytest.mark.parametrize("full", [waiting(64), waiting(2, 500_000)])
def test_a_full_queue_says_so(full):
    with pytest.raises(RequestFailed) as caught:
        enqueue(full, SMALL, "p", None)
    assert caught.value.code == "limitExceeded"


def test_a_prompt_that_came_before_is_known():
    state = State(prompts={"a": "t1"}, queue=tuple(waiting(2)))
    assert known(state, "a") == ("t1", StartStatus.STARTED)
    assert known(state, "1") == ("1", StartStatus.QUEUED)
    assert known(state, "b") is None
    assert known(state, None) is None


def test_one_is_taken_out_and_the_others_keep_their_order():
    first, second, third = waiting(3)
    assert without((first, second, third), "1") == (second, (first, third))


def test_what_waits_no_more_is_not_taken_out():
    with pytest.raises(RequestFailed) as caught:
        without(waiting(2), "2")
    assert caught.value.code == "staleTurn"
