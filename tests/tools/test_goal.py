"""The goal tool: what it asks of the session, and what it leaves to the person."""

import pytest

from kova_ls.permission.effects import Interact
from kova_ls.tools.goal import TOOL


async def test_each_action_reaches_the_session(desk):
    args, ctx = desk.context(
        TOOL, {"action": "create", "objective": "Green.", "completionCriterion": "pytest"}
    )
    assert (await TOOL.run(args, ctx)).text == "Set."
    args, _ = desk.context(TOOL, {"action": "create", "objective": "Other.", "replace": True})
    await TOOL.run(args, ctx)
    args, _ = desk.context(TOOL, {"action": "update", "status": "complete", "reason": "It is."})
    assert (await TOOL.run(args, ctx)).text == "Moved."
    assert ctx.opened == [
        ("create", "Green.", "pytest", False),
        ("create", "Other.", None, True),
        ("update", "complete", "It is."),
    ]
    assert (await desk.call(TOOL, action="get")).text == "The session has no goal."


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ({"action": "create"}, "create needs an objective"),
        ({"action": "update"}, "update needs a status"),
        ({"action": "set_budget"}, "unavailable: only the person"),
    ],
)
async def test_what_is_missing_or_not_the_models_is_said(desk, raw, why):
    result = await desk.call(TOOL, **raw)
    assert result.is_error
    assert result.text.startswith(why)


def test_what_changes_the_course_is_told_from_reading(desk):
    def effects(**raw):
        args, ctx = desk.context(TOOL, raw)
        return TOOL.effects(args, ctx.resolve)

    assert effects(action="create", objective="x") == [Interact("goal")]
    assert effects(action="update", status="active") == [Interact("goal")]
    assert effects(action="get") == effects(action="set_budget") == [Interact("todo")]


@pytest.mark.parametrize(
    ("name", "given", "title"),
    [
        ("CreateGoal", '{"objective": "All\\n green."}', "Set the goal: All green."),
        ("getgoal", "{}", "Read the goal"),
        ("UpdateGoal", '{"status": "blocked"}', "Goal: blocked"),
        ("SetGoalBudget", '{"value": 3, "unit": "turns"}', "Set the goal's budget"),
    ],
)
def test_an_older_name_says_the_action(name, given, title):
    assert TOOL.title(TOOL.args_of(name).model_validate_json(given)) == title


def test_only_three_actions_are_offered():
    assert TOOL.schema()["properties"]["action"]["enum"] == ["create", "get", "update"]
    assert "budget" not in str(TOOL.schema())
