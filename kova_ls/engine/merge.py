"""Two changes of one text: where each side changed it, and what comes of both. Pure.

Invariant: a character that either side wrote is in the merged text, or a conflict is reported.
Invariant: lines end at `\\n` alone, and lines of two sides are never joined into one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from kova_ls.tools._diff import Opcode, line_changes, split_lines

Span = tuple[int, int]
"""First line and the line after the last, counted from 0."""


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch of lines in all three texts."""

    kind: Literal["same", "ours", "theirs", "both", "conflict"]
    """Who changed it; `both` did so in the same way, `conflict` in different ways."""
    base: Span
    ours: Span
    theirs: Span


def regions(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> list[Region]:
    """Return the stretches that make up the three texts, in order and without gaps."""
    edits = sorted(
        [
            *((op[1], op[2], 0, op) for op in _edits(base, ours)),
            *((op[1], op[2], 1, op) for op in _edits(base, theirs)),
        ],
        key=lambda edit: edit[:3],
    )
    found: list[Region] = []
    at = at_ours = at_theirs = 0
    index = 0
    while index < len(edits):
        start, stop = edits[index][:2]
        cluster = [edits[index]]
        index += 1
        while index < len(edits) and _touches((start, stop), edits[index][:2]):
            stop = max(stop, edits[index][1])
            cluster.append(edits[index])
            index += 1
        if start > at:
            gap = start - at
            found.append(
                Region("same", (at, start), (at_ours, at_ours + gap), (at_theirs, at_theirs + gap))
            )
            at_ours += gap
            at_theirs += gap
        end_ours = at_ours + stop - start + _growth(op for *_, side, op in cluster if side == 0)
        end_theirs = at_theirs + stop - start + _growth(op for *_, side, op in cluster if side == 1)
        sides = {side for *_, side, _ in cluster}
        if sides == {0}:
            kind = "ours"
        elif sides == {1}:
            kind = "theirs"
        elif list(ours[at_ours:end_ours]) == list(theirs[at_theirs:end_theirs]):
            kind = "both"
        else:
            kind = "conflict"
        found.append(Region(kind, (start, stop), (at_ours, end_ours), (at_theirs, end_theirs)))
        at, at_ours, at_theirs = stop, end_ours, end_theirs
    if at < len(base):
        rest = len(base) - at
        found.append(
            Region(
                "same",
                (at, len(base)),
                (at_ours, at_ours + rest),
                (at_theirs, at_theirs + rest),
            )
        )
    return found


def merge(base: str, ours: str, theirs: str) -> str | None:
    """Return the text that holds the changes of both sides; None when they conflict."""
    parts = tuple(map(split_lines, (base, ours, theirs)))
    merged: list[str] = []
    for region in regions(*parts):
        if region.kind == "conflict":
            return None
        if region.kind == "theirs":
            merged += parts[2][slice(*region.theirs)]
        else:
            merged += parts[1][slice(*region.ours)]
    return joined(merged)


def carried(base: str, written: str, present: str) -> str:
    """Return `base` with what was done to `written` since, where that does not touch its changes.

    A stretch that both changed is taken as it is at present: whoever changed it has seen it.
    """
    parts = tuple(map(split_lines, (written, base, present)))
    lines: list[str] = []
    for region in regions(*parts):
        if region.kind == "ours":
            lines += parts[1][slice(*region.ours)]
        else:
            lines += parts[2][slice(*region.theirs)]
    return joined(lines)


def joined(lines: Iterable[str]) -> str:
    """Return the lines as a text; one that lost its end and is not the last gets it back."""
    parts = list(lines)
    return "".join(
        line if line.endswith("\n") or number == len(parts) - 1 else f"{line}\n"
        for number, line in enumerate(parts)
    )


def _edits(before: Sequence[str], after: Sequence[str]) -> list[Opcode]:
    changes = line_changes(list(before), list(after))
    return [op for op in changes if op[0] != "equal" and (op[1] < op[2] or op[3] < op[4])]


def _touches(one: Span, other: Span) -> bool:
    """Two insertions at one place touch, since nothing says which comes first."""
    return (one[0] < other[1] and other[0] < one[1]) or one == other == (one[0], one[0])


def _growth(ops: Iterable[Opcode]) -> int:
    return sum((op[4] - op[3]) - (op[2] - op[1]) for op in ops)
