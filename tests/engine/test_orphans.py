"""Commands that outlive their engine."""

import os
import signal
import subprocess
import sys
from secrets import token_hex

import pytest

from kova_ls.engine import orphans

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells environments")


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"


def is_sleep(pid):
    with open(f"/proc/{pid}/comm") as file:
        return file.read() == "sleep\n"


def environment(pid):
    with open(f"/proc/{pid}/environ", "rb") as file:
        return file.read()


@pytest.fixture
def commands():
    """Start shells with a child that left their group."""
    started = []

    def start(call_id):
        process = subprocess.Popen(
            ["/bin/sh", "-c", "setsid sleep 60 & echo; wait"],
            env=orphans.marked({"PATH": os.defpath}, call_id),
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        process.stdout.readline()
        children = f"/proc/{process.pid}/task/{process.pid}/children"
        with open(children) as file:
            child = int(file.read())
        # Until it has become `sleep` it belongs to its parent's group, or shows no environment.
        while not (is_sleep(child) and call_id.encode() in environment(child)):
            pass
        started.append((process, child))
        return process, child

    yield start
    for process, child in started:
        for pid in (process.pid, child):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize("shell_is_gone", [False, True])
async def test_all_that_a_call_started_is_ended(commands, shell_is_gone):
    one = token_hex(8)  # another run of this test at the same time has its own
    process, child = commands(one)
    if shell_is_gone:
        process.kill()
        process.wait()
    groups = await orphans.end(one)
    assert set(groups) == ({child} if shell_is_gone else {process.pid, child})
    assert not is_alive(process.pid)
    assert not is_alive(child)
    assert await orphans.end(one) == ()


async def test_other_calls_are_left_alone(commands):
    one = token_hex(8)
    process, child = commands(one)
    for other in (one[:-1], f"{one}1", token_hex(8), ""):
        assert await orphans.end(other) == ()
    assert is_alive(process.pid)
    assert is_alive(child)


async def test_what_was_not_seen_at_the_first_look_is_ended_too(monkeypatch):
    looks, ended = iter([{7}, {7, 9}, {7}]), []

    async def end_group(group):
        ended.append(group)

    monkeypatch.setattr(orphans, "_groups", lambda mark: next(looks))
    monkeypatch.setattr(orphans, "end_group", end_group)
    assert await orphans.end("one") == (7, 9)
    assert ended == [7, 9]
