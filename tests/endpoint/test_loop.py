"""A turn from inside."""

from inline_snapshot import snapshot

from tests.support.stage import Stage, call, say
from tests.support.wire import Wire


async def loop_of(tmp_path, model, answer=None, **params):
    stage = Stage(tmp_path, model, files={"a.txt": "x\n"})
    wire = Wire(stage)
    await wire.initialize()
    session = await wire.create()
    await wire.start(session)
    if answer is not None:
        card = (await wire.event("approval.requested"))["payload"]["approval"]
        await wire.event("turn.suspended")
        if answer:
            params = {"approvalId": card["approvalId"], "decision": answer}
            await wire.result("kova/approval/respond", params)
    if answer != "":
        await wire.event("turn.completed")
    loop = await wire.result("kova/loop/read", {"sessionId": session})
    await stage.close()
    return loop


def shown(loop):
    return [
        (
            step["number"],
            step["intent"],
            [(c["tool"], c["verdict"]["decision"], c["status"]) for c in step["calls"]],
        )
        for step in loop["steps"]
    ]


async def test_every_step_says_what_it_tried(tmp_path):
    looking = {"text": "Let me look.\nNow.", **call("read", path="a.txt")}
    loop = await loop_of(tmp_path, [looking, call("read", path="b.txt"), say("Done.")])
    assert shown(loop) == snapshot(
        [
            (1, "Let me look.", [("read", "allow", "ok")]),
            (2, "Read b.txt", [("read", "allow", "error")]),
            (3, "Done.", []),
        ]
    )
    assert (loop["stopReason"], loop["stoppedBecause"]) == (
        "done",
        "The model asked for no more tools.",
    )
    assert all(step["durationMs"] >= 0 for step in loop["steps"])
    assert loop["steps"][0]["calls"][0]["durationMs"] >= 0


async def test_a_turn_that_waits_says_so(tmp_path):
    loop = await loop_of(tmp_path, [call("bash", command="make")], "")
    assert shown(loop) == snapshot([(1, "$ make", [("bash", "ask", "waiting")])])
    assert loop["stoppedBecause"] == "It waits for a person."
    assert "stopReason" not in loop


async def test_a_denied_call_has_its_reason(tmp_path):
    loop = await loop_of(tmp_path, [call("bash", command="make"), say("Done.")], "deny")
    (denied,) = loop["steps"][0]["calls"]
    assert denied["verdict"]["decision"] == "deny"
    assert denied["status"] == "blocked"


async def test_a_failed_turn_says_why(tmp_path):
    loop = await loop_of(tmp_path, [{"error": {"code": "overloaded", "message": "Come later."}}])
    assert loop["stoppedBecause"] == "It failed. Come later."
    assert loop["steps"][0]["error"]["code"] == "overloaded"


async def test_without_a_turn_there_is_nothing_to_see(tmp_path):
    stage = Stage(tmp_path)
    wire = Wire(stage)
    await wire.initialize()
    session = await wire.create()
    for params in ({}, {"turnId": "nope"}):
        error = await wire.error("kova/loop/read", {"sessionId": session, **params})
        assert error["data"]["code"] == "staleTurn"
    await stage.close()


async def test_a_long_turn_shows_its_latest_steps(tmp_path):
    many = [{"text": "t" * 300, **call("read", path="a.txt")}] * 300
    stage = Stage(tmp_path, [*many, say("Done.")], files={"a.txt": "x\n"})
    session = stage.create()
    stage.prompt(session, "Go.")
    await stage.idle(session)
    wire = Wire(stage)
    await wire.initialize()
    loop = await wire.result("kova/loop/read", {"sessionId": session.id})
    numbers = [step["number"] for step in loop["steps"]]
    assert numbers == list(range(302 - len(numbers), 302))
    assert 50 < len(numbers) < 301
    assert max(map(len, wire.pipe.frames)) <= 256 * 1024
    await stage.close()
