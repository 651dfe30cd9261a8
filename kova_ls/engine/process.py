"""Run commands and helper programs with limits on time and size.

Invariant: never a login shell, never a terminal; no environment but the one that is given.
Invariant: memory is bounded whatever a program prints; what is not kept is stated.
Invariant: a stopped command leaves no member of its process group alive.
"""

import asyncio
import codecs
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import BinaryIO

from kova_ls.engine.process_group import (
    GRACE_S,
    end_group,
    has_living,
    members_of,
    signal_group,
)
from kova_ls.paths import private_opener
from kova_ls.tools._base import CommandResult, ToolError

OnOutput = Callable[[str], None]
NewOutput = Callable[[], tuple[str, str]]
"""Reserve a place for a large output; returns its `outputRef` and its path."""

_MAX_ERROR_BYTES = 64_000
_MAX_SPOOLED_BYTES = 64 * 1024 * 1024
_BATCH_S = 0.03
_BATCH_CHARS = 16_384
_LINGER_S = 0.25
_LAST_READS = 4


async def run_command(
    command: str,
    *,
    shell: str,
    cwd: str,
    env: Mapping[str, str],
    timeout_s: float,
    preview_bytes: int,
    new_output: NewOutput,
    on_output: OnOutput | None = None,
    on_stopped: Callable[[CommandResult], None] | None = None,
    grace_s: float = GRACE_S,
) -> CommandResult:
    """Run a command line with both streams in one pipe and nothing to read.

    At the end of time, and when cancelled, the process group and its findable descendants get
    SIGTERM and after `grace_s` SIGKILL; a cancelled run tells `on_stopped` before it raises. A
    background process that keeps the pipe does not delay the result; its pipe is read on and
    thrown away, so that it lives.
    Raises: ToolError when the shell cannot be started.
    """
    sink = _Sink(preview_bytes, new_output, on_output)
    started = time.monotonic()
    process, transport = await _start(command, shell, cwd, env, sink)
    timed_out = False
    stopped: tuple[int, ...] = ()

    def result() -> CommandResult:
        return sink.result(
            exit_code=None if stopped else process.returncode,
            timed_out=timed_out,
            duration_s=time.monotonic() - started,
            stopped_pids=stopped,
            background_group=None if stopped or not has_living(process.pid) else process.pid,
        )

    try:
        try:
            async with asyncio.timeout(timeout_s):
                await process.wait()
        except TimeoutError:
            timed_out = True
            stopped = await _end_group(process, grace_s)
        except asyncio.CancelledError:
            stopped = members_of(process.pid)
            await _end_group(process, grace_s)
            if on_stopped is not None:
                await sink.ended(_LINGER_S)
                sink.finish()
                on_stopped(result())
            raise
        await sink.ended(_LINGER_S)
        sink.finish()
        return result()
    finally:
        if process.returncode is None:
            signal_group(process.pid, signal.SIGKILL)
        sink.finish()
        if sink.is_ended or stopped:
            transport.close()


async def run_program(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    timeout_s: float,
    max_bytes: int,
) -> tuple[int, bytes, bool]:
    """Run a helper program: exit code, stdout (stderr when that is empty), was it cut.

    It is cut at `max_bytes` and at the end of time; the exit code is then negative.
    Raises: ToolError when it cannot be started.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            cwd=cwd,
            env=dict(env),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
            limit=1 << 18,
        )
    except OSError as error:
        raise ToolError(_no_start(error, argv[0], cwd)) from None
    out, errors = process.stdout, process.stderr
    assert out is not None
    assert errors is not None
    pieces: list[bytes] = []
    said = bytearray()
    was_cut = False

    async def listen() -> None:
        while piece := await errors.read(1 << 16):
            said.extend(piece[: max(0, _MAX_ERROR_BYTES - len(said))])

    listening = asyncio.ensure_future(listen())
    try:
        async with asyncio.timeout(timeout_s):
            size = 0
            while size <= max_bytes and (piece := await out.read(1 << 18)):
                pieces.append(piece)
                size += len(piece)
            was_cut = size > max_bytes
            if not was_cut:
                await listening
                await process.wait()
    except TimeoutError:
        was_cut = True
    finally:
        if process.returncode is None:
            signal_group(process.pid, signal.SIGKILL)
            while await out.read(1 << 18):
                pass
            await process.wait()
        await asyncio.wait([listening])
    assert process.returncode is not None
    code = -signal.SIGKILL if was_cut else process.returncode
    return code, b"".join(pieces)[:max_bytes] or bytes(said), was_cut


# -- output -----------------------------------------------------------------------------------


class _Sink(asyncio.Protocol):
    """What a command prints: head and tail kept, the whole in a file, shown in batches."""

    def __init__(
        self, preview_bytes: int, new_output: NewOutput, on_output: OnOutput | None
    ) -> None:
        self._head_bytes = preview_bytes // 2
        self._tail_bytes = preview_bytes - self._head_bytes
        self._head = bytearray()
        self._tail = bytearray()
        self._size = 0
        self._new_output = new_output
        self._file: BinaryIO | None = None
        self._spooled_bytes = 0
        self._place: tuple[str, str] | None = None
        self._on_output = on_output
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._batch = ""
        self._timer: asyncio.TimerHandle | None = None
        self._closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._is_finished = False

    @property
    def is_ended(self) -> bool:
        """True when nobody holds the other end of the pipe any more."""
        return self._closed.done()

    def data_received(self, data: bytes) -> None:
        """Take a piece of output."""
        if self._is_finished:
            return
        self._keep(data)
        if self._on_output is not None:
            self._batch += self._decoder.decode(data)
            if self._timer is None:
                self._timer = asyncio.get_running_loop().call_later(_BATCH_S, self._show)

    def connection_lost(self, exc: Exception | None) -> None:
        """Note the end of the output."""
        if not self._closed.done():
            self._closed.set_result(None)

    async def ended(self, linger_s: float) -> None:
        """Wait for the end of the output, at most `linger_s`; what is in the pipe is read."""
        await asyncio.wait([self._closed], timeout=linger_s)
        # A late wake-up must not lose what was printed: each turn of the loop empties the pipe.
        for _ in range(_LAST_READS):
            if not self._closed.done():
                await asyncio.sleep(0)

    def finish(self) -> None:
        """Take no more; show and store what there is."""
        if self._is_finished:
            return
        self._is_finished = True
        if self._on_output is not None:
            self._batch += self._decoder.decode(b"", final=True)
        self._show()
        if self._file is not None:
            self._file.close()

    def result(
        self,
        *,
        exit_code: int | None,
        timed_out: bool,
        duration_s: float,
        stopped_pids: tuple[int, ...],
        background_group: int | None,
    ) -> CommandResult:
        """Return the result with the preview of the output."""
        ref, path = self._place or (None, None)
        hidden = self._size - len(self._head) - len(self._tail)
        head, tail = bytes(self._head), bytes(self._tail)
        if hidden:
            # Whole characters at both sides of the gap.
            while tail and tail[0] & 0xC0 == 0x80:
                tail = tail[1:]
            kept = head.decode("utf-8", "ignore") if _cuts_character(head) else None
            note = ""
            if self._spooled_bytes < self._size:
                note = f"; the file holds the first {self._spooled_bytes:,} bytes"
            output = (
                (kept if kept is not None else head.decode("utf-8", "replace"))
                + f"\n[… {hidden:,} bytes left out here{note} …]\n"
                + tail.decode("utf-8", "replace")
            )
        else:
            output = (head + tail).decode("utf-8", "replace")
        return CommandResult(
            exit_code=exit_code,
            output=output,
            hidden_bytes=hidden,
            output_ref=ref,
            output_path=path,
            timed_out=timed_out,
            duration_s=duration_s,
            stopped_pids=stopped_pids,
            background_group=background_group,
        )

    def _keep(self, data: bytes) -> None:
        before = self._size
        self._size += len(data)
        if self._file is None and self._size > self._head_bytes + self._tail_bytes:
            self._place = self._new_output()
            self._file = open(self._place[1], "wb", buffering=0, opener=private_opener)  # noqa: SIM115
            self._spool(bytes(self._head + self._tail))
        if self._file is not None and self._spooled_bytes == before:
            self._spool(data[: _MAX_SPOOLED_BYTES - before])
        room = self._head_bytes - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > self._tail_bytes:
            del self._tail[: -self._tail_bytes or None]

    def _spool(self, data: bytes) -> None:
        assert self._file is not None
        # A full disk ends the file, not the command.
        with suppress(OSError):
            self._spooled_bytes += self._file.write(data) or 0

    def _show(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        batch, self._batch = self._batch, ""
        if not batch or self._on_output is None:
            return
        if len(batch) > _BATCH_CHARS:
            skipped = len(batch) - _BATCH_CHARS
            batch = f"\n[… {skipped:,} characters not shown live …]\n" + batch[skipped:]
        self._on_output(batch)


def _cuts_character(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.end == len(data) and error.start >= len(data) - 3
    return False


# -- processes --------------------------------------------------------------------------------


async def _start(
    command: str, shell: str, cwd: str, env: Mapping[str, str], sink: _Sink
) -> tuple[asyncio.subprocess.Process, asyncio.ReadTransport]:
    if "\0" in command:
        raise ToolError("The command holds a NUL character; no shell can be given it.")
    read_end, write_end = os.pipe()
    try:
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: sink, os.fdopen(read_end, "rb", buffering=0)
        )
        try:
            starting = asyncio.ensure_future(
                asyncio.create_subprocess_exec(
                    shell,
                    "-c",
                    command,
                    cwd=cwd,
                    env=dict(env),
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=write_end,
                    stderr=write_end,
                    start_new_session=True,
                )
            )
            process = await _begun(starting)
        except BaseException:
            transport.close()
            raise
    except OSError as error:
        raise ToolError(_no_start(error, shell, cwd)) from None
    finally:
        os.close(write_end)
    return process, transport


async def _begun(
    starting: asyncio.Future[asyncio.subprocess.Process],
) -> asyncio.subprocess.Process:
    """Return a process; a cancellation meanwhile comes at the next wait.

    To cancel the start itself would end the shell alone and leave what it began.
    """
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        process = await starting
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        return process


async def _end_group(process: asyncio.subprocess.Process, grace_s: float) -> tuple[int, ...]:
    """Stop the group and findable descendants; returns the ids of all that were stopped."""
    members = await end_group(process.pid, grace_s)
    await process.wait()
    return members


def _no_start(error: OSError, program: str, cwd: str) -> str:
    if not os.path.isdir(cwd):
        return f"The folder {cwd!r} does not exist; choose another cwd."
    if error.strerror and "too long" in error.strerror:
        return "The command is too long for the system; put it in a file and run that."
    return f"{program!r} cannot be started: {error.strerror or error}."
