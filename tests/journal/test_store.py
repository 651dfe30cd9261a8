"""A session's file survives whatever stops the writer."""

import asyncio
import contextlib
import errno
import os
import resource
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kova_ls.errors import JournalCorrupt, RequestFailed
from kova_ls.journal import store
from kova_ls.journal.records import SessionRenamed
from kova_ls.journal.store import Journal, Stored
from kova_ls.vocabulary import SessionState
from tests.support.stage import Stage, call, say

GOLDEN = Path(__file__).parents[1] / "golden/journals/v1/journal.jsonl"


def titled(text):
    return SessionRenamed(title=text, by="tester")


@pytest.fixture
def journal(tmp_path):
    journal = Journal.create(tmp_path / "s" / "journal.jsonl")
    yield journal
    journal.close()


def reopened(journal):
    journal.close()
    again, stored = Journal.open(journal.path)
    journal._fd = again._fd  # the fixture closes it
    return again, stored


def test_what_is_appended_is_read_back(journal):
    written = [journal.append(titled(f"é{n}\n\u2028"), n / 3) for n in range(5)]
    assert [entry.seq for entry in written] == [1, 2, 3, 4, 5]
    _, stored = reopened(journal)
    assert [(e.seq, e.record) for e in stored] == [(e.seq, e.record) for e in written]
    assert stored[1].at == pytest.approx(1 / 3, abs=1e-6)


def test_a_range_is_clamped(journal):
    for n in range(5):
        journal.append(titled(str(n)), 0)
    titles = [entry.record.title for entry in journal.read(2, 99)]
    assert titles == ["1", "2", "3", "4"]
    assert journal.read(4, 3) == []
    assert [e.seq for e in journal.read(-3, 2)] == [1, 2]


def test_sizes_are_those_of_the_lines(journal):
    for n in range(4):
        journal.append(titled("x" * n), 0)
    lines = journal.path.read_bytes().splitlines(keepends=True)
    assert journal.size_bytes(1, 4) == sum(map(len, lines))
    assert journal.size_bytes(2, 3) == len(lines[1]) + len(lines[2])
    assert journal.size_bytes(3, 2) == 0


def test_reopened_and_appended_goes_on_counting(journal):
    journal.append(titled("a"), 0)
    again, _ = reopened(journal)
    assert again.append(titled("b"), 0).seq == 2
    assert [e.record.title for e in again.read(1, 2)] == ["a", "b"]


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(cut=st.integers(0, 100_000))
def test_cut_anywhere_it_loses_at_most_the_last_record(tmp_path, cut):
    data = GOLDEN.read_bytes()
    cut %= len(data) + 1
    place = tmp_path / f"cut-{cut}.jsonl"
    place.write_bytes(data[:cut])
    journal, stored = Journal.open(place)
    try:
        whole = data[:cut].count(b"\n")
        assert len(stored) == whole
        assert journal.append(titled("more"), 0).seq == whole + 1
    finally:
        journal.close()
    lines = place.read_bytes().splitlines(keepends=True)
    assert lines[:-1] == data.splitlines(keepends=True)[:whole]


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(tail=st.binary(min_size=1, max_size=200))
def test_any_rubbish_after_the_last_record_is_cut_away(tmp_path, tail):
    place = tmp_path / "rubbish.jsonl"
    place.write_bytes(GOLDEN.read_bytes() + tail.replace(b"\n", b""))
    journal, stored = Journal.open(place)
    journal.close()
    assert place.read_bytes() == GOLDEN.read_bytes()
    assert len(stored) == GOLDEN.read_bytes().count(b"\n")


def test_damage_in_the_middle_is_said_and_nothing_is_cut(tmp_path):
    lines = GOLDEN.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3][:20] + b"\n"
    place = tmp_path / "journal.jsonl"
    place.write_bytes(b"".join(lines))
    with pytest.raises(JournalCorrupt, match="line 4 is damaged"):
        Journal.open(place)
    assert place.read_bytes() == b"".join(lines)


def test_a_hole_in_the_count_is_damage(tmp_path):
    lines = GOLDEN.read_bytes().splitlines(keepends=True)
    del lines[3]
    place = tmp_path / "journal.jsonl"
    place.write_bytes(b"".join(lines))
    with pytest.raises(JournalCorrupt, match="line 4 is damaged"):
        Journal.open(place)


def test_a_record_of_a_later_version_is_not_cut_away(tmp_path):
    place = tmp_path / "journal.jsonl"
    place.write_bytes(b'{"seq":1,"at":0.0,"type":"session.sung"}\n')
    with pytest.raises(JournalCorrupt, match="newer version"):
        Journal.open(place)
    assert place.stat().st_size > 0


def test_one_writer_holds_the_file(journal):
    journal.append(titled("a"), 0)
    with pytest.raises(RequestFailed, match="open in another engine") as caught:
        Journal.open(journal.path)
    assert caught.value.code == "sessionInUse"
    assert caught.value.data["holder"] in (os.getpid(), None)


def test_what_another_writes_can_be_looked_at(journal):
    journal.append(titled("a"), 0)
    with open(journal.path, "ab") as file:
        file.write(b'{"seq":2,"at"')
    before = journal.path.read_bytes()
    assert [entry.record.title for entry in Journal.peek(journal.path)] == ["a"]
    assert journal.path.read_bytes() == before


def test_what_comes_after_the_end_reaches_no_file(journal, tmp_path):
    journal.append(titled("a"), 0)
    journal.close()
    with open(tmp_path / "other", "wb"):
        with pytest.raises(RequestFailed):
            journal.append(titled("b"), 0)
        journal.close()
    assert (tmp_path / "other").stat().st_size == 0


def test_a_full_disk_leaves_the_file_whole(journal, monkeypatch):
    journal.append(titled("a"), 0)
    before = journal.path.read_bytes()
    write = os.write
    monkeypatch.setattr(store.os, "write", lambda fd, data: write(fd, data[:10]))
    with pytest.raises(RequestFailed) as caught:
        journal.append(titled("b"), 0)
    assert caught.value.code == "diskFailed"
    assert journal.path.read_bytes() == before
    monkeypatch.undo()
    assert journal.append(titled("c"), 0).seq == 2
    _, stored = reopened(journal)
    assert [entry.record.title for entry in stored] == ["a", "c"]


def test_a_write_that_fails_leaves_the_file_whole(journal, monkeypatch):
    def fail(_fd, _data):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(store.os, "write", fail)
    with pytest.raises(RequestFailed, match="cannot be written: Input/output error"):
        journal.append(titled("b"), 0)
    assert journal.seq == 0


def test_a_limit_of_the_system_leaves_the_file_whole(journal):
    journal.append(titled("a"), 0)
    size = journal.path.stat().st_size
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, old[1]))
        with pytest.raises(RequestFailed):
            journal.append(titled("b" * 500), 0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)
    assert journal.path.stat().st_size == size
    assert journal.append(titled("c"), 0).seq == 2


async def test_callers_share_one_commit(journal, monkeypatch):
    commits = []
    monkeypatch.setattr(store.os, "fdatasync", commits.append)
    for n in range(3):
        journal.append(titled(str(n)), 0)
    await asyncio.gather(*(journal.sync() for _ in range(10)))
    await journal.sync()
    assert len(commits) == 1


async def test_a_commit_that_fails_is_said_and_tried_again(journal, monkeypatch):
    def fail(_fd):
        raise OSError(errno.EIO, "Input/output error")

    journal.append(titled("a"), 0)
    monkeypatch.setattr(store.os, "fdatasync", fail)
    with pytest.raises(RequestFailed):
        await journal.sync()
    monkeypatch.undo()
    await journal.sync()
    assert journal._synced_seq == 1


def test_only_the_user_may_read_it(journal):
    assert journal.path.stat().st_mode & 0o777 == 0o600
    assert journal.path.parent.stat().st_mode & 0o777 == 0o700


def test_a_journal_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RequestFailed):
        Journal.create(tmp_path / "file" / "s" / "journal.jsonl")


@pytest.mark.parametrize("writes", range(1, 14))
async def test_a_disk_that_fills_up_anywhere_in_a_turn_leaves_a_usable_session(
    tmp_path, monkeypatch, writes
):
    stage = Stage(tmp_path, [call("read", path="a.txt"), *[say("Done.")] * 30])
    stage.put("a.txt", "x\n")
    session = stage.create()
    left = [writes]
    append = Journal.append

    def until_full(journal, record, at):
        left[0] -= 1
        if left[0] < 0:
            raise RequestFailed("diskFailed", "full")
        return append(journal, record, at)

    monkeypatch.setattr(Journal, "append", until_full)
    with contextlib.suppress(RequestFailed):
        stage.prompt(session, "Go.")
    await stage.idle(session)
    monkeypatch.undo()
    turn_id, _ = stage.prompt(session, "Go on.")
    await stage.idle(session)
    assert session.state.status is SessionState.IDLE
    assert stage.records()[-1].turn_id == turn_id
    assert stage.records()[-1].stop_reason == "done"
    seqs = [fact.seq for fact in stage.facts if isinstance(fact, Stored)]
    assert seqs == list(range(2, session.journal.seq + 1))
    await stage.close()


def test_a_file_that_cannot_be_opened_is_said(tmp_path):
    (tmp_path / "journal.jsonl").mkdir()
    with pytest.raises(RequestFailed) as caught:
        Journal.open(tmp_path / "journal.jsonl")
    assert caught.value.code == "diskFailed"
