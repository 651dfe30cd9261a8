"""One attached editor: its connection, its handshake, its requests, what it is sent.

Messages are handled in the order they came. `initialize` is answered from what is at hand; the
engine is loaded right after, and whatever came meanwhile waits for it.
Invariant: every request gets an answer; none holds a traceback.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from secrets import token_hex
from typing import TYPE_CHECKING, Any, cast

from kova_ls.endpoint import framing, handshake, text_sync
from kova_ls.endpoint.asked import Asked
from kova_ls.endpoint.hub import Hub
from kova_ls.endpoint.inbox import Inbox
from kova_ls.endpoint.lsp import REQUEST_PREFIX, PlainClient, capabilities
from kova_ls.endpoint.outgoing import Outgoing
from kova_ls.l10n import Language, say
from kova_ls.vocabulary import Detail

if TYPE_CHECKING:
    from kova_ls.endpoint.documents import Documents
    from kova_ls.endpoint.handshake import Introduction
    from kova_ls.engine import Engine, Session
    from kova_ls.protocol._base import WireModel
    from kova_ls.tools._base import Diagnosed

_log = logging.getLogger(__name__)
_EDITOR_ANSWER_S = 10.0


class EditorEndpoint(asyncio.Protocol):
    """The engine's side of one editor's connection."""

    def __init__(self, hub: Hub, env: Mapping[str, str]) -> None:
        self.hub = hub
        self.env = env
        self.id = ""
        self.name = "editor"
        self.version = ""
        self.trusted = False
        self.folders: tuple[str, ...] = ()
        self.panel_kinds: frozenset[str] = frozenset()
        self.workspace_uri: str | None = None
        self.is_initialized = False
        self.followed: dict[str, Any] = {}
        """Session id -> how to stop following it."""
        self.overlays: Documents | None = None
        self.out = Outgoing()
        self.write = self.out.write
        self.close = self.out.close
        self._framer = framing.Framer()
        self._inbox = Inbox(self._handle, hold=self._hold, settle=self._settle)
        self._max_latency_s = 0.0
        self.language = Language.ENGLISH
        self.said: Introduction = handshake.Introduction()
        self.plain: PlainClient | None = None
        """For an editor without a client of ours."""
        self._is_shut_down = False
        self._tasks: dict[Any, asyncio.Task[WireModel]] = {}
        """Id of a request -> its work."""
        self._asked = Asked(self.write)

    @property
    def engine(self) -> "Engine":
        """The engine behind all endpoints."""
        return self.hub.engine

    # -- the connection -------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection."""
        self.out.transport = cast(asyncio.WriteTransport, transport)
        self.hub.joined(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Detach: turns go on, open requests end."""
        del exc
        self.out.transport = None
        self._inbox.take_all()
        for task in list(self._tasks.values()):
            task.cancel()
        self._asked.lose()
        for session_id in list(self.followed):
            self.unfollow(session_id)
        if self.plain is not None:
            self.plain.close()
        self.hub.left(self)

    def _hold(self, is_held: bool) -> None:
        """Stop reading from the editor, or go on."""
        transport = self.out.transport
        if isinstance(transport, asyncio.Transport) and not transport.is_closing():
            (transport.pause_reading if is_held else transport.resume_reading)()

    def data_received(self, data: bytes) -> None:
        """Take bytes of the editor."""
        self._inbox.start_round()
        try:
            for body in self._framer.feed(data):
                self._take(body)
            self._settle()
        except framing.BadFrame as error:
            self.write(framing.error(None, framing.PARSE_ERROR, f"Bad frame: {error}."))
            self.close()

    def _settle(self) -> None:
        if self.hub.is_loaded:
            self.engine.recheck()

    def eof_received(self) -> bool:
        """Detach when the editor closed its side."""
        return False

    def _take(self, body: bytes) -> None:
        try:
            message = framing.message(body)
        except framing.NoMessage as error:
            self.write(framing.error(None, error.code, str(error)))
            return
        if self.is_initialized:
            self._inbox.put(message)
        else:
            self._handle(message)

    def _handle(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        request_id = message.get("id")
        if method is None and ("result" in message or "error" in message):
            self._answered(message)
        elif not isinstance(method, str):
            text = "Neither a request (`method`) nor an answer (`result` or `error`)."
            self.write(framing.error(_plain_id(request_id), framing.INVALID_REQUEST, text))
        elif "id" in message and _plain_id(request_id) is None:
            text = "`id` must be a string or a number."
            self.write(framing.error(None, framing.INVALID_REQUEST, text))
        elif method == "initialize":
            self._initialize(request_id, message.get("params"))
        elif method == "exit":
            self.close()
        elif not self.is_initialized:
            if "id" in message:
                self.write(framing.error(request_id, -32002, "Send `initialize` first."))
        else:
            self._dispatch(method, message)

    # -- handshake --------------------------------------------------------------------------------

    def _initialize(self, request_id: Any, params: Any) -> None:
        if self.is_initialized:
            text = "`initialize` came twice on one connection."
            self.write(framing.error(request_id, framing.INVALID_REQUEST, text))
            return
        said = handshake.introduction(params)
        if said.refusal is not None:
            data = {"code": "invalidParams"}
            self.write(framing.error(request_id, -32602, said.refusal, data))
            return
        self.id, self.name, self.version = said.id, said.name, said.version
        self.trusted = said.trusted
        self.panel_kinds = said.panel_kinds
        self._max_latency_s = said.max_latency_s
        self.language = said.language
        self.said = said
        self._use_folders(said.folder_uris)
        self.is_initialized = True
        if said.is_plain:
            self.plain = PlainClient(self)
        more = capabilities() if said.is_plain else None
        answer = handshake.answer(self.hub.server_id, more)
        self.write(framing.result(request_id, framing.dump(answer)))
        if self.hub.is_loaded:
            self._begin()
        else:
            self.out.send()  # before the heavy imports
            asyncio.get_running_loop().call_soon(self._begin)

    def _use_folders(self, uris: Iterable[str]) -> None:
        paths = {uri: handshake.local_path(uri) for uri in uris}
        self._folder_uris = [uri for uri, path in paths.items() if path is not None]
        self.workspace_uri = self._folder_uris[0] if self._folder_uris else None
        self.folders = tuple(path for path in paths.values() if path is not None)

    def _begin(self) -> None:
        """Load the engine, then handle what came meanwhile."""
        if self.out.transport is None:
            return
        from kova_ls.endpoint.documents import Documents

        try:
            if self.plain is not None:
                self.plain.settle_trust()
                self.id = self.id or self.plain.window()
            self.id = self.id or token_hex(8)
            self.engine.attached(self)
        except Exception as error:  # noqa: BLE001 - what waited is answered with it
            self._refuse_waiting(error)
            return
        self.overlays = Documents(
            self.ask,
            applies_edits=self.said.applies_edits,
            knows_documents=self.said.knows_documents,
        )
        if self.plain is not None:
            self.plain.begin()
        self._inbox.open()

    def _refuse_waiting(self, error: Exception) -> None:
        """Answer what waited for an engine that cannot be loaded, and end the connection."""
        from kova_ls.endpoint.answer import failed

        for message in self._inbox.take_all():
            if "id" in message and "method" in message:
                self.write(failed(message["id"], error, self.language))
        self.show_message(f"The engine cannot be loaded: {error}.")
        self.close()

    # -- requests and notifications -----------------------------------------------------------------

    def _dispatch(self, method: str, message: dict[str, Any]) -> None:
        params = message.get("params")
        plain = self.plain if self.plain is not None and self.plain.takes(method) else None
        if "id" not in message:
            if plain is not None:
                plain.take(message)
                return
            try:
                self._notified(
                    method, cast(dict[str, Any], params) if isinstance(params, dict) else {}
                )
            except (LookupError, TypeError, ValueError, AttributeError) as error:
                _log.warning("notification %s was malformed: %r", method, error)
            return
        request_id = message["id"]
        if self._is_shut_down:
            text = "The connection was shut down."
            self.write(framing.error(request_id, framing.INVALID_REQUEST, text))
            return
        if method == "shutdown":
            self._is_shut_down = True
            self.write(framing.result(request_id, b"null"))
            return
        if plain is not None:
            plain.take(message)
            return
        from kova_ls.endpoint.answer import answer, failed

        try:
            outcome = answer(self, method, params)
        except Exception as error:  # noqa: BLE001 - one request's fault is its answer
            self.write(failed(request_id, error, self.language))
            return
        if isinstance(outcome, bytes):
            self.write(framing.result(request_id, outcome))
            return
        task = self.engine.spawn(outcome, name=method)
        self._tasks[request_id] = task
        task.add_done_callback(lambda task: self._answer_late(request_id, task))

    def _answer_late(self, request_id: Any, task: "asyncio.Task[WireModel]") -> None:
        """Answer a request whose work has ended, also when it was cancelled before it began."""
        from kova_ls.endpoint.answer import encoded, failed

        self._tasks.pop(request_id, None)
        if task.cancelled():
            self.write(framing.error(request_id, -32800, "Cancelled."))
            return
        error = task.exception()
        if isinstance(error, Exception):
            self.write(failed(request_id, error, self.language))
        else:
            self.write(framing.result(request_id, encoded(task.result(), self.language)))

    def _notified(self, method: str, params: dict[str, Any]) -> None:
        overlay = self.overlays
        assert overlay is not None
        match method:
            case "$/cancelRequest":
                task = self._tasks.get(params.get("id"))
                if task is not None:
                    task.cancel()
            case "workspace/didChangeWorkspaceFolders":
                event = params["event"]
                gone = {folder["uri"] for folder in event.get("removed", ())}
                kept = [uri for uri in self._folder_uris if uri not in gone]
                added = [folder["uri"] for folder in event.get("added", ())]
                self._use_folders([*kept, *(uri for uri in added if uri not in kept)])
                if self.plain is not None:
                    self.plain.settle_trust()
                self.engine.folders_changed(self)
            case _:
                text_sync.take(overlay, method, params)

    # -- following sessions -------------------------------------------------------------------------

    def follow(self, session: "Session", detail: Detail | None, max_latency_ms: int | None) -> None:
        """Send this editor the session's facts from now on."""
        from kova_ls.endpoint.follow import follow

        self.unfollow(session.id)
        latency_s = self._max_latency_s if max_latency_ms is None else max_latency_ms / 1_000
        self.followed[session.id] = follow(
            session,
            detail or Detail.DELTAS,
            latency_s,
            self.out,
            give_up=lambda: self.lose(session.id),
            language=self.language,
        )

    def unfollow(self, session_id: str) -> None:
        """Send no more of a session."""
        stop = self.followed.pop(session_id, None)
        if stop is not None:
            stop()

    def lose(self, session_id: str) -> None:
        """Stop following and tell the editor to attach again: it fell behind, or all is gone."""
        self.unfollow(session_id)
        params = framing.dump({"sessionId": session_id})
        self.write(framing.notification("kova/resyncRequired", params))

    # -- what the engine asks of the editor -----------------------------------------------------------

    async def ask(
        self, method: str, params: dict[str, Any], *, timeout_s: float = _EDITOR_ANSWER_S
    ) -> Any:
        """Ask the editor. Raises: TimeoutError, ConnectionError."""
        if self.out.transport is None:
            raise ConnectionError("the editor is gone")
        return await self._asked.ask(method, params, timeout_s)

    def _answered(self, message: dict[str, Any]) -> None:
        request_id = str(message.get("id"))
        if self.plain is not None and request_id.startswith(REQUEST_PREFIX):
            self.plain.take_answer({**message, "id": request_id})
            return
        self._asked.answered(request_id, message)

    async def show_document(self, uri: str, line_no: int | None) -> bool:
        """Show a file by LSP's own means, without taking the focus."""
        if not self.said.shows_documents:
            return False
        params: dict[str, Any] = {"uri": uri, "takeFocus": False}
        if line_no:
            place = {"line": line_no - 1, "character": 0}
            params["selection"] = {"start": place, "end": place}
        try:
            answer = await self.ask("window/showDocument", params)
        except (TimeoutError, ConnectionError):
            return False
        return handshake.dig(answer, "success") is True

    @property
    def tells_diagnostics(self) -> bool:
        """It announced that it can."""
        return self.said.tells_diagnostics

    async def diagnostics(self, paths: Sequence[str], settle_ms: int) -> "Diagnosed | None":
        """Return what its tools say of files, or of all open documents; None: it did not say."""
        if self.overlays is None or not self.tells_diagnostics:
            return None
        return await self.overlays.diagnostics(paths, settle_ms)

    def open_panel(self, panel: Mapping[str, Any]) -> None:
        """Show a panel."""
        from kova_ls.protocol.panel import PanelOpen

        body = PanelOpen.model_validate(dict(panel)).model_dump_json(
            by_alias=True, exclude_none=True
        )
        self.write(framing.notification("kova/panel/open", body.encode()))

    def show_message(self, text: str) -> None:
        """Tell the person something that belongs to no session."""
        params = framing.dump({"type": 2, "message": say(text, self.language)})
        self.write(framing.notification("window/showMessage", params))


def _plain_id(request_id: Any) -> Any:
    is_plain = isinstance(request_id, str | int | float) and not isinstance(request_id, bool)
    return request_id if is_plain else None
