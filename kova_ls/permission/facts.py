"""What the gates are told about the session and the machine; plain data."""

from dataclasses import dataclass, field

from kova_ls.permission.effects import Effect
from kova_ls.values import Reason, Segment
from kova_ls.vocabulary import ApprovalLevel, Decision, Mode, RootSource


@dataclass(frozen=True, slots=True)
class Root:
    """A folder whose files count as inside the workspace for writing."""

    path: str
    """Resolved."""
    source: RootSource


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry of a permission file that passed loading."""

    text: str
    """As written: `git log *`, `npm test`, `Read(src/**)`."""
    source: RootSource
    """`user` or `local`."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything a verdict depends on beside the call."""

    mode: Mode
    level: ApprovalLevel
    workspace: str | None
    """Resolved folder; None when the session has none."""
    roots: tuple[Root, ...] = ()
    allow: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    strict_redirects: bool = False
    """The user's file asks for the letter: every redirect asks."""
    plan_path: str | None = None
    """The session's plan file, the only one that mode `plan` may write."""
    home: str = "/nonexistent"
    """Resolved home folder."""
    kova_home: str = "/nonexistent"
    data_dir: str = "/nonexistent"
    runtime_dir: str = "/nonexistent"
    path_dirs: tuple[str, ...] = ()
    """Resolved folders on PATH."""
    case_folds: bool = False
    """The file system ignores case."""
    git_dirs_ok: bool = True
    """The git directory that git would use is the workspace's own."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as the gates see it."""

    tool: str
    """Name, for `Tool(what)` rules only."""
    effects: tuple[Effect, ...]
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ruling:
    """A verdict with everything a card shows."""

    decision: Decision
    reasons: tuple[Reason, ...]
    """Strictest first; never empty."""
    segments: tuple[Segment, ...] = ()
    """Of a command, in order."""
    rules: tuple[str, ...] = field(default=())
    """What "remember" would write, one per segment; empty when it may not be remembered."""
    notices: tuple[str, ...] = field(default=())
    """For the card."""
