"""Programs that rules name by a path, and which of them the agent changed since.

A rule such as `./build.sh *` was given for the script as it stood. When a tool or a command of the
agent changes that file, its commands ask again, until the person remembers the rule anew.
Invariant: what is noted outlives the engine; a list that cannot be read is as if all had changed.
"""

import json
import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from kova_ls.engine import grant_disk
from kova_ls.permission.effects import Effect, RunCommand, WritePath
from kova_ls.permission.facts import Rule

_log = logging.getLogger(__name__)
Stamp = tuple[str, int, int, int, int] | None
_MAX_BYTES = 1_000_000


class Programs:
    """The programs that the agent changed; resolved paths."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "changed-programs.json"
        self._changed = _read(self._path)
        """None when it is unknown: then every program counts as changed."""

    def changed_in(self, effects: Iterable[Effect]) -> tuple[str, ...]:
        """Return the programs, as commands name them, that the agent changed."""
        if not self._changed and self._changed is not None:
            return ()
        return tuple(
            dict.fromkeys(
                name
                for effect in effects
                if isinstance(effect, RunCommand)
                for name in _named(effect.command)
                if self._changed is None or _resolved(name, effect.cwd) in self._changed
            )
        )

    def wrote(self, effects: Iterable[Effect], allow: Sequence[Rule]) -> None:
        """Note what a tool wrote, as far as a rule names it."""
        paths = [effect.path for effect in effects if isinstance(effect, WritePath)]
        if paths:
            ends = tuple({_end(name) for name in _programs(allow)})
            self._note(path for path in paths if path.endswith(ends))

    def stamps(self, workspace: str | None, allow: Sequence[Rule]) -> dict[str, Stamp]:
        """Return how the programs that rules name look now."""
        if workspace is None:
            return {}
        return {
            path: _stamp(path) for path in (_join(name, workspace) for name in _programs(allow))
        }

    def compare(self, before: Mapping[str, Stamp]) -> None:
        """Note what looks otherwise now than `before` a command."""
        self._note(
            place
            for path, stamp in before.items()
            if (now := _stamp(path)) != stamp
            for place in (now[0] if now else os.path.realpath(path),)
        )
        if self._changed and _read(self._path) != self._changed:
            self._save(self._changed)

    def approve(self, effects: Iterable[Effect]) -> None:
        """Forget the changes of programs that the person remembered as they stand."""
        changed = self._changed or set[str]()
        used = {
            _resolved(name, effect.cwd)
            for effect in effects
            if isinstance(effect, RunCommand)
            for name in _named(effect.command)
        }
        if used & changed:
            self._save(changed - used)

    def _note(self, paths: Iterable[str]) -> None:
        known = self._changed
        found = set(paths)
        if known is not None and not found <= known:
            self._save(known | found)

    def _save(self, changed: set[str]) -> None:
        self._changed = changed
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            grant_disk.write(str(self._path), json.dumps(sorted(changed)).encode())
        except OSError as error:
            _log.warning("%s cannot be written: %s", self._path, error)


def _read(path: Path) -> set[str] | None:
    try:
        raw = grant_disk.read_raw(path, _MAX_BYTES)
    except FileNotFoundError:
        return set()
    except OSError:
        return None
    try:
        data: Any = json.loads(raw)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, list):
        _log.warning("%s cannot be read; remove it once you looked at your scripts", path)
        return None
    return {entry for entry in cast(list[Any], data) if isinstance(entry, str)}


def _programs(allow: Sequence[Rule]) -> set[str]:
    return {name for rule in allow for name in _named(rule.text)}


@lru_cache(maxsize=1024)
def _named(command: str) -> tuple[str, ...]:
    """Return the programs of a command or rule that are named by a path."""
    if "/" not in command:
        return ()
    if command.startswith("Bash(") and command.endswith(")"):
        command = command[5:-1]
    from kova_ls.permission.shell import analyse  # heavy, and wanted late

    parts = analyse(command.removesuffix(" *")).parts
    return tuple(part.values[0] for part in parts if part.values and "/" in part.values[0])


def _end(name: str) -> str:
    """Return how the path of a program ends, from whatever folder it is named."""
    parts = [part for part in name.split("/") if part not in ("", ".", "..", "~")]
    return "/" + "/".join(parts)


def _join(name: str, cwd: str) -> str:
    return os.path.join(cwd, os.path.expanduser(name))


def _resolved(name: str, cwd: str) -> str:
    return os.path.realpath(_join(name, cwd))


def _stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)
    except OSError:
        return None
    place = os.path.realpath(path)
    return place, found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino
