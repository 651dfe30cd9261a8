"""Processes and what they cost: CPU, memory, the wire of an attached editor."""

import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Message = dict[str, Any]


def cpu_s(pid: int) -> float:
    """Return the CPU time of a live process, all its threads, in nanosecond ticks."""
    # The clock id of another process, as clock_getcpuclockid(3) makes it.
    return time.clock_gettime((~pid << 3) | 2)


def pss_mib(pid: int) -> float:
    """Return the proportional set size of a process."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0


def relay_command() -> list[str]:
    """Return what an editor starts: the installed program, or the module."""
    program = Path(sys.executable).with_name("kova-ls")
    return [str(program)] if program.exists() else [sys.executable, "-m", "kova_ls"]


class ModelServer:
    """The scripted model in a process of its own."""

    def __init__(self) -> None:
        program = Path(__file__).with_name("model_server.py")
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def log(self, run: str) -> Message:
        """Return the stamps of a run."""
        with socket.create_connection(("127.0.0.1", self.port)) as sock:
            sock.sendall(b"GET /log/%s HTTP/1.1\r\n\r\n" % run.encode())
            stream = sock.makefile("rb")
            length = 0
            while (line := stream.readline()) != b"\r\n":
                if line.startswith(b"Content-Length:"):
                    length = int(line.split()[1])
            found: Message = json.loads(stream.read(length))
            return found

    def close(self) -> None:
        """End it."""
        self._process.communicate()


class Editor:
    """An editor: starts the relay, and stamps every message at its arrival."""

    def __init__(self, env: Mapping[str, str], workspace: Path) -> None:
        self._workspace = workspace
        near, far = socket.socketpair()
        self.started_at = time.monotonic()
        self.process = subprocess.Popen(relay_command(), stdin=far, stdout=far, env=dict(env))
        far.close()
        self._sock = near
        self._buffer = bytearray()
        self._last_id = 0
        self.bytes_read = 0

    def initialize(self) -> float:
        """Shake hands; return the time from the start to the answer, in ms."""
        uri = self._workspace.as_uri()
        kova = {
            "versions": [1],
            "client": {"id": str(self.process.pid), "name": "bench", "version": "1"},
            "trusted": True,
            "capabilities": {"events": {"maxLatencyMs": 0}, "approvals": {}, "questions": {}},
        }
        params = {
            "processId": os.getpid(),
            "rootUri": uri,
            "workspaceFolders": [{"uri": uri, "name": "bench"}],
            "capabilities": {},
            "initializationOptions": {"kova": kova},
        }
        self.request("initialize", params)
        took_ms = (time.monotonic() - self.started_at) * 1000
        self.send({"jsonrpc": "2.0", "method": "initialized", "params": {}})
        return took_ms

    def request(
        self, method: str, params: Message, heard: Callable[[float, bytes], None] | None = None
    ) -> Message:
        """Ask and return the result; other messages go to `heard`."""
        self._last_id += 1
        number = self._last_id
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        answer: Message | None = None
        while answer is None:
            for at, body in self.read():
                message = json.loads(body) if b'"method"' not in body[:60] else {}
                if message.get("id") == number and "method" not in message:
                    answer = message
                elif heard:
                    heard(at, body)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        result: Message = answer["result"]
        return result

    def send(self, message: Message) -> None:
        """Write one frame."""
        body = json.dumps(message).encode()
        self._sock.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def read(self, limit_s: float = 300.0) -> list[tuple[float, bytes]]:
        """Wait for messages; return the moment of arrival and the body of each."""
        if not select.select([self._sock], [], [], limit_s)[0]:
            raise TimeoutError("nothing was heard")
        data = self._sock.recv(1_000_000)
        at = time.monotonic()
        if not data:
            raise EOFError("the relay has ended")
        self.bytes_read += len(data)
        self._buffer += data
        found: list[tuple[float, bytes]] = []
        start = 0
        while (end := self._buffer.find(b"\r\n\r\n", start)) >= 0:
            length = int(self._buffer[start:end].split(b":")[1].split(b"\r")[0])
            if len(self._buffer) < end + 4 + length:
                break
            found.append((at, bytes(self._buffer[end + 4 : end + 4 + length])))
            start = end + 4 + length
        del self._buffer[:start]
        return found

    def engine_pid(self) -> int:
        """Return the engine's process."""
        return int(self.request("kova/engine/status", {})["pid"])

    def stop_engine(self) -> None:
        """End the engine, and wait until it is gone."""
        process_fd = os.pidfd_open(self.engine_pid())
        self.request("kova/engine/stop", {"force": True})
        select.select([process_fd], [], [], 30)
        os.close(process_fd)

    def close(self) -> None:
        """Close the editor; its relay ends."""
        self._sock.close()
        self.process.wait()
