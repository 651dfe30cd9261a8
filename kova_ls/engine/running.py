"""Permission files, settings and remembered programs, watched while commands of the agent run.

A command is over for this purpose when nothing that it started is alive any more: a process that
it left behind may still write. The daemon is told of the end of its own children by the system;
where that is not so, the next judgement looks.
Invariant: every `command_started` of the grants is matched by one `command_finished`.
"""

import asyncio
import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from kova_ls.engine.grants import Grants
from kova_ls.engine.models import Models
from kova_ls.engine.process_group import has_living, processes
from kova_ls.engine.programs import Programs, Stamp
from kova_ls.errors import RequestFailed
from kova_ls.tools._base import ToolError

_Tell = Callable[[str], None]


@dataclass(slots=True)
class Watched:
    """One command under way."""

    workspace: str | None
    tell: _Tell
    """Takes what the person should know of what the command changed."""
    before: dict[str, Stamp] = field(default_factory=dict[str, Stamp])
    """How the programs looked that rules name."""
    group: int | None = None
    """Process group that it left behind."""


class CommandWatch:
    """Keeps permissions as they were before the commands that run."""

    def __init__(self, grants: Grants, programs: Programs, models: Models) -> None:
        self._grants = grants
        self._models = models
        self._programs = programs
        self._active = 0
        self._left: list[Watched] = []
        """Ended, but something that they started may be alive."""
        self._others: frozenset[int] = frozenset()
        """Children from before any command."""
        self._heard: dict[int, int] = {}
        """Process left behind -> fd that tells its end."""

    @contextmanager
    def during(self, workspace: str | None, tell: _Tell) -> Generator[Watched]:
        """Watch while a command runs.

        Raises: ToolError when that cannot be; then nothing may be started.
        """
        if not self._active and not self._left:
            self._others = frozenset(_children())
        watched = Watched(workspace, tell)
        watched.before = self._programs.stamps(workspace, self._grants.load(workspace).allow)
        try:
            self._start(workspace)
        except RequestFailed as error:
            raise ToolError(error.message) from error
        self._active += 1
        try:
            yield watched
        finally:
            self._active -= 1
            self._ended(watched)

    def settle(self) -> None:
        """End the watch over commands of which nothing is alive any more."""
        if self._left and not self._active and not self._is_any_alive(self._left):
            left, self._left = self._left, []
            for watched in left:
                self._finish(watched)

    def _ended(self, watched: Watched) -> None:
        if self._is_any_alive([watched]):
            # Begun anew before it ends: what it changed is told now, and the watch goes on.
            with suppress(RequestFailed):
                self._start(watched.workspace)
                self._left.append(watched)
        self._finish(watched)
        self.settle()

    def _start(self, workspace: str | None) -> None:
        self._grants.command_started(workspace)
        self._models.command_started()

    def _finish(self, watched: Watched) -> None:
        self._programs.compare(watched.before)
        for notice in self._grants.command_finished(watched.workspace):
            watched.tell(notice)
        for notice in self._models.command_finished():
            watched.tell(notice)

    def _is_any_alive(self, ended: list[Watched]) -> bool:
        """Say whether something that commands started is alive, and hear of its end."""
        children = {pid for pid in _children() if pid not in self._others}
        for pid in children - self._heard.keys():
            if sys.platform == "linux":
                with suppress(OSError, RuntimeError):
                    self._listen(pid, os.pidfd_open(pid))
        return bool(children) or any(
            one.group is not None and has_living(one.group) for one in ended
        )

    def _listen(self, pid: int, handle: int) -> None:
        loop = asyncio.get_running_loop()

        def gone() -> None:
            del self._heard[pid]
            loop.remove_reader(handle)
            os.close(handle)
            self.settle()

        self._heard[pid] = handle
        loop.add_reader(handle, gone)

    def close(self) -> None:
        """Listen to nothing any more; what is left is settled by the next engine."""
        for handle in self._heard.values():
            with suppress(RuntimeError):
                asyncio.get_running_loop().remove_reader(handle)
            os.close(handle)
        self._heard.clear()


def _children() -> set[int]:
    """Return this process's living children; none where the system does not tell.

    Adopted ones that have died are buried, since nobody else waits for them. A child of our own
    leads its group, or is in ours, and whoever started it waits for it.
    """
    if sys.platform != "linux":
        return set()
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return set()
    own, own_group = os.getpid(), os.getpgrp()
    found: set[int] = set()
    for pid, parent, group, is_alive in processes():
        if parent == own and is_alive:
            found.add(pid)
        elif parent == own and group not in (pid, own_group):
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
    return found
