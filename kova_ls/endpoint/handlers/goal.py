"""Requests about the session's goal."""

from typing import TYPE_CHECKING

from kova_ls.endpoint.handlers._table import acting, handles, session_of
from kova_ls.engine import autonomy
from kova_ls.journal.records import GoalBudget
from kova_ls.protocol import goal as pg
from kova_ls.protocol import session as ps
from kova_ls.protocol._base import WireModel

if TYPE_CHECKING:
    from kova_ls.endpoint.server import EditorEndpoint


@handles("kova/goal/get")
def goal_get(endpoint: "EditorEndpoint", params: ps.SessionRef) -> WireModel:
    """Say where the goal stands."""
    return pg.GoalResult(goal=session_of(endpoint, params.session_id).state.goal)


@handles("kova/goal/pause")
def goal_pause(endpoint: "EditorEndpoint", params: ps.SessionRef) -> WireModel:
    """Let no further turn begin by itself."""
    session = acting(endpoint, params.session_id)
    return pg.GoalResult(goal=autonomy.pause(session, endpoint.name))


@handles("kova/goal/resume")
def goal_resume(endpoint: "EditorEndpoint", params: ps.SessionRef) -> WireModel:
    """Go on, at once when nothing runs."""
    session = acting(endpoint, params.session_id)
    return pg.GoalResult(goal=autonomy.resume(session, endpoint.name, endpoint))


@handles("kova/goal/cancel")
def goal_cancel(endpoint: "EditorEndpoint", params: ps.SessionRef) -> WireModel:
    """End the goal, and soon a turn that began by itself."""
    session = acting(endpoint, params.session_id)
    return pg.GoalResult(goal=autonomy.cancel(session, endpoint.name))


@handles("kova/goal/setBudget")
def goal_set_budget(endpoint: "EditorEndpoint", params: pg.GoalSetBudgetParams) -> WireModel:
    """Replace the budget."""
    session = acting(endpoint, params.session_id)
    budget = GoalBudget(turns=params.turns, tokens=params.tokens)
    return pg.GoalResult(goal=autonomy.set_budget(session, budget))
