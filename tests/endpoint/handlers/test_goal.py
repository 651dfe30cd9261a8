"""Requests about the session's goal."""

import pytest

from kova_ls.endpoint.handlers import goal as module
from tests.support.stage import call, say

CREATE = call("goal", action="create", objective="Green.")
SLOW = say(["one ", "two ", "three"], delay_ms=50)


def test_each_of_them_is_a_handler():
    assert {name for name in vars(module) if name.startswith("goal_")} == {
        "goal_cancel",
        "goal_get",
        "goal_pause",
        "goal_resume",
        "goal_set_budget",
    }


async def going(desk, *steps, **more):
    stage, wire = await desk([CREATE, say("So."), *steps], **more)
    session = await wire.create(mode="goal")
    await wire.start(session)
    await wire.event("turn.started", 2)
    return stage, wire, session


async def test_pause_resume_and_the_snapshot(desk):
    _, wire, session = await going(desk, SLOW, SLOW, SLOW)
    params = {"sessionId": session}
    paused = await wire.result("kova/goal/pause", params)
    assert paused["goal"]["status"] == "paused"
    assert paused["goal"]["by"] == "wire"
    assert await wire.result("kova/goal/get", params) == paused
    await wire.event("turn.completed", 2)
    attached = await wire.result("kova/session/attach", params)
    assert attached["snapshot"]["goal"]["objective"] == "Green."
    assert attached["snapshot"]["goal"]["status"] == "paused"
    resumed = await wire.result("kova/goal/resume", params)
    assert resumed["goal"]["status"] == "active"
    started = await wire.event("turn.started", 3)
    assert started["payload"]["goalId"] == resumed["goal"]["goalId"]
    await wire.result("kova/turn/interrupt", params)
    told = [e["payload"] for e in wire.events if e["type"] == "goal.updated"]
    assert told[-1]["goal"]["reason"] == "The turn was stopped."
    assert all("tally" not in payload for payload in told)


async def test_stop_names_the_goal(desk):
    _, wire, session = await going(desk, SLOW)
    stopped = await wire.result("kova/turn/interrupt", {"sessionId": session})
    assert stopped["stopped"][-1] == "the goal: Green."


async def test_cancel_and_the_budget(desk):
    _, wire, session = await going(desk, SLOW)
    params = {"sessionId": session}
    budget = await wire.result("kova/goal/setBudget", {**params, "turns": 9})
    assert budget["goal"]["budget"] == {"turns": 9}
    cleared = await wire.result("kova/goal/setBudget", params)
    assert "budget" not in cleared["goal"]
    cancelled = await wire.result("kova/goal/cancel", params)
    assert cancelled["goal"]["status"] == "cancelled"
    ended = await wire.event("turn.completed", 2)
    assert ended["payload"]["stopReason"] == "interrupted"
    error = await wire.error("kova/goal/resume", params)
    assert error["data"]["code"] == "goalState"
    assert "Look at it again" in error["message"]


async def test_a_conversation_that_is_archived_comes_to_rest(desk):
    _, wire, session = await going(desk, SLOW, SLOW)
    await wire.result("kova/session/archive", {"sessionId": session})
    goal = (await wire.result("kova/goal/get", {"sessionId": session}))["goal"]
    assert (goal["status"], goal["reason"]) == ("paused", "The conversation was archived.")


@pytest.mark.parametrize("verb", ["pause", "resume", "cancel", "setBudget"])
async def test_an_untrusted_editor_may_only_look(desk, join, verb):
    _, wire, session = await going(desk, SLOW)
    other = await join(wire, "other", trusted=False)
    seen = await other.result("kova/goal/get", {"sessionId": session})
    assert seen["goal"]["status"] == "active"
    error = await other.error(f"kova/goal/{verb}", {"sessionId": session})
    assert error["data"]["code"] == "notTrusted"
    await wire.result("kova/turn/interrupt", {"sessionId": session})
