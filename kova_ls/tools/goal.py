"""Set, read and move the session's goal, for work over several turns.

Invariant: a budget is the person's alone; no call sets or clears one.
"""

from typing import Literal

from pydantic import AliasChoices, ConfigDict, Field

from kova_ls.permission.effects import Effect, Interact
from kova_ls.tools._args import Args
from kova_ls.tools._base import (
    GoalWord,
    Resolve,
    Tool,
    ToolContext,
    ToolError,
    ToolResult,
    reports_errors,
)
from kova_ls.values import TextBlock
from kova_ls.vocabulary import ToolKind

Action = Literal["create", "get", "update", "set_budget"]
_OFFERED = ["create", "get", "update"]


class GoalArgs(Args):
    """Arguments of `goal`."""

    action: Action = Field(json_schema_extra={"enum": list(_OFFERED)})
    """What to do."""
    objective: str | None = Field(default=None, min_length=1, max_length=4_000)
    """create: a verifiable aim."""
    completion_criterion: str | None = Field(
        default=None,
        max_length=4_000,
        validation_alias=AliasChoices("completionCriterion", "completion_criterion"),
    )
    """create: how to tell it is met."""
    replace: bool = False
    """create: abandon the open goal, if asked to."""
    status: GoalWord | None = None
    """For update."""
    reason: str | None = Field(default=None, min_length=1, max_length=2_000)
    """complete: what you ran or saw that shows it; blocked: what stands in the way."""


class CreateGoalArgs(GoalArgs):
    """Arguments of the older `CreateGoal`."""

    action: Action = "create"
    """What to do."""


class GetGoalArgs(GoalArgs):
    """Arguments of the older `GetGoal`."""

    action: Action = "get"
    """What to do."""


class UpdateGoalArgs(GoalArgs):
    """Arguments of the older `UpdateGoal`."""

    action: Action = "update"
    """What to do."""


class SetGoalBudgetArgs(GoalArgs):
    """Arguments of the older `SetGoalBudget`, whatever they are."""

    model_config = ConfigDict(extra="ignore")
    action: Action = "set_budget"
    """What to do."""


def effects(args: GoalArgs, _resolve: Resolve) -> list[Effect]:
    """Declare that the session's course changes; reading it is nothing."""
    return [Interact("goal" if args.action in ("create", "update") else "todo")]


@reports_errors
async def run(args: GoalArgs, ctx: ToolContext) -> ToolResult:
    """Do what the action says."""
    match args.action:
        case "get":
            text = ctx.goal()
        case "create":
            if args.objective is None:
                raise ToolError("create needs an objective that can be verified; send it along.")
            text = ctx.create_goal(args.objective, args.completion_criterion, replace=args.replace)
        case "update":
            if args.status is None:
                raise ToolError("update needs a status: active, complete or blocked.")
            text = ctx.update_goal(args.status, args.reason)
        case _:
            raise ToolError(
                "unavailable: only the person sets or clears a goal's budget, in their editor. "
                "Nothing was changed; go on without one."
            )
    return ToolResult(text, (TextBlock(text=text),))


def _title(args: GoalArgs) -> str:
    match args.action:
        case "create":
            return f"Set the goal: {' '.join((args.objective or '').split())}"
        case "update":
            return f"Goal: {args.status}"
        case "get":
            return "Read the goal"
        case _:
            return "Set the goal's budget"


TOOL = Tool(
    name="goal",
    kind=ToolKind.GOAL,
    args=GoalArgs,
    description=(
        "Keep the session's goal: while it is active, turns follow each other unasked. Create it "
        "when the person wants something brought to its end. Complete only what you verified; "
        "blocked holds once the same thing stood in the way for three turns in a row."
    ),
    effects=effects,
    run=run,
    title=_title,
    aliases=("CreateGoal", "GetGoal", "UpdateGoal", "SetGoalBudget"),
    older={
        "creategoal": CreateGoalArgs,
        "getgoal": GetGoalArgs,
        "updategoal": UpdateGoalArgs,
        "setgoalbudget": SetGoalBudgetArgs,
    },
)
