"""From two texts to the smallest LSP edits between them, and back. Pure.

Lines end at `\\n` only: pygls' own documents also break at form feed and U+2028, and one change
after such a character would corrupt the text.
Invariant: positions are UTF-16 code units on the wire and code points here.
Invariant: no edit begins or ends between `\\r` and `\\n`, since no editor has a place there.
"""

from typing import Any

from kova_ls.tools._diff import line_changes, split_lines

Edit = tuple[int, int, str]
"""Offset of the first character, offset after the last, what stands there instead."""


def edits(old: str, new: str) -> list[Edit]:
    """Return edits of `old` that give `new`: in order, apart from each other, trimmed."""
    before, after = split_lines(old), split_lines(new)
    starts = _starts(before)
    found: list[Edit] = []
    for tag, first, last, k, m in line_changes(before, after):
        if tag != "equal":
            edit = _trimmed(old, starts[first], starts[last], "".join(after[k:m]))
            if edit is not None:
                found.append(edit)
    return found


def to_lsp(text: str, changes: list[Edit]) -> list[dict[str, Any]]:
    """Return the edits as LSP's `TextEdit`s of the text before."""
    starts = _starts(split_lines(text))
    wired: list[dict[str, Any]] = []
    line = 0
    for start, stop, put in changes:
        places: list[dict[str, int]] = []
        for offset in (start, stop):
            while line + 1 < len(starts) and starts[line + 1] <= offset:
                line += 1
            # The line after a last newline exists; one after an unended last line does not.
            if line and starts[line] == len(text) and not text.endswith("\n"):
                line -= 1
            places.append({"line": line, "character": _units(text[starts[line] : offset])})
        wired.append({"range": {"start": places[0], "end": places[1]}, "newText": put})
    return wired


def apply_change(text: str, change: dict[str, Any]) -> str:
    """Return the text after one content change of LSP."""
    span = change.get("range")
    if span is None:
        return str(change["text"])
    start = offset_of(text, span["start"]["line"], span["start"]["character"])
    end = offset_of(text, span["end"]["line"], span["end"]["character"])
    return text[:start] + str(change["text"]) + text[max(start, end) :]


def offset_of(text: str, line: int, character: int) -> int:
    """Return the code point offset of a position, clamped to its line and to the text."""
    start = 0
    for _ in range(line):
        stop = text.find("\n", start)
        if stop < 0:
            return len(text)
        start = stop + 1
    stop = text.find("\n", start)
    end = len(text) if stop < 0 else stop
    if text.isascii():
        return min(start + max(character, 0), end)
    units = 0
    for index in range(start, end):
        if units >= character:
            return index
        units += 2 if ord(text[index]) > 0xFFFF else 1
    return end


def _trimmed(old: str, start: int, stop: int, put: str) -> Edit | None:
    shorter = min(stop - start, len(put))
    same = 0
    while same < shorter and old[start + same] == put[same]:
        same += 1
    if same and old[start + same - 1] == "\r":
        same -= 1  # a `\n` follows on at least one side
    tail = 0
    while tail < shorter - same and old[stop - 1 - tail] == put[-1 - tail]:
        tail += 1
    while tail and _splits(old, stop - tail) | _splits(put, len(put) - tail):
        tail -= 1
    if same == len(put) and start + same == stop:
        return None
    return start + same, stop - tail, put[same : len(put) - tail]


def _splits(text: str, offset: int) -> bool:
    return 0 < offset < len(text) and text[offset - 1] == "\r" and text[offset] == "\n"


def _starts(lines: list[str]) -> list[int]:
    """Return the offset of each line and of the end."""
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    return starts


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text) + sum(char > "\uffff" for char in text)
