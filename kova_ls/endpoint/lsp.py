"""An editor without a Kova client: what it may say, and when the rest is loaded for it.

pygls and lsprotocol cost 0.4 s and 31 MiB: they are imported beside the loop, at the first message
that needs them, and never for an editor with a client of ours.
Invariant: light to import; what comes while pygls is imported is handled afterwards, in order.
"""

import asyncio
import importlib
from typing import TYPE_CHECKING, Any

from kova_ls.endpoint import framing

if TYPE_CHECKING:
    from kova_ls.endpoint.lsp_server import LspServer
    from kova_ls.endpoint.server import EditorEndpoint

COMMANDS = (
    "kova.ask",
    "kova.pending",
    "kova.answer",
    "kova.stop",
    "kova.open",
    "kova.newSession",
    "kova.mode",
    "kova.level",
    "kova.goal",
    "kova.changes",
    "kova.keep",
    "kova.revert",
)
ASK_KIND = "refactor.rewrite.kova"
"""Below a kind that editors know, so that none filters it out."""
REQUEST_PREFIX = "kova-lsp-"
"""Begins the ids of requests that pygls sends."""
_METHODS = frozenset(
    {
        "workspace/executeCommand",
        "textDocument/codeAction",
        "textDocument/codeLens",
        "window/workDoneProgress/cancel",
    }
)


def capabilities() -> dict[str, Any]:
    """Return what `initialize` announces beside the rest."""
    return {
        "executeCommandProvider": {"commands": list(COMMANDS)},
        "codeActionProvider": {"codeActionKinds": ["quickfix", ASK_KIND]},
        "codeLensProvider": {"resolveProvider": False},
    }


class PlainClient:
    """The part of an endpoint that speaks LSP's own words."""

    def __init__(self, endpoint: "EditorEndpoint") -> None:
        self._endpoint = endpoint
        self._server: LspServer | None = None
        self._waiting: list[dict[str, Any]] = []
        self._loading: asyncio.Task[None] | None = None

    def settle_trust(self) -> None:
        """Trust the editor exactly when config.toml names every folder that it has open."""
        from kova_ls.endpoint.lsp_trust import is_trusted
        from kova_ls.errors import SettingsError

        engine, folders = self._endpoint.engine, self._endpoint.folders
        try:
            patterns = engine.models.read(self._endpoint.env).trusted_folders
        except SettingsError:
            patterns = ()
        home = engine.places.home
        self._endpoint.trusted = bool(folders) and all(
            is_trusted(folder, patterns, home) for folder in folders
        )

    def window(self) -> str:
        """Return an id that is the same when the editor comes back; empty without a folder."""
        folders = self._endpoint.folders
        return f"{self._endpoint.name}@{folders[0]}" if folders else ""

    def begin(self) -> None:
        """Go on with what the editor's folders have running, such as a card that still waits."""
        if self._running():
            self._load()

    def _running(self) -> bool:
        from kova_ls.engine.places import workspace_path

        engine, folders = self._endpoint.engine, self._endpoint.folders
        return any(workspace_path(session) in folders for session in engine.running)

    def takes(self, method: str) -> bool:
        """Say whether a message is for here."""
        return method in _METHODS

    def take(self, message: dict[str, Any]) -> None:
        """Handle a message now, or once pygls is imported."""
        if self._server is not None:
            self._server.take(message)
            return
        self._waiting.append(message)
        self._load()

    def take_answer(self, message: dict[str, Any]) -> None:
        """Handle an answer to what pygls asked."""
        if self._server is not None:
            self._server.take_answer(message)

    def _load(self) -> None:
        if self._loading is None:
            self._loading = self._endpoint.engine.spawn(self._import(), name="import pygls")

    async def _import(self) -> None:
        from kova_ls.endpoint.answer import failed

        try:
            module = await asyncio.to_thread(importlib.import_module, "kova_ls.endpoint.lsp_server")
            server: LspServer = module.LspServer(self._endpoint)
        except Exception as error:  # noqa: BLE001 - what waited is answered with it
            self._loading = None
            waiting, self._waiting = self._waiting, []
            for message in waiting:
                if "id" in message:
                    self._endpoint.write(failed(message["id"], error, self._endpoint.language))
            return
        self._server = server
        server.begin()
        waiting, self._waiting = self._waiting, []
        for message in waiting:
            server.take(message)

    def close(self) -> None:
        """Let go when the editor is gone."""
        for message in self._waiting:
            if "id" in message:
                self._endpoint.write(framing.error(message["id"], -32800, "Cancelled."))
        self._waiting.clear()
        if self._loading is not None:
            self._loading.cancel()
        if self._server is not None:
            self._server.close()
