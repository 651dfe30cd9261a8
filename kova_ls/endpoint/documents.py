"""Changing, saving and reloading what an editor has open, and its diagnostics.

An editor's word proves nothing: what became of an edit is what text sync shows afterwards.
Invariant: one edit at a time per document, one document per request, text edits only.
Invariant: every request has a time limit; an edit may still be applied after it.
"""

import asyncio
import hashlib
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal, Protocol, cast

from pydantic import ValidationError

from kova_ls.endpoint.overlay import Open, Overlay, document_path
from kova_ls.endpoint.text_edits import edits, to_lsp
from kova_ls.engine.disk import is_same_text
from kova_ls.engine.merge import merge
from kova_ls.engine.workspace import Document, Replaced, file_uri
from kova_ls.protocol.editor import (
    DiagnosticsResult,
    DocumentDiagnostics,
    DocumentState,
    EditGuard,
    EditorStateResult,
    EditOutcome,
    ReloadResult,
    SaveResult,
)
from kova_ls.tools._base import Diagnosed, Diagnostic

QUIET_S = 0.3
"""The person is not typing when no change of theirs came for so long."""
PATIENCE_S = 4.0
"""How long to wait for that."""
_SHOWN_S = 0.3
"""Within which text sync shows an edit after the answer."""
_ANSWER_S = 3.0
_SAVE_S = 10.0
_MAX_SETTLE_FACTOR = 5
_SEVERITIES = ("error", "warning", "information", "hint")


class Ask(Protocol):
    """Ask the editor something. Raises: TimeoutError, ConnectionError."""

    def __call__(self, method: str, params: dict[str, Any], *, timeout_s: float) -> Awaitable[Any]:
        """Return its answer."""
        ...


class Documents(Overlay):
    """The open documents of one editor."""

    def __init__(
        self,
        ask: Ask,
        *,
        applies_edits: bool,
        knows_documents: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Serve an editor that `applies_edits` (LSP) and `knows_documents` (ours)."""
        super().__init__(clock)
        self._ask = ask
        self._applies_edits = applies_edits
        self._knows_documents = knows_documents
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    # -- changing -----------------------------------------------------------------------------------

    async def replace(self, document: Document, text: str) -> Replaced:
        """Change a document by minimal edits; a clean one is saved where the editor can."""
        if not self._applies_edits:
            return Replaced("unavailable")
        async with self._locks[document.path]:
            return await self._replace(document, text)

    async def _replace(self, document: Document, text: str) -> Replaced:
        path = document.path
        await self._quiet(path)
        now = self.get(path)
        if now is None or now.text != document.text or self._is_typed_in(path):
            return Replaced("unavailable" if now is None else "stale")
        is_dirty, text_hash = now.is_dirty, text_hashes(now.text)[0]
        if self._knows_documents:
            state = await self._state(path)
            if state is None or state.readonly:
                return Replaced("unavailable")
            if state.is_typing or state.text_hash not in text_hashes(now.text):
                self._open[path].typed_at = self._clock()
                await self._quiet(path)
                return Replaced("stale")
            is_dirty, text_hash = state.dirty, state.text_hash
        if text != now.text:
            answer = await self._apply(now, text, text_hash)
            if answer != "done":
                return Replaced(answer)
        if is_dirty or not self._knows_documents:
            return Replaced("done", text, is_saved=False, was_dirty=is_dirty)
        return await self._saved(path, text)

    async def _apply(
        self, document: Document, text: str, text_hash: str
    ) -> Literal["done", "stale", "unavailable"]:
        path, old = document.path, document.text
        known = self._open[path]
        change = {
            "textDocument": {"uri": known.uri, "version": document.version},
            "edits": to_lsp(old, edits(old, text)),
        }
        params: dict[str, Any] = {"label": "Kova", "edit": {"documentChanges": [change]}}
        if self._knows_documents:
            guard = EditGuard(text_hash=text_hash, new_text_hash=text_hashes(text)[0])
            params["kova"] = guard.model_dump(by_alias=True)
        # Editors have their own last newline.
        known.expected = frozenset({text, f"{text}\n", text.removesuffix("\n")})
        outcome: EditOutcome | None = None
        try:
            answer = await self._ask("workspace/applyEdit", params, timeout_s=_ANSWER_S)
            outcome = _outcome(answer)
        except (TimeoutError, ConnectionError):
            answer = None
        refused = outcome is not None and outcome.reason is not None
        await self.until(
            lambda: self.get(path) is None or self._holds(path, old, text),
            0.0 if refused or answer is None else _SHOWN_S,
        )
        now = self.get(path)
        if now is None:
            return "unavailable"
        if self._holds(path, old, text):
            return "done"
        if now.text != old:
            return "stale"  # the person typed, or a part of the edit was applied
        if refused and cast(EditOutcome, outcome).reason in ("stale", "typing"):
            known.typed_at = self._clock()
            await self._quiet(path)
            return "stale"
        return "unavailable"

    def _holds(self, path: str, old: str, new: str) -> bool:
        """Say whether the document holds the edit, whatever was typed beside it."""
        now = self.get(path)
        if now is None:
            return False
        if is_same_text(now.text, new):
            return True
        return now.text != old and merge(old, new, now.text) == now.text

    async def _saved(self, path: str, text: str) -> Replaced:
        """Save what was clean before; what the document then holds counts as ours."""
        now = self.get(path)
        if now is None or not is_same_text(now.text, text):
            return Replaced("done", text, is_saved=False)  # the person typed on: theirs to save
        is_saved = path in await self.save([path])
        now = self.get(path)
        held = text if now is None or is_same_text(now.text, text) or not is_saved else now.text
        return Replaced("done", held, is_saved=is_saved)

    async def _quiet(self, path: str) -> None:
        """Wait until the person does not type in the document, for a while."""
        until = self._clock() + PATIENCE_S
        while self._is_typed_in(path) and self._clock() < until:
            rest = self._open[path].typed_at + QUIET_S - self._clock()
            await self.until(lambda: path not in self._open, max(rest, 0.001))

    def _is_typed_in(self, path: str) -> bool:
        known = self._open.get(path)
        return known is not None and self._clock() - known.typed_at < QUIET_S

    # -- saving and reloading -------------------------------------------------------------------------

    async def save(self, paths: Collection[str]) -> frozenset[str]:
        """Save documents; returns the paths that are no longer dirty."""
        opened = self._reachable(paths)
        if not opened:
            return frozenset()
        try:
            with _saving(opened.values()):
                said = SaveResult.model_validate(
                    await self._ask("kova/editor/save", _uris(opened), timeout_s=_SAVE_S)
                )
                done = [opened[path] for path in map(document_path, said.saved) if path in opened]
                await self.until(
                    lambda: not any(known.document.is_dirty for known in done), _SHOWN_S
                )
        except (TimeoutError, ConnectionError, ValidationError):
            return frozenset()
        for known in done:
            known.document = replace(known.document, is_dirty=False)
        return frozenset(known.document.path for known in done)

    async def reload(self, paths: Collection[str]) -> frozenset[str]:
        """Read clean documents anew from the disk; returns the paths that are up to date."""
        opened = self._reachable(paths)
        if not opened:
            return frozenset()
        try:
            with _saving(opened.values()):
                said = ReloadResult.model_validate(
                    await self._ask("kova/editor/reload", _uris(opened), timeout_s=_ANSWER_S)
                )
        except (TimeoutError, ConnectionError, ValidationError):
            return frozenset()
        return frozenset(path for path in map(document_path, said.reloaded) if path in opened)

    def _reachable(self, paths: Collection[str]) -> dict[str, Open]:
        """Return the documents by path that the editor has open and can be asked about."""
        if not self._knows_documents:
            return {}
        return {path: self._open[path] for path in paths if path in self._open}

    async def _state(self, path: str) -> DocumentState | None:
        """Return what text sync does not tell; None when the editor does not say."""
        try:
            said = EditorStateResult.model_validate(
                await self._ask(
                    "kova/editor/state", {"uris": [self._open[path].uri]}, timeout_s=_ANSWER_S
                )
            )
        except (TimeoutError, ConnectionError, ValidationError):
            return None
        known = self._open.get(path)
        if known is None or not said.documents:
            return None
        known.document = replace(known.document, is_dirty=said.documents[0].dirty)
        return said.documents[0]

    # -- diagnostics ------------------------------------------------------------------------------

    async def diagnostics(self, paths: Sequence[str], settle_ms: int) -> Diagnosed | None:
        """Return the editor's diagnostics of files, or of all open documents; None: no answer."""
        uris = [self._open[path].uri if path in self._open else file_uri(path) for path in paths]
        try:
            said = DiagnosticsResult.model_validate(
                await self._ask(
                    "kova/editor/diagnostics",
                    {"uris": uris, "settleMs": settle_ms},
                    timeout_s=_ANSWER_S + _MAX_SETTLE_FACTOR * settle_ms / 1_000,
                )
            )
        except (TimeoutError, ConnectionError, ValidationError):
            return None
        return Diagnosed(
            tuple(
                Diagnostic(
                    uri=file_uri(document_path(document.uri) or document.uri),
                    line_no=entry.range.start.line + 1,
                    severity=_SEVERITIES[min(max(entry.severity, 1), 4) - 1],
                    message=entry.message,
                    source=entry.source,
                    code=entry.code,
                )
                for document in said.documents
                for entry in document.diagnostics
            ),
            is_settled=said.settled and not any(map(self._is_of_other_text, said.documents)),
            is_open=all(path in self._open for path in paths),
        )

    def _is_of_other_text(self, said: DocumentDiagnostics) -> bool:
        """Say whether diagnostics belong to another version than the one we see."""
        known = self._open.get(self._paths.get(said.uri, ""))
        return known is not None and said.version not in (None, known.document.version)


@contextmanager
def _saving(opened: Collection[Open]) -> Generator[None]:
    """Take the changes that come meanwhile for a formatter's."""
    for known in opened:
        known.is_saving = True
    try:
        yield
    finally:
        for known in opened:
            known.is_saving = False


def _uris(opened: Mapping[str, Open]) -> dict[str, Any]:
    return {"uris": [known.uri for known in opened.values()]}


def text_hashes(text: str) -> tuple[str, str]:
    """Return the SHA-256 of a text, and of the same text with or without a last newline.

    Neovim tells a text without its missing last newline in one message and with it in another.
    """
    other = text.removesuffix("\n") if text.endswith("\n") else f"{text}\n"
    first, second = (
        hashlib.sha256(form.encode("utf-8", "surrogatepass")).hexdigest() for form in (text, other)
    )
    return first, second


def _outcome(answer: Any) -> EditOutcome | None:
    kova = cast(dict[str, Any], answer).get("kova") if isinstance(answer, dict) else None
    try:
        return EditOutcome.model_validate(kova) if kova is not None else None
    except ValidationError:
        return None
