"""The open documents of all attached editors as one, and the disk below them.

Order: the turn's own editor first, then the others in the order in which they came.
Invariant: unsaved text of two editors that differs is never decided between.
"""

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from kova_ls.engine.disk import is_same_text
from kova_ls.engine.editor import Editor
from kova_ls.engine.workspace import Document, Overlays, Replaced
from kova_ls.tools._base import ToolError

Stamp = tuple[int, int, int] | None
"""Of a file: moment of the last change, size, inode; None when there is none."""


class SharedOverlays:
    """`Overlays` over several editors."""

    def __init__(self, own: Editor | None, editors: Sequence[Editor]) -> None:
        """Look at `editors` anew each time: who has left counts no longer, `own` included."""
        self._own = own
        self._attached = editors

    def get(self, path: str) -> Document | None:
        """Return the document open under a resolved path."""
        return next((document for _, _, document in self._holders(path)), None)

    def below(self, tree: str) -> Iterable[Document]:
        """Return the open documents at or below a resolved path."""
        found: dict[str, Document] = {}
        for _, overlays in self._all():
            for document in overlays.below(tree):
                found.setdefault(document.path, document)
        return found.values()

    def holds_unseen(self, path: str) -> bool:
        """Say whether an editor has unsaved changes there without telling their text."""
        return any(overlays.holds_unseen(path) for _, overlays in self._all())

    async def replace(self, document: Document, text: str) -> Replaced:
        """Change it in the first editor that has it open. Raises: ToolError, see `Overlays`."""
        holders = list(self._holders(document.path))
        if not holders:
            return Replaced("unavailable")
        editor, overlays, first = holders[0]
        for other, _, theirs in holders[1:]:
            if first.is_dirty and theirs.is_dirty and not is_same_text(first.text, theirs.text):
                raise ToolError(
                    f"{os.path.basename(first.path)} has different unsaved changes in two "
                    f"editors ({editor.name} and {other.name}); nothing was written. Ask the "
                    "person to save or close it in one of them."
                )
        answer = await overlays.replace(document, text)
        if answer.is_saved:
            for _, others, _ in holders[1:]:
                await others.reload([document.path])
        return answer

    async def save(self, paths: Collection[str]) -> frozenset[str]:
        """Save in the editor that counts for each path."""
        rest = set(paths)
        done: set[str] = set()
        for _, overlays in self._all():
            held = {path for path in rest if overlays.get(path) is not None}
            rest -= held
            if held:
                done |= await overlays.save(held)
        return frozenset(done)

    async def reload(self, paths: Collection[str]) -> frozenset[str]:
        """Read anew in every editor; a path is up to date when it is so in all of them."""
        done = set(paths)
        for _, overlays in self._all():
            held = {path for path in paths if overlays.get(path) is not None}
            if held:
                done -= held - await overlays.reload(held)
        return frozenset(path for path in done if self.get(path) is not None)

    def _all(self) -> Iterable[tuple[Editor, Overlays]]:
        for editor in sorted(self._attached, key=lambda editor: editor is not self._own):
            if editor.overlays is not None:
                yield editor, editor.overlays

    def _holders(self, path: str) -> Iterable[tuple[Editor, Overlays, Document]]:
        for editor, overlays in self._all():
            document = overlays.get(path)
            if document is not None:
                yield editor, overlays, document


# -- what a command changes below the documents -------------------------------------------------


_DIRTY_WORDS = {
    "save": "They are saved before it runs.",
    "warn": "The command sees what is on the disk.",
    "refuse": "It will not run until they are saved.",
}


@dataclass(frozen=True, slots=True)
class Before:
    """The open documents' files before a command."""

    stamps: dict[str, Stamp]
    notes: tuple[str, ...]
    """What the model should know of what the command will not see."""


def trees_of(root: str | None, cwd: str) -> tuple[str, ...]:
    """Return the folders whose documents a command is thought to see."""
    return (cwd,) if root is None else (root, cwd)


def dirty_below(overlays: Overlays, trees: Iterable[str]) -> list[str]:
    """Return the paths of documents with unsaved changes, sorted."""
    return sorted({doc.path for tree in trees for doc in overlays.below(tree) if doc.is_dirty})


def dirty_notice(unsaved: Sequence[str], dirty: str, display: Callable[[str], str]) -> str:
    """Return what a command's card says of documents with unsaved changes."""
    return f"Unsaved in the editor: {', '.join(map(display, unsaved))}. {_DIRTY_WORDS[dirty]}"


async def before_command(
    overlays: Overlays,
    trees: Iterable[str],
    dirty: str,
    display: Callable[[str], str],
) -> Before:
    """Do with unsaved documents as the setting says, and note how the files look.

    Raises: ToolError when the setting is `refuse`, or saving failed under `save`.
    """
    trees = tuple(trees)
    unsaved = dirty_below(overlays, trees)
    if unsaved and dirty == "save":
        saved = await overlays.save(unsaved)
        unsaved = [path for path in unsaved if path not in saved]
    names = ", ".join(map(display, unsaved))
    if unsaved and dirty == "refuse":
        raise ToolError(
            f"Unsaved in the editor: {names}. Commands see only what is saved, so it was not run. "
            "Ask the person to save, then call again."
        )
    notes = (f"Unsaved in the editor, so the command saw older text: {names}.",) if unsaved else ()
    # Of all documents: a command may also write outside of the folders it is thought to see.
    stamps = {doc.path: stamp_of(doc.path) for doc in overlays.below(os.sep)}
    return Before(stamps, notes)


async def after_command(
    overlays: Overlays, before: Before, display: Callable[[str], str]
) -> list[str]:
    """Let editors read changed files anew; returns what the model should know."""
    changed = [
        path
        for path, stamp in before.stamps.items()
        if stamp_of(path) != stamp and overlays.get(path) is not None
    ]
    if not changed:
        return list(before.notes)
    dirty = [path for path in changed if _is_dirty(overlays, path)]
    clean = [path for path in changed if path not in dirty]
    loaded = await overlays.reload(clean)
    older = [path for path in clean if path not in loaded]
    notes = list(before.notes)
    if dirty:
        names = ", ".join(map(display, sorted(dirty)))
        notes.append(
            f"Changed on the disk while unsaved in the editor: {names}. read shows the editor's "
            "text; saving there will meet a conflict, so tell the person."
        )
    if older:
        names = ", ".join(map(display, sorted(older)))
        notes.append(f"The editor may still show older text of: {names}.")
    return notes


def stamp_of(path: str) -> Stamp:
    """Return how a file looks from outside."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _is_dirty(overlays: Overlays, path: str) -> bool:
    document = overlays.get(path)
    return document is not None and document.is_dirty
