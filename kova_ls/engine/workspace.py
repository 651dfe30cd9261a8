"""File access under resolved paths, seen through the open documents of attached editors.

Invariant: a path that the call's effects did not declare is neither read nor written.
Invariant: no link is followed between the resolved path and the file, not even a fresh one.
Invariant: a failed write leaves the file as it was.

A write goes to a new file that takes the old one's place, so the other names of a hard-linked
file keep the old text: no verdict was given for them.
"""

import asyncio
import codecs
import os
import stat
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from secrets import token_hex
from typing import Literal, Protocol
from urllib.parse import quote, unquote, urlsplit

from kova_ls.permission.effects import Effect, ReadPath, WritePath
from kova_ls.tools._base import ResolvedPath, TextFile, ToolError
from kova_ls.tools._diff import unified
from kova_ls.tools._text import digest
from kova_ls.values import FileChange

_INLINE_BYTES = 256 * 1024
_MAX_NAME_BYTES = 255
_MAX_PATH_BYTES = 4_095
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_BY_FOLDER = os.open in os.supports_dir_fd and bool(_NO_FOLLOW)
_FOLDER_FLAGS = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | _NO_FOLLOW
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_IMAGES = (
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"BM", "a bitmap image"),
)


@dataclass(frozen=True, slots=True)
class Document:
    """A document as an editor has it open."""

    path: str
    """Resolved."""
    text: str
    version: int
    is_dirty: bool
    """It holds changes that are not on the disk."""


class Overlays(Protocol):
    """The open documents of the attached editors; the turn's own editor wins."""

    def get(self, path: str) -> Document | None:
        """Return the document open under a resolved path."""
        ...

    def below(self, tree: str) -> Iterable[Document]:
        """Return the open documents at or below a resolved path."""
        ...

    async def replace(
        self, document: Document, text: str
    ) -> Literal["done", "stale", "unavailable"]:
        """Ask the editor to change a document; `done` when its text now is `text`.

        A clean document is saved by the editor, a dirty one stays dirty. `stale`: the document
        is no longer the one given. `unavailable`: the editor refused, was silent or is gone.
        """
        ...


class Files:
    """The Workspace of one call: disk and open documents within the call's effects."""

    def __init__(
        self,
        effects: Sequence[Effect],
        *,
        root: str | None,
        overlays: Overlays | None = None,
        also_readable: Collection[str] = (),
    ) -> None:
        """Serve what `effects` declare, and reading of `also_readable` (resolved paths)."""
        self.root = root
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
            raise ToolError(_undeclared(self.display(path), "write"))
        self._may_write(effect)
        document = self._overlays.get(path) if self._overlays else None
        if document is not None:
            seen, is_shown = await self._seen(document, 1 << 40)
            if like is not None and digest(seen.text) != like.digest:
                raise ToolError(_moved(self.display(path)))
            if is_shown and await self._through_editor(document, text, seen.source == "editor"):
                return self._change(path, seen.text, text, is_new=False, version=document.version)
        old, is_new = await asyncio.to_thread(_replace, path, text, like, self.display(path))
        return self._change(path, old, text, is_new=is_new, version=None)

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
        if disk is not None and _is_same(disk.text, document.text):
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

    async def _through_editor(self, document: Document, text: str, is_unsaved: bool) -> bool:
        """Let the editor change its document; False when the disk is ours to write."""
        assert self._overlays is not None
        answer = await self._overlays.replace(document, text)
        if answer == "stale":
            raise ToolError(_moved(self.display(document.path)))
        if answer == "unavailable" and is_unsaved:
            raise ToolError(
                f"{self.display(document.path)} has unsaved changes and its editor did not take "
                "the edit; nothing was written. Ask the person to save or close it, then call "
                "again."
            )
        return answer == "done"

    async def _bytes(self, path: str, max_bytes: int) -> bytes:
        return await _within(lambda: _read(path, max_bytes, self.display(path)), path)

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
            raise ToolError(_undeclared(self.display(path), "read"))

    def _may_write(self, effect: WritePath) -> None:
        if os.path.realpath(effect.asked) != effect.path and not _folds_to(effect):
            raise ToolError(_undeclared(effect.asked, "write"))


# -- paths ------------------------------------------------------------------------------------


def resolve(text: str, *, root: str | None, home: str, case_folds: bool = False) -> ResolvedPath:
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
    if case_folds:
        path = _as_on_disk(path)
    return ResolvedPath(asked, path, os.path.lexists(path))


def folds_case(folder: str) -> bool:
    """Return True when the file system of an existing folder ignores case."""
    other = folder.swapcase()
    try:
        return other != folder and os.path.samefile(folder, other)
    except OSError:
        return False


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


def _as_on_disk(path: str) -> str:
    folder, *names = path.split(os.sep)
    folder += os.sep
    for number, name in enumerate(names):
        try:
            listed = os.listdir(folder)
        except OSError:
            return os.path.join(folder, *names[number:])
        if name not in listed:
            name = next((n for n in listed if n.casefold() == name.casefold()), name)
        folder = os.path.join(folder, name)
    return folder


def _folds_to(effect: WritePath) -> bool:
    now = os.path.realpath(effect.asked)
    return now.casefold() == effect.path.casefold() and _as_on_disk(now) == effect.path


def _is_same(disk: str, shown: str) -> bool:
    """Editors have their own line ends and last newline; those make no unsaved change."""
    return disk == shown or _bare(disk) == _bare(shown)


def _bare(text: str) -> str:
    return text.replace("\r\n", "\n").removesuffix("\n")


def _is_on_disk(document: Document) -> bool:
    try:
        data = _read(document.path, 4 * len(document.text) + 16, document.path)
        return _is_same(decode(data, document.path).text, document.text)
    except ToolError:
        return False


# -- text and bytes ---------------------------------------------------------------------------


def decode(data: bytes, name: str) -> TextFile:
    """Return the text of a file's bytes; what is no UTF and no binary reads as Latin-1.

    Raises: ToolError for a binary, saying what to do with it.
    """
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            try:
                text = data[len(bom) :].decode(encoding)
            except UnicodeDecodeError:
                raise ToolError(_binary(data, name)) from None
            return TextFile(text, encoding, has_bom=True, source="disk", digest=digest(text))
    if b"\0" in data:
        raise ToolError(_binary(data, name))
    try:
        text, encoding = data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        controls = sum(byte < 32 and byte not in b"\t\n\r\f\b\x1b" for byte in data[:8_192])
        if any(data.startswith(magic) for magic, _ in _IMAGES) or controls * 50 > len(data[:8_192]):
            raise ToolError(_binary(data, name)) from None
        text, encoding = data.decode("latin-1"), "latin-1"
    return TextFile(text, encoding, has_bom=False, source="disk", digest=digest(text))


def encode(text: str, like: TextFile | None, name: str) -> bytes:
    """Return the bytes of a text in the form of `like`. Raises: ToolError if it does not fit."""
    encoding = like.encoding if like else "utf-8"
    bom = b""
    if like is not None and like.has_bom:
        bom = next(mark for mark, codec in _BOMS if codec == encoding)
    try:
        return bom + text.encode(encoding)
    except UnicodeEncodeError as error:
        raise ToolError(
            f"{name} is stored as {encoding}, which has no {text[error.start]!r}; nothing was "
            "written. Use other characters, or convert the file to UTF-8 first (iconv in bash)."
        ) from None


def _binary(data: bytes, name: str) -> str:
    for magic, kind in _IMAGES:
        if data.startswith(magic):
            return f"{name} is {kind}, not text: use ReadMediaFile to look at it."
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return f"{name} is a WebP image, not text: use ReadMediaFile to look at it."
    if data[4:8] == b"ftyp" or data.startswith(b"\x1aE\xdf\xa3"):
        return f"{name} is a video, not text: use ReadMediaFile to look at it."
    if data.startswith(b"%PDF"):
        return f"{name} is a PDF, not text: convert it in bash first, for example with pdftotext."
    return f"{name} is a binary file, not text: look into it in bash, for example with file or xxd."


# -- disk -------------------------------------------------------------------------------------


async def _within(work: Callable[[], bytes], path: str) -> bytes:
    """Run small reads at once; a thread costs more than they do."""
    try:
        is_small = os.lstat(path).st_size <= _INLINE_BYTES
    except OSError:
        is_small = True
    return work() if is_small else await asyncio.to_thread(work)


@contextmanager
def _folder_of(path: str) -> Generator[tuple[int | None, str]]:
    """Yield (folder descriptor, name) reached without following any link."""
    if not _BY_FOLDER:
        yield None, path
        return
    *folders, name = path.split(os.sep)[1:]
    handle = os.open(os.sep, _FOLDER_FLAGS)
    try:
        for folder in folders:
            inner = os.open(folder, _FOLDER_FLAGS, dir_fd=handle)
            os.close(handle)
            handle = inner
        yield handle, name or "."
    finally:
        os.close(handle)


def _read(path: str, max_bytes: int, name: str) -> bytes:
    try:
        with _folder_of(path) as (folder, last):
            handle = os.open(
                last, os.O_RDONLY | _NO_FOLLOW | getattr(os, "O_NONBLOCK", 0), dir_fd=folder
            )
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            os.close(handle)
            raise ToolError(_no_regular(found.st_mode, name))
        with open(handle, "rb", buffering=0) as file:
            if found.st_size > max_bytes:
                raise ToolError(
                    f"{name} has {found.st_size:,} bytes, more than the {max_bytes:,} that can be "
                    "read at once: use grep, or head, tail or sed in bash."
                )
            return file.read() if found.st_size else file.read(max_bytes)
    except OSError as error:
        raise ToolError(_why(error, path, name, "read")) from None


def _replace(path: str, text: str, like: TextFile | None, name: str) -> tuple[str, bool]:
    """Write, and return the text that stood there and whether the file is new."""
    data = encode(text, like, name)
    temporary = f".{os.path.basename(path)[:100]}.{token_hex(6)}.kova"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with _folder_of(path) as (folder, last):
            if folder is None:
                temporary = os.path.join(os.path.dirname(path), temporary)
            mode, old, is_new = _standing(folder, last, path, like, name)
            _write_new(temporary, folder, data, mode)
            try:
                # Checked again at the last moment: a file that came or changed meanwhile stays.
                again = _standing(folder, last, path, like, name)
                if again[2] != is_new:
                    raise ToolError(_moved(name))
                os.replace(temporary, last, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                os.unlink(temporary, dir_fd=folder)
                raise
            return old, is_new
    except OSError as error:
        raise ToolError(_why(error, path, name, "written")) from None


def _standing(
    folder: int | None, last: str, path: str, like: TextFile | None, name: str
) -> tuple[os.stat_result | None, str, bool]:
    """Return what stands at the place: its stat, its text, whether nothing does."""
    try:
        found = os.stat(last, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        if like is not None and like.text:
            raise ToolError(_moved(name)) from None
        return None, "", True
    if not stat.S_ISREG(found.st_mode):
        raise ToolError(_no_regular(found.st_mode, name))
    if not found.st_mode & 0o222:
        raise ToolError(
            f"{name} is read-only; nothing was written. chmod it first if it may change."
        )
    old = decode(_read(path, 1 << 40, name), name).text
    if like is not None and digest(old) != like.digest:
        raise ToolError(_moved(name))
    return found, old, False


def _write_new(name: str, folder: int | None, data: bytes, like: os.stat_result | None) -> None:
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW, 0o666, dir_fd=folder)
    try:
        with open(handle, "wb", buffering=0) as file:
            view = memoryview(data)
            while view:
                view = view[file.write(view) :]
            if like is not None:
                if (like.st_uid, like.st_gid) != (os.fstat(handle).st_uid, os.fstat(handle).st_gid):
                    with suppress(OSError):
                        os.fchown(handle, like.st_uid, like.st_gid)
                os.fchmod(handle, stat.S_IMODE(like.st_mode))
            os.fsync(handle)
    except BaseException:
        os.unlink(name, dir_fd=folder)
        raise


# -- words ------------------------------------------------------------------------------------


def _undeclared(name: str, deed: str) -> str:
    return (
        f"This call was not judged for a {deed} of {name}; nothing was done. If a link on the way "
        "to it changed, call again."
    )


def _moved(name: str) -> str:
    return f"{name} changed since it was looked at; nothing was written. Read it again, then retry."


def _no_regular(mode: int, name: str) -> str:
    if stat.S_ISLNK(mode):
        return _undeclared(name, "write")
    if stat.S_ISDIR(mode):
        return f"{name} is a folder: list it with glob (path: its name, pattern: '*')."
    return f"{name} is no regular file (a pipe, socket or device) and is left alone."


def _why(error: OSError, path: str, name: str, deed: str) -> str:
    if isinstance(error, FileNotFoundError):
        return f"{name} does not exist.{_near(path)}"
    if isinstance(error, (NotADirectoryError, FileExistsError)):
        return f"{name}: a part of the path is a file or a link, not a folder. Check the path."
    if isinstance(error, PermissionError):
        return f"{name} cannot be {deed}: permission denied by the system."
    if error.strerror and os.path.islink(path):
        return _undeclared(name, "read" if deed == "read" else "write")
    return f"{name} cannot be {deed}: {error.strerror or error}. It is as it was."


def _near(path: str) -> str:
    folder = os.path.dirname(path)
    while not os.path.isdir(folder):
        path, folder = folder, os.path.dirname(folder)
    try:
        names = os.listdir(folder)
    except OSError:
        return ""
    folded = {name.casefold(): name for name in names}
    close = get_close_matches(os.path.basename(path).casefold(), folded, n=3, cutoff=0.6)
    if not close:
        return " Look for it with glob."
    return f" Did you mean {', '.join(os.path.join(folder, folded[name]) for name in close)}?"
