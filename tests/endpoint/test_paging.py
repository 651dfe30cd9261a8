"""Snapshots and pages of events."""

from tests.support.stage import Stage, call, say
from tests.support.wire import Wire

LIMIT = 256 * 1024


async def session_of(tmp_path, model, turns=1, **settings):
    stage = Stage(tmp_path, model)
    session = stage.create(**settings)
    for _ in range(turns):
        stage.prompt(session, "Go.")
        await stage.idle(session)
    wire = Wire(stage)
    await wire.initialize()
    return stage, session, wire


async def pages(wire, session, seq=0, detail="deltas"):
    cursor, found, more = {"epoch": session.state.epoch, "seq": seq}, [], True
    while more:
        params = {"sessionId": session.id, "cursor": cursor, "detail": detail}
        page = await wire.result("kova/session/attach", params)
        found.append(page)
        cursor, more = page["watermark"], page.get("more", False)
    return found


async def test_events_come_in_pages_that_fit(tmp_path):
    model = [call("write", path="a.txt", content="é" * 30_000)] * 20
    stage, session, wire = await session_of(tmp_path, model)
    found = await pages(wire, session)
    assert len(found) > 3
    seqs = [event["seq"] for page in found for event in page["events"]]
    assert seqs == list(range(1, session.journal.seq + 1))
    assert max(map(len, wire.pipe.frames)) <= LIMIT
    assert "items" not in found[0]["snapshot"] or found[0]["snapshot"]["items"] == []
    await stage.close()


async def test_only_the_last_page_follows(tmp_path):
    model = [call("write", path="a.txt", content="x" * 60_000)] * 6
    stage, session, wire = await session_of(tmp_path, model)
    params = {"sessionId": session.id, "cursor": {"epoch": session.state.epoch, "seq": 0}}
    first = await wire.result("kova/session/attach", params)
    assert first["more"] is True
    assert session.id not in wire.endpoint.followed
    await pages(wire, session, first["watermark"]["seq"])
    assert session.id in wire.endpoint.followed
    await stage.close()


async def test_a_cursor_of_another_epoch_or_from_the_future_starts_anew(tmp_path):
    stage, session, wire = await session_of(tmp_path, [say("Done.")])
    for cursor in ({"epoch": "other", "seq": 1}, {"epoch": session.state.epoch, "seq": 10_000}):
        params = {"sessionId": session.id, "cursor": cursor}
        page = await wire.result("kova/session/attach", params)
        assert (page["reset"], page["events"]) == (True, [])
        assert len(page["snapshot"]["items"]) == 2
        assert page["watermark"]["seq"] == session.journal.seq
    await stage.close()


async def test_the_events_of_a_page_are_those_that_were_sent(tmp_path):
    stage = Stage(tmp_path, [call("read", path="a.txt"), say("Done.")], files={"a.txt": "x\n"})
    wire = Wire(stage)
    await wire.initialize()
    session = stage.engine.get(await wire.create())
    await wire.start(session.id)
    await wire.event("turn.completed")
    live = [event for event in wire.events if "seq" in event]
    (page,) = await pages(wire, session, 1)
    assert page["events"] == live
    await stage.close()


async def test_older_items_are_read_page_by_page(tmp_path):
    stage, session, wire = await session_of(tmp_path, [say(f"Answer {n}.") for n in range(9)], 9)
    read, before = [], None
    while True:
        params = {"sessionId": session.id, "limit": 4, **({"before": before} if before else {})}
        page = await wire.result("kova/session/read", params)
        read += page["items"]
        before = page.get("before")
        if before is None:
            break
    texts = [item["text"] for item in read if item["kind"] == "reply"]
    assert texts == [f"Answer {n}." for n in reversed(range(9))]
    assert len(read) == 18
    await stage.close()


async def test_large_items_make_smaller_pages_and_lose_nothing(tmp_path):
    model = [call("write", path="a.txt", content="x" * 60_000)] * 8
    stage, session, wire = await session_of(tmp_path, model)
    snapshot = (await wire.result("kova/session/attach", {"sessionId": session.id}))["snapshot"]
    items, before = list(reversed(snapshot["items"])), snapshot["itemsBefore"]
    while before is not None:
        params = {"sessionId": session.id, "before": before, "limit": 500}
        page = await wire.result("kova/session/read", params)
        items += page["items"]
        before = page.get("before")
    contents = [len(item["args"]["content"]) for item in items if item["kind"] == "toolCall"]
    assert contents == [60_000] * 8
    assert len({item["itemId"] for item in items}) == len(items) == 10
    assert max(map(len, wire.pipe.frames)) <= LIMIT
    await stage.close()


async def test_the_snapshot_holds_what_is_open(tmp_path):
    stage = Stage(tmp_path, [call("bash", command="make")])
    wire = Wire(stage)
    await wire.initialize()
    session = await wire.create(level="workspace-write", title="Mine")
    await wire.start(session)
    card = (await wire.event("approval.requested"))["payload"]["approval"]
    await wire.event("turn.suspended")
    await wire.start(session, "More.", whenBusy="queue", promptId="p2")
    snapshot = (await wire.result("kova/session/attach", {"sessionId": session}))["snapshot"]
    assert snapshot["approvals"] == [card]
    assert snapshot["state"] == "waiting"
    assert snapshot["turnId"] == card["turnId"]
    assert [prompt["promptId"] for prompt in snapshot["queue"]] == ["p2"]
    assert (snapshot["title"], snapshot["mode"], snapshot["level"]) == (
        "Mine",
        "agent",
        "workspace-write",
    )
    assert snapshot["items"][-1]["status"] == "waiting"
    await stage.close()


async def test_the_snapshot_says_how_the_last_turn_ended(tmp_path):
    stage, session, wire = await session_of(tmp_path, [say("Done.")])
    ended = (await wire.result("kova/session/attach", {"sessionId": session.id}))["snapshot"]
    turn_id = session.state.prompts.popitem()[1]
    assert ended["ended"] == {"turnId": turn_id, "stopReason": "done", "stopped": []}
    stage.prompt(session, "Again.")
    running = (await wire.result("kova/session/attach", {"sessionId": session.id}))["snapshot"]
    assert "ended" not in running
    await stage.idle(session)
    await stage.close()
