import asyncio
import os
import signal
import sys

import pytest

from kova_ls.engine import process
from kova_ls.engine.environment import shell_env
from kova_ls.engine.process import run_command, run_program
from kova_ls.tools._base import ToolError

ENV = shell_env({"PATH": os.environ.get("PATH", os.defpath), "HOME": "/nonexistent"})


@pytest.fixture
def run(tmp_path):
    """Run a command; what is shown goes to `run.shown`."""
    shown = []

    async def running(command, *, timeout_s=30.0, preview_bytes=30_000, **more):
        return await run_command(
            command,
            shell="/bin/bash",
            cwd=str(tmp_path),
            env=ENV,
            timeout_s=timeout_s,
            preview_bytes=preview_bytes,
            new_output=lambda: ("ref", str(tmp_path / "spool")),
            on_output=shown.append,
            **more,
        )

    running.shown = shown
    running.folder = tmp_path
    return running


def is_gone(pid):
    """True when a process ended; a zombie that nobody reaped has ended too."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def open_files():
    return len(os.listdir("/proc/self/fd"))


async def until(condition):
    while not condition():
        await asyncio.sleep(0.01)


def pids(folder):
    return [int(line) for line in (folder / "pids").read_text().split()]


async def test_streams_come_in_order_and_are_shown(run):
    done = await run("for i in 1 2 3; do echo out$i; echo err$i >&2; done; exit 4")
    assert done.output == "out1\nerr1\nout2\nerr2\nout3\nerr3\n"
    assert "".join(run.shown) == done.output
    assert (done.exit_code, done.hidden_bytes, done.output_ref) == (4, 0, None)


async def test_output_is_shown_before_the_end(run):
    task = asyncio.ensure_future(run("echo first; read -r _ < gate; echo last"))
    os.mkfifo(run.folder / "gate")
    await until(lambda: run.shown)
    assert run.shown == ["first\n"]
    assert not task.done()
    await asyncio.to_thread((run.folder / "gate").write_text, "go\n")
    assert (await task).output == "first\nlast\n"


async def test_no_input_no_terminal_no_login_shell(run):
    done = await run("cat; tty; shopt -q login_shell || echo plain; ps -o pgid= -p $$ | tr -d ' '")
    assert done.output.split("\n")[:2] == ["not a tty", "plain"]
    assert int(done.output.split()[-1]) != os.getpgid(0)


GRANDCHILDREN = """
echo $$ >> pids
bash -c 'echo $$ >> pids; trap "" TERM; sleep 1000 & echo $! >> pids; wait; wait; sleep 1000' &
setsid bash -c 'echo $$ >> pids; exec sleep 1000' &
while [ "$(wc -l < pids)" -lt 4 ]; do :; done
echo ready
wait
"""


async def test_the_end_of_time_ends_children_of_children(run):
    task = asyncio.ensure_future(run(GRANDCHILDREN, timeout_s=1.0, grace_s=0.1))
    done = await task
    assert (done.timed_out, done.exit_code) == (True, None)
    assert done.output == "ready\n"
    started = pids(run.folder)
    assert len(started) == 4
    assert set(started) <= set(done.stopped_pids)
    await until(lambda: all(map(is_gone, started)))


async def test_cancelling_ends_children_of_children_and_tells_what_was_stopped(run):
    told = []
    task = asyncio.ensure_future(run(GRANDCHILDREN, grace_s=0.1, on_stopped=told.append))
    await until(lambda: "ready\n" in run.shown)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    started = pids(run.folder)
    await until(lambda: all(map(is_gone, started)))
    [done] = told
    assert (done.output, done.exit_code, done.timed_out) == ("ready\n", None, False)
    assert set(started) <= set(done.stopped_pids)


async def test_a_second_cancel_kills_at_once(run):
    task = asyncio.ensure_future(
        run("trap '' TERM; echo $$ > pids; echo ready; while :; do sleep 1; done", grace_s=1_000)
    )
    await until(lambda: "ready\n" in run.shown)
    task.cancel()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: is_gone(pids(run.folder)[0]))


async def test_a_command_may_tidy_up_when_it_is_stopped(run):
    done = await run(
        "trap 'echo tidied; exit' TERM; echo ready; while :; do sleep 0.01; done", timeout_s=0.5
    )
    assert done.output.endswith("tidied\n")


async def test_a_background_child_does_not_hang_the_call_and_lives_on(run):
    before = open_files()
    done = await run("sleep 1000 & echo $! > pids; echo started")
    [child] = pids(run.folder)
    try:
        assert (done.output, done.exit_code) == ("started\n", 0)
        assert done.background_group is not None
        assert not is_gone(child)
    finally:
        os.killpg(done.background_group, signal.SIGKILL)
    await until(lambda: is_gone(child))
    await until(lambda: open_files() == before)


async def test_a_background_child_may_go_on_printing(run):
    before = open_files()
    done = await run("{ while :; do echo x || exit; sleep 0.001; done; } & echo $! > pids")
    [child] = pids(run.folder)
    shown = len(run.shown)
    for _ in range(20):
        await asyncio.sleep(0.005)
    assert not is_gone(child)
    assert len(run.shown) == shown
    os.killpg(done.background_group, signal.SIGKILL)
    await until(lambda: is_gone(child))
    await until(lambda: open_files() == before)


async def test_huge_output_is_bounded_in_memory_and_whole_in_the_file(run):
    done = await run("seq 1 300000", preview_bytes=1_000)
    whole = (run.folder / "spool").read_bytes()
    assert whole == b"".join(b"%d\n" % n for n in range(1, 300_001))
    assert done.hidden_bytes == len(whole) - 1_000
    assert (done.output_ref, done.output_path) == ("ref", str(run.folder / "spool"))
    assert done.output.startswith("1\n2\n")
    assert done.output.endswith("\n299999\n300000\n")
    assert f"[… {done.hidden_bytes:,} bytes left out here …]" in done.output
    assert len(done.output) < 1_100
    assert max(map(len, run.shown)) < 17_000


async def test_the_file_has_a_limit_that_is_stated(run, monkeypatch):
    monkeypatch.setattr(process, "_MAX_SPOOLED_BYTES", 5_000)
    done = await run("seq 1 10000", preview_bytes=1_000)
    assert (run.folder / "spool").stat().st_size == 5_000
    assert "the file holds the first 5,000 bytes" in done.output
    assert done.output.endswith("\n10000\n")


async def test_characters_cut_by_reads_and_by_the_preview_stay_whole(run):
    slow = r"printf '\xe2\x82'; sleep 0.1; printf '\xac\n'"
    done = await run(slow)
    assert done.output == "€\n"
    assert "".join(run.shown) == "€\n"
    cut = await run("for i in {1..500}; do printf '€'; done", preview_bytes=100)
    assert "\ufffd" not in cut.output


async def test_bytes_that_are_no_text_are_replaced(run):
    assert (await run(r"printf 'a\xffb'")).output == "a\ufffdb"


async def test_what_cannot_start_says_why(run, tmp_path):
    with pytest.raises(ToolError, match="NUL"):
        await run("echo \0")
    for shell, cwd, says in (
        ("/bin/no-such-shell", str(tmp_path), "no-such-shell"),
        ("/bin/bash", "/nowhere", "does not exist"),
    ):
        with pytest.raises(ToolError, match=says):
            await run_command(
                "true",
                shell=shell,
                cwd=cwd,
                env=ENV,
                timeout_s=1.0,
                preview_bytes=100,
                new_output=lambda: ("", ""),
            )


async def test_what_cannot_start_leaves_no_descriptor_open(run):
    await asyncio.sleep(0)
    before = open_files()
    with pytest.raises(ToolError, match="too long"):
        await run("x" * 3_000_000)
    await asyncio.sleep(0)
    assert open_files() == before


class TestProgram:
    async def call(self, source, *, timeout_s=30.0, max_bytes=1_000_000):
        return await run_program(
            [sys.executable, "-c", source],
            cwd="/",
            env=ENV,
            timeout_s=timeout_s,
            max_bytes=max_bytes,
        )

    async def test_stdout_and_code(self):
        source = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
        assert await self.call(source) == (3, b"out\n", False)

    async def test_stderr_where_stdout_is_empty(self):
        source = "import sys; sys.stderr.write('e' * 200_000); sys.exit(2)"
        code, out, was_cut = await self.call(source)
        assert (code, len(out), was_cut) == (2, 64_000, False)

    async def test_too_much_is_cut_and_the_program_ended(self):
        code, out, was_cut = await self.call("while True: print('x' * 1000)", max_bytes=5_000)
        assert (code, len(out), was_cut) == (-signal.SIGKILL, 5_000, True)

    async def test_too_long_is_cut_with_what_there_is(self):
        source = "import time; print('x', flush=True); time.sleep(1000)"
        assert await self.call(source, timeout_s=1.0) == (-signal.SIGKILL, b"x\n", True)

    async def test_a_missing_program_says_so(self):
        with pytest.raises(ToolError, match="cannot be started"):
            await run_program(["/no/rg"], cwd="/", env=ENV, timeout_s=1, max_bytes=1)
