"""A pygls server behind our own framing: one for each editor without a Kova client.

pygls 2.1.1 keeps the LSP types, the features and commands, progress and its own requests; it never
sees a byte of the wire: it is handed one checked message at a time, and writes through the endpoint.
Invariant: every request is answered, with no traceback; a late or malformed answer of the editor is
no answer.
"""

import asyncio
import itertools
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Container, Coroutine, Generator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter

from kova_ls import __version__
from kova_ls.endpoint import framing
from kova_ls.endpoint.answer import failure
from kova_ls.endpoint.lsp import COMMANDS, REQUEST_PREFIX
from kova_ls.endpoint.lsp_actions import code_actions, lenses
from kova_ls.endpoint.lsp_commands import CALLS
from kova_ls.endpoint.lsp_follow import Watch
from kova_ls.endpoint.lsp_text import plain
from kova_ls.engine import Session
from kova_ls.engine.places import workspace_path
from kova_ls.engine.workspace import file_uri
from kova_ls.l10n import Language, say

if TYPE_CHECKING:
    from kova_ls.endpoint.server import EditorEndpoint

_log = logging.getLogger(__name__)
# pygls logs every body at INFO, and what a person did wrong, with its params, at ERROR.
logging.getLogger("pygls").setLevel(logging.CRITICAL)

_LONGEST_MESSAGE = 1_000
"""VS Code cuts longer ones without a word."""
_APART_S = 0.05


class _Protocol(LanguageServerProtocol):
    """pygls' protocol without what does not suit one process of many editors."""

    def __init__(self, server: LanguageServer, converter: Any) -> None:
        super().__init__(server, converter)
        self.numbers = itertools.count(1)
        self.after: defaultdict[Any, list[Callable[[], object]]] = defaultdict(list)
        """Id of a request -> what is done once it is answered."""

    # pygls 2.1.1 caches these by `self`, which keeps every editor that ever was in memory.
    def get_message_type(  # pyright: ignore[reportIncompatibleVariableOverride]
        self, method: str
    ) -> type[Any] | None:
        return types.METHOD_TO_TYPES.get(method, (None,))[0]

    def get_result_type(  # pyright: ignore[reportIncompatibleVariableOverride]
        self, method: str
    ) -> type[Any] | None:
        return types.METHOD_TO_TYPES.get(method, (None, None))[1]

    def send_request(
        self,
        method: str,
        params: Any | None = None,
        callback: Callable[[Any], None] | None = None,
        msg_id: str | int | None = None,
    ) -> Future[Any]:
        msg_id = msg_id or f"{REQUEST_PREFIX}{next(self.numbers)}"
        return super().send_request(method, params, callback, msg_id)

    def answered(self, message: dict[str, Any]) -> None:
        """Take the editor's answer to one of our requests."""
        future = self._request_futures.get(message["id"])
        if future is None or future.done():
            # pygls 2.1.1 raises for an answer to what was cancelled.
            self._request_futures.pop(message["id"], None)
            return
        try:
            structured: Any = self.structure_message(message)
            self.handle_message(structured)
        except JsonRpcException as error:
            self._request_futures.pop(message["id"], None)
            future.set_exception(error)

    def _send_response(
        self, msg_id: str | int, result: Any | None = None, error: types.ResponseError | None = None
    ) -> None:
        assert isinstance(self.writer, _Writer)
        with self.writer.answering():
            super()._send_response(msg_id, result, error)

    def _send_handler_result(self, future: Future[Any], *, msg_id: Any) -> None:
        super()._send_handler_result(future, msg_id=msg_id)
        for do in self.after.pop(msg_id, ()):
            do()

    def forget(self) -> None:
        """Cancel everything in flight: pygls leaves it running."""
        assert isinstance(self.writer, _Writer)
        self.writer.flush()
        self.after.clear()
        for future in list(self._request_futures.values()):
            future.cancel()
        self._request_futures.clear()


class _Server(LanguageServer):
    """pygls' server; what goes wrong is logged, not shown."""

    protocol: _Protocol  # pyright: ignore[reportIncompatibleVariableOverride]

    def report_server_error(self, error: Exception, source: Any) -> None:
        _log.warning("%s: %r", getattr(source, "__name__", source), error)


class _Writer:
    """Where pygls writes: into the endpoint's frames.

    Emacs 28 leaves what it reads together with an answer lying until more comes, so that a card
    would not be announced: what follows an answer comes a moment later.
    """

    def __init__(self, endpoint: "EditorEndpoint") -> None:
        self._endpoint = endpoint
        self._held: list[bytes] = []
        self._timer: asyncio.TimerHandle | None = None

    def write(self, data: bytes) -> None:
        """Send a notification or a request, or hold it for a moment."""
        if self._timer is not None:
            self._held.append(data)
        else:
            self._endpoint.write(framing.frame(data))

    @contextmanager
    def answering(self) -> Generator[None]:
        """Send what is written inside at once, and hold what follows."""
        self.flush()
        yield
        self._timer = asyncio.get_running_loop().call_later(_APART_S, self.flush)

    def flush(self) -> None:
        """Send what is held."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        held, self._held = self._held, []
        for data in held:
            self._endpoint.write(framing.frame(data))

    def close(self) -> None:
        """Do nothing: the connection is the endpoint's."""


async def _translated(work: Awaitable[Any], language: Language) -> Any:
    """Do the work; what goes wrong becomes an error without a traceback."""
    try:
        return await work
    except Exception as error:  # noqa: BLE001 - one request's fault is its answer
        code, text, data = failure(error, language)
        raise JsonRpcException(text, code, data) from None


class LspServer:
    """What Kova does for an editor that knows nothing but LSP."""

    def __init__(self, endpoint: "EditorEndpoint") -> None:
        self.endpoint = endpoint
        self.server = _Server(
            "kova-ls", __version__, protocol_cls=_Protocol, converter_factory=default_converter
        )
        self.protocol = self.server.protocol
        self.protocol.set_writer(_Writer(endpoint), include_headers=False)
        self.asking: asyncio.Task[None] | None = None
        """Puts open cards to the person, one after the other."""
        self.current: Session | None = None
        """Where prompts go."""
        self.watches: dict[str, Watch] = {}
        """By session id."""
        self.puts_choices = True
        """The editor has not refused to put a choice; Kate 22 does."""
        self.whole_ids: set[str] = set()
        """Cards whose page was opened: what a message had to cut can be read there."""
        self._tasks: set[asyncio.Task[Any]] = set()
        for name in COMMANDS:
            self._register(name)
        self._register_features()

    # -- messages of the editor ---------------------------------------------------------------------

    def take(self, message: dict[str, Any]) -> None:
        """Handle a request or a notification."""
        request_id = message.get("id")
        clean = {k: message[k] for k in ("id", "method", "params") if k in message}
        try:
            structured: Any = self.protocol.structure_message({**clean, "jsonrpc": "2.0"})
        except JsonRpcException:
            if "id" in message:
                text = f"params: not what LSP 3.17 says of {message['method']}; compare with it."
                data = {"code": "invalidParams", "field": "params"}
                self.endpoint.write(framing.error(request_id, -32602, self.say(text), data))
            return
        self.protocol.handle_message(structured)

    def take_answer(self, message: dict[str, Any]) -> None:
        """Handle an answer of the editor."""
        clean = {k: message[k] for k in ("id", "result", "error") if k in message}
        self.protocol.answered({**clean, "jsonrpc": "2.0"})

    def begin(self) -> None:
        """Follow what the editor's folders have running, and say what waits there."""
        engine, folders = self.endpoint.engine, self.endpoint.folders
        for session in engine.running:
            if workspace_path(session) in folders:
                if session.state.client_id == self.endpoint.id:
                    self.current = session
                self.watch(session)

    def close(self) -> None:
        """Let go of everything."""
        for watch in self.watches.values():
            watch.close()
        self.watches.clear()
        for task in tuple(self._tasks):
            task.cancel()
        self.protocol.forget()

    # -- commands and features ------------------------------------------------------------------------

    def _register(self, name: str) -> None:
        @self.server.command(name)
        async def _(*arguments: Any) -> Any:
            return await _translated(CALLS[name](self, arguments), self.endpoint.language)

    def _register_features(self) -> None:
        @self.server.feature(types.TEXT_DOCUMENT_CODE_ACTION)
        async def _(params: types.CodeActionParams) -> Any:
            return code_actions(self, params)

        @self.server.feature(types.TEXT_DOCUMENT_CODE_LENS)
        async def _(params: types.CodeLensParams) -> Any:
            work = lenses(self, params.text_document.uri)
            return await _translated(work, self.endpoint.language)

        @self.server.feature(types.WINDOW_WORK_DONE_PROGRESS_CANCEL)
        async def _(params: types.WorkDoneProgressCancelParams) -> None:
            for watch in list(self.watches.values()):
                if watch.token == params.token:
                    await watch.session.interrupt(None)

    # -- what the rest of the plain client uses -------------------------------------------------------

    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Run work that ends with the editor."""
        task = self.endpoint.engine.spawn(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and isinstance(error := task.exception(), Exception):
            self.tell_failure(error)  # nobody awaits it

    def after_answer(self, do: Callable[[], object]) -> None:
        """Do something once the present request is answered: some editors wait for that."""
        self.protocol.after[self.protocol.msg_id].append(do)

    def watch(self, session: Session) -> Watch:
        """Follow a session from now on."""
        known = self.watches.get(session.id)
        if known is None or known.session is not session:
            if known is not None:
                known.close()
            known = self.watches[session.id] = Watch(self, session)
        return known

    def say(self, text: str) -> str:
        """Return one of our texts in the editor's language."""
        return say(text, self.endpoint.language)

    def tell(self, text: str, kind: types.MessageType = types.MessageType.Info) -> None:
        """Tell the person something; foreign text in it becomes harmless."""
        shown = plain(self.say(text))
        if len(shown) > _LONGEST_MESSAGE:
            shown = shown[: _LONGEST_MESSAGE - 1] + "…"
        self.server.window_show_message(types.ShowMessageParams(type=kind, message=shown))

    def tell_failure(self, error: Exception) -> None:
        """Tell the person what went wrong; of a fault of ours, its id in the log."""
        self.tell(f"Kova: {failure(error, self.endpoint.language)[1]}")

    async def choose(
        self, text: str, titles: Sequence[str], foreign: Container[str] = ()
    ) -> str | None:
        """Put a choice to the person; None when there is no answer.

        All titles but the foreign ones are shown in the editor's language; given back is what is
        in `titles`.
        """
        shown: dict[str, str] = {}
        for title in titles:
            shown.setdefault(title if title in foreign else self.say(title), title)
        params = types.ShowMessageRequestParams(
            type=types.MessageType.Warning,
            message=plain(text),
            actions=[types.MessageActionItem(title=title) for title in shown],
        )
        request_id = f"{REQUEST_PREFIX}choice-{next(self.protocol.numbers)}"
        asking = self.protocol.send_request_async(
            types.WINDOW_SHOW_MESSAGE_REQUEST, params, msg_id=request_id
        )
        try:
            chosen = await asking
        except asyncio.CancelledError:
            self.protocol.notify(types.CANCEL_REQUEST, types.CancelParams(id=request_id))
            raise
        except JsonRpcException:
            self.puts_choices = False
            return None
        return shown.get(chosen.title) if isinstance(chosen, types.MessageActionItem) else None

    async def show(
        self,
        path: str,
        *,
        takes_focus: bool = False,
        line: int | None = None,
        otherwise: str | None = None,
    ) -> None:
        """Show a page, with the cursor at a line; tell where it is if the editor does not."""
        if not await self._show(path, takes_focus=takes_focus, line=line):
            self.tell(otherwise or f"Kova: this editor did not show the page; open {path}")

    async def _show(self, path: str, *, takes_focus: bool, line: int | None) -> bool:
        if not self.endpoint.said.shows_documents:
            return False
        place = None if line is None else types.Position(line=line, character=0)
        params = types.ShowDocumentParams(
            uri=file_uri(path),
            take_focus=takes_focus,
            selection=None if place is None else types.Range(start=place, end=place),
        )
        try:
            async with asyncio.timeout(10):
                return (await self.server.window_show_document_async(params)).success
        except (TimeoutError, JsonRpcException):
            return False

    def refresh_lenses(self) -> None:
        """Let the editor ask for the lenses again, where it can be told to."""
        if self.endpoint.said.refreshes_lenses:
            self.protocol.send_request(types.WORKSPACE_CODE_LENS_REFRESH)
