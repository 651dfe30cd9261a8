"""Commands that outlive their engine."""

import json
import os
import signal
import subprocess
import sys

import pytest

from kova_ls.engine import orphans

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells start times")


@pytest.fixture
def command():
    """A shell with a child, in a session of its own."""
    code = "sleep 60 & echo $!; wait"
    with subprocess.Popen(
        ["/bin/sh", "-c", code], stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        child = int(process.stdout.readline())
        yield process, child
        for pid in (process.pid, child):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass


def is_alive(pid):
    return orphans._stat(pid) is not None


async def test_what_was_noted_is_ended_with_all_it_started(tmp_path, command):
    process, child = command
    orphans.note(tmp_path, "c", process.pid)
    (place,) = tmp_path.iterdir()
    assert place.stat().st_mode & 0o777 == 0o600
    assert await orphans.end(tmp_path, "c") == process.pid
    assert not is_alive(process.pid)
    assert not is_alive(child)
    assert await orphans.end(tmp_path, "c") is None
    assert list(tmp_path.iterdir()) == []


async def test_what_its_shell_left_behind_is_ended(tmp_path, command):
    process, child = command
    orphans.note(tmp_path, "c", process.pid)
    process.kill()
    process.wait()
    assert is_alive(child)
    assert await orphans.end(tmp_path, "c") == process.pid
    assert not is_alive(child)


@pytest.mark.parametrize("field", ["boot", "started"])
async def test_another_that_has_the_number_now_is_left_alone(tmp_path, command, field):
    process, child = command
    orphans.note(tmp_path, "c", process.pid)
    (place,) = tmp_path.iterdir()
    noted = json.loads(place.read_text())
    place.write_text(json.dumps({**noted, field: "x" if field == "boot" else noted[field] - 1}))
    assert await orphans.end(tmp_path, "c") is None
    assert is_alive(process.pid)
    assert is_alive(child)


async def test_what_is_older_than_the_noted_leader_is_left_alone(tmp_path, command):
    process, child = command
    orphans.note(tmp_path, "c", process.pid)
    (place,) = tmp_path.iterdir()
    noted = json.loads(place.read_text())
    place.write_text(json.dumps({**noted, "started": noted["started"] + 10_000_000}))
    process.kill()
    process.wait()
    assert await orphans.end(tmp_path, "c") is None
    assert is_alive(child)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"boot": "", "group": 1, "started": 1}', '{"boot": 1, "group": "x"}']
)
async def test_a_note_that_is_none_ends_nothing(tmp_path, text):
    (tmp_path / "running-c.json").write_text(text)
    assert await orphans.end(tmp_path, "c") is None


async def test_what_is_forgotten_is_left_alone(tmp_path, command):
    process, _ = command
    orphans.note(tmp_path, "c", process.pid)
    orphans.forget(tmp_path, "c")
    orphans.forget(tmp_path, "c")
    assert await orphans.end(tmp_path, "c") is None
    assert is_alive(process.pid)
