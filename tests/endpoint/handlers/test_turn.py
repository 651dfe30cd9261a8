"""Requests about turns, and ranges of outputs."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kova_ls.endpoint.handlers import turn as module
from kova_ls.protocol.turn import OutputReadParams
from tests.support.stage import call, say


async def test_the_same_prompt_twice_is_one_turn(desk):
    _, wire = await desk([say("Done."), say("Never.")])
    session = await wire.create()
    first = await wire.start(session, promptId="p1")
    assert await wire.start(session, promptId="p1") == first
    await wire.event("turn.completed")
    again = await wire.start(session, promptId="p1")
    assert again["turnId"] == first["turnId"]
    assert len([e for e in wire.events if e["type"] == "turn.started"]) == 1


async def test_a_busy_session_refuses_queues_or_is_steered(desk):
    _, wire = await desk([call("bash", command="make"), say("One."), say("Two.")])
    session = await wire.create()
    first = await wire.start(session)
    await wire.event("turn.suspended")
    params = {"sessionId": session, "input": [{"type": "text", "text": "More."}]}
    error = await wire.error("kova/turn/start", params)
    assert error["data"] == {"code": "turnBusy", "turnId": first["turnId"]}
    queued = await wire.start(session, "Then.", whenBusy="queue")
    assert queued["status"] == "queued"
    steered = await wire.start(session, "Now.", whenBusy="steer")
    assert steered == {"turnId": first["turnId"], "status": "steered"}
    await wire.result(
        "kova/turn/steer",
        {"sessionId": session, "expectedTurnId": first["turnId"], "input": params["input"]},
    )
    card = (await wire.event("approval.requested"))["payload"]["approval"]
    await wire.result(
        "kova/approval/respond", {"approvalId": card["approvalId"], "decision": "deny"}
    )
    await wire.event("turn.completed", 2)
    said = [
        (e["payload"]["item"]["input"][0]["text"], e["payload"]["item"]["steered"])
        for e in wire.events
        if e["type"] == "item.completed" and e["payload"]["item"]["kind"] == "userMessage"
    ]
    assert said == [("Go.", False), ("Now.", True), ("More.", True), ("Then.", False)]


async def test_a_queue_has_an_end(desk):
    _, wire = await desk([call("bash", command="make")])
    session = await wire.create()
    await wire.start(session)
    await wire.event("turn.suspended")
    for number in range(64):
        await wire.start(session, f"Then {number}.", whenBusy="queue")
    params = {
        "sessionId": session,
        "input": [{"type": "text", "text": "More."}],
        "whenBusy": "queue",
    }
    error = await wire.error("kova/turn/start", params)
    assert error["data"]["code"] == "limitExceeded"
    assert "64 prompts wait" in error["message"]


async def test_a_queue_holds_one_long_prompt_but_not_two(desk):
    _, wire = await desk([call("bash", command="make")])
    session = await wire.create()
    await wire.start(session)
    await wire.event("turn.suspended")
    long = "x" * 900_000
    await wire.start(session, long, whenBusy="queue")
    params = {
        "sessionId": session,
        "input": [{"type": "text", "text": long}],
        "whenBusy": "queue",
    }
    assert (await wire.error("kova/turn/start", params))["data"]["code"] == "limitExceeded"


async def test_a_prompt_that_waits_is_taken_back_as_it_was_given(desk):
    _, wire = await desk([call("bash", command="make"), say("One."), say("Two.")])
    session = await wire.create()
    await wire.start(session)
    await wire.event("turn.suspended")
    parts = [{"type": "text", "text": "Then."}, {"type": "file", "uri": "file:///a.py"}]
    for prompt_id in ("p1", "p2"):
        params = {"sessionId": session, "promptId": prompt_id, "input": parts}
        await wire.result("kova/turn/start", params | {"whenBusy": "queue"})
    taken = {"sessionId": session, "promptId": "p1"}
    assert await wire.result("kova/turn/withdraw", taken) == {"input": parts}
    waiting = (await wire.event("queue.updated", 3))["payload"]["queue"]
    assert [queued["promptId"] for queued in waiting] == ["p2"]
    error = await wire.error("kova/turn/withdraw", taken)
    assert error["data"]["code"] == "staleTurn"
    again = await wire.start(session, "Better.", promptId="p1", whenBusy="queue")
    assert again["status"] == "queued"


async def test_half_a_character_is_replaced(desk):
    _, wire = await desk([say("Done.", expect=["a\ufffdb"])])
    session = await wire.create()
    await wire.start(session, "a\ud800b")
    ended = await wire.event("turn.completed")
    assert ended["payload"]["stopReason"] == "done"


async def test_a_turn_that_runs_no_more_is_stale(desk):
    _, wire = await desk([say("Done.")])
    session = await wire.create()
    turn = await wire.start(session)
    await wire.event("turn.completed")
    words = [{"type": "text", "text": "x"}]
    for method, params in (
        ("kova/turn/steer", {"expectedTurnId": turn["turnId"], "input": words}),
        ("kova/turn/interrupt", {"expectedTurnId": turn["turnId"]}),
    ):
        error = await wire.error(method, {"sessionId": session, **params})
        assert error["data"]["code"] == "staleTurn"


async def test_interrupt_names_what_it_stopped(desk):
    _, wire = await desk([call("bash", command="make")])
    session = await wire.create()
    await wire.start(session)
    await wire.event("turn.suspended")
    stopped = await wire.result("kova/turn/interrupt", {"sessionId": session})
    assert stopped["stopped"] == ["approval of $ make"]
    assert (await wire.event("turn.completed"))["payload"]["stopReason"] == "interrupted"
    assert (await wire.result("kova/turn/interrupt", {"sessionId": session}))["stopped"] == []


async def test_without_a_model_a_turn_is_refused_before_it_starts(desk):
    stage, wire = await desk()
    (stage.root / "kova/config.toml").write_text("")
    session = await wire.create()
    params = {"sessionId": session, "input": [{"type": "text", "text": "x"}]}
    error = await wire.error("kova/turn/start", params)
    assert error["data"]["code"] == "modelNotConfigured"
    assert "ANTHROPIC_API_KEY" in error["message"]
    assert wire.events == []


async def test_a_large_output_is_a_preview_and_a_whole(desk):
    _, wire = await desk([call("bash", command="seq 1 30000"), say("Done.")])
    session = await wire.create()
    await wire.start(session)
    card = (await wire.event("approval.requested"))["payload"]["approval"]
    await wire.event("turn.suspended")
    await wire.result(
        "kova/approval/respond", {"approvalId": card["approvalId"], "decision": "once"}
    )
    await wire.event("turn.completed")
    (item,) = [
        e["payload"]["item"]
        for e in wire.events
        if e["type"] == "item.completed" and e["payload"]["item"]["kind"] == "toolCall"
    ]
    assert item["display"][0]["hiddenBytes"] > 0
    text, offset = "", 0
    while True:
        params = {"outputRef": item["outputRef"], "offset": offset, "limit": 50_000}
        page = await wire.result("kova/output/read", params)
        text += page["text"]
        offset = page["nextOffset"]
        if offset >= page["totalBytes"]:
            break
    assert text == "".join(f"{n}\n" for n in range(1, 30_001))


@pytest.mark.parametrize(
    "name", ["", "gone.txt", "../journal.jsonl", ".hidden", "/etc/passwd", "a\0b"]
)
async def test_an_output_that_is_none_is_gone(desk, name):
    _, wire = await desk()
    session = await wire.create()
    params = {"outputRef": f"{session}/{name}", "offset": 0, "limit": 10}
    assert (await wire.error("kova/output/read", params))["data"]["code"] == "outputGone"


TEXTS = st.text(alphabet="aé€😀\n", max_size=60)


@settings(deadline=None, suppress_health_check=list(HealthCheck), database=None, max_examples=60)
@given(text=TEXTS, limit=st.integers(4, 20), start=st.integers(0, 200))
def test_ranges_end_at_characters(tmp_path_factory, text, limit, start):
    folder = tmp_path_factory.mktemp("out")
    (folder / "outputs").mkdir()
    (folder / "outputs" / "o.txt").write_bytes(text.encode())

    class Session:
        pass

    session = Session()
    session.folder = folder

    class Engine:
        def get(self, _session_id):
            return session

    class Endpoint:
        engine = Engine()

    def read(offset):
        params = OutputReadParams(output_ref="s/o.txt", offset=offset, limit=limit)
        return module.output_read(Endpoint(), params)

    pages, offset = [], 0
    while offset < len(text.encode()):
        page = read(offset)
        assert page.offset == offset
        assert page.next_offset > offset
        pages.append(page.text)
        offset = page.next_offset
    assert "".join(pages) == text
    page = read(start)
    assert "\ufffd" not in page.text
    assert page.offset <= min(start, page.total_bytes)
    assert text.encode()[page.offset : page.next_offset].decode() == page.text
