"""Requests about the engine itself."""

import os

from tests.support.stage import call, say


async def test_status_names_editors_and_sessions(desk, join):
    _, wire = await desk([say("Done.")])
    await join(wire, "other", trusted=False)
    session = await wire.create(title="Mine")
    status = await wire.result("kova/engine/status", {})
    assert status["pid"] == os.getpid()
    assert [(e["name"], e["trusted"], e["sessions"]) for e in status["editors"]] == [
        ("wire", True, [session]),
        ("other", False, []),
    ]
    assert [(s["title"], s["state"]) for s in status["sessions"]] == [("Mine", "idle")]


async def test_stop_waits_for_work_unless_forced(desk):
    _, wire = await desk([say(["slow ", "words"], delay_ms=50)])
    stops = []
    wire.hub.stop_soon = lambda: stops.append(True)
    session = await wire.create(title="Mine")
    await wire.start(session)
    refused = await wire.result("kova/engine/stop", {})
    assert (refused["stopping"], refused["running"], stops) == (False, ["Mine"], [])
    forced = await wire.result("kova/engine/stop", {"force": True})
    assert (forced["stopping"], stops) == (True, [True])
    await wire.event("turn.completed")


async def test_a_turn_that_waits_for_a_person_does_not_hold_the_engine(desk):
    _, wire = await desk([call("bash", command="make")])
    session = await wire.create()
    await wire.start(session)
    await wire.event("turn.suspended")
    assert (await wire.result("kova/engine/stop", {}))["stopping"] is True
