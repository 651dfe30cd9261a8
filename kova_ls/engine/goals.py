"""What may become of a goal, and what an ended turn makes of it. Pure.

Invariant: only the person makes a paused goal active again, ends it, or gives it a budget.
Invariant: what does not move on comes to rest: a turn that did not end by itself, turns that bring
nothing new, and a budget that is used up pause the goal.
"""

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from kova_ls.errors import RequestFailed
from kova_ls.journal import records as r
from kova_ls.values import Failure, ToolCallItem
from kova_ls.vocabulary import GoalStatus, ItemStatus, StopReason

MOST_IDLE_TURNS = 3
"""In a row, after which a goal waits for the person."""
BLOCKED_TURNS = 3
"""In a row, in which something has to stand in the way before the goal counts as blocked."""
ENGINE = "engine"
TOOL = "goal"
"""Who changed a goal, beside clients."""
_OWN_TOOLS = frozenset({TOOL, "TodoList"})
"""What only says how far the work is, and is none."""

_ACTIVE, _PAUSED, _BLOCKED = GoalStatus.ACTIVE, GoalStatus.PAUSED, GoalStatus.BLOCKED
_COMPLETE, _CANCELLED = GoalStatus.COMPLETE, GoalStatus.CANCELLED


class Deed(StrEnum):
    """What is done to a goal: by the person or the engine, by the person, by the model."""

    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"
    UNBLOCK = "unblock"
    BLOCK = "block"
    COMPLETE = "complete"


NEXT: dict[GoalStatus, dict[Deed, GoalStatus]] = {
    _ACTIVE: {
        Deed.PAUSE: _PAUSED,
        Deed.RESUME: _ACTIVE,
        Deed.CANCEL: _CANCELLED,
        Deed.UNBLOCK: _ACTIVE,
        Deed.BLOCK: _BLOCKED,
        Deed.COMPLETE: _COMPLETE,
    },
    _PAUSED: {
        Deed.PAUSE: _PAUSED,
        Deed.RESUME: _ACTIVE,
        Deed.CANCEL: _CANCELLED,
        Deed.COMPLETE: _COMPLETE,
    },
    _BLOCKED: {
        Deed.PAUSE: _PAUSED,
        Deed.RESUME: _ACTIVE,
        Deed.CANCEL: _CANCELLED,
        Deed.UNBLOCK: _ACTIVE,
        Deed.COMPLETE: _COMPLETE,
    },
    _COMPLETE: {},
    _CANCELLED: {},
}
"""Status -> deed -> next status; what is not listed is refused."""


def moved(goal: r.Goal | None, deed: Deed, by: str, reason: str | None = None) -> r.Goal:
    """Return the goal after a deed. Raises: RequestFailed (`goalState`)."""
    if goal is None:
        raise RequestFailed(
            "goalState", "This session has no goal. Ask for one in mode `goal`, then try again."
        )
    status = NEXT[goal.status].get(deed)
    if status is None:
        raise RequestFailed(
            "goalState",
            f"The goal is {goal.status.value}: {deed.value} is not possible. Look at it again.",
        )
    return goal.model_copy(update={"status": status, "reason": reason, "by": by})


def used_up(goal: r.Goal) -> str | None:
    """Return which budget is used up, in a sentence."""
    budget = goal.budget
    if budget is None:
        return None
    if budget.turns is not None and goal.turns >= budget.turns:
        return f"The budget of {budget.turns} turns is used up."
    if budget.tokens is not None and goal.tokens >= budget.tokens:
        return f"The budget of {budget.tokens:,} tokens is used up."
    return None


@dataclass(frozen=True, slots=True)
class TurnFacts:
    """A turn at its end."""

    turn_id: str
    is_own: bool
    """The engine began it, and nobody said anything in it."""
    stop_reason: StopReason
    error: Failure | None
    tokens: int
    trace: str


def after_turn(goal: r.Goal, tally: r.GoalTally, turn: TurnFacts) -> tuple[r.Goal, r.GoalTally]:
    """Return what a turn makes of the goal that it worked on, counted and perhaps paused."""
    goal = goal.model_copy(update={"tokens": goal.tokens + turn.tokens})
    if goal.status is not GoalStatus.ACTIVE:
        return goal, tally
    is_idle = turn.is_own and turn.trace in ("", tally.trace)
    tally = tally.model_copy(
        update={
            "blocked_turns": tally.blocked_turns if tally.blocked_in == turn.turn_id else 0,
            "idle_turns": tally.idle_turns + 1 if is_idle else 0,
            "trace": turn.trace or tally.trace,
        }
    )
    why = used_up(goal)
    if turn.stop_reason is StopReason.INTERRUPTED:
        why = "The turn was stopped."
    elif turn.stop_reason is not StopReason.DONE:
        why = turn.error.message if turn.error is not None else "The turn failed."
    elif tally.idle_turns >= MOST_IDLE_TURNS:
        why = f"{MOST_IDLE_TURNS} turns in a row brought nothing new."
        tally = tally.model_copy(update={"idle_turns": 0})
    return (goal if why is None else moved(goal, Deed.PAUSE, ENGINE, why)), tally


def found_blocked(tally: r.GoalTally, turn_id: str) -> r.GoalTally:
    """Count that the model found itself blocked; once a turn."""
    if tally.blocked_in == turn_id:
        return tally
    return tally.model_copy(
        update={"blocked_turns": tally.blocked_turns + 1, "blocked_in": turn_id}
    )


def traced(trace: str, record: r.ItemCompleted) -> str:
    """Return the digest of what a turn's calls were and gave, with one more item."""
    item = record.item
    if not isinstance(item, ToolCallItem) or item.status is not ItemStatus.OK:
        return trace
    if item.tool in _OWN_TOOLS:
        return trace
    said = f"{trace}\0{item.tool}\0{item.args!r}\0{record.result}"
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def told(goal: r.Goal | None) -> str:
    """Return what the model reads of a goal."""
    if goal is None:
        return "The session has no goal."
    lines = [f"Goal: {goal.status.value}", f"Objective: {goal.objective}"]
    if goal.completion_criterion:
        lines.append(f"Done when: {goal.completion_criterion}")
    if goal.reason:
        lines.append(f"Because: {goal.reason}")
    lines.append(f"Turns begun for it: {goal.turns}{_of(goal.budget and goal.budget.turns)}")
    lines.append(f"Tokens used: {goal.tokens:,}{_of(goal.budget and goal.budget.tokens)}")
    return "\n".join(lines)


def _of(limit: int | None) -> str:
    return "" if limit is None else f" of {limit:,}, as the person set it"


GO_ON = "Go on towards the goal."
"""What stands in the transcript where the engine begins a turn."""


def reminder(goal: r.Goal | None) -> str:
    """Return what the model reads with it."""
    return (
        f"<goal>\n{told(goal)}\n</goal>\n"
        "Nobody wrote this: the turn began by itself because the goal is active. Look at what is "
        "there now instead of trusting what was said, and take the next step that brings the "
        "objective nearer. Do not end the turn only to report or to ask whether to go on.\n"
        "When the objective is met, verify it, then call goal with action update, status complete "
        "and the reason that shows it. When the same thing still stands in the way, call goal with status "
        f"blocked and say what it is; it counts after {BLOCKED_TURNS} turns in a row."
    )
