"""Permission files on the disk: read, replaced and locked.

Invariant: a file of a workspace is opened through no link, its folder `.kova` included.
Invariant: writing replaces the file as a whole or leaves it as it was.
"""

import errno
import os
import secrets
import stat
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from kova_ls.engine.grant_file import MAX_BYTES, Content, Fault, fault, parse
from kova_ls.errors import RequestFailed

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY = getattr(os, "O_DIRECTORY", 0)
# Without O_NONBLOCK a pipe under the file's name would stop the engine.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_LOCK_TRIES = 500
_LOCK_PAUSE_S = 0.01


# -- reading ----------------------------------------------------------------------------------


def read(path: str) -> Content | Fault | None:
    """Read a file of the person's own folder, links followed; None when there is none."""
    try:
        handle = os.open(path, _READ)
    except FileNotFoundError:
        return None
    except OSError as error:
        return fault(path, f"cannot be read ({error.strerror})", "Mend its rights or remove it.")
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
            return fault(path, "is reached through a link and counts for nothing", "Remove it.")
        return fault(path, f"cannot be read ({error.strerror})", "Mend its rights or remove it.")
    return _read_handle(handle, path, is_private=is_private)


def read_raw(path: str | Path, limit_bytes: int) -> bytes:
    """Read a file that only this program should write, but any program of the user may have.

    Raises: OSError, also for what is no ordinary file (a pipe would stop the engine) or too large.
    """
    handle = os.open(path, _READ)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "is no ordinary file", str(path))
        raw = bytearray()
        while part := os.read(handle, 1 << 16):
            raw += part
            if len(raw) > limit_bytes:
                raise OSError(errno.EFBIG, "is too large", str(path))
        return bytes(raw)
    finally:
        os.close(handle)


def _read_handle(handle: int, path: str, *, is_private: bool = False) -> Content | Fault:
    try:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            return fault(path, "is no ordinary file", "Remove it.")
        if is_private and sys.platform != "win32":
            if info.st_uid != os.geteuid():
                return fault(path, "belongs to another user and counts for nothing", "Remove it.")
            if info.st_mode & 0o022:
                return fault(
                    path, "may be written by others and counts for nothing", "Run chmod go-w on it."
                )
            if info.st_nlink > 1:
                return fault(
                    path, "has a second name (a hard link) and counts for nothing", "Copy it."
                )
        raw = bytearray()
        while len(raw) <= MAX_BYTES and (part := os.read(handle, 1 << 16)):
            raw += part
    except OSError as error:
        return fault(path, f"cannot be read ({error.strerror})", "Mend its rights or remove it.")
    finally:
        os.close(handle)
    return parse(bytes(raw), path)


# -- writing ----------------------------------------------------------------------------------


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
    with suppress(FileExistsError):
        os.mkdir(folder, 0o755)
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


# -- locking ----------------------------------------------------------------------------------


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
