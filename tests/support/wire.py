"""An editor's end of a connection in memory: frames in, messages out."""

import asyncio
import itertools
import json
import os
from collections.abc import Callable
from typing import Any

import orjson

from kova_ls.endpoint import framing
from kova_ls.endpoint.hub import Hub
from kova_ls.endpoint.server import EditorEndpoint
from kova_ls.engine.workspace import file_uri
from tests.support.stage import Stage


class Pipe(asyncio.WriteTransport):
    """A transport that an editor reads, or does not read."""

    def __init__(self) -> None:
        super().__init__()
        self.framer = framing.Framer()
        self.frames: list[bytes] = []
        self.unread = bytearray()
        self.is_read = True
        self.is_closed = False

    def write(self, data: Any) -> None:
        self.unread += data
        if self.is_read:
            self.read()

    def read(self) -> None:
        data, self.unread = bytes(self.unread), bytearray()
        self.frames.extend(self.framer.feed(data))

    def get_write_buffer_size(self) -> int:
        return len(self.unread)

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        self.is_closed = True

    def abort(self) -> None:
        self.is_closed = True


class Wire:
    """One editor attached to a stage's engine, or to one that is loaded at first use."""

    def __init__(self, stage: Stage, hub: Hub | None = None) -> None:
        self.stage = stage
        self.hub = hub or hub_of(stage)
        self.pipe = Pipe()
        self.endpoint = EditorEndpoint(self.hub, stage.env)
        self.endpoint.connection_made(self.pipe)
        self._ids = itertools.count(1)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """Everything received."""
        return [orjson.loads(body) for body in self.pipe.frames]

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events received."""
        return [m["params"] for m in self.messages if m.get("method") == "kova/event"]

    def send(self, message: Any) -> None:
        """Send a message, or raw bytes as a body."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.endpoint.data_received(framing.frame(body))

    def notify(self, method: str, params: Any) -> None:
        """Send a notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    async def ask(self, method: str, params: Any = None, **more: Any) -> dict[str, Any]:
        """Send a request and return the whole answer."""
        request_id = f"r{next(self._ids)}"
        message = {"jsonrpc": "2.0", "id": request_id, "method": method, **more}
        if params is not None:
            message["params"] = params
        self.send(message)
        return await self.answer_to(request_id)

    async def result(self, method: str, params: Any = None) -> Any:
        """Send a request that must succeed and return its result."""
        answer = await self.ask(method, params)
        assert "result" in answer, answer
        return answer["result"]

    async def error(self, method: str, params: Any = None) -> dict[str, Any]:
        """Send a request that must fail and return its error."""
        answer = await self.ask(method, params)
        assert "error" in answer, answer
        return answer["error"]

    async def answer_to(self, request_id: Any) -> dict[str, Any]:
        """Wait for the answer of a request."""
        return await self.until(
            lambda m: m.get("id") == request_id and ("result" in m or "error" in m)
        )

    async def until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait for a message."""
        while True:
            for message in self.messages:
                if wanted(message):
                    return message
            await asyncio.sleep(0.001)

    async def event(self, kind: str, number: int = 1) -> dict[str, Any]:
        """Wait for the n-th event of a type."""
        while len(found := [e for e in self.events if e["type"] == kind]) < number:
            await asyncio.sleep(0.001)
        return found[number - 1]

    async def initialize(
        self, *, trusted: bool = True, locale: str | None = None, **kova: Any
    ) -> dict[str, Any]:
        """Introduce the editor."""
        folder = file_uri(os.path.realpath(self.stage.workspace))
        return await self.result(
            "initialize",
            {
                "capabilities": {},
                "locale": locale,
                "workspaceFolders": [{"uri": folder, "name": "ws"}],
                "initializationOptions": {
                    "kova": {
                        "versions": [1],
                        "client": {"id": "window", "name": "wire", "version": "1"},
                        "trusted": trusted,
                        **kova,
                    }
                },
            },
        )

    async def create(self, **params: Any) -> str:
        """Begin a session and return its id."""
        return (await self.result("kova/session/create", params))["sessionId"]

    async def start(self, session_id: str, words: str = "Go.", **more: Any) -> dict[str, Any]:
        """Give the session a prompt."""
        return await self.result(
            "kova/turn/start",
            {"sessionId": session_id, "input": [{"type": "text", "text": words}], **more},
        )

    def leave(self) -> None:
        """Vanish, as a killed editor does."""
        self.pipe.is_closed = True
        self.endpoint.connection_lost(None)


def hub_of(stage: Stage) -> Hub:
    """What all editors of a stage share."""
    return Hub(
        lambda: stage.engine,
        stop=lambda: None,
        on_change=lambda: None,
        kova_home=str(stage.root / "kova"),
    )
