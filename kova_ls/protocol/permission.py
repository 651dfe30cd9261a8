"""Permissions: explain a verdict, list rules and roots."""

from typing import Any, Literal

from kova_ls.journal.records import RootEntry
from kova_ls.protocol._base import WireModel
from kova_ls.values import Reason, Segment
from kova_ls.vocabulary import Decision, RootSource


class PermissionExplainParams(WireModel):
    """A call that is only thought of."""

    session_id: str
    """Opaque id."""
    tool: str
    """Name of the tool."""
    input: dict[str, Any]
    """Its arguments."""


class PermissionExplainResult(WireModel):
    """The verdict that call would get now; nothing ran."""

    decision: Decision
    """The strictest of all gates."""
    reasons: tuple[Reason, ...]
    """Every reason, strictest first."""
    segments: tuple[Segment, ...] = ()
    """Of a command."""
    rules: tuple[str, ...] = ()
    """What "remember" would write; empty when it may not be remembered."""
    notices: tuple[str, ...] = ()
    """What the card would say beside."""


class PermissionListParams(WireModel):
    """Whose rules."""

    session_id: str
    """Opaque id."""


class RuleEntry(WireModel):
    """A rule and where it stands."""

    rule: str
    """As written."""
    source: RootSource
    """Which file."""
    path: str
    """The file, `file:` URI."""
    is_free_pass: bool = False
    """It allows, for good, a program that is otherwise never remembered."""


class PermissionListResult(WireModel):
    """Rules and roots in force, and what is merely proposed."""

    allow: tuple[RuleEntry, ...]
    """In force."""
    deny: tuple[RuleEntry, ...]
    """In force."""
    roots: tuple[RootEntry, ...]
    """In force, the workspace itself not listed."""
    proposed: tuple["ProposalEntry", ...] = ()
    """What files ask for that is not in force."""
    pending: tuple["PendingEntry", ...] = ()
    """Files that hold what nobody confirmed; `adopt` confirms it."""
    problems: tuple[str, ...] = ()
    """What is wrong with the files, with line and column."""


class ProposalEntry(WireModel):
    """Something a file asks for that nobody confirmed."""

    proposal_id: str
    """For `accept`; stays the same while file and value do."""
    kind: Literal["allow", "deny", "root"]
    """What it would be."""
    value: str
    """As written."""
    source: Literal["project", "local", "user"]
    """Which file asks: the project's shared one, or one that changed behind your back."""
    sentence: str
    """`This project requests ...`."""
    refusal: str | None = None
    """Why it cannot be accepted, when it cannot."""


class PendingEntry(WireModel):
    """A file that holds what nobody confirmed."""

    layer: Literal["user", "local"]
    """Which file."""
    path: str
    """The file, `file:` URI."""
    digest: str
    """For `adopt`: exactly this content is meant."""
    lines: tuple[str, ...]
    """One phrase for each thing that adopting would change."""


class RuleParams(WireModel):
    """A rule to add or remove."""

    session_id: str
    """Opaque id; its workspace is meant."""
    layer: Literal["user", "local"]
    """Which file."""
    rule: str
    """Such as `git log *`, `Read(secrets/**)`."""
    kind: Literal["allow", "deny"] = "allow"
    """Which list."""


class RootParams(WireModel):
    """A writable folder to add or remove."""

    session_id: str
    """Opaque id; its workspace is meant."""
    layer: Literal["user", "local"]
    """Which file."""
    root: str
    """A path: absolute, `~`-led, or relative to the workspace."""


class AcceptParams(WireModel):
    """One proposed item, to be written into the file of this machine."""

    session_id: str
    """Opaque id; its workspace is meant."""
    proposal_id: str
    """From `kova/permission/list`."""


class AdoptParams(WireModel):
    """Confirm what a file holds that nobody confirmed yet."""

    session_id: str
    """Opaque id; its workspace is meant."""
    layer: Literal["user", "local"] = "local"
    """Which file."""
    digest: str | None = None
    """Of what was shown; when the file holds something else by now, nothing is adopted."""


class PermissionChangeResult(WireModel):
    """What changed."""

    changed: tuple[str, ...]
    """One phrase for each thing that is now in force, or no longer; empty when nothing changed."""
    path: str
    """The file, `file:` URI."""
    notices: tuple[str, ...] = ()
    """Things worth knowing, such as a rule that is a permanent free pass."""
