"""A server that a test plays itself: every request of the client can be seen and answered at will.

For what the real engine would never send: hostile text, gaps, lost connections, huge payloads.
"""

import asyncio
import contextlib
import itertools
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

Answer = Callable[[dict[str, Any]], Any]

EPOCH = "e1"


class Refusal(Exception):
    """Answer a request with an error."""

    def __init__(self, message: str, code: int = -32602) -> None:
        super().__init__(message)
        self.code = code


class FakeEngine:
    """One session named `s1`, one editor at a time."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.answers: dict[str, Answer] = {}
        self.seq = 0
        self.snapshot: dict[str, Any] = {}
        self.connections = 0
        self._writer: asyncio.StreamWriter | None = None
        self._ids = itertools.count(1)
        self._arrived = asyncio.Condition()
        self._answered: dict[Any, asyncio.Future[Any]] = {}
        self.set_snapshot()

    def set_snapshot(self, **changes: Any) -> None:
        """What attach and create answer."""
        self.snapshot = {
            "sessionId": "s1",
            "title": "A test",
            "mode": "agent",
            "level": "workspace-write",
            "model": "demo",
            "state": "idle",
            "items": [],
            "approvals": [],
            "questions": [],
            "usage": {"contextTokens": 0, "contextWindow": 100000},
        } | changes

    def _snapshot(self) -> dict[str, Any]:
        return self.snapshot | {"watermark": {"epoch": EPOCH, "seq": self.seq}}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Talk to one editor until it leaves."""
        self._writer = writer
        self.connections += 1
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                await self._take(json.loads(await reader.readexactly(length)))
        writer.close()

    async def _take(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        if method is None:
            future = self._answered.pop(message.get("id"), None)
            if future:
                future.set_result(message.get("result", message.get("error")))
            return
        params = message.get("params") or {}
        if "id" in message:
            try:
                self._send({"id": message["id"], "result": self._answer(method, params)})
            except Refusal as refusal:
                error = {"code": refusal.code, "message": str(refusal)}
                self._send({"id": message["id"], "error": error})
        async with self._arrived:
            self.requests.append((method, params))
            self._arrived.notify_all()

    def _answer(self, method: str, params: dict[str, Any]) -> Any:
        if method in self.answers:
            return self.answers[method](params)
        match method:
            case "initialize":
                kova = {
                    "version": 1,
                    "schemaHash": "x",
                    "serverId": "fake",
                    "epoch": "x",
                    "modes": ["agent", "plan", "ask", "goal"],
                    "levels": ["ask", "workspace-write", "auto-edit", "auto"],
                    "features": {},
                }
                sync = {"openClose": True, "change": 2}
                return {"capabilities": {"experimental": {"kova": kova}, "textDocumentSync": sync}}
            case "kova/session/create":
                return self._snapshot()
            case "kova/session/attach":
                watermark = {"epoch": EPOCH, "seq": self.seq}
                return {"snapshot": self._snapshot(), "events": [], "watermark": watermark}
            case "kova/session/list":
                return {"sessions": []}
            case "kova/turn/start":
                return {"turnId": "t1", "status": "started"}
            case "kova/turn/interrupt":
                return {"stopped": ["the model call"]}
            case "kova/approval/respond":
                return {
                    "status": "resolved",
                    "decision": params["decision"],
                    "resolvedBy": "kova.nvim",
                }
            case "kova/question/respond":
                return {"status": "resolved", "outcome": "answered", "resolvedBy": "kova.nvim"}
            case _:
                return {}

    def _send(self, message: dict[str, Any]) -> None:
        assert self._writer
        body = json.dumps({"jsonrpc": "2.0"} | message).encode()
        self._writer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Tell the editor something."""
        self._send({"method": method, "params": params})

    async def ask(self, method: str, params: dict[str, Any]) -> Any:
        """Ask the editor something and wait for its answer."""
        number = f"s{next(self._ids)}"
        future = asyncio.get_running_loop().create_future()
        self._answered[number] = future
        self._send({"id": number, "method": method, "params": params})
        return await future

    def event(
        self, type_: str, payload: dict[str, Any] | None = None, **top: Any
    ) -> dict[str, Any]:
        """Send a durable event and return it."""
        self.seq += 1
        message = {
            "sessionId": "s1",
            "epoch": EPOCH,
            "seq": self.seq,
            "at": 0.0,
            "type": type_,
            "payload": payload or {},
        } | top
        self.notify("kova/event", message)
        return message

    def delta(self, item_id: str, offset: int, text: str, kind: str = "reply") -> None:
        """Send a volatile piece of an item."""
        payload = {"kind": kind, "offset": offset, "text": text}
        message = {"sessionId": "s1", "epoch": EPOCH, "volatile": True, "at": 0.0}
        self.notify(
            "kova/event", message | {"type": "item.delta", "itemId": item_id, "payload": payload}
        )

    def item(self, item: dict[str, Any], ended: bool = True) -> None:
        """Send an item as started or completed."""
        self.event("item.completed" if ended else "item.started", {"item": item})

    def approve(self, approval_id: str, **card: Any) -> None:
        """Send an approval card."""
        approval = {
            "approvalId": approval_id,
            "sessionId": "s1",
            "turnId": "t1",
            "callId": card.pop("callId", "c1"),
            "kind": "tool",
            "tool": "bash",
            "title": "Run a command",
            "subject": {"type": "command", "command": "make", "cwd": "file:///tmp"},
            "decisions": ["deny", "once"],
            "requestedAt": 0.0,
        } | card
        self.event("approval.requested", {"approval": approval})

    def resolve(self, approval_id: str, decision: str, by: str = "kova.nvim") -> None:
        """Send the end of a card."""
        payload = {"approvalId": approval_id, "decision": decision, "resolvedBy": by}
        self.event("approval.resolved", payload)

    async def wait_for(self, method: str, count: int = 1) -> dict[str, Any]:
        """Wait until the editor has sent this method so often; return the last params."""

        def sent() -> list[dict[str, Any]]:
            return [params for name, params in self.requests if name == method]

        try:
            async with asyncio.timeout(15), self._arrived:
                await self._arrived.wait_for(lambda: len(sent()) >= count)
        except TimeoutError:
            names = [name for name, _ in self.requests]
            raise AssertionError(f"{method} never came; came: {names}") from None
        return sent()[-1]

    def count(self, method: str) -> int:
        """How often the editor has sent this method."""
        return sum(name == method for name, _ in self.requests)

    def drop(self) -> None:
        """Cut the connection, if there is one."""
        if self._writer:
            self._writer.close()


@asynccontextmanager
async def open_fake_engine(path: Path) -> AsyncIterator[FakeEngine]:
    """Listen on a Unix socket; the client connects with `vim.lsp.rpc.connect`."""
    engine = FakeEngine()
    server = await asyncio.start_unix_server(engine.serve, str(path))
    try:
        yield engine
    finally:
        engine.drop()
        server.close()
