import asyncio
import os
import subprocess
import sys

import pytest

from kova_ls.engine.grants import Grants
from kova_ls.engine.models import Models
from kova_ls.engine.programs import Programs
from kova_ls.engine.running import CommandWatch
from kova_ls.tools._base import ToolError

linux = pytest.mark.skipif(sys.platform != "linux", reason="the system does not tell")


class Desk:
    def __init__(self, root):
        self.home = root / "home"
        self.workspace = self.home / "w"
        self.workspace.mkdir(parents=True)
        (self.home / ".kova").mkdir()
        self.user = self.home / ".kova/permissions.json"
        self.user.write_text('{"allow": ["git log *"]}')
        self.grants = Grants(self.home / ".kova", root / "data", home=self.home)
        self.watch = CommandWatch(
            self.grants, Programs(root / "data/adopted"), Models(root / "kova", {})
        )
        self.told = []

    def during(self):
        return self.watch.during(str(self.workspace), self.told.append)

    def allowed(self):
        return [rule.text for rule in self.grants.load(str(self.workspace)).allow]


@pytest.fixture
def desk(tmp_path):
    made = Desk(tmp_path)
    yield made
    made.watch.close()


def test_what_a_command_writes_is_inert_and_told(desk):
    with desk.during():
        desk.user.write_text('{"allow": ["git log *", "rm *"]}')
    assert desk.allowed() == ["git log *"]
    assert "rm *" in desk.told[0]


def test_a_hand_edit_after_the_command_counts(desk):
    with desk.during():
        pass
    desk.user.write_text('{"allow": ["git status *"]}')
    assert desk.allowed() == ["git status *"]
    assert desk.told == []


def test_a_command_that_cannot_be_watched_is_not_started(desk, tmp_path):
    (tmp_path / "data").write_text("in the way")
    with pytest.raises(ToolError, match="was not started"), desk.during():
        raise AssertionError
    (tmp_path / "data").unlink()
    with desk.during():
        desk.user.write_text('{"allow": ["rm *"]}')
    assert desk.allowed() == []


def child(script):
    return subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def end(process):
    process.stdin.close()
    process.stdout.close()
    process.wait()


@linux
def test_what_a_process_left_behind_writes_is_inert_too(desk):
    with desk.during():
        process = child("input()")
    try:
        desk.user.write_text('{"allow": ["rm *"]}')
        assert desk.allowed() == []
    finally:
        process.communicate()
    desk.watch.settle()
    assert desk.allowed() == []
    assert "rm *" in desk.told[0]


@linux
async def test_the_end_of_what_was_left_behind_is_heard(desk):
    with desk.during():
        process = child("input()")
    process.communicate(b"\n")
    while desk.watch._left:
        await asyncio.sleep(0.01)
    desk.user.write_text('{"allow": ["git status *"]}')
    assert desk.allowed() == ["git status *"]


@linux
def test_what_ran_before_the_command_is_none_of_its(desk):
    process = child("input()")
    try:
        with desk.during():
            pass
        desk.user.write_text('{"allow": ["git status *"]}')
        assert desk.allowed() == ["git status *"]
    finally:
        end(process)


def test_a_group_left_behind_is_waited_for(desk):
    process = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        with desk.during() as watched:
            watched.group = process.pid
        desk.watch._others = frozenset([process.pid])
        desk.user.write_text('{"allow": ["rm *"]}')
        desk.watch.settle()
        assert desk.allowed() == []
    finally:
        process.kill()
        process.wait()
    desk.user.write_text('{"allow": ["git log *"]}')
    desk.watch.settle()
    desk.user.write_text('{"allow": ["git status *"]}')
    assert desk.allowed() == ["git status *"]


def test_overlapping_commands_end_together(desk):
    with desk.during():
        with desk.during():
            desk.user.write_text('{"allow": ["rm *"]}')
        assert desk.allowed() == []
        assert len(desk.told) == 1
    assert desk.allowed() == []
    assert len(desk.told) == 1


@linux
def test_a_group_of_the_dead_is_not_waited_for(desk):
    process = subprocess.Popen(["true"], start_new_session=True)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    with desk.during() as watched:
        watched.group = process.pid
    desk.user.write_text('{"allow": ["git status *"]}')
    assert desk.allowed() == ["git status *"]
    process.wait()


@linux
def test_the_dead_that_were_adopted_are_buried(desk):
    """Adopted: a member of a group that another leads; our own are left to who started them."""
    with (
        subprocess.Popen(["cat"], stdin=subprocess.PIPE, process_group=0) as leader,
        subprocess.Popen(["true"], process_group=leader.pid) as adopted,
        subprocess.Popen(["true"], process_group=0) as own,
    ):
        for process in (adopted, own):
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        with desk.during():
            pass
        with pytest.raises(ChildProcessError):
            os.waitid(os.P_PID, adopted.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        assert os.waitid(os.P_PID, own.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        leader.stdin.close()
