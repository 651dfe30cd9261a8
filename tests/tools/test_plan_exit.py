import pytest
from inline_snapshot import snapshot
from pydantic import ValidationError

from kova_ls.permission.effects import Interact
from kova_ls.tools._base import AskPlan, Reply, ToolError
from kova_ls.tools.plan_exit import TOOL
from kova_ls.values import Option

PLAN = "# Plan\n1. Do it."


def test_schema():
    assert TOOL.schema() == snapshot(
        {
            "additionalProperties": False,
            "properties": {
                "options": {
                    "items": {
                        "additionalProperties": False,
                        "properties": {
                            "label": {
                                "description": "Short name.",
                                "maxLength": 80,
                                "minLength": 1,
                                "type": "string",
                            },
                            "description": {"description": "What it means.", "type": "string"},
                        },
                        "required": ["label", "description"],
                        "type": "object",
                    },
                    "maxItems": 3,
                    "minItems": 1,
                    "type": "array",
                    "description": "Approaches to choose from, if the plan leaves a choice.",
                }
            },
            "type": "object",
        }
    )


def option(label):
    return {"label": label, "description": "d"}


@pytest.fixture
def planned(desk):
    (desk.saved / "plan.md").write_text(PLAN + "\n")
    return desk


async def test_shows_the_plan_file_with_the_approaches(planned):
    args, ctx = planned.context(TOOL, {"options": [option("Fast")]})
    assert TOOL.effects(args, ctx.resolve) == [Interact("plan_exit")]
    assert await TOOL.asks(args, ctx) == AskPlan(PLAN, (Option(label="Fast", description="d"),))


async def test_without_a_plan_says_to_write_one(desk):
    args, ctx = desk.context(TOOL, {})
    with pytest.raises(ToolError, match=r"write it to .*plan\.md"):
        await TOOL.asks(args, ctx)


@pytest.mark.parametrize(
    "options",
    [
        [],
        [option(label) for label in "ABCD"],
        [option("A"), option("A")],
        [option("x" * 81)],
        [option("Approve")],
        [option("reject")],
        [option("Reject and Exit")],
        [option("Revise ")],
    ],
)
def test_limits_of_options(options):
    with pytest.raises(ValidationError):
        TOOL.args.model_validate({"options": options})


@pytest.mark.parametrize(
    ("decision", "is_agent", "says"),
    [
        ("approve", True, "Carry it out. Chosen approach: Fast."),
        ("reject", False, "the mode stays plan"),
        ("rejectAndExit", True, "Do not carry it out"),
        ("revise", False, "then call plan_exit again"),
    ],
)
async def test_decisions(planned, decision, is_agent, says):
    planned.answer = Reply(decision, option="Fast", feedback="mind the tests")
    args, ctx = planned.context(TOOL, {"options": [option("Fast")]})
    result = await TOOL.run(args, ctx)
    assert ctx.is_agent is is_agent
    assert says in result.text
    assert result.text.endswith("The person says: mind the tests")


async def test_an_unknown_decision_keeps_the_mode(planned):
    planned.answer = Reply("whatever")
    args, ctx = planned.context(TOOL, {})
    await TOOL.run(args, ctx)
    assert not ctx.is_agent
