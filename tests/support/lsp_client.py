"""A test client over the real relay: pytest-lsp's, with our messages left as they are."""

import asyncio
import itertools
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import orjson
from pytest_lsp import LanguageClient
from pytest_lsp.protocol import LanguageClientProtocol

from tests.support.stage import Step

ROOT = Path(__file__).resolve().parents[2]


class PlainProtocol(LanguageClientProtocol):
    """pygls 2.1.1 makes named tuples of unknown params, and takes nested `jsonrpc` keys for more."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.received: list[dict[str, Any]] = []
        self.asked: dict[Any, asyncio.Future[dict[str, Any]]] = {}

    def structure_message(self, data: Any) -> Any:
        return data

    def handle_message(self, message: Any) -> None:
        self.received.append(message)
        future = self.asked.pop(message.get("id"), None)
        if future is not None and not future.done():
            future.set_result(message)

    def send_plain(self, message: dict[str, Any]) -> None:
        body = orjson.dumps({"jsonrpc": "2.0", **message})
        self.writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))


class Places:
    """Settings, data and runtime folders of one engine, and the engines that ran there."""

    def __init__(self, model: Sequence[Step], settings: str = "", **env: str) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="kw", dir="/tmp"))
        self.workspace = self.root / "ws"
        for name in ("ws", "home", "kova"):
            (self.root / name).mkdir()
        self.env = {
            "PATH": os.defpath,
            "HOME": str(self.root / "home"),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(ROOT),
            "KOVA_HOME": str(self.root / "kova"),
            "KOVA_DATA_DIR": str(self.root / "data"),
            "KOVA_RUNTIME_DIR": str(self.root / "run"),
            **env,
        }
        script = self.root / "script.json"
        script.write_bytes(orjson.dumps({"steps": list(model)}))
        (self.root / "kova" / "config.toml").write_text(
            f'{settings}\n[models.script]\napi = "scripted"\nscript = "{script}"\n'
        )
        self.pids: set[int] = set()
        self.clients: list[Client] = []

    async def client(self, name: str = "one", *args: str) -> "Client":
        """Start a relay (or what `args` say) and introduce an editor."""
        client = Client(self, name)
        self.clients.append(client)
        await client.start(args)
        return client

    def another_build(self) -> Path:
        """Return the folder of a copy of the package: an engine of its own on the same data."""
        copy = self.root / "other"
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "kova_ls", copy / "kova_ls", ignore=ignored)
        return copy

    async def command(self, *args: str) -> subprocess.CompletedProcess[str]:
        """Run a command that people type."""
        command = [sys.executable, "-m", "kova_ls", *args]
        return await asyncio.to_thread(
            subprocess.run,
            command,
            env=self.env,
            cwd=self.workspace,
            capture_output=True,
            text=True,
        )

    async def close(self) -> None:
        """End everything that was started here."""
        for client in self.clients:
            client.kill()
            await client.ended()
        for pid in self.pids:
            kill(pid, signal.SIGKILL)
            await gone(pid)
        shutil.rmtree(self.root, ignore_errors=True)


class Client:
    """One editor and its relay."""

    def __init__(self, places: Places, name: str) -> None:
        self.places = places
        self.name = name
        self._client = LanguageClient(protocol_cls=PlainProtocol)
        self._ids = itertools.count(1)
        self.engine_pid = 0

    @property
    def _protocol(self) -> PlainProtocol:
        return self._client.protocol  # type: ignore[return-value]

    async def start(self, args: Sequence[str]) -> None:
        await self._client.start_io(
            sys.executable,
            "-m",
            "kova_ls",
            *args,
            env=self.places.env,
            cwd=self.places.workspace,
        )
        kova = {"versions": [1], "client": {"id": self.name, "name": self.name}, "trusted": True}
        folder = {"uri": self.places.workspace.as_uri(), "name": "ws"}
        options = {"initializationOptions": {"kova": kova}, "workspaceFolders": [folder]}
        self.handshake = await self.result("initialize", {"capabilities": {}, **options})
        self._protocol.send_plain({"method": "initialized", "params": {}})
        status = await self.result("kova/engine/status", {})
        self.engine_pid = status["pid"]
        self.places.pids.add(self.engine_pid)

    @property
    def relay_pid(self) -> int:
        assert self._client._server is not None
        return self._client._server.pid

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events received, deltas included."""
        received = self._protocol.received
        return [m["params"] for m in received if m.get("method") == "kova/event"]

    @property
    def stored(self) -> list[dict[str, Any]]:
        """The events that have a number."""
        return [event for event in self.events if "seq" in event]

    async def ask(self, method: str, params: Any) -> dict[str, Any]:
        """Send a request and return the whole answer."""
        request_id = f"{self.name}-{next(self._ids)}"
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._protocol.asked[request_id] = future
        self._protocol.send_plain({"id": request_id, "method": method, "params": params})
        return await future

    async def result(self, method: str, params: Any) -> Any:
        """Send a request that must succeed and return its result."""
        answer = await self.ask(method, params)
        assert "result" in answer, answer
        return answer["result"]

    def open_document(self, path: Path, text: str) -> None:
        """Say that the editor has a file open."""
        item = {"uri": path.as_uri(), "languageId": "plaintext", "version": 1, "text": text}
        message = {"method": "textDocument/didOpen", "params": {"textDocument": item}}
        self._protocol.send_plain(message)

    async def start_turn(self, session_id: str, words: str = "Go.") -> dict[str, Any]:
        """Give the session a prompt."""
        params = {"sessionId": session_id, "input": [{"type": "text", "text": words}]}
        return await self.result("kova/turn/start", params)

    async def event(
        self, kind: str, holds: Callable[[dict[str, Any]], bool] = lambda _: True
    ) -> dict[str, Any]:
        """Wait for an event of a type."""
        while True:
            for event in self.events:
                if event["type"] == kind and holds(event):
                    return event
            await asyncio.sleep(0.005)

    def kill(self) -> None:
        """End the relay as `kill -9` does."""
        server = self._client._server
        if server is not None and server.returncode is None:
            server.kill()

    async def ended(self) -> int | None:
        """Wait for the end of the relay; returns its exit status."""
        server = self._client._server
        if server is None:
            return None
        await server.wait()
        self._client._stop_event.set()
        await asyncio.gather(*self._client._async_tasks, return_exceptions=True)
        for stream in (server.stdin,):
            if stream is not None:
                stream.close()
        server._transport.close()  # type: ignore[attr-defined]
        return server.returncode


def kill(pid: int, sign: int) -> None:
    """Signal an engine that a test started, unless it has ended."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return
    if b"kova_ls" in command:
        os.kill(pid, sign)


async def gone(pid: int) -> None:
    """Wait until a process has ended."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        while not select.select([fd], [], [], 0)[0]:
            await asyncio.sleep(0.005)
    finally:
        os.close(fd)
