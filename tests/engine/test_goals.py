"""What may become of a goal, and what a turn makes of it."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kova_ls.engine.goals import (
    BLOCKED_TURNS,
    MOST_IDLE_TURNS,
    NEXT,
    Deed,
    TurnFacts,
    after_turn,
    found_blocked,
    moved,
    reminder,
    told,
    traced,
    used_up,
)
from kova_ls.errors import RequestFailed
from kova_ls.journal import records as r
from kova_ls.values import Failure, ReplyItem, ToolCallItem, Verdict
from kova_ls.vocabulary import Decision, GoalStatus, ItemStatus, StopReason

GOAL = r.Goal(goal_id="g", objective="The tests pass.", status=GoalStatus.ACTIVE, by="goal")


def goal(status=GoalStatus.ACTIVE, **more):
    return GOAL.model_copy(update={"status": status, **more})


def turn(turn_id="t", **more):
    facts = {
        "is_own": True,
        "stop_reason": StopReason.DONE,
        "error": None,
        "tokens": 10,
        "trace": f"of {turn_id}",
    }
    return TurnFacts(turn_id=turn_id, **{**facts, **more})


TABLE = {
    # pause, resume, cancel, unblock, block, complete
    "active": "paused active cancelled active blocked complete",
    "paused": "paused active cancelled - - complete",
    "blocked": "paused active cancelled active - complete",
    "complete": "- - - - - -",
    "cancelled": "- - - - - -",
}


@pytest.mark.parametrize(("status", "deed"), list(itertools.product(GoalStatus, Deed)))
def test_the_table(status, deed):
    wanted = TABLE[status].split()[list(Deed).index(deed)]
    if wanted == "-":
        with pytest.raises(RequestFailed, match=f"The goal is {status}") as refused:
            moved(goal(status), deed, "me")
        assert refused.value.code == "goalState"
    else:
        after = moved(goal(status, reason="old"), deed, "me", "Why.")
        assert (after.status, after.by, after.reason) == (wanted, "me", "Why.")


def test_only_resuming_makes_a_paused_goal_active():
    leading = {deed for deed, to in NEXT[GoalStatus.PAUSED].items() if to is GoalStatus.ACTIVE}
    assert leading == {Deed.RESUME}


def test_without_a_goal_nothing_is_done():
    with pytest.raises(RequestFailed, match="has no goal"):
        moved(None, Deed.PAUSE, "me")


def test_a_turn_is_counted():
    after, tally = after_turn(GOAL, r.GoalTally(), turn())
    assert (after.status, after.tokens) == (GoalStatus.ACTIVE, 10)
    assert tally.trace == "of t"


@pytest.mark.parametrize(
    ("stop_reason", "error", "why"),
    [
        (StopReason.INTERRUPTED, None, "The turn was stopped."),
        (StopReason.FAILED, Failure(code="overloaded", message="Later."), "Later."),
        (StopReason.LIMIT, Failure(code="limitExceeded", message="Too long."), "Too long."),
        (StopReason.FAILED, None, "The turn failed."),
    ],
)
def test_a_turn_that_did_not_end_by_itself_pauses(stop_reason, error, why):
    after, _ = after_turn(GOAL, r.GoalTally(), turn(stop_reason=stop_reason, error=error))
    assert (after.status, after.reason, after.by) == (GoalStatus.PAUSED, why, "engine")


@pytest.mark.parametrize("traces", [("", "", ""), ("x", "x", "x", "x"), ("x", "", "x", "x")])
def test_turns_that_bring_nothing_new_pause(traces):
    now, tally = GOAL, r.GoalTally()
    for number, trace in enumerate(traces):
        assert now.status is GoalStatus.ACTIVE
        now, tally = after_turn(now, tally, turn(f"t{number}", trace=trace))
    assert now.status is GoalStatus.PAUSED
    assert now.reason == f"{MOST_IDLE_TURNS} turns in a row brought nothing new."
    assert tally.idle_turns == 0


def test_what_is_new_or_said_by_the_person_counts_anew():
    now, tally = GOAL, r.GoalTally()
    for number in range(12):
        facts = turn(f"t{number}", trace="" if number % 3 else f"x{number}")
        now, tally = after_turn(now, tally, facts)
    for number in range(12):
        facts = turn(f"p{number}", trace="", is_own=number % 3 != 0)
        now, tally = after_turn(now, tally, facts)
    assert now.status is GoalStatus.ACTIVE


@pytest.mark.parametrize(
    ("budget", "turns", "tokens", "why"),
    [
        (None, 1000, 10**9, None),
        (r.GoalBudget(turns=3), 2, 10**9, None),
        (r.GoalBudget(turns=3), 3, 0, "The budget of 3 turns is used up."),
        (r.GoalBudget(tokens=5_000), 9, 4_999, None),
        (r.GoalBudget(tokens=5_000), 0, 5_000, "The budget of 5,000 tokens is used up."),
    ],
)
def test_a_budget_holds(budget, turns, tokens, why):
    assert used_up(goal(budget=budget, turns=turns, tokens=tokens)) == why


def test_a_turn_over_the_budget_pauses():
    now = goal(budget=r.GoalBudget(tokens=100), tokens=95)
    after, _ = after_turn(now, r.GoalTally(), turn())
    assert (after.status, after.tokens) == (GoalStatus.PAUSED, 105)
    assert after.reason == "The budget of 100 tokens is used up."


@pytest.mark.parametrize("status", [s for s in GoalStatus if s is not GoalStatus.ACTIVE])
def test_a_goal_at_rest_is_only_counted(status):
    before = goal(status, reason="Why.", by="me")
    facts = turn(stop_reason=StopReason.FAILED, error=Failure(code="x", message="Other."))
    after, tally = after_turn(before, r.GoalTally(idle_turns=2), facts)
    assert after == before.model_copy(update={"tokens": 10})
    assert tally == r.GoalTally(idle_turns=2)


def test_being_blocked_counts_once_a_turn_and_only_in_a_row():
    tally = r.GoalTally()
    for number in range(1, BLOCKED_TURNS + 1):
        tally = found_blocked(tally, f"t{number}")
        tally = found_blocked(tally, f"t{number}")
        assert tally.blocked_turns == number
        _, tally = after_turn(GOAL, tally, turn(f"t{number}"))
    assert tally.blocked_turns == BLOCKED_TURNS
    _, tally = after_turn(GOAL, tally, turn("another"))
    assert tally.blocked_turns == 0


def call(tool, status=ItemStatus.OK, args=None, result="done"):
    item = ToolCallItem(
        item_id="c",
        call_id="c",
        tool=tool,
        args=args or {},
        title="T",
        verdict=Verdict(decision=Decision.ALLOW),
        status=status,
    )
    return r.ItemCompleted(turn_id="t", item=item, result=result)


def test_only_what_ran_and_is_work_leaves_a_trace():
    reply = r.ItemCompleted(item=ReplyItem(item_id="i", status=ItemStatus.OK, text="So."))
    silent = [reply, call("goal"), call("TodoList")]
    silent += [call("bash", status) for status in ItemStatus if status is not ItemStatus.OK]
    assert [traced("", record) for record in silent] == [""] * len(silent)
    traces = [
        traced("", call("bash")),
        traced("", call("read")),
        traced("", call("bash", args={"command": "ls"})),
        traced("", call("bash", result="other \ud800")),
        traced(traced("", call("bash")), call("bash")),
    ]
    assert len({*traces, ""}) == 6
    assert traced("", call("bash")) == traces[0]


def test_the_model_reads_all_of_it():
    now = goal(
        completion_criterion="`pytest` ends with 0.",
        reason="Why.",
        turns=2,
        tokens=12_345,
        budget=r.GoalBudget(turns=5),
    )
    assert told(now) == (
        "Goal: active\nObjective: The tests pass.\nDone when: `pytest` ends with 0.\n"
        "Because: Why.\nTurns begun for it: 2 of 5, as the person set it\nTokens used: 12,345"
    )
    assert told(None) == "The session has no goal."
    assert told(now) in reminder(now)
    assert "Nobody wrote this" in reminder(now)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(list(StopReason)),
            st.booleans(),
            st.sampled_from(["", "a", "b"]),
            st.integers(0, 50),
        ),
        max_size=30,
    ),
    st.none() | st.builds(r.GoalBudget, tokens=st.none() | st.integers(1, 100)),
)
def test_no_run_of_turns_makes_a_paused_goal_active(ends, budget):
    now, tally, seen = goal(budget=budget), r.GoalTally(), []
    for number, (stop_reason, is_own, trace, tokens) in enumerate(ends):
        facts = turn(
            f"t{number}", stop_reason=stop_reason, is_own=is_own, trace=trace, tokens=tokens
        )
        now, tally = after_turn(now, tally, facts)
        seen.append(now.status)
        if stop_reason is not StopReason.DONE or used_up(now):
            assert now.status is GoalStatus.PAUSED
    assert seen == sorted(seen)  # active comes before paused, and never after it
