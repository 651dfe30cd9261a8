"""Goals: what the person may do with what a session works towards."""

from pydantic import Field

from kova_ls.journal.records import Goal
from kova_ls.protocol._base import WireModel


class GoalSetBudgetParams(WireModel):
    """The whole new budget: what is absent has no limit, neither clears it."""

    session_id: str
    """Opaque id."""
    turns: int | None = Field(default=None, ge=1)
    """Turns that the engine begins by itself, those so far included."""
    tokens: int | None = Field(default=None, ge=1)
    """Tokens, those used so far included; looked at between turns."""


class GoalResult(WireModel):
    """Where the goal stands."""

    goal: Goal | None = None
    """The last one that was set; absent when there was none."""
