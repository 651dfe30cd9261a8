"""The legal order of records, whatever order they come in."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kova_ls.engine import machine
from kova_ls.engine.machine import end_of, fold
from kova_ls.errors import IllegalTransition
from kova_ls.journal import records as r
from kova_ls.journal.store import Journal
from kova_ls.values import (
    Approval,
    NoticeItem,
    OtherSubject,
    ReplyItem,
    TextPart,
    ToolCallItem,
    Usage,
    UserMessageItem,
    Verdict,
)
from kova_ls.vocabulary import (
    ApprovalLevel,
    Decision,
    ItemStatus,
    Mode,
    SessionState,
    StopReason,
)

GOLDEN = Path(__file__).parents[1] / "golden/journals/v1/journal.jsonl"

CREATED = r.SessionCreated(
    session_id="s",
    epoch="e",
    workspace=None,
    title="",
    mode=Mode.AGENT,
    level=ApprovalLevel.ASK,
    model="m",
)
CALL = ToolCallItem(
    item_id="c1",
    call_id="c1",
    tool="bash",
    args={},
    title="$ ls",
    verdict=Verdict(decision=Decision.ASK),
    status=ItemStatus.WAITING,
)
CARD = Approval(
    approval_id="s.a1",
    session_id="s",
    turn_id="t1",
    call_id="c1",
    kind="tool",
    title="$ ls",
    subject=OtherSubject(summary="ls"),
    decisions=("deny", "once"),
    requested_at=1.0,
)
REQUEST = r.CallRequest(call_id="c1", provider_id="p1", tool="bash", arguments="{}")
ONE_TURN = (
    CREATED,
    r.TurnStarted(turn_id="t1", prompt_id="p1", input=(TextPart(text="Go."),)),
    r.StepStarted(turn_id="t1", step_id="s1", number=1, model="m"),
    r.ModelReplied(turn_id="t1", step_id="s1", calls=(REQUEST,)),
    r.ItemStarted(turn_id="t1", step_id="s1", item=CALL),
    r.ApprovalRequested(approval=CARD),
    r.TurnSuspended(turn_id="t1", waiting_for="s.a1"),
    r.ApprovalResolved(approval_id="s.a1", turn_id="t1", decision="once", resolved_by="tester"),
    r.TurnResumed(turn_id="t1"),
    r.ItemUpdated(turn_id="t1", item_id="c1", status=ItemStatus.RUNNING),
    r.ItemCompleted(turn_id="t1", step_id="s1", item=end_of(CALL, ItemStatus.OK)),
    r.StepCompleted(turn_id="t1", step_id="s1"),
    r.TurnCompleted(turn_id="t1", stop_reason=StopReason.DONE),
)


def folded(*records):
    state = None
    for record in records:
        state = fold(state, record)
    return state


def test_a_whole_turn_leads_back_to_idle():
    state = folded(*ONE_TURN)
    assert state.status is SessionState.IDLE
    assert (state.turn_id, state.step_id) == (None, None)
    assert (state.open_items, state.approvals, state.calls) == ((), (), ())
    assert state.prompts == {"p1": "t1"}
    assert state.answers == {}


@pytest.mark.parametrize("at", range(1, len(ONE_TURN)))
def test_no_record_of_a_turn_but_a_note_may_come_twice(at):
    state = folded(*ONE_TURN[: at + 1])
    record = ONE_TURN[at]
    if isinstance(record, r.TurnResumed | r.ItemUpdated):
        fold(state, record)
        return
    with pytest.raises(IllegalTransition):
        fold(state, record)


def test_the_first_record_creates_and_only_the_first():
    with pytest.raises(IllegalTransition):
        fold(None, ONE_TURN[1])
    with pytest.raises(IllegalTransition, match="created once"):
        fold(folded(CREATED), CREATED)


def test_a_turn_does_not_end_over_open_things():
    for stop in range(3, len(ONE_TURN) - 1):
        with pytest.raises(IllegalTransition):
            fold(folded(*ONE_TURN[:stop]), ONE_TURN[-1])


def test_a_refusal_tells_its_story():
    with pytest.raises(IllegalTransition) as caught:
        fold(folded(*ONE_TURN[:6]), ONE_TURN[-1])
    assert caught.value.data == {
        "status": SessionState.RUNNING,
        "turn": "t1",
        "step": "s1",
        "open_items": ["c1"],
    }


def test_a_queued_prompt_leaves_the_queue_with_its_turn():
    queued = r.QueuedPrompt(prompt_id="p2", turn_id="t2", input=())
    state = folded(*ONE_TURN, r.QueueUpdated(queue=(queued,)))
    assert state.queue == (queued,)
    assert fold(state, r.TurnStarted(turn_id="t2", prompt_id="p2")).queue == ()


def test_an_answer_stays_until_its_call_ended():
    state = folded(*ONE_TURN[:9])
    assert state.answers["c1"].decision == "once"
    assert state.answers["c1"].card == CARD


def test_a_new_card_takes_the_old_answer_back():
    state = folded(*ONE_TURN[:9])
    again = CARD.model_copy(update={"approval_id": "s.a2"})
    assert fold(state, r.ApprovalRequested(approval=again)).answers == {}


def test_a_restart_leaves_a_waiting_turn_waiting():
    state = fold(folded(*ONE_TURN[:7]), r.TurnResumed(turn_id="t1", recovered=True))
    assert (state.status, state.resumed_steps) == (SessionState.WAITING, 1)


def test_the_end_of_an_item_keeps_the_rest_of_it():
    assert end_of(CALL, ItemStatus.ERROR, "why") == CALL.model_copy(
        update={"status": ItemStatus.ERROR, "error": "why"}
    )
    reply = ReplyItem(item_id="i", status=ItemStatus.RUNNING, text="half")
    assert end_of(reply, ItemStatus.CANCELLED).text == "half"
    notice = NoticeItem(item_id="n", level="info", text="x")
    assert end_of(notice, ItemStatus.CANCELLED) == notice


def test_a_steered_prompt_is_known_by_its_id():
    item = UserMessageItem(item_id="u", input=(), steered=True, prompt_id="p9")
    state = fold(folded(*ONE_TURN[:2]), r.ItemStarted(turn_id="t1", item=item))
    assert state.prompts == {"p1": "t1", "p9": "t1"}


@given(st.integers(0, 10_000))
def test_folding_in_parts_is_folding_the_whole(split):
    records = golden_records()
    at = split % (len(records) + 1)
    state = None
    for part in (records[:at], records[at:]):
        for record in part:
            state = machine.fold(state, record)
    assert state == folded(*records)


def golden_records():
    return [stored.record for stored in Journal.peek(GOLDEN)]


def test_the_golden_journal_folds(tmp_path):
    copy = tmp_path / "journal.jsonl"
    copy.write_bytes(GOLDEN.read_bytes())
    journal, stored = Journal.open(copy)
    journal.close()
    assert folded(*(entry.record for entry in stored)).status is SessionState.IDLE


def test_a_call_counts_once_also_when_the_engine_stopped_before_its_step_ended():
    usage = Usage(input_tokens=5, cost=0.5)
    replied = r.ModelReplied(turn_id="t1", step_id="s1", calls=(), usage=usage)
    ended = r.StepCompleted(turn_id="t1", step_id="s1", usage=usage)
    for last in (ended, r.StepCompleted(turn_id="t1", step_id="s1")):
        assert folded(*ONE_TURN[:3], replied, last).usage.cost == 0.5
    assert folded(*ONE_TURN[:3], ended).usage.cost == 0.5
