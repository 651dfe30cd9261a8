"""A scripted model on the loopback: OpenAI chat, streaming, answers at once, stamps everything.

The prompt carries the plan: `BENCH{"run": "a", "reads": 50, "deltas": 20, "pace_ms": 0}`; the
server then answers with so many single calls of `read`, and with so many text deltas at the end,
each in a write of its own. `GET /log/RUN` returns the stamps, all of the monotonic clock.

Run by `python -m tests.bench`; alone it prints its port and serves until its stdin ends.
"""

import asyncio
import json
import re
import sys
import time
from dataclasses import asdict, dataclass, field
from typing import Any

_MARK = re.compile(rb"BENCH(\{[^}]*\})")
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
_END = b"data: [DONE]\n\n"


def file_name(number: int) -> str:
    """Return the name of a file of the workspace."""
    return f"file{number:04}.txt"


def file_text(number: int) -> str:
    """Return what the file says, about 260 characters."""
    return "".join(f"{number:04} line {line} of a small file to read\n" for line in range(7))


def word(number: int) -> str:
    """Return the text of a delta."""
    return f" w{number:05}"


@dataclass
class Run:
    """One turn, as the model saw it."""

    reads: int
    deltas: int
    pace_ms: float
    received_at: list[float] = field(default_factory=list)
    """The request is here, whole."""
    answered_at: list[float] = field(default_factory=list)
    """The last byte of the answer goes out."""
    sent_at: list[float] = field(default_factory=list)
    """Of each delta."""
    request_bytes: list[int] = field(default_factory=list)
    missing: int = 0
    """Requests that lack the file that was read before."""


RUNS: dict[str, Run] = {}


class Connection(asyncio.Protocol):
    """One HTTP connection, kept alive."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None
        self._needed = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if len(self._buffer) < self._needed:
            return
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self._buffer[:end])
        found = re.search(rb"(?i)content-length:\s*(\d+)", head)
        self._needed = end + 4 + (int(found[1]) if found else 0)
        if len(self._buffer) < self._needed:
            return
        at = time.monotonic()
        body = bytes(self._buffer[end + 4 : self._needed])
        del self._buffer[: self._needed]
        self._needed = 0
        if head.startswith(b"GET /log/"):
            self._log(head.split(b" ")[1].decode().removeprefix("/log/"))
        else:
            task = asyncio.ensure_future(self._answer(body, at))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _log(self, name: str) -> None:
        body = json.dumps(asdict(RUNS[name])).encode()
        assert self._transport is not None
        self._transport.write(
            b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
        )

    async def _answer(self, body: bytes, at: float) -> None:
        marks = _MARK.findall(body.replace(b'\\"', b'"'))
        if not marks:
            self._write(_HEAD)
            self._chunk({"content": "no plan"})
            self._finish("stop")
            return
        plan = json.loads(marks[-1])
        run = RUNS.setdefault(
            plan["run"], Run(plan["reads"], plan["deltas"], plan.get("pace_ms", 0))
        )
        step = len(run.received_at)
        run.received_at.append(at)
        run.request_bytes.append(len(body))
        if 0 < step <= run.reads and f"{step - 1:04} line 6".encode() not in body[-2000:]:
            run.missing += 1
        self._write(_HEAD)
        if step < run.reads:
            self._call(step, run)
        else:
            await self._text(run)

    def _call(self, step: int, run: Run) -> None:
        arguments = json.dumps({"path": file_name(step)})
        function = {"name": "read", "arguments": arguments}
        call = {"index": 0, "id": f"call_{step}", "type": "function", "function": function}
        self._chunk({"role": "assistant", "tool_calls": [call]})
        run.answered_at.append(time.monotonic())
        self._finish("tool_calls")

    async def _text(self, run: Run) -> None:
        for number in range(run.deltas):
            run.sent_at.append(time.monotonic())
            self._chunk({"content": word(number)})
            if run.pace_ms:
                await asyncio.sleep(run.pace_ms / 1000)
            elif number % 50 == 49:
                await asyncio.sleep(0)
        run.answered_at.append(time.monotonic())
        self._finish("stop")

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        event = {"id": "c", "object": "chat.completion.chunk", "model": "b", "choices": [choice]}
        data = b"data: " + json.dumps(event, separators=(",", ":")).encode() + b"\n\n"
        self._write(b"%x\r\n%s\r\n" % (len(data), data))

    def _finish(self, reason: str) -> None:
        self._chunk({}, reason)
        self._write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(_END), _END))

    def _write(self, data: bytes) -> None:
        assert self._transport is not None
        self._transport.write(data)


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_serve())
