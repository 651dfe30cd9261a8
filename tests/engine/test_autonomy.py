"""A goal over several turns: who moves it, what begins for it, and that it stops when told to."""

import asyncio
import contextlib
import itertools
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kova_ls.engine import autonomy, machine
from kova_ls.engine.goals import GO_ON, MOST_IDLE_TURNS
from kova_ls.errors import IllegalTransition, RequestFailed
from kova_ls.journal import records as r
from kova_ls.journal.store import Stored
from kova_ls.vocabulary import ApprovalLevel, Mode, WhenBusy
from tests.support.stage import Stage, call, say, text

CREATE = call("goal", action="create", objective="b.txt says new.", completionCriterion="cat b.txt")
BLOCKED = call("goal", action="update", status="blocked", reason="The network is away.")
COMPLETE = call("goal", action="update", status="complete", reason="b.txt says new.")
END = say("So far.")
FAIL = {"error": {"code": "overloaded", "message": "Come back later."}}


def work(number):
    return call("write", path=f"n{number}.txt", content=f"{number}\n")


def begun(*steps):
    """The person's turn sets the goal and ends; the steps follow in turns of their own."""
    return [CREATE, END, *steps]


async def played(tmp_path, model, *, mode="goal", words="Make b.txt say new.", **more):
    stage = Stage(tmp_path, model, files={"a.txt": "one\n"}, **more)
    session = stage.create(mode=mode)
    stage.prompt(session, words)
    await stage.idle(session)
    return stage, session


def starts(stage):
    return [record for record in stage.records() if isinstance(record, r.TurnStarted)]


def results(stage):
    return [
        record.result
        for record in stage.records()
        if isinstance(record, r.ItemCompleted) and record.item.kind == "toolCall"
    ]


def statuses(stage):
    told = [x.goal for x in stage.records() if isinstance(x, r.GoalUpdated)]
    return [status for status, _ in itertools.groupby(goal.status.value for goal in told)]


# -- turns that begin by themselves ---------------------------------------------------------------


async def test_turns_follow_until_the_goal_is_complete(tmp_path):
    stage, session = await played(
        tmp_path, begun(work(1), END, work(2), END, COMPLETE, say("Yes."))
    )
    goal = session.state.goal
    assert goal is not None
    assert (goal.status, goal.by, goal.reason) == ("complete", "goal", "b.txt says new.")
    assert goal.completion_criterion == "cat b.txt"
    assert goal.budget is None
    assert goal.turns == 3
    assert statuses(stage) == ["active", "complete"]
    turns = starts(stage)
    assert [turn.goal_id for turn in turns] == [None, *[goal.goal_id] * 3]
    assert [turn.client for turn in turns] == ["tester"] * 4
    assert all(turn.client_id == "window-1" and turn.level is None for turn in turns)
    said = [
        x
        for x in stage.records()
        if isinstance(x, r.ItemCompleted) and x.item.kind == "userMessage"
    ]
    assert [x.item.input[0].text for x in said] == ["Make b.txt say new.", *[GO_ON] * 3]
    assert [x.item.goal_id for x in said] == [None, *[goal.goal_id] * 3]
    assert "Objective: b.txt says new.\nDone when: cat b.txt" in said[1].context[0]
    assert session.turn is None
    await stage.close()


async def test_setting_a_goal_in_mode_agent_leads_to_mode_goal(tmp_path):
    stage, session = await played(tmp_path, begun(COMPLETE, END), mode="agent")
    configured = [x for x in stage.records() if isinstance(x, r.SessionConfigured)]
    assert [(x.mode, x.level, x.by) for x in configured] == [("goal", "workspace-write", "goal")]
    assert session.state.goal.status == "complete"
    await stage.close()


@pytest.mark.parametrize("mode", ["plan", "ask"])
async def test_in_modes_that_change_nothing_no_goal_is_set(tmp_path, mode):
    stage, session = await played(tmp_path, begun(), mode=mode)
    assert session.state.goal is None
    assert session.state.mode == mode
    (told,) = results(stage)
    assert told.startswith(f"Blocked: The session is in mode `{mode}`, which changes nothing;")
    assert len(starts(stage)) == 1
    await stage.close()


async def test_a_prompt_that_waits_goes_before_the_next_turn(tmp_path):
    stage = Stage(tmp_path, begun(END, COMPLETE, END))
    session = stage.create(mode="goal")
    stage.prompt(session, "First.")
    stage.prompt(session, "Second.", when_busy=WhenBusy.QUEUE)
    await stage.idle(session)
    assert [turn.goal_id is None for turn in starts(stage)] == [True, True, False]
    assert starts(stage)[1].input[0].text == "Second."
    await stage.close()


async def test_a_card_holds_the_turn_as_always(tmp_path):
    stage = Stage(tmp_path, begun(call("bash", command="touch made"), END, COMPLETE, END))
    session = stage.create(mode="goal")
    stage.prompt(session, "Go.")
    card = await stage.waiting(session)
    assert session.state.turn_goal_id is not None
    assert session.state.goal.turns == 1
    stage.respond(session, card, "once")
    await stage.idle(session)
    assert session.state.goal.status == "complete"
    await stage.close()


# -- what the model may say -----------------------------------------------------------------------


async def test_blocked_holds_in_the_third_turn_in_a_row(tmp_path):
    steps = [step for n in range(4) for step in (work(n), BLOCKED, END)]
    stage, session = await played(tmp_path, [CREATE, BLOCKED, END, *steps])
    goal = session.state.goal
    assert (goal.status, goal.reason, goal.by) == ("blocked", "The network is away.", "goal")
    assert goal.turns == 2  # the person's turn was the first of the three
    told = [told for told in results(stage) if "locked" in told][1:]
    assert told[0].startswith("Not blocked yet: this is turn 1 of 3 in a row")
    assert told[1].startswith("Not blocked yet: this is turn 2 of 3 in a row")
    assert told[2].startswith("The goal is blocked;")
    await stage.close()


async def test_a_turn_without_it_begins_the_count_anew(tmp_path):
    model = [CREATE, BLOCKED, END, work(1), BLOCKED, END, work(2), END]
    model += [work(3), BLOCKED, END, work(4), BLOCKED, END, COMPLETE, END]
    stage, session = await played(tmp_path, model)
    assert session.state.goal.status == "complete"
    assert "blocked" not in statuses(stage)
    await stage.close()


async def test_the_model_makes_a_blocked_goal_active_again(tmp_path):
    blocked = [CREATE, BLOCKED, END, work(1), BLOCKED, END, work(2), BLOCKED, END]
    active = call("goal", action="update", status="active")
    stage, session = await played(tmp_path, [*blocked, active, END, COMPLETE, END])
    assert session.state.goal.status == "blocked"
    stage.prompt(session, "The network is back.")
    await stage.idle(session)
    assert statuses(stage) == ["active", "blocked", "active", "complete"]
    await stage.close()


REFUSED = {
    "a second goal": (CREATE, CREATE, "There is a goal already: b.txt says new. (active)"),
    "complete, unverified": (
        CREATE,
        call("goal", action="update", status="complete"),
        "Verify the objective first",
    ),
    "blocked by nothing": (
        CREATE,
        call("goal", action="update", status="blocked"),
        "Say in `reason` what stands in the way",
    ),
    "nothing to update": (COMPLETE, BLOCKED, "There is no open goal."),
    "a budget": (CREATE, call("goal", action="set_budget"), "unavailable: only the person"),
    "a budget by the older name": (
        CREATE,
        call("SetGoalBudget", value=5, unit="turns"),
        "unavailable: only the person",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_what_the_model_may_not(tmp_path, name):
    first, second, why = REFUSED[name]
    stage, session = await played(tmp_path, [first, second, END, COMPLETE, END])
    assert results(stage)[1].startswith(why)
    assert session.state.goal is None or session.state.goal.budget is None
    await stage.close()


async def test_a_goal_is_replaced_when_that_is_asked_for(tmp_path):
    other = call("goal", action="create", objective="Another.", replace=True)
    stage, session = await played(tmp_path, [CREATE, other, END, COMPLETE, END])
    assert session.state.goal.objective == "Another."
    assert len({x.goal.goal_id for x in stage.records() if isinstance(x, r.GoalUpdated)}) == 2
    await stage.close()


async def test_a_turn_that_began_by_itself_sets_no_goal(tmp_path):
    stage, session = await played(tmp_path, begun(COMPLETE, CREATE, END))
    assert session.state.goal.status == "complete"
    assert results(stage)[-1].startswith("This turn began by itself")
    await stage.close()


async def test_what_the_person_says_into_such_a_turn_may_set_another(tmp_path):
    other = call("goal", action="create", objective="Another.", replace=True)
    stage, session = await in_own_turn(tmp_path, slow("So"), other, END, COMPLETE, END)
    await stage.until(lambda: any(getattr(fact, "text", "") for fact in stage.facts))
    session.steer(session.state.turn_id, text("Another one, please."), stage.editor)
    assert session.state.turn_goal_id is None
    await stage.idle(session)
    assert session.state.goal.objective == "Another."
    assert session.state.goal.status == "complete"
    await stage.close()


async def test_the_older_names_are_calls(tmp_path):
    create = call("CreateGoal", objective="b.txt says new.")
    update = call("UpdateGoal", status="complete", reason="Seen.")
    stage, session = await played(tmp_path, [create, call("GetGoal"), END, update, END])
    assert session.state.goal.status == "complete"
    assert results(stage)[1].startswith("Goal: active\nObjective: b.txt says new.")
    assert {x.item.tool for x in stage.records() if getattr(x, "result", None)} == {"goal"}
    await stage.close()


async def test_a_run_that_nobody_watches_sets_no_goal(tmp_path):
    stage = Stage(tmp_path, begun())
    session = stage.create(mode="goal")
    session.start(
        text("Go."),
        prompt_id=None,
        when_busy=WhenBusy.REJECT,
        editor=stage.editor,
        automation="nightly",
    )
    await stage.idle(session)
    assert session.state.goal is None
    assert results(stage)[0].startswith("Nobody watches this run")
    await stage.close()


# -- what does not move on comes to rest ----------------------------------------------------------


async def test_a_failing_model_is_not_asked_again(tmp_path):
    stage, session = await played(tmp_path, begun(FAIL, END))
    goal = session.state.goal
    assert (goal.status, goal.by, goal.reason) == ("paused", "engine", "Come back later.")
    assert len(starts(stage)) == 2
    await stage.close()


async def test_a_model_that_is_gone_pauses_instead_of_beginning(tmp_path):
    stage = Stage(tmp_path, begun(END))
    session = stage.create(mode="goal")
    session.stream.subscribe(
        lambda fact: (
            (tmp_path / "kova" / "config.toml").write_text("")
            if isinstance(fact, Stored) and isinstance(fact.record, r.ModelReplied)
            else None
        )
    )
    stage.prompt(session, "Go.")
    await stage.idle(session)
    assert session.state.goal.status == "paused"
    assert "model" in session.state.goal.reason
    await stage.close()


async def test_turns_that_do_nothing_come_to_an_end(tmp_path):
    stage, session = await played(tmp_path, begun(*[END] * 50))
    goal = session.state.goal
    assert (goal.status, goal.turns) == ("paused", MOST_IDLE_TURNS)
    assert goal.reason == "3 turns in a row brought nothing new."
    await stage.close()


async def test_turns_that_do_the_same_come_to_an_end(tmp_path):
    same = [call("read", path="a.txt"), END]
    stage, session = await played(tmp_path, begun(*same * 50))
    assert (session.state.goal.status, session.state.goal.turns) == ("paused", MOST_IDLE_TURNS + 1)
    await stage.close()


async def test_a_budget_is_kept_and_only_the_person_sets_it(tmp_path):
    stage = Stage(tmp_path, begun(*[step for n in range(20) for step in (work(n), END)]))
    session = stage.create(mode="goal")
    stage.prompt(session, "Set the budget to 10 turns.")
    await stage.until(lambda: session.state.goal is not None)
    assert session.state.goal.budget is None
    autonomy.set_budget(session, r.GoalBudget(turns=2))
    await stage.idle(session)
    goal = session.state.goal
    assert (goal.status, goal.turns) == ("paused", 2)
    assert goal.reason == "The budget of 2 turns is used up."
    with pytest.raises(RequestFailed, match=r"is used up\. Set a larger one, or none"):
        autonomy.resume(session, "me", stage.editor)
    stage.prompt(session, "How far are you?")
    await stage.idle(session)
    assert len(starts(stage)) == 4  # the person's, and nothing after it
    autonomy.set_budget(session, r.GoalBudget(turns=4))
    assert session.state.goal.status == "paused"
    autonomy.resume(session, "me", stage.editor)
    await stage.idle(session)
    assert (session.state.goal.status, session.state.goal.turns) == ("paused", 4)
    autonomy.set_budget(session, r.GoalBudget())
    assert session.state.goal.budget is None
    await stage.close()


async def test_another_goal_does_not_shed_the_budget(tmp_path):
    other = call("goal", action="create", objective="Another.", replace=True)
    stage = Stage(
        tmp_path, [CREATE, say(["So ", "far."], delay_ms=1), other, END, work(1), END, END]
    )
    session = stage.create(mode="goal")
    stage.prompt(session, "Go.")
    await stage.until(lambda: session.state.goal is not None)
    autonomy.set_budget(session, r.GoalBudget(turns=1))
    stage.prompt(session, "Another one.", when_busy=WhenBusy.QUEUE)
    await stage.idle(session)
    goal = session.state.goal
    assert (goal.objective, goal.status, goal.turns) == ("Another.", "paused", 1)
    assert goal.budget == r.GoalBudget(turns=1)
    await stage.close()


async def test_a_goal_that_was_limited_is_not_traded_for_another_within_a_turn(tmp_path):
    steps = [CREATE, say(["So ", "far."], delay_ms=1), COMPLETE, CREATE, END, CREATE, END, END]
    stage = Stage(tmp_path, [*steps, END, END])
    session = stage.create(mode="goal")
    stage.prompt(session, "Go.")
    await stage.until(lambda: session.state.goal is not None)
    autonomy.set_budget(session, r.GoalBudget(turns=1))
    stage.prompt(session, "Well?", when_busy=WhenBusy.QUEUE)
    await stage.idle(session)
    assert session.state.goal.status == "complete"
    assert results(stage)[-1].startswith("In this turn you ended a goal that the person had")
    stage.prompt(session, "Set another.")
    await stage.until(lambda: session.state.goal.status == "active")
    await session.interrupt(None)
    await stage.close()


async def test_a_paused_goal_is_not_traded_for_an_active_one(tmp_path):
    stage, session = await in_own_turn(tmp_path, slow("So"), COMPLETE, CREATE, END)
    autonomy.pause(session, "me")
    await stage.idle(session)
    stage.prompt(session, "What did you do?")
    await stage.idle(session)
    assert session.state.goal.status == "complete"
    await stage.close()


# -- the person -----------------------------------------------------------------------------------


def slow(words):
    return say([f"{words} ", "one ", "two ", "three"], delay_ms=50)


async def in_own_turn(tmp_path, *steps):
    stage = Stage(tmp_path, begun(*steps))
    session = stage.create(mode="goal")
    stage.prompt(session, "Go.")
    await stage.until(lambda: session.state.turn_goal_id is not None)
    return stage, session


async def test_stop_stops_the_turn_and_pauses_the_goal_and_says_so(tmp_path):
    stage, session = await in_own_turn(tmp_path, slow("So"), END)
    await stage.until(lambda: any(getattr(fact, "text", "") for fact in stage.facts))
    before = starts(stage)[0].turn_id
    # Whoever said stop may have seen the turn before.
    stopped = await session.interrupt(before, "me")
    assert stopped[-1] == "the goal: b.txt says new."
    goal = session.state.goal
    assert (goal.status, goal.by, goal.reason) == ("paused", "me", "The turn was stopped.")
    await stage.idle(session)
    assert len(starts(stage)) == 2
    await stage.close()


async def test_stop_between_two_turns_pauses(tmp_path):
    stage = Stage(tmp_path, begun(END))
    session = stage.create(mode="goal")
    ended = []

    def hear(fact):
        if isinstance(fact, Stored) and isinstance(fact.record, r.TurnCompleted):
            ended.append(asyncio.ensure_future(session.interrupt(None, "me")))

    session.stream.subscribe(hear)
    stage.prompt(session, "Go.")
    await stage.idle(session)
    assert await ended[0] == ("the goal: b.txt says new.",)
    assert session.state.goal.status == "paused"
    assert len(starts(stage)) == 1
    await stage.close()


async def test_pause_lets_the_turn_end_and_resume_goes_on(tmp_path):
    stage, session = await in_own_turn(tmp_path, slow("So"), work(1), COMPLETE, END)
    autonomy.pause(session, "me")
    assert autonomy.pause(session, "you").by == "me"
    await stage.idle(session)
    assert [x.stop_reason for x in stage.records() if isinstance(x, r.TurnCompleted)] == [
        "done",
        "done",
    ]
    assert session.state.goal.status == "paused"
    autonomy.resume(session, "me", stage.editor)
    await stage.idle(session)
    assert session.state.goal.status == "complete"
    await stage.close()


async def test_the_model_moves_no_paused_goal_but_to_complete(tmp_path):
    active = call("goal", action="update", status="active")
    other = call("goal", action="create", objective="Another.", replace=True)
    stage, session = await in_own_turn(
        tmp_path, slow("So"), active, other, BLOCKED, END, active, other, COMPLETE, END
    )
    autonomy.pause(session, "me")
    await stage.idle(session)
    stage.prompt(session, "What did you do?")
    await stage.idle(session)
    stage.prompt(session, "And?")
    await stage.idle(session)
    told = results(stage)[1:]
    assert all(x.startswith("The goal is paused: b.txt says new.") for x in told[:-1])
    assert len(told) == 6
    assert session.state.goal.status == "complete"
    await stage.close()


async def test_cancel_ends_the_goal_and_its_own_turn(tmp_path):
    stage, session = await in_own_turn(tmp_path, slow("So"), END)
    autonomy.cancel(session, "me")
    assert session.state.goal.status == "cancelled"
    await stage.idle(session)
    assert [x.stop_reason for x in stage.records() if isinstance(x, r.TurnCompleted)] == [
        "done",
        "interrupted",
    ]
    with pytest.raises(RequestFailed, match="The goal is cancelled: resume is not possible"):
        autonomy.resume(session, "me", stage.editor)
    await stage.close()


async def test_after_cancel_a_turn_of_the_person_goes_on_and_sets_no_goal(tmp_path):
    stage = Stage(tmp_path, [CREATE, slow("So"), END, CREATE, END])
    session = stage.create(mode="goal")
    stage.prompt(session, "Go.")
    await stage.until(lambda: session.state.goal is not None)
    stage.prompt(session, "Then this.", when_busy=WhenBusy.QUEUE)
    autonomy.cancel(session, "me")
    await stage.idle(session)
    assert [x.stop_reason for x in stage.records() if isinstance(x, r.TurnCompleted)] == [
        "done",
        "done",
    ]
    stage.prompt(session, "Now another.")
    await stage.until(lambda: session.state.goal.status == "active")
    await session.interrupt(None)
    await stage.close()


async def test_a_prompt_given_before_stop_sets_no_goal_after_it(tmp_path):
    stage = Stage(tmp_path, [slow("So"), CREATE, END, CREATE, END])
    session = stage.create(mode="goal")
    stage.prompt(session, "Go.")
    stage.prompt(session, "Then this.", when_busy=WhenBusy.QUEUE)
    await stage.until(lambda: any(getattr(fact, "text", "") for fact in stage.facts))
    await session.interrupt(None)
    await stage.idle(session)
    assert session.state.goal is None
    assert results(stage)[0].startswith("Somebody said stop after the prompt")
    await stage.close()


@pytest.mark.parametrize("mode", [Mode.AGENT, Mode.PLAN, Mode.ASK])
async def test_leaving_the_mode_pauses(tmp_path, mode):
    stage, session = await in_own_turn(tmp_path, slow("So"), END)
    session.configure("me", mode=mode)
    goal = session.state.goal
    assert (goal.status, goal.by, goal.reason) == ("paused", "me", "The session left mode `goal`.")
    session.configure("me", mode=Mode.GOAL)
    await stage.idle(session)
    assert len(starts(stage)) == 2
    session.configure("me", mode=mode)
    if mode is Mode.AGENT:
        autonomy.resume(session, "me", stage.editor)
        assert session.state.mode is Mode.GOAL
        assert len(starts(stage)) == 3
        await session.interrupt(None)
    else:
        with pytest.raises(RequestFailed, match="Switch it to mode `goal`"):
            autonomy.resume(session, "me", stage.editor)
    await stage.close()


async def test_a_budget_needs_an_open_goal(tmp_path):
    stage, session = await played(tmp_path, [END])
    with pytest.raises(RequestFailed, match="no open goal"):
        autonomy.set_budget(session, r.GoalBudget(turns=1))
    with pytest.raises(RequestFailed, match="has no goal"):
        autonomy.pause(session, "me")
    await stage.close()


# -- the engine comes and goes --------------------------------------------------------------------


async def test_after_a_restart_the_goal_waits_for_the_person(tmp_path):
    stage, session = await in_own_turn(tmp_path, slow("So"), COMPLETE, END)
    await stage.kill_engine()
    stage.start_engine()
    stage.engine.recover()
    session = stage.engine.get(session.id)
    stage.listen(session)
    goal = session.state.goal
    assert (goal.status, goal.by, goal.reason) == (
        "paused",
        "engine",
        "The engine was started anew.",
    )
    await stage.idle(session)  # the turn that was open is taken to its end, as always
    assert starts(stage) == starts(stage)[:2]
    autonomy.resume(session, "me", stage.editor)
    await stage.idle(session)
    assert session.state.goal.status == "complete"
    await stage.close()


async def test_an_engine_that_ends_begins_no_turn(tmp_path):
    stage = Stage(tmp_path, begun(END))
    session = stage.create(mode="goal")
    stage.prompt(session, "Go.")
    stage.engine.is_ending = True
    await stage.idle(session)
    assert (session.state.goal.status, len(starts(stage))) == ("paused", 1)
    assert session.state.goal.reason == "The engine comes to its end."
    await stage.close()


async def test_an_editor_that_left_takes_no_goal_along_and_its_window_gets_it_back(tmp_path):
    stage, session = await in_own_turn(tmp_path, slow("So"), work(1), END, COMPLETE, END)
    stage.engine.detached(stage.editor)
    await stage.until(lambda: session.state.goal.turns == 2)
    assert starts(stage)[-1].client_id == "window-1"
    stage.engine.attached(stage.editor)
    assert session.origin is stage.editor
    await stage.idle(session)
    assert session.state.goal.status == "complete"
    await stage.close()


# -- no way around stop ---------------------------------------------------------------------------

TURNS = {
    "works": [call("read", path="a.txt"), END],
    "writes": [call("write", path="b.txt", content="new"), END],
    "speaks": [say(["one ", "two ", "three"], delay_ms=1)],
    "sets a goal": [CREATE, END],
    "sets another": [call("goal", action="create", objective="Another.", replace=True), END],
    "goes on": [call("goal", action="update", status="active"), END],
    "is blocked": [BLOCKED, END],
    "is done": [COMPLETE, END],
    "fails": [FAIL],
    "asks": [call("bash", command="true"), END],
}
STOPS = ["interrupt", "interrupt the turn before", "pause", "cancel", "leave", "archive", "crash"]
Round = st.tuples(
    st.sampled_from(["in a turn", "at an end"]),
    st.sampled_from(["", "queue before", "queue after"]),
    st.sampled_from(STOPS),
    st.sampled_from(["resume", "ask", "nothing"]),
)


class Watched:
    """A session that people stop and let go on, and what began in it by itself."""

    def __init__(self, root, turns):
        steps = [step for name in turns for step in TURNS[name]]
        self.stage = Stage(root, [CREATE, END, *steps * 20], files={"a.txt": "one\n"})
        self.session = self.stage.create(mode="goal", level="workspace-write")
        self.session.stream.subscribe(self.hear)
        self.numbers = itertools.count()
        self.later = set()
        """Prompts that were given after the last stop."""
        self.may_begin = True
        self.stopped_goals = set()
        self.own_turns = 0
        self.faults = []

    def hear(self, fact):
        record = fact.record if isinstance(fact, Stored) else None
        if not isinstance(record, r.TurnStarted):
            return
        if record.goal_id is None:
            self.may_begin = self.may_begin or record.prompt_id in self.later
            return
        self.own_turns += 1
        if not self.may_begin or record.goal_id in self.stopped_goals:
            self.faults.append(record)

    def ask(self):
        prompt_id = f"p{next(self.numbers)}"
        self.later.add(prompt_id)
        self.stage.prompt(self.session, "Go.", when_busy=WhenBusy.QUEUE, prompt_id=prompt_id)

    async def until(self, kind):
        """Wait for the next such record, unless the turn waits or none runs."""
        seen = len(self.stage.facts)
        while self.session.turn is not None and not self.session.state.is_waiting:
            if any(isinstance(getattr(f, "record", f), kind) for f in self.stage.facts[seen:]):
                return
            self.stage.told.clear()
            told = asyncio.ensure_future(self.stage.told.wait())
            await asyncio.wait([told, self.session.turn], return_when=asyncio.FIRST_COMPLETED)
            told.cancel()

    async def stop(self, deed):
        session, state = self.session, self.session.state
        goals = {state.goal.goal_id} if state.goal is not None else set()
        self.may_begin = False
        self.later.clear()
        self.stopped_goals |= goals
        with contextlib.suppress(RequestFailed):
            match deed:
                case "interrupt":
                    await session.interrupt(None, "me")
                case "interrupt the turn before":
                    await session.interrupt(starts(self.stage)[0].turn_id, "me")
                case "pause":
                    autonomy.pause(session, "me")
                case "cancel":
                    autonomy.cancel(session, "me")
                case "leave":
                    session.configure("me", mode=Mode.AGENT)
                case "archive":
                    autonomy.rest(session, "me", "Archived.")
                case _:
                    await self.stage.kill_engine()
                    self.stage.start_engine()
                    self.session = self.stage.engine.get(session.id)
                    self.stage.listen(self.session)
                    self.session.stream.subscribe(self.hear)

    def go_on(self, how):
        if how == "resume":
            goal = self.session.state.goal
            self.may_begin = True
            self.stopped_goals.discard(goal.goal_id)
            with contextlib.suppress(RequestFailed):
                autonomy.resume(self.session, "me", self.stage.editor)
        elif how == "ask":
            self.ask()
        for card in self.session.state.approvals:
            self.stage.respond(self.session, card.approval_id, "once")

    async def play(self, rounds):
        self.ask()
        await self.until(r.TurnCompleted)
        for where, prompts, deed, after in rounds:
            if prompts == "queue before":
                self.ask()
            await self.until(r.StepStarted if where == "in a turn" else r.TurnCompleted)
            await self.stop(deed)
            if prompts == "queue after":
                self.ask()
            for _ in range(2):
                await self.until(r.TurnCompleted)
            self.go_on(after)
        await self.finish()

    async def finish(self):
        while self.session.turn is not None or self.session.state.queue:
            await self.stop("interrupt")
            await asyncio.sleep(0)
        assert not self.session.state.has_active_goal
        state = None
        for entry in self.session.journal.read(1, self.session.journal.seq):
            state = machine.fold(state, entry.record)
        assert state == self.session.state
        await self.stage.close()


@pytest.mark.timeout(180)
@settings(max_examples=20, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.sampled_from(list(TURNS)), min_size=1, max_size=6),
    st.lists(Round, min_size=1, max_size=4),
)
def test_what_somebody_stopped_does_not_begin_by_itself(turns, rounds):
    with tempfile.TemporaryDirectory(prefix="kova-goal-") as root:

        async def play():
            watched = Watched(Path(root), turns)
            await watched.play(rounds)
            return watched

        assert asyncio.run(play()).faults == []


def test_the_machine_lets_no_turn_begin_by_itself_without_an_active_goal():
    created = r.SessionCreated(
        session_id="s",
        epoch="e",
        workspace=None,
        title="",
        mode=Mode.GOAL,
        level=ApprovalLevel.ASK,
        model="m",
    )
    own = r.TurnStarted(turn_id="t", prompt_id="p", goal_id="g")
    goal = r.Goal(goal_id="g", objective="O", status="active", by="goal")
    idle = machine.fold(None, created)
    with pytest.raises(IllegalTransition, match="no goal is active"):
        machine.fold(idle, own)
    active = machine.fold(idle, r.GoalUpdated(goal=goal))
    assert machine.fold(active, own).turn_goal_id == "g"
    waiting = r.QueueUpdated(queue=(r.QueuedPrompt(prompt_id="q", turn_id="u", input=()),))
    with pytest.raises(IllegalTransition, match="a prompt waits"):
        machine.fold(machine.fold(active, waiting), own)
    with pytest.raises(IllegalTransition, match="a goal is active"):
        machine.fold(
            active,
            r.SessionConfigured(mode=Mode.PLAN, level=ApprovalLevel.ASK, model="m", by="me"),
        )
    for reason in ("failed", "interrupted", "limit"):
        with pytest.raises(IllegalTransition, match="the goal is active"):
            machine.fold(
                machine.fold(active, own), r.TurnCompleted(turn_id="t", stop_reason=reason)
            )
