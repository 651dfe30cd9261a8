"""An editor without a Kova client, at its end of a connection in memory."""

import os
from typing import Any

from kova_ls.engine.workspace import file_uri
from tests.support.stage import Stage
from tests.support.wire import Wire


class PlainEditor(Wire):
    """Says nothing but LSP; its person answers when asked by the test."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self.folder = file_uri(os.path.realpath(stage.workspace))
        self.answered: set[Any] = set()

    async def open(self, *, locale: str | None = None, **capabilities: Any) -> dict[str, Any]:
        """Introduce the editor, with what a modern one announces or what is given instead."""
        announced = {
            "window": {"workDoneProgress": True, "showDocument": {"support": True}},
            "workspace": {"codeLens": {"refreshSupport": True}},
            "textDocument": {"codeAction": {"codeActionLiteralSupport": {"codeActionKind": {}}}},
        } | capabilities
        params = {
            "processId": None,
            "clientInfo": {"name": "Plain", "version": "1"},
            "rootUri": self.folder,
            "capabilities": announced,
            "locale": locale,
        }
        answer = await self.result("initialize", params)
        self.notify("initialized", {})
        return answer

    async def run(self, command: str, *arguments: Any) -> Any:
        """Execute a command that must succeed."""
        params = {"command": command, "arguments": list(arguments)}
        return await self.result("workspace/executeCommand", params)

    async def fails(self, command: str, *arguments: Any) -> dict[str, Any]:
        """Execute a command that must fail."""
        params = {"command": command, "arguments": list(arguments)}
        return await self.error("workspace/executeCommand", params)

    async def asked(self, method: str) -> dict[str, Any]:
        """Wait for a request of the engine that was not answered yet."""
        return await self.until(
            lambda m: m.get("method") == method and "id" in m and m["id"] not in self.answered
        )

    def reply(self, request: dict[str, Any], result: Any) -> None:
        """Answer a request of the engine."""
        self.answered.add(request["id"])
        self.send({"jsonrpc": "2.0", "id": request["id"], "result": result})

    async def shows_progress(self) -> str:
        """Make a place for the progress that is asked for; returns its token."""
        request = await self.asked("window/workDoneProgress/create")
        self.reply(request, None)
        return request["params"]["token"]

    async def shows_document(self) -> dict[str, Any]:
        """Show the document that is asked for; returns what was asked."""
        request = await self.asked("window/showDocument")
        self.reply(request, {"success": True})
        return request["params"]

    async def chooses(self, title: str | None) -> dict[str, Any]:
        """Choose, or dismiss, in the message that is shown; returns what was asked."""
        request = await self.asked("window/showMessageRequest")
        self.reply(request, None if title is None else {"title": title})
        return request["params"]

    async def told(self, words: str) -> str:
        """Wait for a message with these words in it."""
        found = await self.until(
            lambda m: m.get("method") == "window/showMessage" and words in m["params"]["message"]
        )
        return found["params"]["message"]

    def progress(self, token: str) -> list[dict[str, Any]]:
        """Return what was said of a progress."""
        return [
            m["params"]["value"]
            for m in self.messages
            if m.get("method") == "$/progress" and m["params"]["token"] == token
        ]

    def requests(self, method: str) -> list[dict[str, Any]]:
        """Return what was asked so far."""
        return [m for m in self.messages if m.get("method") == method]


async def opened(stage: Stage, **capabilities: Any) -> PlainEditor:
    """Return an editor that has introduced itself."""
    editor = PlainEditor(stage)
    await editor.open(**capabilities)
    return editor
