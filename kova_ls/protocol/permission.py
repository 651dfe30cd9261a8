"""Permissions: explain a verdict, list rules and roots."""

from typing import Any

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


class PermissionListResult(WireModel):
    """Rules and roots in force, and what is merely proposed."""

    allow: tuple[RuleEntry, ...]
    """In force."""
    deny: tuple[RuleEntry, ...]
    """In force."""
    roots: tuple[RootEntry, ...]
    """In force, the workspace itself not listed."""
    proposed: tuple[str, ...] = ()
    """What the project's file asks for; not in force."""
    problems: tuple[str, ...] = ()
    """What is wrong with the files, with line and column."""
