"""What the permission files said before the commands that run now began.

Each engine keeps one file `running-<pid>-<random>.json`, locked for as long as it lives and empty
while no command runs. Another engine reads it, and the next one settles what a dead one left.
Invariant: a marker that cannot be read says that nothing was in force.
"""

import json
import os
import secrets
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path

from kova_ls.engine import grant_disk, ledger
from kova_ls.engine.ledger import Confirmed

USER = ""
"""Scope of the user's own file; every other scope is a workspace."""
_PREFIX = "running-"
_MAX_BYTES = 8_000_000


class Watch:
    """Counts running commands and keeps what stood before them, also for after a crash."""

    def __init__(self, folder: Path) -> None:
        self.count = 0
        self.before: dict[str, Confirmed] = {}
        self.told: dict[str, str] = {}
        self.hold: Confirmed | None = None
        """What held the user's file back when commands began; removing the file frees nothing."""
        self._folder = folder
        self._path: Path | None = None
        self._handle = -1

    def save(self) -> None:
        """Make what stood before survive the end of this process."""
        if self._path is None:
            if not self.before:
                return
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = self._folder / f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}.json"
            # Under its own name only once it is locked: unlocked means that its engine is dead.
            early = path.with_suffix(".new")
            self._handle = os.open(early, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            weakref.finalize(self, os.close, self._handle)
            grant_disk.try_lock(self._handle)
            os.rename(early, path)
            self._path = path
        body = {scope: before.to_json() for scope, before in self.before.items()}
        raw = json.dumps(body).encode() if body else b""
        os.lseek(self._handle, 0, os.SEEK_SET)
        os.ftruncate(self._handle, 0)
        os.write(self._handle, raw)

    def others(self) -> Iterator[tuple[int, dict[str, Confirmed]]]:
        """Yield process id and snapshot of every other living engine that runs commands."""
        for path in self._foreign():
            if _is_held(path) and (snapshot := _read(path)):
                yield _pid(path), snapshot

    def crashed(self) -> Iterator[tuple[Path, dict[str, Confirmed]]]:
        """Yield what ended engines left behind; the caller settles it, then unlinks the file."""
        for path in self._foreign():
            if not _is_held(path):
                yield path, _read(path)

    def _foreign(self) -> list[Path]:
        try:
            names = [
                name
                for name in os.listdir(self._folder)
                if name.startswith(_PREFIX) and name.endswith(".json")
            ]
        except OSError:
            return []
        return [self._folder / name for name in names if self._folder / name != self._path]


def _is_held(path: Path) -> bool:
    if sys.platform == "win32":
        return True
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return False
    try:
        return not grant_disk.try_lock(handle)
    finally:
        os.close(handle)


def _read(path: Path) -> dict[str, Confirmed]:
    try:
        raw = grant_disk.read_raw(path, _MAX_BYTES)
        if not raw:
            return {}
        return {scope: ledger.from_json(body) for scope, body in json.loads(raw).items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError, TypeError, KeyError, AttributeError):
        return {USER: Confirmed(digest="unreadable")}


def _pid(path: Path) -> int:
    digits = path.name.removeprefix(_PREFIX).partition("-")[0]
    return int(digits) if digits.isdigit() else 0
