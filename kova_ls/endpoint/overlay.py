"""The editor's open documents, as text sync tells them.

Invariant: a document's text is the editor's text, whatever characters it holds.
"""

import asyncio
import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from stat import S_ISREG
from typing import Any

from kova_ls.endpoint.handshake import local_path
from kova_ls.endpoint.text_edits import apply_change
from kova_ls.engine.disk import decode, fitting_encodings, is_same_text
from kova_ls.engine.workspace import Document, is_below
from kova_ls.tools._base import ToolError

_NEW = "untitled:/"
_FORM_BYTES = 8
"""By how much a file may differ in size when it differs in byte order mark and last newline."""


@dataclass(slots=True)
class Open:
    """A document, and what is known of who changes it."""

    uri: str
    document: Document
    typed_at: float = float("-inf")
    """When a change came that was not ours."""
    expected: frozenset[str] = frozenset()
    """Texts that our own edits lead to."""
    is_saving: bool = False
    """Changes that come now are a formatter's."""


class Overlay:
    """Open documents by resolved path."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open: dict[str, Open] = {}
        self._paths: dict[str, str] = {}
        """URI, in the editor's own spelling -> path."""
        self._unseen: set[str] = set()
        """Paths with unsaved changes whose text the editor does not tell: notebooks."""
        self._waiting: set[asyncio.Future[None]] = set()

    def get(self, path: str) -> Document | None:
        """Return the document open under a resolved path."""
        known = self._open.get(path)
        return known.document if known is not None else None

    def below(self, tree: str) -> Iterable[Document]:
        """Return the open documents at or below a resolved path."""
        return [known.document for path, known in self._open.items() if is_below(path, tree)]

    def holds_unseen(self, path: str) -> bool:
        """Say whether the editor has unsaved changes there without telling their text."""
        return path in self._unseen and path not in self._open

    # -- text sync ------------------------------------------------------------------------------

    def opened(self, document: dict[str, Any]) -> None:
        """Take `textDocument/didOpen`."""
        path = document_path(document["uri"])
        if path is None:
            return
        text = str(document["text"])
        version = int(document.get("version") or 0)
        self._paths[document["uri"]] = path
        self._unseen.discard(path)
        self._open[path] = Open(
            document["uri"], Document(path, text, version, not _is_on_disk(path, text))
        )
        self._tell()

    def changed(self, uri: str, version: int | None, changes: list[dict[str, Any]]) -> None:
        """Take `textDocument/didChange`."""
        known = self._of(uri)
        if known is None:
            return
        text = known.document.text
        for change in changes:
            text = apply_change(text, change)
        if text not in known.expected and not known.is_saving:
            known.typed_at = self._clock()
        path = known.document.path
        # An editor that reads a file anew tells it as any other change.
        is_dirty = not (_may_be_on_disk(path, text) and _is_on_disk(path, text))
        known.document = Document(
            path, text, version or 0, is_dirty, known.document.typed + is_dirty
        )
        self._tell()

    def saved(self, uri: str, text: str | None) -> None:
        """Take `textDocument/didSave`."""
        known = self._of(uri)
        if known is not None:
            old = known.document
            known.document = replace(old, text=old.text if text is None else text, is_dirty=False)
            self._tell()

    def closed(self, uri: str) -> None:
        """Take `textDocument/didClose`."""
        path = self._paths.pop(uri, None)
        if path is not None and path not in self._paths.values():
            self._open.pop(path, None)
            self._tell()

    def dirtied(self, uri: str, *, is_dirty: bool) -> None:
        """Take `kova/editor/documentChanged`."""
        known = self._of(uri)
        if known is not None:
            old = known.document
            known.document = replace(
                old, is_dirty=is_dirty, typed=old.typed + (is_dirty and not old.is_dirty)
            )
            self._tell()
        elif (path := document_path(uri)) is not None:
            (self._unseen.add if is_dirty else self._unseen.discard)(path)

    # -- waiting for text sync --------------------------------------------------------------------

    async def until(self, holds: Callable[[], bool], wait_s: float) -> bool:
        """Wait until something holds after a message of text sync; False when it did not."""
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                while not holds():
                    await self._news()
        return holds()

    async def _news(self) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            await future
        finally:
            self._waiting.discard(future)

    def _tell(self) -> None:
        for future in self._waiting:
            if not future.done():
                future.set_result(None)

    def _of(self, uri: str) -> Open | None:
        path = self._paths.get(uri)
        return self._open.get(path) if path is not None else None


def document_path(uri: str) -> str | None:
    """Return a document's resolved path; VS Code calls one `untitled:` that has yet no file."""
    return local_path(f"file:{uri.removeprefix('untitled:')}" if uri.startswith(_NEW) else uri)


def _may_be_on_disk(path: str, text: str) -> bool:
    """Say whether the file is about as long as the text, which is cheap to know."""
    try:
        size = os.stat(path).st_size
    except OSError:
        return False
    room = _FORM_BYTES + text.count("\n") * ("\r" not in text)
    least = most = len(text)
    wide = 2 * most
    if not text.isascii():
        # No encoding that editors know takes more bytes than UTF-8, apart from UTF-16.
        most = len(text.encode("utf-8", "surrogatepass"))
        wide = len(text.encode("utf-16-le", "surrogatepass"))
    return least - room <= size <= most + room or abs(size - wide) <= 2 * room


def _is_on_disk(path: str, text: str) -> bool:
    """Say whether the file holds the text in some encoding, the form of line ends aside."""
    try:
        if not S_ISREG(os.stat(path).st_mode):
            return False
        with open(path, "rb") as file:
            data = file.read(len(text) * 4 + 16)
    except (OSError, ValueError):
        return False
    return any(is_same_text(disk, text) for disk in _readings(data))


def _readings(data: bytes) -> Iterable[str]:
    """Return what editors may show of a file's bytes, the usual first."""
    yield data.decode("utf-8-sig", "replace")
    for encoding in fitting_encodings(data):
        yield data.decode(encoding)
    with suppress(ToolError):
        yield decode(data, "").text
