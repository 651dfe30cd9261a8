"""One permission file: read it with positions, change it without losing what it holds.

Invariant: a file that cannot be read with certainty yields a `Fault`, never a part of its rules.
Invariant: a file of a workspace is opened through no link, its folder `.kova` included.
Invariant: writing replaces the file as a whole or leaves it as it was.
"""

import hashlib
import json
import os
import re
import secrets
import stat
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from kova_ls.errors import RequestFailed

Field = Literal["allow", "deny", "writableRoots"]
FIELDS: tuple[Field, ...] = ("allow", "deny", "writableRoots")
MAX_BYTES = 1_000_000
_BOM = b"\xef\xbb\xbf"
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY = getattr(os, "O_DIRECTORY", 0)
# Without O_NONBLOCK a pipe under the file's name would stop the engine.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_LOCK_TRIES = 500
_LOCK_PAUSE_S = 0.01


@dataclass(frozen=True, slots=True)
class Entry:
    """One string of a list, with the place where it stands."""

    value: str
    """The text."""
    line_no: int
    """One-based."""
    column_no: int
    """One-based, in code points."""


@dataclass(frozen=True, slots=True)
class Content:
    """A permission file that could be read."""

    digest: str
    """Of the bytes."""
    raw: bytes
    """The file as it stands."""
    allow: tuple[Entry, ...] = ()
    """Rules, not yet judged."""
    deny: tuple[Entry, ...] = ()
    """Rules, not yet judged."""
    roots: tuple[Entry, ...] = ()
    """Folders, not yet resolved."""
    strict_redirects: bool = False
    """`strictRedirects` of the file."""
    problems: tuple[str, ...] = ()
    """Entries that are no strings."""

    def entries(self, field: Field) -> tuple[Entry, ...]:
        """Return the list that stands under `field`."""
        return {"allow": self.allow, "deny": self.deny, "writableRoots": self.roots}[field]


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a file counts for nothing."""

    message: str
    """With file, place and what to do."""
    digest: str = "unread"
    """Of the bytes, when they could be had."""


# -- reading ----------------------------------------------------------------------------------


def parse(raw: bytes, path: str) -> Content | Fault:
    """Read the bytes of a permission file; `path` is for messages only."""
    digest = hashlib.sha256(raw).hexdigest()
    if len(raw) > MAX_BYTES:
        return _fault(path, f"is larger than {MAX_BYTES:,} bytes", "Make it smaller.", digest)
    body = raw.removeprefix(_BOM)
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        before = body[: error.start].decode("utf-8")
        where = _place(before, len(before))
        return _fault(f"{path}:{where}", "is not UTF-8", "Save it as UTF-8.", digest)
    try:
        data = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        where = f"{path}:{error.lineno}:{error.colno}"
        return _fault(where, f"is broken: {error.msg}", "Mend or remove it.", digest)
    except _Twice as error:
        second = [found.start() for found in re.finditer(re.escape(json.dumps(error.key)), text)]
        where = f"{path}:{_place(text, second[1] if len(second) > 1 else 0)}"
        return _fault(where, f"has {error.key!r} twice", "Remove one of them.", digest)
    except (ValueError, RecursionError):
        return _fault(f"{path}:1:1", "holds a value that is no JSON or nests too deep", "", digest)
    if not isinstance(data, dict):
        return _fault(f"{path}:1:1", "is no JSON object", 'Write {"version": 1, …}.', digest)
    return _checked(cast("dict[str, Any]", data), text, raw, path, digest)


def _checked(
    data: dict[str, Any], text: str, raw: bytes, path: str, digest: str
) -> Content | Fault:
    places = _places(text)

    def at(*key: str | int) -> str:
        return f"{path}:{_place(text, places.get(key, 0))}"

    version = data.get("version", 1)
    if type(version) is not int or version != 1:
        return _fault(
            at("version"), "has a version that is not 1", "Set it to 1, or update.", digest
        )
    strict = data.get("strictRedirects", False)
    if not isinstance(strict, bool):
        return _fault(at("strictRedirects"), "is neither true nor false", "Mend it.", digest)
    lists: dict[str, tuple[Entry, ...]] = {}
    problems: list[str] = []
    for field in FIELDS:
        values = data.get(field, [])
        if not isinstance(values, list):
            return _fault(at(field), f"{field!r} is no list", 'Write ["…"].', digest)
        entries: list[Entry] = []
        for index, value in enumerate(cast("list[Any]", values)):
            if isinstance(value, str):
                line, column = _line_column(text, places.get((field, index), 0))
                entries.append(Entry(value, line, column))
            else:
                problems.append(
                    f"{at(field, index)}: an entry of {field!r} is no string and counts for "
                    "nothing. Put it in quotes or remove it."
                )
        lists[field] = tuple(entries)
    return Content(
        digest=digest,
        raw=raw,
        allow=lists["allow"],
        deny=lists["deny"],
        roots=lists["writableRoots"],
        strict_redirects=strict,
        problems=tuple(problems),
    )


def read(path: str) -> Content | Fault | None:
    """Read a file of the person's own folder, links followed; None when there is none."""
    try:
        handle = os.open(path, _READ)
    except FileNotFoundError:
        return None
    except OSError as error:
        return _fault(path, f"cannot be read ({error.strerror})", "Mend its rights or remove it.")
    return _read_handle(handle, path)


def read_inside(workspace: str, name: str, *, is_private: bool) -> Content | Fault | None:
    """Read `<workspace>/.kova/<name>` through no link; None when there is none.

    `is_private` also wants that it belongs to the user, that nobody else may write it, and that
    it has no second name.
    """
    folder = os.path.join(workspace, ".kova")
    path = os.path.join(folder, name)
    try:
        with _folder(folder) as folder_fd:
            handle = _open_at(folder_fd, folder, name, _READ | _NOFOLLOW)
    except FileNotFoundError:
        return None
    except OSError as error:
        if os.path.islink(folder) or os.path.islink(path):
            return _fault(path, "is reached through a link and counts for nothing", "Remove it.")
        return _fault(path, f"cannot be read ({error.strerror})", "Mend its rights or remove it.")
    return _read_handle(handle, path, is_private=is_private)


def _read_handle(handle: int, path: str, *, is_private: bool = False) -> Content | Fault:
    try:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            return _fault(path, "is no ordinary file", "Remove it.")
        if is_private and sys.platform != "win32":
            if info.st_uid != os.geteuid():
                return _fault(path, "belongs to another user and counts for nothing", "Remove it.")
            if info.st_mode & 0o022:
                return _fault(
                    path, "may be written by others and counts for nothing", "Run chmod go-w on it."
                )
            if info.st_nlink > 1:
                return _fault(
                    path, "has a second name (a hard link) and counts for nothing", "Copy it."
                )
        raw = bytearray()
        while len(raw) <= MAX_BYTES and (part := os.read(handle, 1 << 16)):
            raw += part
    except OSError as error:
        return _fault(path, f"cannot be read ({error.strerror})", "Mend its rights or remove it.")
    finally:
        os.close(handle)
    return parse(bytes(raw), path)


def _fault(where: str, what: str, advice: str, digest: str = "unread") -> Fault:
    return Fault(f"{where}: {what}; nothing in it is in force. {advice}".rstrip(), digest)


class _Twice(Exception):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and key in (*FIELDS, "version", "strictRedirects"):
            raise _Twice(key)
        found[key] = value
    return found


def _no_number(name: str) -> float:
    raise ValueError(name)


_SPACE = re.compile(r"[ \t\n\r]*")


def _places(text: str) -> dict[tuple[str | int, ...], int]:
    """Return the offset of every field and list item of valid JSON's top level."""
    decode = json.JSONDecoder().raw_decode

    def skip(offset: int) -> int:
        found = _SPACE.match(text, offset)
        return found.end() if found else offset

    places: dict[tuple[str | int, ...], int] = {}
    at = skip(skip(0) + 1)
    while text[at] != "}":
        key, at = decode(text, at)
        at = skip(skip(at) + 1)
        places[(key,)] = at
        if text[at] == "[" and key in FIELDS:
            at, index = skip(at + 1), 0
            while text[at] != "]":
                places[(key, index)] = at
                at, index = skip(decode(text, at)[1]), index + 1
                if text[at] == ",":
                    at = skip(at + 1)
            at += 1
        else:
            at = decode(text, at)[1]
        at = skip(at)
        if text[at] == ",":
            at = skip(at + 1)
    return places


def _line_column(text: str, offset: int) -> tuple[int, int]:
    line_start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, offset) + 1, offset - line_start + 1


def _place(text: str, offset: int) -> str:
    line, column = _line_column(text, offset)
    return f"{line}:{column}"


# -- writing ----------------------------------------------------------------------------------


def edited(
    content: Content | None,
    add: Mapping[Field, Sequence[str]],
    remove: Mapping[Field, Sequence[str]],
) -> bytes:
    """Return the file with entries added and removed.

    Unknown fields, their order, the byte order mark, the line ends and the indentation stay.
    """
    data: dict[str, Any] = {"version": 1}
    text = ""
    if content is not None:
        text = content.raw.removeprefix(_BOM).decode("utf-8")
        data = json.loads(text)
    for field, values in add.items():
        present = data.setdefault(field, [])
        present.extend(value for value in dict.fromkeys(values) if value not in present)
    for field, values in remove.items():
        if field in data:
            data[field] = [value for value in data[field] if value not in values]
    found = re.search(r"\n([ \t]+)\S", text)
    indent = found.group(1) if found else "  "
    out = json.dumps(data, indent=indent, ensure_ascii=False) + "\n"
    try:
        raw = out.encode("utf-8")
    except UnicodeEncodeError:
        raw = (json.dumps(data, indent=indent) + "\n").encode("ascii")
    if "\r\n" in text:
        raw = raw.replace(b"\n", b"\r\n")
    return (_BOM if content is not None and content.raw.startswith(_BOM) else b"") + raw


def write(path: str, raw: bytes) -> None:
    """Replace a file of the person's own folder; a link keeps its place, its target is replaced."""
    target = os.path.realpath(path)
    os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
    with _folder(os.path.dirname(target)) as folder_fd:
        _replace(folder_fd, os.path.dirname(target), os.path.basename(target), raw)


def write_inside(workspace: str, name: str, raw: bytes) -> None:
    """Replace `<workspace>/.kova/<name>`; the folder is made when missing, links are not followed.

    Raises: OSError when it cannot be written, or `.kova` is a link.
    """
    folder = os.path.join(workspace, ".kova")
    try:
        os.mkdir(folder, 0o755)
    except FileExistsError:
        pass
    with _folder(folder) as folder_fd:
        _replace(folder_fd, folder, name, raw)


def _replace(folder_fd: int | None, folder: str, name: str, raw: bytes) -> None:
    temporary = f".{name}.{secrets.token_hex(8)}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | getattr(os, "O_BINARY", 0)
    handle = _open_at(folder_fd, folder, temporary, flags, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            if folder_fd is not None:
                _keep_mode(folder_fd, name, file.fileno())
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        if folder_fd is None:
            os.replace(os.path.join(folder, temporary), os.path.join(folder, name))
        else:
            os.replace(temporary, name, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
    except BaseException:
        if folder_fd is None:
            os.unlink(os.path.join(folder, temporary))
        else:
            os.unlink(temporary, dir_fd=folder_fd)
        raise
    if folder_fd is not None:
        os.fsync(folder_fd)


def _keep_mode(folder_fd: int, name: str, handle: int) -> None:
    try:
        info = os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
    except FileNotFoundError:
        return
    if stat.S_ISREG(info.st_mode):
        os.fchmod(handle, stat.S_IMODE(info.st_mode) & 0o755)


@contextmanager
def _folder(path: str) -> Generator[int | None]:
    """Hold a folder open, so that nobody can swap it for a link; None where that is not known."""
    if sys.platform == "win32":
        if os.path.islink(path):
            raise OSError(0, "is a link")
        yield None
        return
    handle = os.open(path, os.O_RDONLY | _DIRECTORY | _NOFOLLOW)
    try:
        yield handle
    finally:
        os.close(handle)


def _open_at(folder_fd: int | None, folder: str, name: str, flags: int, mode: int = 0o777) -> int:
    if folder_fd is None:
        path = os.path.join(folder, name)
        if os.path.islink(path):
            raise OSError(0, "is a link")
        return os.open(path, flags, mode)
    return os.open(name, flags, mode, dir_fd=folder_fd)


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Keep other processes and threads out; the lock goes with the process that holds it.

    Raises: RequestFailed when somebody holds it for longer than any write takes.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | _NOFOLLOW, 0o600)
    try:
        for attempt in range(_LOCK_TRIES):
            if try_lock(handle):
                break
            if attempt == _LOCK_TRIES - 1:
                raise RequestFailed(
                    "diskFailed",
                    f"{path} is held by another process. End that process and try again.",
                )
            time.sleep(_LOCK_PAUSE_S)
        yield
    finally:
        os.close(handle)


def try_lock(handle: int) -> bool:
    """Take the lock of an open file unless another handle has it; always where locks are not."""
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
