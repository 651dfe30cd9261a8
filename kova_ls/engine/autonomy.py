"""A session's goal: set and moved by the model and the person, and the turns that begin for it.

Everything here is synchronous: between looking at the goal and recording there is no await.
Invariant: a turn begins by itself in one place, `go_on`, and only what the machine allows there.
Invariant: the goal tool gives no rights: it leads from mode `agent` to `goal` and nowhere else.
"""

import contextlib
from collections.abc import Callable
from secrets import token_hex
from typing import TYPE_CHECKING

from kova_ls.engine import goals
from kova_ls.engine.goals import ENGINE, TOOL, Deed
from kova_ls.errors import KovaError, RequestFailed
from kova_ls.journal import records as r
from kova_ls.tools._base import GoalWord, ToolError
from kova_ls.values import Failure
from kova_ls.vocabulary import GoalStatus, Mode, StopReason

if TYPE_CHECKING:
    from kova_ls.engine.editor import Editor
    from kova_ls.engine.session import Session

_RESTARTED = "The engine was started anew."
_ENDS = "The engine comes to its end."
_LEFT_MODE = "The session left mode `goal`."
_CLOSED = (
    "In this turn you ended a goal that the person had paused or given a budget. End the turn; "
    "another goal can be set when they ask again."
)
_WAITS = (
    "Somebody said stop after the prompt that you work on. End the turn; a goal can be set when "
    "the person asks again."
)


def _set(session: "Session", goal: r.Goal, tally: r.GoalTally | None = None) -> r.Goal:
    tally = session.state.tally if tally is None else tally
    session.record(r.GoalUpdated(goal=goal, tally=tally))
    return goal


def _move(session: "Session", deed: Deed, by: str, reason: str | None = None) -> r.Goal:
    tally = session.state.tally.model_copy(update={"blocked_turns": 0, "idle_turns": 0})
    return _set(session, goals.moved(session.state.goal, deed, by, reason), tally)


# -- the person -----------------------------------------------------------------------------------


def pause(session: "Session", by: str, reason: str | None = None) -> r.Goal:
    """Begin no further turn; the one that runs comes to its end. Raises: RequestFailed."""
    goal = session.state.goal
    if goal is not None and goal.status is GoalStatus.PAUSED:
        return goal
    return _move(session, Deed.PAUSE, by, reason)


def rest(session: "Session", by: str, reason: str) -> bool:
    """Pause the goal if it could make turns begin; True when it did so."""
    goal = session.state.goal
    if goal is None or goal.status not in (GoalStatus.ACTIVE, GoalStatus.BLOCKED):
        return False
    pause(session, by, reason)
    return True


def resume(session: "Session", by: str, editor: "Editor | None") -> r.Goal:
    """Make the goal active again and begin its next turn when nothing runs.

    Raises: RequestFailed (`goalState`).
    """
    goal = goals.moved(session.state.goal, Deed.RESUME, by)
    why = goals.used_up(goal)
    if why is not None:
        raise RequestFailed("goalState", f"{why} Set a larger one, or none, then resume.")
    if session.state.mode in (Mode.PLAN, Mode.ASK):
        raise RequestFailed(
            "goalState",
            f"The session is in mode `{session.state.mode}`, which changes nothing. Switch it to "
            "mode `goal`, then resume.",
        )
    if editor is not None:
        session.caller = (editor.id, editor.name)
    session.configure(by, mode=Mode.GOAL)
    _move(session, Deed.RESUME, by)
    session.go_on()
    assert session.state.goal is not None
    return session.state.goal


def cancel(session: "Session", by: str) -> r.Goal:
    """End the goal, and soon the turn that began for it by itself. Raises: RequestFailed."""
    goal = _move(session, Deed.CANCEL, by)
    state = session.state
    if state.turn_goal_id is not None:
        session.engine.spawn(_stop(session, state.turn_id, by), name=f"stop {session.id}")
    return goal


async def _stop(session: "Session", turn_id: str | None, by: str) -> None:
    with contextlib.suppress(KovaError):  # it has ended meanwhile
        await session.interrupt(turn_id, by)


def set_budget(session: "Session", budget: r.GoalBudget | None) -> r.Goal:
    """Give the goal a budget, or take it away. Raises: RequestFailed."""
    goal = session.state.goal
    if goal is None or goal.status.is_end:
        raise RequestFailed(
            "goalState", "There is no open goal to give a budget to. Ask for one in mode `goal`."
        )
    if budget == r.GoalBudget():
        budget = None
    return _set(session, goal.model_copy(update={"budget": budget}))


# -- the model ------------------------------------------------------------------------------------


def create(session: "Session", objective: str, criterion: str | None, *, replace: bool) -> str:
    """Set a goal; says what became of it. Raises: ToolError."""
    state, old = session.state, session.state.goal
    if state.unattended is not None:
        raise ToolError("Nobody watches this run, so no goal is set. Do the work in this turn.")
    if state.turn_goal_id is not None:
        raise ToolError("This turn began by itself; a goal is set only when the person asks.")
    if state.held is not None:
        raise ToolError(_paused(old) if old and old.status is GoalStatus.PAUSED else _WAITS)
    if state.turn_id is not None and state.tally.closed_in == state.turn_id:
        raise ToolError(_CLOSED)
    is_open = old is not None and not old.status.is_end
    if old is not None and is_open:
        if old.status is GoalStatus.PAUSED:
            raise ToolError(_paused(old))
        if not replace:
            raise ToolError(
                f"There is a goal already: {old.objective} ({old.status}). Go on with it. Only "
                "when the person asked for another one in its place, call again with replace: true."
            )
    if state.mode is Mode.AGENT:
        session.configure(TOOL, mode=Mode.GOAL)
    # The person's budget holds for what they let go on by itself, whatever it is called now.
    kept = (
        {"budget": old.budget, "turns": old.turns, "tokens": old.tokens}
        if old is not None and is_open and old.budget is not None
        else {}
    )
    goal = r.Goal(
        goal_id=token_hex(8),
        objective=objective,
        completion_criterion=criterion,
        status=GoalStatus.ACTIVE,
        by=TOOL,
    )
    _set(session, goal.model_copy(update=kept), r.GoalTally())
    return (
        "The goal is set and the mode is goal: when this turn ends the next one begins by itself, "
        "until you update the goal to complete or blocked, or the person stops it."
    )


def update(session: "Session", status: GoalWord, why: str | None) -> str:
    """Move the goal as the model found it; says what became of it. Raises: ToolError."""
    state, goal = session.state, session.state.goal
    if goal is None or goal.status.is_end:
        raise ToolError("There is no open goal. Set one with action create, if the person asks.")
    if status == "complete":
        if why is None:
            raise ToolError(
                "Verify the objective first, by looking or running something, then say in "
                "`reason` what shows that it is met."
            )
        is_limited = goal.status is GoalStatus.PAUSED or goal.budget is not None
        tally = state.tally.model_copy(update={"closed_in": state.turn_id if is_limited else None})
        _set(session, goals.moved(goal, Deed.COMPLETE, TOOL, why), tally)
        return "The goal is complete; no further turn begins for it. Tell the person the outcome."
    if goal.status is GoalStatus.PAUSED:
        raise ToolError(_paused(goal))
    if status == "active":
        if state.held is not None:
            raise ToolError(_WAITS)
        if state.unattended is not None:
            raise ToolError("Nobody watches this run, so the goal stays as it is.")
        if goal.status is not GoalStatus.ACTIVE:
            if state.mode is Mode.AGENT:
                session.configure(TOOL, mode=Mode.GOAL)
            _move(session, Deed.UNBLOCK, TOOL)
        return "The goal is active."
    if why is None:
        raise ToolError("Say in `reason` what stands in the way and what would remove it.")
    if goal.status is GoalStatus.BLOCKED:
        return "The goal is blocked already."
    tally = goals.found_blocked(state.tally, state.turn_id or "")
    if tally.blocked_turns < goals.BLOCKED_TURNS:
        _set(session, goal, tally)
        raise ToolError(
            f"Not blocked yet: this is turn {tally.blocked_turns} of {goals.BLOCKED_TURNS} in a "
            "row with something in the way. Try another way; if nothing helps, end the turn, and "
            "say so again in the next one."
        )
    _move(session, Deed.BLOCK, TOOL, why)
    return "The goal is blocked; no further turn begins for it. Tell the person what is needed."


def _paused(goal: r.Goal) -> str:
    return (
        f"The goal is paused: {goal.objective}. Only the person resumes or cancels it. Do what "
        "they asked in this turn and leave the goal alone."
    )


# -- the engine -----------------------------------------------------------------------------------


def turn_ends(session: "Session", stop_reason: StopReason, error: Failure | None) -> None:
    """Count the turn that is about to end, and let the goal rest where it must not go on."""
    state = session.state
    if state.goal is None or not (state.has_active_goal or state.turn_goal_id is not None):
        return
    turn = goals.TurnFacts(
        turn_id=state.turn_id or "",
        is_own=state.turn_goal_id is not None,
        stop_reason=stop_reason,
        error=error,
        tokens=state.usage.input_tokens + state.usage.output_tokens - state.tokens_before,
        trace=state.trace,
    )
    _set(session, *goals.after_turn(state.goal, state.tally, turn))


def mode_leaves(session: "Session", by: str, mode: Mode) -> None:
    """Pause an active goal before the session gets a mode in which nothing goes on by itself."""
    if mode is not Mode.GOAL and session.state.has_active_goal:
        pause(session, by, _LEFT_MODE)


def loaded(session: "Session") -> None:
    """Let a goal that another engine left active wait for the person."""
    if session.state.has_active_goal:
        with contextlib.suppress(KovaError):
            pause(session, ENGINE, _RESTARTED)


def go_on(session: "Session", begin: Callable[["Editor | None", str], None]) -> None:
    """Begin the next turn of an active goal; nothing else runs or waits.

    A turn that cannot begin pauses the goal and says why.
    """
    state, engine = session.state, session.engine
    goal = state.goal
    if goal is None or not state.has_active_goal or session.is_deleted:
        return
    editor = _editor(session)
    try:
        if engine.is_ending:
            pause(session, ENGINE, _ENDS)
            return
        engine.models.check(state.model, editor)
        _set(session, goal.model_copy(update={"turns": goal.turns + 1}))
        begin(editor, goal.goal_id)
    except KovaError as error:
        with contextlib.suppress(KovaError):
            rest(session, ENGINE, error.message)


def _editor(session: "Session") -> "Editor | None":
    """Return the editor that the last prompt came from, or its window's new one."""
    window, name = session.caller
    return next(
        (e for e in session.engine.editors if (e.id == window if window else e.name == name)), None
    )
