"""Review: every change of a session by file and hunk, kept or reverted."""

from typing import Literal

from pydantic import Field

from kova_ls.protocol._base import WireModel


class Hunk(WireModel):
    """A stretch of lines that changed together."""

    hunk_id: str
    """Opaque id; stays the same while the hunk is there."""
    start_line: int
    """First line in the present text, zero-based."""
    line_count: int
    """Lines in the present text; 0 for a deletion."""
    old_start_line: int
    """First line in the text before, zero-based."""
    old_line_count: int
    """Lines in the text before; 0 for an insertion."""
    diff: str
    """Unified diff of this hunk, with its header."""


class Change(WireModel):
    """What turns of the session did to one file, as far as it is not reviewed."""

    change_id: str
    """Opaque id; one per file."""
    uri: str
    """`file:` URI."""
    change: Literal["create", "modify", "delete"]
    """What happened to the file."""
    turn_ids: tuple[str, ...]
    """Turns that took part."""
    hunks: tuple[Hunk, ...]
    """Unreviewed ones, in order."""
    conflict: str | None = None
    """Why it cannot be reverted as it is: the file is gone, binary or changed too much."""
    added_lines: int = 0
    """Of all hunks."""
    removed_lines: int = 0
    """Of all hunks."""


class ChangesListParams(WireModel):
    """Whose changes."""

    session_id: str
    """Opaque id."""
    turn_id: str | None = None
    """Only what this turn took part in."""


class ChangesListResult(WireModel):
    """What is not reviewed yet."""

    changes: tuple[Change, ...]
    """By file, in the order of their first change."""


class ChangesDecideParams(WireModel):
    """Keep or revert; all of the session when neither ids nor a turn are given."""

    session_id: str
    """Opaque id."""
    decision: Literal["keep", "revert"]
    """`revert` puts the text before back, or refuses."""
    change_ids: tuple[str, ...] = ()
    """Whole files."""
    hunk_ids: tuple[str, ...] = ()
    """Single hunks."""
    turn_id: str | None = None
    """Everything this turn took part in."""


class ChangesDecideResult(WireModel):
    """What remains, and what was refused."""

    changes: tuple[Change, ...]
    """Still not reviewed."""
    refused: tuple[str, ...] = Field(default=())
    """Why something could not be reverted, one sentence each; nothing was lost."""
