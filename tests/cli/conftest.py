import io
import json
import os
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from kova_ls.cli.console import Console


class TerminalText(io.StringIO):
    """Text written to a terminal that does not exist."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


class PipeText(io.StringIO):
    encoding = "utf-8"


@dataclass
class Screen:
    """A console whose output can be read, and whose keyboard a test can type on."""

    console: Console
    stdout: io.StringIO
    stderr: io.StringIO
    keyboard_fd: int | None
    opened: list[object]

    def type(self, text: str) -> None:
        assert self.keyboard_fd is not None
        os.write(self.keyboard_fd, text.encode())

    def hang_up(self) -> None:
        assert self.keyboard_fd is not None
        self.opened.remove(self.keyboard_fd)
        os.close(self.keyboard_fd)

    @property
    def out(self) -> str:
        return self.stdout.getvalue()

    @property
    def err(self) -> str:
        return self.stderr.getvalue()


@pytest.fixture
def screen(tmp_path):
    """Make screens: `terminal=True` has a keyboard, a pseudo terminal."""
    opened = []

    def make(*, terminal=False, stdin="", env=None, cwd=None, step_s=1.0):
        ticks = iter(range(1_000_000))
        keyboard = None
        if terminal:
            keyboard, slave = os.openpty()
            opened.append(keyboard)
            source = os.fdopen(slave, "r")
            opened.append(source)
            stdout = TerminalText()
        else:
            source, stdout = PipeText(stdin), PipeText()
        stderr = PipeText()
        home = tmp_path / "h"
        variables = {
            "HOME": str(home),
            "KOVA_HOME": str(home / ".kova"),
            "KOVA_DATA_DIR": str(tmp_path / "data"),
            "KOVA_RUNTIME_DIR": str(tmp_path / "run"),
            "PATH": os.environ.get("PATH", ""),
            "NO_COLOR": "1",
            "COLUMNS": "80",
            **(env or {}),
        }
        console = Console(
            variables, str(cwd or tmp_path), source, stdout, stderr, lambda: next(ticks) * step_s
        )
        return Screen(console, stdout, stderr, keyboard, opened)

    yield make
    for one in opened:
        one.close() if hasattr(one, "close") else os.close(one)


@dataclass
class FakeEngine:
    """The other end of a client's socket: answers by functions, tells what a test says."""

    handlers: dict[str, Callable[[dict[str, Any]], Any]]
    sock: socket.socket
    far: socket.socket
    heard: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    answered: list[dict[str, Any]] = field(default_factory=list)
    seq: int = 0

    def serve(self):
        stream = self.sock.makefile("rb")
        while True:
            length = 0
            while (line := stream.readline()) not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            body = stream.read(length)
            if not body:
                return
            message = json.loads(body)
            if "method" not in message:
                self.answered.append(message)
                continue
            self.heard.append((message["method"], message.get("params")))
            if "id" not in message:
                continue
            handler = self.handlers.get(message["method"])
            after = None
            if handler is None:
                reply = {"error": {"code": -32601, "message": f"no {message['method']}"}}
            else:
                result = handler(message.get("params"))
                if isinstance(result, tuple):
                    result, after = result
                if isinstance(result, dict) and "error" in result:
                    reply = {"error": result["error"]}
                else:
                    reply = {"result": result}
            self.send({"jsonrpc": "2.0", "id": message["id"], **reply})
            if after:
                after()

    def send(self, message):
        body = json.dumps(message).encode()
        try:
            self.sock.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        except OSError:
            pass

    def notify(self, method, params):
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def event(self, kind, payload, *, turn="t1", item=None, durable=True):
        event = {"sessionId": "s1", "epoch": "e", "at": 1.0, "turnId": turn, "type": kind}
        if durable:
            self.seq += 1
            event["seq"] = self.seq
        else:
            event["volatile"] = True
        if item:
            event["itemId"] = item
        self.notify("kova/event", {**event, "payload": payload})

    def end(self):
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def close(self):
        self.end()
        self.sock.close()
        self.far.close()


@pytest.fixture
def fake_engine():
    engines, threads = [], []

    def make(**handlers):
        near, far = socket.socketpair()
        engine = FakeEngine({}, near, far)
        engine.handlers = {
            "initialize": lambda _params: {
                "capabilities": {"experimental": {"kova": {"version": 1}}}
            }
        }
        for name, handler in handlers.items():
            engine.handlers[f"kova/{name.replace('_', '/')}"] = handler
        thread = threading.Thread(target=engine.serve)
        thread.start()
        engines.append(engine)
        threads.append(thread)
        return engine

    yield make
    for engine in engines:
        engine.close()
    for thread in threads:
        thread.join(5)


def snapshot_of_session(**fields):
    return {
        "sessionId": "s1",
        "title": "A session",
        "mode": "agent",
        "level": "ask",
        "model": "script",
        "state": "idle",
        "items": [],
        "approvals": [],
        "questions": [],
        "usage": {},
        "watermark": {"epoch": "e", "seq": 0},
        **fields,
    }


@pytest.fixture
def snapshot_json():
    return snapshot_of_session


@pytest.fixture
def approval_json():
    def make(**fields):
        return {
            "approvalId": "a1",
            "sessionId": "s1",
            "turnId": "t1",
            "callId": "c1",
            "kind": "tool",
            "tool": "bash",
            "title": "bash wants to run a command",
            "subject": {"type": "command", "command": "git push", "cwd": "file:///w"},
            "reasons": [{"code": "noRule", "text": "no rule allows git push"}],
            "decisions": ["deny", "once", "remember"],
            "rules": ["git push"],
            "rulesPath": "file:///w/.kova/permissions.local.json",
            "requestedAt": 1.0,
            **fields,
        }

    return make


@pytest.fixture
def question_json():
    def make(**fields):
        return {
            "questionId": "q1",
            "sessionId": "s1",
            "turnId": "t1",
            "callId": "c2",
            "questions": [
                {
                    "id": "0",
                    "question": "Tabs or spaces?",
                    "header": "Indent",
                    "options": [{"label": "Tabs"}, {"label": "Spaces", "description": "four"}],
                }
            ],
            "requestedAt": 1.0,
            **fields,
        }

    return make
