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
