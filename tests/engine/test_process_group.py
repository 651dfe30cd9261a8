import os
import subprocess
import sys

import pytest

from kova_ls.engine import process_group


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the dead from the living")
async def test_the_dead_are_not_waited_for(monkeypatch):
    """An adopted child is a zombie until somebody buries it."""
    with subprocess.Popen(["true"], start_new_session=True) as dead:
        os.waitid(os.P_PID, dead.pid, os.WEXITED | os.WNOWAIT)
        monkeypatch.setattr(process_group.asyncio, "sleep", None)
        assert await process_group.end_group(dead.pid) == (dead.pid,)


@pytest.mark.skipif(sys.platform == "win32", reason="no process groups")
async def test_who_does_not_listen_is_dead_when_it_returns():
    deaf = 'trap "" TERM; echo; while :; do sleep 1; done'
    with subprocess.Popen(
        ["sh", "-c", deaf], stdout=subprocess.PIPE, start_new_session=True
    ) as one:
        assert one.stdout is not None
        one.stdout.readline()
        await process_group.end_group(one.pid, grace_s=0)
        assert not process_group.has_living(one.pid)
