"""Where socket, journal, settings and logs live; cheap to import.

Invariant: platformdirs is imported only where a default is really needed; the relay computes the
socket's path with `os` alone.
"""

from __future__ import annotations

import os
import sys
from binascii import crc32

TYPE_CHECKING = False  # `typing` and `collections.abc` would cost the relay 3 ms
if TYPE_CHECKING:
    from collections.abc import Mapping

_SOCKET_LIMIT = 100


def user_home(env: Mapping[str, str]) -> str:
    """Return the user's own folder."""
    return env.get("HOME") or os.path.expanduser("~")


def home(env: Mapping[str, str]) -> str:
    """Return `KOVA_HOME`, by default `~/.kova`: settings and the user's permissions."""
    given = env.get("KOVA_HOME")
    return given or os.path.join(user_home(env), ".kova")


def data_dir(env: Mapping[str, str]) -> str:
    """Return `KOVA_DATA_DIR`, by default the app data directory: sessions and logs."""
    given = env.get("KOVA_DATA_DIR")
    if given:
        return given
    base = env.get("XDG_DATA_HOME")
    if sys.platform == "linux":
        return os.path.join(base or os.path.join(user_home(env), ".local", "share"), "kova-ls")
    import platformdirs

    return platformdirs.user_data_dir("kova-ls", appauthor=False)


def runtime_dir(env: Mapping[str, str]) -> str:
    """Return `KOVA_RUNTIME_DIR`, by default a private folder: the socket and its lock."""
    given = env.get("KOVA_RUNTIME_DIR")
    if given:
        return given
    base = env.get("XDG_RUNTIME_DIR")
    if base and os.path.isdir(base):
        return os.path.join(base, "kova-ls")
    if sys.platform == "win32":
        return os.path.join(data_dir(env), "runtime")
    return _fallback_dir()


def build_id() -> str:
    """Return a short hash of this build: an upgraded relay never talks to an old engine.

    Made from the interpreter and the newest change of the package's files.
    """
    package = os.path.dirname(os.path.abspath(__file__))
    newest = 0
    folders = [package]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    newest = max(newest, entry.stat().st_mtime_ns)
                elif "." not in entry.name and entry.name != "__pycache__":
                    folders.append(entry.path)
    return _short_hash(f"{package}|{newest}|{sys.version}")


def socket_path(env: Mapping[str, str], build: str) -> str:
    """Return where the engine of this build listens.

    The name also carries the home and data folders, so that other settings are another engine.
    A path too long for a socket moves to a private folder under the temporary one.
    """
    places = f"{os.path.abspath(home(env))}|{os.path.abspath(data_dir(env))}"
    key = _short_hash(places)
    path = os.path.join(runtime_dir(env), f"{build}-{key}.sock")
    if len(os.fsencode(path)) <= _SOCKET_LIMIT or sys.platform == "win32":
        return path
    return os.path.join(_fallback_dir(), f"{build}-{key}.sock")


def other_builds(env: Mapping[str, str]) -> list[str]:
    """Return the builds, but for this one, that have or had an engine on the same folders."""
    own = socket_path(env, build_id())
    key = os.path.basename(own).removesuffix(".sock").rpartition("-")[2]
    try:
        names = os.listdir(os.path.dirname(own))
    except OSError:
        return []
    ends = (f"-{key}.sock", f"-{key}.port")
    found = {name[: -len(ends[0])] for name in names if name.endswith(ends)}
    return sorted(found - {build_id()})


def _fallback_dir() -> str:
    # `private_folder` makes sure that it is this user's alone before it is used.
    return f"/tmp/kova-ls-{os.getuid()}"  # noqa: S108


def log_path(env: Mapping[str, str]) -> str:
    """Return the engine's log."""
    return os.path.join(data_dir(env), "log", "engine.log")


def private_folder(path: str) -> None:
    """Make a folder that only this user can enter.

    Raises: OSError when it belongs to someone else or cannot be made private.
    """
    os.makedirs(path, mode=0o700, exist_ok=True)
    if sys.platform == "win32":
        return
    info = os.lstat(path)
    if info.st_uid != os.getuid() or not os.path.isdir(path) or os.path.islink(path):
        raise PermissionError(
            13, f"{path} is not a folder of this user; remove it or set KOVA_RUNTIME_DIR"
        )
    if info.st_mode & 0o077:
        os.chmod(path, 0o700)


def private_opener(path: str, flags: int) -> int:
    """Open a file, for `open`; one that is made only this user can read."""
    return os.open(path, flags, 0o600)


def _short_hash(text: str) -> str:
    # Tells names apart, guards nothing; hashlib would cost the relay 4 ms.
    data = text.encode("utf-8", "surrogateescape")
    return f"{crc32(data):08x}{crc32(data[::-1]) & 0xFFFF:04x}"
