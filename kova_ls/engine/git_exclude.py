"""What git knows of the local permission file: is it tracked, and where is it excluded.

Worktrees and submodules, where `.git` is a file that names the folder, are followed.
Invariant: nothing that a repository configures runs; no shell.
Invariant: what cannot be told counts as tracked.
"""

import os
import stat
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from kova_ls.engine import grant_disk

_TIMEOUT_S = 5.0
_MAX_POINTER_BYTES = 64_000
_MAX_EXCLUDE_BYTES = 4_000_000
_MAX_INDEX_BYTES = 1_000_000_000


@dataclass(frozen=True, slots=True)
class GitPlace:
    """The repository that a workspace lies in."""

    top: str
    """Folder that holds `.git`."""
    git_dir: str
    """Of this worktree or submodule; holds the index."""
    common_dir: str
    """Shared by all worktrees; holds `info/exclude`."""

    @property
    def index(self) -> str:
        """The file that lists what is tracked."""
        return os.path.join(self.git_dir, "index")


def find(workspace: str) -> GitPlace | None:
    """Return the nearest repository at or above a folder, read without git."""
    folder = workspace
    while True:
        dot_git = os.path.join(folder, ".git")
        if os.path.lexists(dot_git):
            place = _place(folder, dot_git)
            if place is not None:
                return place
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


class Finder:
    """Finds repositories and remembers them for as long as what it looked at stands."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[str, ...], os.stat_result, GitPlace]] = {}

    def find(self, workspace: str) -> GitPlace | None:
        """Return the nearest repository at or above a folder."""
        known = self._known.get(workspace)
        if known is not None:
            nearer, before, place = known
            try:
                now = os.lstat(os.path.join(place.top, ".git"))
            except OSError:
                now = None
            if (
                now is not None
                and now.st_ino == before.st_ino
                and (stat.S_ISDIR(now.st_mode) or now.st_mtime_ns == before.st_mtime_ns)
                and not any(map(os.path.lexists, nearer))
            ):
                return place
        place = find(workspace)
        if place is None:
            self._known.pop(workspace, None)
            return None
        nearer_folders: list[str] = []
        folder = workspace
        while folder != place.top:
            nearer_folders.append(os.path.join(folder, ".git"))
            folder = os.path.dirname(folder)
        try:
            before = os.lstat(os.path.join(place.top, ".git"))
        except OSError:
            return place
        self._known[workspace] = (tuple(nearer_folders), before, place)
        return place


def _place(top: str, dot_git: str) -> GitPlace | None:
    git_dir = dot_git
    if os.path.isfile(dot_git):
        pointer = _read_small(dot_git)
        if not pointer.startswith(b"gitdir:"):
            return None
        target = os.fsdecode(pointer.removeprefix(b"gitdir:").strip())
        git_dir = os.path.normpath(os.path.join(top, target))
    common_dir = git_dir
    pointer = _read_small(os.path.join(git_dir, "commondir")).strip()
    if pointer:
        common_dir = os.path.normpath(os.path.join(git_dir, os.fsdecode(pointer)))
    looks_real = os.path.lexists(os.path.join(git_dir, "HEAD")) and os.path.isdir(
        os.path.join(common_dir, "objects")
    )
    return GitPlace(top, git_dir, common_dir) if looks_real else None


def _read_small(path: str) -> bytes:
    try:
        return grant_disk.read_raw(path, _MAX_POINTER_BYTES)
    except OSError:
        return b""


def tracked(workspace: str, name: str, place: GitPlace, env: Mapping[str, str]) -> str | None:
    """Return why the file counts as tracked, or None when git does not track it.

    Where git is not installed the index itself is read, as far as that is certain.
    """
    # What a repository configures could run a program here: its file system monitor is one.
    command = ["git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]
    kept = {key: value for key, value in env.items() if not key.startswith("GIT_")}
    kept |= {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(
            [*command, "ls-files", "-z", "--", f":(icase){name}"],
            cwd=workspace,
            env=kept,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError:
        return _tracked_by_index(name, place)
    except (OSError, subprocess.TimeoutExpired):
        return "git does not answer, so it may be tracked"
    if done.returncode == 0:
        return "it is tracked by git" if done.stdout else None
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return f"git cannot say whether it is tracked ({said[0] if said else done.returncode})"


def _tracked_by_index(name: str, place: GitPlace) -> str | None:
    try:
        raw = grant_disk.read_raw(place.index, _MAX_INDEX_BYTES)
    except FileNotFoundError:
        return None
    except OSError:
        return "git's index cannot be read, so it may be tracked"
    # Version 4 shortens names, and a split index keeps them elsewhere.
    if raw[:4] != b"DIRC" or raw[4:8] not in (b"\0\0\0\2", b"\0\0\0\3") or b"link\0" in raw:
        return "git is not installed and its index has a form that needs it"
    return "it is tracked by git" if name.lower().encode() in raw.lower() else None


def exclude(workspace: str, name: str, place: GitPlace) -> str | None:
    """Add the file to `info/exclude` once; return a notice when that is not possible."""
    inside = os.path.relpath(os.path.join(workspace, name), place.top).replace(os.sep, "/")
    line = "/" + "".join(f"\\{sign}" if sign in "\\*?[" else sign for sign in inside)
    path = os.path.join(place.common_dir, "info", "exclude")
    advice = f"Add the line {line!r} to {path!r} yourself, or keep the file out of commits."
    if "\n" in line or "\r" in line:
        return f"{name} could not be excluded from git: its folder has a line break in its name."
    wanted = os.fsencode(line)
    try:
        folder = os.path.dirname(path)
        os.makedirs(folder, exist_ok=True)
        if os.path.islink(folder):
            return f"{name} was not excluded from git: {folder!r} is a link. {advice}"
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
        handle = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o644)
        with os.fdopen(handle, "r+b") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return f"{name} was not excluded from git: {path!r} is no file. {advice}"
            content = file.read(_MAX_EXCLUDE_BYTES)
            if wanted in (present.strip() for present in content.split(b"\n")):
                return None
            gap = b"" if not content or content.endswith(b"\n") else b"\n"
            file.write(gap + wanted + b"\n")
    except OSError as error:
        return f"{name} could not be excluded from git ({error.strerror}). {advice}"
    return None
