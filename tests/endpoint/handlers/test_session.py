"""Requests about sessions."""

import asyncio

import pytest

from tests.support.stage import call, say


async def test_a_new_session_is_followed(desk):
    _, wire = await desk([say("Done.")])
    created = await wire.result("kova/session/create", {"title": "Mine"})
    assert (created["title"], created["state"], created["items"]) == ("Mine", "idle", [])
    assert created["watermark"]["seq"] == 1
    await wire.start(created["sessionId"])
    await wire.event("turn.completed")
    assert wire.events[0]["seq"] == 2


@pytest.mark.parametrize(
    "workspace",
    [
        "file:///no/such/folder",
        "git:/x",
        "untitled:a",
        "file://[x",
        "file:///tmp/%00",
        "file:///tmp/%ff",
    ],
)
async def test_a_workspace_that_is_none_is_refused(desk, workspace):
    _, wire = await desk()
    error = await wire.error("kova/session/create", {"workspace": workspace})
    assert error["data"]["code"] == "noWorkspace"


async def test_an_unknown_model_is_named_with_those_that_are_known(desk):
    _, wire = await desk()
    error = await wire.error("kova/session/create", {"model": "gpt-99"})
    assert error["data"]["code"] == "modelNotConfigured"
    assert "known: script" in error["message"]


async def test_sessions_are_listed_searched_and_paged(desk):
    _, wire = await desk()
    for title in ("One", "Two", "Three"):
        await wire.create(title=title)
    listed = await wire.result("kova/session/list", {"limit": 2})
    assert [entry["title"] for entry in listed["sessions"]] == ["Three", "Two"]
    rest = await wire.result("kova/session/list", {"limit": 2, "cursor": listed["nextCursor"]})
    assert [entry["title"] for entry in rest["sessions"]] == ["One"]
    assert "nextCursor" not in rest
    found = await wire.result("kova/session/list", {"query": "tWO"})
    assert [entry["title"] for entry in found["sessions"]] == ["Two"]
    other = await wire.result("kova/session/list", {"workspace": "file:///"})
    assert other["sessions"] == []


async def test_configure_tells_everyone(desk):
    _, wire = await desk()
    session = await wire.create()
    params = {"sessionId": session, "mode": "plan", "level": "auto"}
    assert await wire.result("kova/session/configure", params) == {
        "mode": "plan",
        "level": "auto",
        "model": "script",
    }
    event = await wire.event("session.configured")
    assert event["payload"] == {"mode": "plan", "level": "auto", "model": "script", "by": "wire"}


async def test_the_level_goes_round(desk):
    _, wire = await desk()
    session = await wire.create(level="ask")
    levels = [
        (await wire.result("kova/session/cycleLevel", {"sessionId": session}))["level"]
        for _ in range(4)
    ]
    assert levels == ["workspace-write", "auto-edit", "auto", "ask"]


async def test_a_session_is_renamed_in_one_line(desk):
    _, wire = await desk()
    session = await wire.create()
    await wire.result("kova/session/rename", {"sessionId": session, "title": " New\n name "})
    assert (await wire.event("session.renamed"))["payload"]["title"] == "New name"
    assert (await wire.error("kova/session/rename", {"sessionId": session, "title": ""}))[
        "code"
    ] == -32602


async def test_a_title_acts_on_no_terminal(desk):
    _, wire = await desk()
    session = await wire.create(title="\x1b[2Ja\u202eb")
    for title, shown in (("\x07c\x00 \u200bd\n", "c d"), ("👩\u200d🔬", "👩\u200d🔬")):
        await wire.result("kova/session/rename", {"sessionId": session, "title": title})
        (entry,) = (await wire.result("kova/session/list", {"cursor": "²"}))["sessions"]
        assert entry["title"] == shown
    error = await wire.error("kova/session/rename", {"sessionId": session, "title": "\x07"})
    assert error["data"]["code"] == "invalidParams"


async def test_an_archived_session_is_listed_apart(desk):
    _, wire = await desk()
    session = await wire.create(title="Old")
    await wire.result("kova/session/archive", {"sessionId": session})
    assert (await wire.result("kova/session/list", {}))["sessions"] == []
    archived = await wire.result("kova/session/list", {"archived": True})
    assert [entry["sessionId"] for entry in archived["sessions"]] == [session]
    await wire.result("kova/session/archive", {"sessionId": session, "archived": False})
    assert len((await wire.result("kova/session/list", {}))["sessions"]) == 1


async def test_a_deleted_session_is_stopped_and_gone(desk):
    stage, wire = await desk([call("bash", command="make")])
    session = await wire.create()
    await wire.start(session)
    await wire.event("turn.suspended")
    folder = stage.engine.get(session).folder
    await wire.result("kova/session/delete", {"sessionId": session})
    assert not folder.exists()
    assert (await wire.result("kova/session/list", {}))["sessions"] == []
    error = await wire.error("kova/session/attach", {"sessionId": session})
    assert error["data"]["code"] == "sessionNotFound"


async def test_a_deleted_session_starts_nothing_of_its_queue(desk, join):
    stage, wire = await desk([call("bash", command="make")] * 3)
    other = await join(wire, "other")
    session = await wire.create()
    await other.result("kova/session/attach", {"sessionId": session})
    await wire.start(session)
    await wire.event("turn.suspended")
    await wire.start(session, "Next.", whenBusy="queue")
    folder = stage.engine.get(session).folder
    ref = {"sessionId": session}
    prompt = {**ref, "input": [{"type": "text", "text": "More."}], "whenBusy": "queue"}
    answers = await asyncio.gather(
        wire.ask("kova/session/delete", ref),
        other.ask("kova/session/delete", ref),
        other.ask("kova/turn/start", prompt),
    )
    codes = [answer.get("error", {}).get("data", {}).get("code") for answer in answers]
    assert codes == [None, "sessionNotFound", "sessionNotFound"]
    assert not folder.exists()
    assert (await wire.result("kova/session/list", {}))["sessions"] == []
    assert stage.engine.loaded_sessions == []
    assert [e["type"] for e in other.events].count("turn.started") == 1
    assert other.events[-1]["type"] == "turn.completed"
    await other.until(lambda message: message.get("method") == "kova/resyncRequired")


async def test_an_editor_that_vanishes_stops_no_removal(desk, join):
    stage, wire = await desk([call("bash", command="make")])
    other = await join(wire, "other")
    session = await wire.create()
    await wire.start(session)
    await wire.event("turn.suspended")
    folder = stage.engine.get(session).folder
    delete = {"id": 7, "method": "kova/session/delete", "params": {"sessionId": session}}
    wire.send({"jsonrpc": "2.0", **delete})
    wire.leave()
    while folder.exists():
        await asyncio.sleep(0.001)
    assert (await other.result("kova/session/list", {}))["sessions"] == []


async def test_trust_ends_at_the_folders_that_the_editor_has_open(desk):
    stage, wire = await desk()
    outside = stage.root / "outside"
    outside.mkdir()
    inside = stage.workspace / "part"
    inside.mkdir()
    for folder, level in ((inside, "workspace-write"), (outside, "ask")):
        created = await wire.result("kova/session/create", {"workspace": folder.as_uri()})
        assert created["level"] == level
    raised = {"workspace": outside.as_uri(), "level": "auto"}
    assert (await wire.error("kova/session/create", raised))["data"]["code"] == "notTrusted"
    for method, more in (("configure", {"level": "auto"}), ("cycleLevel", {})):
        params = {"sessionId": created["sessionId"], **more}
        error = await wire.error(f"kova/session/{method}", params)
        assert error["data"]["code"] == "notTrusted"


@pytest.mark.parametrize("session", ["nope", "../..", "", "a/b", "é"])
async def test_a_session_that_is_not_there_is_said(desk, session):
    _, wire = await desk()
    error = await wire.error("kova/session/read", {"sessionId": session})
    assert error["data"]["code"] == "sessionNotFound"


async def test_a_damaged_session_is_said_and_the_others_live(desk):
    stage, wire = await desk()
    folder = stage.root / "data/sessions/abc"
    folder.mkdir(parents=True)
    (folder / "journal.jsonl").write_text("rubbish\nrubbish\n")
    error = await wire.error("kova/session/attach", {"sessionId": "abc"})
    assert error["data"]["code"] == "journalDamaged"
    assert "line 1" in error["message"]
    assert await wire.create()


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("mode", ["agent", "plan", "ask", "goal"]),
        ("level", ["ask", "workspace-write", "auto-edit", "auto"]),
    ],
)
async def test_modes_and_levels_are_four_each_and_independent(desk, setting, words):
    _, wire = await desk()
    session = await wire.create()
    before = (await wire.result("kova/session/attach", {"sessionId": session}))["snapshot"]
    other = {"mode": "level", "level": "mode"}[setting]
    for word in words:
        params = {"sessionId": session, setting: word}
        now = await wire.result("kova/session/configure", params)
        assert (now[setting], now[other]) == (word, before[other])
    for wrong in ("x", "Auto", "YOLO", ""):
        params = {"sessionId": session, setting: wrong}
        error = await wire.error("kova/session/configure", params)
        assert error["code"] == -32602
        assert all(f"'{word}'" in error["message"] for word in words)
