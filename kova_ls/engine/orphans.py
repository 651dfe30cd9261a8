"""Commands that outlive their engine: noted while they run, ended by the next engine.

An engine that is killed outright takes nothing along. What it left behind would go on with nobody
to see or stop it, beside a model that was told that its outcome is unknown.
Invariant: only what is provably the noted command is ended: same boot of the machine, a leader
of the same start, or, where the leader is gone, its own session and nothing older than it.
"""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from kova_ls.engine.process import end_group


def note(folder: Path, call_id: str, group: int) -> None:
    """Note the process group of a call's command; where the system does not tell, do nothing."""
    started = _stat(group)
    if started is None:
        return
    with suppress(OSError):
        place = _place(folder, call_id)
        fd = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(fd, "w", encoding="utf-8") as file:
            json.dump({"boot": _boot(), "group": group, "started": started[2]}, file)


def forget(folder: Path, call_id: str) -> None:
    """Forget a command that has ended, or that may stay as what it left in the background."""
    with suppress(OSError):
        _place(folder, call_id).unlink()


async def end(folder: Path, call_id: str) -> int | None:
    """End what is left of a call's command; returns its process group, None when nothing was."""
    place = _place(folder, call_id)
    try:
        noted: Any = json.loads(place.read_text("utf-8"))
        group, started, boot = int(noted["group"]), int(noted["started"]), str(noted["boot"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    forget(folder, call_id)
    if group <= 1 or not boot or boot != _boot() or not _is_left(group, started):
        return None
    await end_group(group)
    return group


def _place(folder: Path, call_id: str) -> Path:
    return folder / f"running-{call_id}.json"


def _boot() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


def _is_left(group: int, started: int) -> bool:
    leader = _stat(group)
    if leader is not None:
        return leader == (group, group, started)
    return any(
        found is not None and found[:2] == (group, group) and found[2] >= started
        for name in os.listdir("/proc")
        if name.isdigit()
        for found in (_stat(int(name)),)
    )


def _stat(pid: int) -> tuple[int, int, int] | None:
    """Return group, session and start time of a living process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The second field is the name in parentheses and may hold anything.
            fields = file.read().rpartition(b")")[2].split()
        return None if fields[0] == b"Z" else (int(fields[2]), int(fields[3]), int(fields[19]))
    except (OSError, ValueError, IndexError):
        return None
