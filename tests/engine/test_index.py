"""Lists of sessions without their journals."""

from dataclasses import replace

import orjson
import pytest

from kova_ls.engine import index
from tests.support.stage import Stage, call, say


def stamped(summary):
    """The journal knows the moment of the first record, a little after the session was made."""
    return replace(summary, created_at=round(summary.created_at))


async def made(tmp_path, *model):
    stage = Stage(tmp_path, model)
    session = stage.create(title="Mine", level="auto")
    return stage, session


async def test_an_entry_is_kept_and_read(tmp_path):
    stage, session = await made(tmp_path)
    summary = index.read(session.folder)
    assert summary == session.summary
    assert (summary.title, summary.level, summary.state) == ("Mine", "auto", "idle")
    await stage.close()


async def test_a_session_that_another_engine_holds_is_listed(tmp_path):
    stage, session = await made(tmp_path)
    entry = session.folder / "meta.json"
    assert entry.stat().st_mode & 0o777 == 0o600
    entry.unlink()
    assert index.read(session.folder).title == "Mine"
    await stage.close()


@pytest.mark.parametrize("content", [None, b"", b"{", b"[]", b'{"title": 1}', b"\xff"])
async def test_losing_the_entry_loses_nothing(tmp_path, content):
    stage, session = await made(tmp_path)
    whole = stamped(index.read(session.folder))
    await stage.close()
    entry = session.folder / "meta.json"
    entry.unlink()
    if content is not None:
        entry.write_bytes(content)
    assert stamped(index.read(session.folder)) == whole
    assert stamped(index.read(session.folder)) == whole


async def test_a_turn_whose_begin_the_entry_missed_is_found(tmp_path, monkeypatch):
    stage = Stage(tmp_path, [call("bash", command="make"), say("Done.")])
    session = stage.create()
    with monkeypatch.context() as full_disk:
        full_disk.setattr(index, "write", lambda folder, summary: None)
        stage.prompt(session, "Go.")
        approval = await stage.waiting(session)
        await stage.kill_engine()
    stage.start_engine()
    (again,) = stage.engine.recover()
    assert await stage.waiting(again) == approval
    await stage.close()


async def test_an_entry_of_an_older_version_stands(tmp_path):
    stage, session = await made(tmp_path)
    await stage.close()
    entry = session.folder / "meta.json"
    raw = orjson.loads(entry.read_bytes())
    del raw["journal_bytes"]
    entry.write_bytes(orjson.dumps({**raw, "title": "As kept"}))
    assert index.read(session.folder).title == "As kept"


async def test_settings_changed_at_rest_are_listed(tmp_path):
    stage, session = await made(tmp_path)
    assert [summary.mode for summary in stage.engine.summaries()] == ["agent"]
    session.configure("tester", mode="plan")
    assert [summary.mode for summary in stage.engine.summaries()] == ["plan"]
    await stage.close()


@pytest.mark.parametrize("content", [None, b"", b"rubbish\nrubbish\n", b'{"seq":1}\n'])
def test_a_folder_without_a_readable_journal_is_no_session(tmp_path, content):
    if content is not None:
        (tmp_path / "journal.jsonl").write_bytes(content)
    assert index.read(tmp_path) is None


async def test_a_turn_that_waits_is_seen_by_the_next_engine(tmp_path):
    stage, session = await made(tmp_path, call("bash", command="make"), say("Done."))
    session.configure("tester", level="ask")
    stage.prompt(session, "Go.")
    await stage.waiting(session)
    assert index.read(session.folder).state == "waiting"
    await stage.kill_engine()
    stage.start_engine()
    assert [s.id for s in stage.engine.recover()] == [session.id]
    await stage.close()
