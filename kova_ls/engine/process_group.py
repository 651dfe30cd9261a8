"""Process groups: who is in them, who of them lives, and their end.

Invariant: a group that was ended has no member left alive, nor a descendant that can be found.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress

GRACE_S = 2.0
"""Between asking a group to end and killing it."""
_POLL_S = 0.02


async def end_group(group: int, grace_s: float = GRACE_S) -> tuple[int, ...]:
    """Stop a process group and findable descendants; returns the ids of all of them."""
    members = members_of(group)
    try:
        _signal(group, members, signal.SIGTERM)
        await _gone(group, members, grace_s)
    finally:
        _signal(group, members, signal.SIGKILL)
    await _gone(group, members, GRACE_S)  # a busy system takes its time
    return members


async def _gone(group: int, members: Iterable[int], limit_s: float) -> None:
    waited = 0.0
    while waited < limit_s and _any_alive(group, members):
        await asyncio.sleep(_POLL_S)
        waited += _POLL_S


def _signal(group: int, members: Iterable[int], sign: signal.Signals) -> None:
    signal_group(group, sign)
    for pid in members:
        with suppress(OSError):
            if os.getpgid(pid) != group:
                os.kill(pid, sign)


def signal_group(group: int, sign: signal.Signals) -> None:
    """Signal a group; nothing happens where it is gone."""
    with suppress(OSError):
        os.killpg(group, sign)


def has_living(group: int) -> bool:
    """Say whether a member of the group lives."""
    try:
        os.killpg(group, 0)
    except OSError:
        return False
    if sys.platform != "linux":
        return True
    # The dead keep their group until somebody buries them.
    return any(is_alive and found == group for _, _, found, is_alive in processes())


def _any_alive(group: int, members: Iterable[int]) -> bool:
    if has_living(group):
        return True
    if sys.platform == "linux":
        return any(is_alive and pid in members for pid, _, _, is_alive in processes())
    for pid in members:
        with suppress(OSError):
            os.kill(pid, 0)
            return True
    return False


def processes() -> Iterator[tuple[int, int, int, bool]]:
    """Yield process, parent and group of everything on Linux, and whether it is alive."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError):
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                    fields = file.read().rpartition(")")[2].split()
                yield int(name), int(fields[1]), int(fields[2]), fields[0] not in "ZX"


def members_of(pid: int) -> tuple[int, ...]:
    """Return a process and its descendants, also those that left the group, where Linux tells."""
    found = [pid]
    for parent in found:
        with suppress(OSError):
            for thread in os.listdir(f"/proc/{parent}/task"):
                with open(f"/proc/{parent}/task/{thread}/children", encoding="ascii") as file:
                    found += [int(child) for child in file.read().split()]
    return tuple(found)
