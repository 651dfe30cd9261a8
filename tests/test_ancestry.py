import os
import subprocess
import sys

import pytest

from kova_ls.ancestry import descends

GONE = 2**22 + 5


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
def test_a_process_descends_from_those_that_started_it():
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as child:
        assert child.stdin is not None
        for one in (os.getpid(), os.getppid()):
            assert descends(child.pid, {GONE, one}) is True
        assert descends(os.getpid(), {child.pid}) is False
        assert descends(child.pid, {child.pid}) is False
        child.stdin.close()


def test_descent_is_told_also_over_a_shell_in_between():
    command = f'"{sys.executable}" -c "import os; print(os.getpid()); input()"; true'
    shell = subprocess.Popen(
        ["/bin/sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with shell:
        assert shell.stdin is not None
        assert shell.stdout is not None
        pid = int(shell.stdout.readline())
        assert pid != shell.pid
        assert descends(pid, {os.getpid()}) is True
        shell.stdin.close()


def test_a_name_may_hold_anything(tmp_path):
    program = tmp_path / ") 1 1 (x"
    program.symlink_to(sys.executable)
    script = "import os; open('/proc/self/comm', 'w').write(') 1 1 (x'); input()"
    with subprocess.Popen([program, "-c", script], stdin=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert descends(child.pid, {os.getpid()}) is True
        child.stdin.close()


@pytest.mark.parametrize("pid", [0, 1])
def test_nobody_started_the_first(pid):
    assert descends(pid, {os.getpid(), pid}) is False


def test_of_who_is_gone_nothing_is_said():
    assert descends(GONE, {os.getpid()}) is None
