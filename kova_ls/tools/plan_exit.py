"""Show the plan to the person and leave mode `plan` on their yes.

Invariant: the mode changes only on the person's own decision.
"""

from pydantic import Field, field_validator

from kova_ls.permission.effects import Effect, Interact
from kova_ls.tools._args import Args
from kova_ls.tools._base import (
    AskPlan,
    Resolve,
    Tool,
    ToolContext,
    ToolError,
    ToolResult,
    reports_errors,
)
from kova_ls.values import Option, TextBlock
from kova_ls.vocabulary import ToolKind

_RESERVED = frozenset({"approve", "reject", "reject and exit", "revise"})


class PlanOption(Args):
    """One approach."""

    label: str = Field(min_length=1, max_length=80)
    """Short name."""
    description: str
    """What it means."""


class PlanExitArgs(Args):
    """Arguments of `plan_exit`."""

    options: tuple[PlanOption, ...] | None = Field(default=None, min_length=1, max_length=3)
    """Approaches to choose from, if the plan leaves a choice."""

    @field_validator("options")
    @classmethod
    def _labels(cls, value: tuple[PlanOption, ...] | None) -> tuple[PlanOption, ...] | None:
        labels = [option.label.strip().casefold() for option in value or ()]
        if len(set(labels)) < len(labels):
            raise ValueError("labels must differ from each other")
        if taken := _RESERVED.intersection(labels):
            raise ValueError(f"the label {min(taken)!r} is reserved; choose another")
        return value


def effects(_args: PlanExitArgs, _resolve: Resolve) -> list[Effect]:
    """Declare asking; the plan file is the session's own."""
    return [Interact("plan_exit")]


async def asks(args: PlanExitArgs, ctx: ToolContext) -> AskPlan:
    """Return the plan file's text with the approaches."""
    plan = await _plan(ctx)
    return AskPlan(
        plan,
        tuple(
            Option(label=option.label, description=option.description)
            for option in args.options or ()
        ),
    )


@reports_errors
async def run(args: PlanExitArgs, ctx: ToolContext) -> ToolResult:
    """Act on the person's decision and tell the model."""
    reply = ctx.answer
    if reply is None:
        return ToolResult("Nobody can approve the plan here; stay in mode plan.", is_error=True)
    said = f"\nThe person says: {reply.feedback}" if reply.feedback else ""
    match reply.decision:
        case "approve":
            plan = await _plan(ctx)
            ctx.set_mode_agent()
            chosen = f" Chosen approach: {reply.option}." if reply.option else ""
            text = f"The plan is approved; the mode is agent. Carry it out.{chosen}{said}"
            return ToolResult(text, (TextBlock(text=plan, language="markdown"),))
        case "rejectAndExit":
            ctx.set_mode_agent()
            text = f"The plan is rejected; the mode is agent. Do not carry it out; stop here.{said}"
        case "revise":
            text = f"Revise the plan in {ctx.plan_path}, then call plan_exit again.{said}"
        case _:
            text = f"The plan is rejected; the mode stays plan. Ask what is wanted instead.{said}"
    return ToolResult(text)


async def _plan(ctx: ToolContext) -> str:
    try:
        plan = (await ctx.workspace.read_text(ctx.plan_path)).text.strip()
    except ToolError:
        plan = ""
    if not plan:
        raise ToolError(f"There is no plan yet: write it to {ctx.plan_path}, then call plan_exit.")
    return plan


TOOL = Tool(
    name="plan_exit",
    kind=ToolKind.PLAN_EXIT,
    args=PlanExitArgs,
    description="Mode plan only: show the plan file to the person for approval, to start work.",
    effects=effects,
    run=run,
    title=lambda _args: "Present the plan",
    asks=asks,
    aliases=("ExitPlanMode",),
)
