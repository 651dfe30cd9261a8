"""All sessions of one user."""

import asyncio
import os

import orjson
import pytest

from kova_ls.engine import engine as module
from kova_ls.errors import JournalCorrupt, RequestFailed
from kova_ls.vocabulary import ApprovalLevel, WhenBusy
from tests.support.stage import PretendedEditor, Stage, call, say

END = say("Done.")


@pytest.fixture
async def stage(tmp_path):
    stage = Stage(tmp_path, [END] * 9)
    yield stage
    await stage.close()


def refused(code, work):
    with pytest.raises(RequestFailed) as caught:
        work()
    assert caught.value.code == code
    return caught.value.message


async def test_a_trusted_folder_starts_where_it_may_write(stage):
    assert stage.create().state.level is ApprovalLevel.WORKSPACE_WRITE
    assert stage.create(level="auto").state.level is ApprovalLevel.AUTO


async def test_one_window_gets_its_turn_back(tmp_path):
    stage = Stage(tmp_path, [call("bash", command="make"), END])
    session = stage.create()
    stage.prompt(session, "Go.")
    approval = await stage.waiting(session)
    stage.engine.detached(stage.editor)
    assert session.origin is None
    other = PretendedEditor(stage.editor.folders, stage.env, id="window-2", name="other")
    stage.engine.attached(other)
    assert session.origin is None
    again = PretendedEditor(stage.editor.folders, stage.env, id="window-1", name="again")
    stage.engine.attached(again)
    assert session.origin is again
    stage.respond(session, approval, "deny")
    await stage.idle(session)
    await stage.close()


async def test_sessions_are_listed_latest_first_and_read_when_asked(tmp_path):
    stage = Stage(tmp_path, [END] * 9)
    ids = [stage.create(title=title).id for title in ("One", "Two")]
    await stage.close()
    stage.start_engine()
    assert [s.session_id for s in stage.engine.summaries()] == ids[::-1]
    assert stage.engine.loaded_sessions == []
    assert stage.engine.get(ids[0]).state.title == "One"
    assert [s.id for s in stage.engine.loaded_sessions] == ids[:1]
    await stage.close()


async def test_queued_prompts_go_on_after_a_restart(tmp_path):
    stage = Stage(tmp_path, [call("bash", command="make"), say("First."), say("Second.")])
    session = stage.create()
    stage.prompt(session, "One.")
    approval = await stage.waiting(session)
    stage.prompt(session, "Two.", when_busy=WhenBusy.QUEUE)
    await stage.close()
    stage.start_engine()
    (session,) = stage.engine.recover()
    stage.listen(session)
    assert await stage.waiting(session) == approval
    stage.respond(session, approval, "deny")
    await stage.until(lambda: [r.type for r in stage.records()].count("turn.completed") == 2)
    await stage.idle(session)
    assert session.state.queue == ()
    await stage.close()


async def test_an_engine_that_fails_again_and_again_gives_the_turn_up(tmp_path):
    stage = Stage(tmp_path, [call("bash", command="make"), END])
    session = stage.create()
    stage.prompt(session, "Go.")
    await stage.waiting(session)
    for _ in range(3):
        await stage.kill_engine()
        stage.start_engine()
        (session,) = stage.engine.recover()
        await stage.waiting(session)
    await stage.kill_engine()
    stage.start_engine()
    (session,) = stage.engine.recover()
    stage.listen(session)
    await stage.idle(session)
    assert session.state.status == "idle"
    assert stage.records()[-1].stop_reason == "failed"
    assert "again and again" in stage.records()[-1].error.message
    await stage.close()


async def test_a_damaged_session_harms_no_other(tmp_path, monkeypatch):
    warned = []
    monkeypatch.setattr(module._log, "warning", lambda text, *args: warned.append(text % args))
    stage = Stage(tmp_path, [call("bash", command="make"), END])
    session = stage.create()
    stage.prompt(session, "Go.")
    await stage.waiting(session)
    await stage.kill_engine()
    path = session.journal.path
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = b"rubbish\n"
    path.write_bytes(b"".join(lines))
    stage.start_engine()
    assert stage.engine.recover() == []
    assert stage.engine._later is None, "another engine seems to hold it"
    assert "line 3 is damaged" in "".join(warned)
    with pytest.raises(JournalCorrupt):
        stage.engine.get(session.id)
    assert stage.create()
    await stage.close()


async def test_a_list_entry_of_wrong_types_is_made_anew(stage):
    session = stage.create(title="Mine")
    await stage.close()
    entry = session.folder / "meta.json"
    entry.write_bytes(orjson.dumps({**orjson.loads(entry.read_bytes()), "updated_at": "now"}))
    stage.start_engine()
    stage.create(title="Other")
    assert {summary.title for summary in stage.engine.summaries()} == {"Mine", "Other"}


async def test_the_tools_follow_the_mode(stage):
    session = stage.create(mode="ask")
    asking = stage.engine.tool_specs(session.state.mode)
    assert "write" not in {spec.name for spec in asking}
    assert stage.engine.tool_specs(session.state.mode) is asking
    session.configure("tester", mode="agent")
    assert "write" in {spec.name for spec in stage.engine.tool_specs(session.state.mode)}


async def test_a_title_may_be_given(stage):
    session = stage.create(title="Mine")
    stage.prompt(session, "Something else.")
    await stage.idle(session)
    assert session.state.title == "Mine"


async def test_what_nobody_uses_is_given_back_and_read_again(stage):
    heard = stage.create()
    session = stage.engine.create(
        workspace_uri=stage.workspace.as_uri(),
        title="Idle",
        mode=None,
        level=None,
        model=None,
        editor=stage.editor,
    )
    idle = session.id
    stage.engine.release_idle()
    assert stage.engine.loaded_sessions == [heard]
    assert stage.engine.get(idle).state.title == "Idle"


async def test_a_turn_that_another_engine_holds_goes_on_once_it_is_given_back(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(module, "_RECOVER_S", 0.01)
    stage = Stage(tmp_path, [call("bash", command="make"), END])
    held = stage.create()
    stage.prompt(held, "Go.")
    await stage.waiting(held)
    first = stage.engine
    second = stage.start_engine()
    rivals = []
    second.on_rival = rivals.append
    assert second.recover() == []
    assert [entry.state for entry in second.summaries()] == ["waiting"]
    refused("sessionInUse", lambda: second.get(held.id))
    await first.close()
    while not second.running:
        await asyncio.sleep(0.001)
    assert set(rivals) <= {os.getpid(), None}
    assert len(rivals) >= 2
    assert second.running[0].state.approvals == held.state.approvals
    await stage.close()


async def test_sessions_that_nobody_uses_do_not_pile_up(stage, monkeypatch):
    monkeypatch.setattr(module, "_MAX_OPEN", 4)
    heard = stage.create()
    made = [
        stage.engine.create(
            workspace_uri=stage.workspace.as_uri(),
            title=str(number),
            mode=None,
            level=None,
            model=None,
            editor=stage.editor,
        ).id
        for number in range(20)
    ]
    assert len(stage.engine.loaded_sessions) <= 4
    assert heard in stage.engine.loaded_sessions
    for number, session in enumerate(made):
        assert stage.engine.get(session).state.title == str(number)
    assert len(stage.engine.loaded_sessions) <= 4
    assert len(stage.engine.summaries()) == 21
