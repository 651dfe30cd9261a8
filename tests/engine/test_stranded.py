"""Turns on a disk that is full: what is shown of them is what they are."""

import asyncio
import contextlib
import errno
import os

import pytest

from kova_ls.engine import stranded
from kova_ls.errors import RequestFailed
from kova_ls.journal import store
from kova_ls.vocabulary import ApprovalLevel, SessionState
from tests.support.stage import Stage, call, say


class Disk:
    """Takes a number of records, then is full until the reserve is gone, or for good."""

    def __init__(self, monkeypatch, reserve):
        self.left = None
        self.n_refused = 0
        self.reserve = reserve
        self._write = os.write
        monkeypatch.setattr(store.os, "write", self.write)

    def write(self, fd, data):
        if self.left is not None and data.startswith(b'{"seq"'):
            if self.left == 0 and (self.reserve is None or self.reserve.exists()):
                self.n_refused += 1
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self.left = max(0, self.left - 1)
        return self._write(fd, data)


SCRIPT = [call("read", path="a.txt"), *[say("Done.")] * 9]


@pytest.mark.parametrize("room", range(1, 14))
async def test_a_turn_that_a_full_disk_stops_is_at_rest_now_and_after_a_restart(
    tmp_path, monkeypatch, room
):
    stage = Stage(tmp_path, SCRIPT, files={"a.txt": "x\n"})
    session = stage.create()
    disk = Disk(monkeypatch, tmp_path / "data" / "reserve")
    disk.left = room
    stage.prompt(session, "Go.")
    await stage.idle(session)
    assert session.state.status is SessionState.IDLE
    ended = stage.records()[-1]
    assert (ended.type, disk.reserve.exists()) == ("turn.completed", False)
    assert ended.error is None or ended.error.code == "diskFailed"
    await stage.kill_engine()
    stage.start_engine()
    assert stage.engine.recover() == []
    assert [one.state for one in stage.engine.summaries()] == [SessionState.IDLE]
    await stage.close()


async def test_an_end_that_cannot_be_written_is_said_and_written_when_there_is_room(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(stranded, "AGAIN_S", 0.001)
    stage = Stage(tmp_path, SCRIPT, files={"a.txt": "x\n"})
    session = stage.create()
    warned = []
    stage.engine.on_warning = warned.append
    disk = Disk(monkeypatch, None)
    disk.left = 3
    with contextlib.suppress(RequestFailed):
        stage.prompt(session, "Go.")
    await stage.idle(session)
    assert stranded.is_stranded(session)
    [text] = warned
    assert text.startswith("A turn has stopped, and its end cannot be written yet. ")
    assert "No space left on device. Free some space" in text
    before = disk.n_refused
    while disk.n_refused < before + 3:
        await asyncio.sleep(0)
    assert stranded.is_stranded(session)
    assert warned == [text]
    disk.left = None
    await stage.until(lambda: session.state.status is SessionState.IDLE)
    assert stage.records()[-1].type == "turn.completed"
    await stage.close()


async def test_what_a_stopped_command_printed_outlives_a_failed_write(tmp_path, monkeypatch):
    line = "echo printed; touch on; sleep 600"
    stage = Stage(tmp_path, [call("bash", command=line), say("Done.")])
    session = stage.create()
    session.configure("tester", level=ApprovalLevel.AUTO)
    disk = Disk(monkeypatch, tmp_path / "data" / "reserve")
    stage.prompt(session, "Go.")
    while not (stage.workspace / "on").exists():
        await asyncio.sleep(0)
    disk.left = 0
    stopped = await session.interrupt(None)
    assert disk.n_refused == 1
    assert any(what.startswith(line) for what in stopped)
    [result] = [x.result for x in stage.records() if x.type == "item.completed" and x.result]
    assert "Output so far:\nprinted" in result
    await stage.close()
