"""The editor's open documents, as text sync tells them.

Lines end at `\\n` only: pygls' own documents also break at form feed and U+2028, and one change
after such a character would corrupt the text.
Invariant: positions are UTF-16 code units on the wire and code points here.
"""

from collections.abc import Iterable
from typing import Any, Literal

from kova_ls.endpoint.handshake import local_path
from kova_ls.engine.workspace import Document, is_below


class Overlay:
    """Open documents by resolved path."""

    def __init__(self) -> None:
        self._documents: dict[str, Document] = {}
        self._uris: dict[str, str] = {}

    def get(self, path: str) -> Document | None:
        """Return the document open under a resolved path."""
        return self._documents.get(path)

    def below(self, tree: str) -> Iterable[Document]:
        """Return the open documents at or below a resolved path."""
        return [doc for path, doc in self._documents.items() if is_below(path, tree)]

    async def replace(
        self, document: Document, text: str
    ) -> Literal["done", "stale", "unavailable"]:
        """Say that edits do not go through the editor yet: the disk path is taken."""
        del text
        now = self._documents.get(document.path)
        return "unavailable" if now is not None and now.text == document.text else "stale"

    # -- text sync ------------------------------------------------------------------------------

    def opened(self, document: dict[str, Any]) -> None:
        """Take `textDocument/didOpen`."""
        path = local_path(document["uri"])
        if path is None:
            return
        text = str(document["text"])
        self._uris[document["uri"]] = path
        self._documents[path] = Document(
            path, text, int(document.get("version") or 0), not _is_on_disk(path, text)
        )

    def changed(self, uri: str, version: int | None, changes: list[dict[str, Any]]) -> None:
        """Take `textDocument/didChange`."""
        path = self._uris.get(uri)
        known = self._documents.get(path) if path is not None else None
        if known is None:
            return
        text = known.text
        for change in changes:
            text = apply_change(text, change)
        self._documents[known.path] = Document(known.path, text, version or 0, True)

    def saved(self, uri: str, text: str | None) -> None:
        """Take `textDocument/didSave`."""
        path = self._uris.get(uri)
        known = self._documents.get(path) if path is not None else None
        if known is not None:
            self._documents[known.path] = Document(
                known.path, known.text if text is None else text, known.version, False
            )

    def closed(self, uri: str) -> None:
        """Take `textDocument/didClose`."""
        path = self._uris.pop(uri, None)
        if path is not None:
            self._documents.pop(path, None)


def apply_change(text: str, change: dict[str, Any]) -> str:
    """Return the text after one content change of LSP."""
    span = change.get("range")
    if span is None:
        return str(change["text"])
    start = offset_of(text, span["start"]["line"], span["start"]["character"])
    end = offset_of(text, span["end"]["line"], span["end"]["character"])
    return text[:start] + str(change["text"]) + text[max(start, end) :]


def offset_of(text: str, line: int, character: int) -> int:
    """Return the code point offset of a position, clamped to its line and to the text."""
    start = 0
    for _ in range(line):
        stop = text.find("\n", start)
        if stop < 0:
            return len(text)
        start = stop + 1
    stop = text.find("\n", start)
    end = len(text) if stop < 0 else stop
    if text.isascii():
        return min(start + character, end)
    units = 0
    for index in range(start, end):
        if units >= character:
            return index
        units += 2 if ord(text[index]) > 0xFFFF else 1
    return end


def _is_on_disk(path: str, text: str) -> bool:
    """Say whether the file holds the text, line ends and a final newline aside."""
    try:
        with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
            disk = file.read(len(text) * 4 + 16)
    except OSError:
        return False
    return _plain(disk) == _plain(text)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").removesuffix("\n")
