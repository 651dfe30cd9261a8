"""Commands that outlive their engine: marked when they start, ended by the next engine.

An engine that is killed outright takes nothing along. What it left behind would go on with nobody
to see or stop it, beside a model that was told that its outcome is unknown.
Invariant: only what carries the mark of the very call is ended; where the system does not tell
what a process was started with, nothing is.
"""

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress

from kova_ls.engine.process_group import end_group

_MARK = "KOVA_CALL_ID"


def marked(env: Mapping[str, str], call_id: str) -> dict[str, str]:
    """Return the environment of a call's command, by which it is found again."""
    return {**env, _MARK: call_id}


async def end(call_id: str) -> tuple[int, ...]:
    """End what is left of a call's command; returns the process groups that there were."""
    mark = f"{_MARK}={call_id}".encode()
    ended: set[int] = set()
    # Looked for once more: in the midst of becoming another program a process shows no environment.
    while groups := (await asyncio.to_thread(_groups, mark)) - ended:
        await asyncio.gather(*map(end_group, groups))
        ended |= groups
    return tuple(sorted(ended))


def _groups(mark: bytes) -> set[int]:
    try:
        names = os.listdir("/proc")
    except OSError:
        return set()
    found: set[int] = set()
    for name in names:
        if name.isdigit():
            with suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:
                if mark in file.read().split(b"\0"):
                    found.add(os.getpgid(int(name)))
    return found - {os.getpgrp()}
