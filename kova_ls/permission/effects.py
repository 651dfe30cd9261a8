"""What a tool call would do, in resolved terms.

Paths are absolute, links followed, `..` gone, case as the disk has it: the caller resolved them.
Invariant: an effect that is not understood is `Opaque` and never yields allow below level `auto`.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class ReadPath:
    """Look at a file or folder."""

    path: str
    """Resolved."""
    asked: str
    """Absolute as the call named it, before links were followed."""
    is_tree: bool = False
    """The call looks at everything below it (search)."""
    is_mention: bool = False
    """The person named it."""


@dataclass(frozen=True, slots=True)
class WritePath:
    """Create, change or delete a file."""

    path: str
    """Resolved."""
    asked: str
    """Absolute as the call named it, before links were followed."""
    change: Literal["create", "modify", "delete"] = "modify"
    is_git_dir: bool = False
    """A folder above it is shaped like a git directory (`HEAD` beside `objects` or `refs`)."""


@dataclass(frozen=True, slots=True)
class RunCommand:
    """Run a shell command line."""

    command: str
    cwd: str
    """Resolved folder it runs in."""
    local_modules: frozenset[str] = frozenset()
    """Names of Python modules in the folders that `module_folders` tells."""
    git_dirs_ok: bool = True
    """In the folders that `git_folders` tells, git would use a git directory of their own."""


@dataclass(frozen=True, slots=True)
class Connect:
    """Talk to a host over HTTP."""

    method: str
    url: str


@dataclass(frozen=True, slots=True)
class Configure:
    """Change what the agent itself is or will do: schedules, memory deletion, servers, tasks."""

    what: str


@dataclass(frozen=True, slots=True)
class Interact:
    """Something between the agent and the person that changes nothing else."""

    kind: Literal["question", "todo", "open", "panel", "plan_exit", "skill", "goal"]


@dataclass(frozen=True, slots=True)
class Delegate:
    """Start or steer a subagent."""

    is_research: bool


@dataclass(frozen=True, slots=True)
class Opaque:
    """Something that cannot be judged."""

    why: str


Effect = ReadPath | WritePath | RunCommand | Connect | Configure | Interact | Delegate | Opaque
