"""File access under resolved paths, seen through the open documents of attached editors.

Invariant: a path that the call's effects did not declare is neither read nor written.
Invariant: unsaved text counts where an editor has it, the disk everywhere else.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal, Protocol
from urllib.parse import quote, unquote, urlsplit

from kova_ls.engine.disk import (
    decode,
    fitting_encodings,
    in_form_of,
    is_same_text,
    moved,
    read,
    replace_text,
    undeclared,
)
from kova_ls.permission.effects import Effect, ReadPath, WritePath
from kova_ls.tools._base import Moved, ResolvedPath, TextFile, ToolError
from kova_ls.tools._diff import unified
from kova_ls.tools._text import digest
from kova_ls.values import FileChange

_INLINE_BYTES = 256 * 1024
_MAX_NAME_BYTES = 255
_MAX_PATH_BYTES = 4_095


@dataclass(frozen=True, slots=True)
class Document:
    """A document as an editor has it open."""

    path: str
    """Resolved."""
    text: str
    version: int
    is_dirty: bool
    """It holds changes that are not on the disk."""
    typed: int = 0
    """Grows whenever it gets such changes."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """What became of a change that an editor was asked for."""

    status: Literal["done", "stale", "unavailable"]
    """`stale`: the document is no longer the one given. `unavailable`: the editor refused, was
    silent or is gone; the document is as it was, though a late edit may still come."""
    text: str = ""
    """`done`: what the document then holds and counts as ours, formatters included."""
    is_saved: bool = False
    was_dirty: bool = False


class Overlays(Protocol):
    """The open documents of the attached editors; the turn's own editor wins."""

    def get(self, path: str) -> Document | None:
        """Return the document open under a resolved path."""
        ...

    def below(self, tree: str) -> Iterable[Document]:
        """Return the open documents at or below a resolved path."""
        ...

    def holds_unseen(self, path: str) -> bool:
        """Say whether an editor has unsaved changes there without telling their text."""
        ...

    async def replace(self, document: Document, text: str) -> Replaced:
        """Ask the editor to change a document; a clean one is saved, a dirty one stays dirty.

        Raises: ToolError when two editors hold different unsaved text of it.
        """
        ...

    async def save(self, paths: Collection[str]) -> frozenset[str]:
        """Ask the editors to save; returns the paths that are no longer dirty."""
        ...

    async def reload(self, paths: Collection[str]) -> frozenset[str]:
        """Ask the editors to read clean documents anew; returns those that are up to date."""
        ...


OnWritten = Callable[[str, str | None, str], Awaitable[None]]


class Files:
    """The Workspace of one call: disk and open documents within the call's effects."""

    def __init__(
        self,
        effects: Sequence[Effect],
        *,
        root: str | None,
        overlays: Overlays | None = None,
        also_readable: Collection[str] = (),
        on_written: OnWritten | None = None,
    ) -> None:
        """Serve what `effects` declare, and reading of `also_readable` (resolved paths).

        `on_written` hears of every file that was written: path, text before, text now.
        """
        self.root = root
        self.notes: list[str] = []
        """What the model should be told beside the call's result."""
        self._on_written = on_written
        self._overlays = overlays
        self._also_readable = frozenset(also_readable)
        self._reads = [effect for effect in effects if isinstance(effect, ReadPath)]
        self._writes = {effect.path: effect for effect in effects if isinstance(effect, WritePath)}

    async def read_text(self, path: str, *, max_bytes: int = 50_000_000) -> TextFile:
        """Read a text file; open documents as the editor has them. Raises: ToolError."""
        self._may_read(path)
        document = self._overlays.get(path) if self._overlays else None
        if document is None:
            return await self._disk_text(path, max_bytes)
        return (await self._seen(document, max_bytes))[0]

    async def read_bytes(self, path: str, *, max_bytes: int = 50_000_000) -> bytes:
        """Read a file's bytes from the disk. Raises: ToolError."""
        self._may_read(path)
        return await self._bytes(path, max_bytes)

    async def write_text(self, path: str, text: str, *, like: TextFile | None = None) -> FileChange:
        """Create or replace a file, atomically, with the form of `like`. Raises: ToolError."""
        effect = self._writes.get(path)
        if effect is None:
            raise ToolError(undeclared(self.display(path), "write"))
        self._may_write(effect)
        document = self._overlays.get(path) if self._overlays else None
        if document is None and self._overlays and self._overlays.holds_unseen(path):
            raise ToolError(
                f"{self.display(path)} has unsaved changes in an editor that does not tell them, "
                "as with notebooks; nothing was written. Ask the person to save or revert it, "
                "then read it again."
            )
        if document is not None:
            await self._may_edit(document)
            seen, is_shown = await self._seen(document, 1 << 40)
            if like is not None and digest(seen.text) != like.digest:
                raise Moved(moved(self.display(path)))
            # Shielded: what was asked of the editor, or begun on the disk, happens in any case, so
            # it is told in any case.
            if is_shown:
                change = await asyncio.shield(self._to_editor(path, document, seen, text))
                if change is not None:
                    return change
        return await asyncio.shield(self._to_disk(path, text, like, document is not None))

    def display(self, path: str) -> str:
        """Return the path relative to the workspace, absolute outside of it."""
        if self.root is None or not is_below(path, self.root):
            return path
        return path[len(self.root) :].lstrip(os.sep) or os.curdir

    def overlays(self, tree: str) -> dict[str, str]:
        """Return path -> text of documents at or below `tree` that differ from the disk."""
        if self._overlays is None:
            return {}
        return {
            document.path: document.text
            for document in self._overlays.below(tree)
            if document.is_dirty and self._is_readable(document.path) and not _is_on_disk(document)
        }

    def uri(self, path: str) -> str:
        """Return the `file:` URI."""
        return file_uri(path)

    async def _disk_text(self, path: str, max_bytes: int) -> TextFile:
        return decode(await self._bytes(path, max_bytes), self.display(path))

    async def _seen(self, document: Document, max_bytes: int) -> tuple[TextFile, bool]:
        """Return the text that counts, and whether the editor shows that text.

        A clean document that differs is older than the disk: the editor did not load it again.
        """
        disk = None
        with suppress(ToolError):
            disk = await self._disk_text(document.path, max_bytes)
        if disk is not None and is_same_text(disk.text, document.text):
            return replace(disk, version=document.version), True
        if disk is not None and not document.is_dirty:
            return disk, False
        unsaved = TextFile(
            document.text,
            disk.encoding if disk else "utf-8",
            has_bom=disk.has_bom if disk else False,
            source="editor",
            digest=digest(document.text),
            version=document.version,
        )
        return unsaved, True

    async def _to_editor(
        self, path: str, document: Document, seen: TextFile, text: str
    ) -> FileChange | None:
        made = await self._through_editor(document, seen, text)
        if made is None:
            return None
        await self._written(path, seen.text, made)
        return self._change(path, seen.text, made, is_new=False, version=document.version)

    async def _to_disk(
        self, path: str, text: str, like: TextFile | None, is_open: bool
    ) -> FileChange:
        old, is_new = await asyncio.to_thread(replace_text, path, text, like, self.display(path))
        if is_open and self._overlays is not None:
            await self._overlays.reload([path])
        await self._written(path, None if is_new else old, text)
        return self._change(path, old, text, is_new=is_new, version=None)

    async def _may_edit(self, document: Document) -> None:
        """Refuse what its editor could only save as something else. Raises: ToolError."""
        if "\ufffd" not in document.text:
            return
        try:
            names = fitting_encodings(await self._bytes(document.path, 1 << 40))
        except ToolError:
            return  # not on the disk, so nothing there can be destroyed
        if names:
            raise ToolError(
                f"{self.display(document.path)} is open in an editor that reads it as UTF-8, "
                "which it is not: saving it there would destroy characters. Nothing was "
                "written. Ask the person to reopen it with its encoding (its bytes fit "
                f"{', '.join(names)}) or to close it, then call again."
            )

    async def _through_editor(self, document: Document, seen: TextFile, text: str) -> str | None:
        """Let the editor change its document; returns its text, None when the disk is ours."""
        assert self._overlays is not None
        shown = in_form_of(text, seen.text, document.text)
        answer = await self._overlays.replace(document, shown)
        name = self.display(document.path)
        if answer.status == "stale":
            raise Moved(moved(name))
        if answer.status == "unavailable":
            if seen.source == "editor":
                raise ToolError(
                    f"{name} has unsaved changes and its editor did not take the edit; nothing "
                    "was written, but the edit may come late. Ask the person to save or close "
                    "it, then read it again."
                )
            return None
        if not answer.is_saved:
            if not answer.was_dirty:
                self.notes.append(
                    f"{name} is changed in the editor and not saved: the disk is older."
                )
            return text if answer.text == shown else answer.text
        with suppress(ToolError):
            disk = await self._disk_text(document.path, 1 << 40)
            if is_same_text(disk.text, answer.text):
                return disk.text
        return answer.text

    async def _written(self, path: str, before: str | None, now: str) -> None:
        if self._on_written is not None:
            await self._on_written(path, before, now)

    async def _bytes(self, path: str, max_bytes: int) -> bytes:
        return await _within(lambda: read(path, max_bytes, self.display(path)), path)

    def _change(
        self, path: str, old: str, new: str, *, is_new: bool, version: int | None
    ) -> FileChange:
        return FileChange(
            uri=file_uri(path),
            change="create" if is_new else "modify",
            diff=unified(old, new, path=self.display(path), is_new=is_new),
            document_version=version,
        )

    def _is_readable(self, path: str) -> bool:
        return (
            path in self._also_readable
            or path in self._writes
            or any(
                effect.path == path or (effect.is_tree and is_below(path, effect.path))
                for effect in self._reads
            )
        )

    def _may_read(self, path: str) -> None:
        if not self._is_readable(path):
            raise ToolError(undeclared(self.display(path), "read"))

    def _may_write(self, effect: WritePath) -> None:
        if os.path.realpath(effect.asked) != effect.path:
            raise ToolError(undeclared(effect.asked, "write"))


# -- paths ------------------------------------------------------------------------------------


def resolve(text: str, *, root: str | None, home: str) -> ResolvedPath:
    """Resolve a path as the model names it; the last parts need not exist.

    `..` is taken lexically, then links are followed. `file:` URIs are accepted.
    Raises: ToolError for text that can name no file.
    """
    if not text.strip():
        raise ToolError("The path is empty; name a file or folder.")
    if "\0" in text:
        raise ToolError("The path holds a NUL character; no file can be named so.")
    if text.startswith("file://"):
        text = unquote(urlsplit(text).path)
    if text == "~" or text.startswith("~/"):
        text = home + text[1:]
    if not os.path.isabs(text):
        if root is None:
            raise ToolError(f"This session has no workspace: name {text!r} by an absolute path.")
        text = os.path.join(root, text)
    asked = os.path.normpath(text)
    if asked.startswith("//"):
        asked = asked[1:]
    _check_length(asked)
    path = os.path.realpath(asked)
    return ResolvedPath(asked, path, os.path.lexists(path))


def is_below(path: str, tree: str) -> bool:
    """Return True for the tree itself and everything in it; both resolved."""
    return path == tree or path.startswith(tree if tree.endswith(os.sep) else tree + os.sep)


def file_uri(path: str) -> str:
    """Return the `file:` URI of an absolute path."""
    slashed = path.replace(os.sep, "/")
    return "file://" + quote(slashed if slashed.startswith("/") else f"/{slashed}", safe="/~:")


def _check_length(path: str) -> None:
    if path.isascii() and len(path) <= _MAX_NAME_BYTES:
        return
    try:
        names = [os.fsencode(name) for name in path.split(os.sep)]
    except UnicodeEncodeError:
        raise ToolError(
            f"The path {path!r} holds characters that no file name can have; correct it."
        ) from None
    longest = max(names, key=len)
    if len(longest) > _MAX_NAME_BYTES or sum(map(len, names)) + len(names) > _MAX_PATH_BYTES:
        raise ToolError(
            f"The path beginning {path[:60]!r} is too long for a file; was content given as path?"
        )


def _is_on_disk(document: Document) -> bool:
    try:
        data = read(document.path, 4 * len(document.text) + 16, document.path)
        return is_same_text(decode(data, document.path).text, document.text)
    except ToolError:
        return False


async def _within(work: Callable[[], bytes], path: str) -> bytes:
    """Run small reads at once; a thread costs more than they do."""
    try:
        is_small = os.lstat(path).st_size <= _INLINE_BYTES
    except OSError:
        is_small = True
    return work() if is_small else await asyncio.to_thread(work)
