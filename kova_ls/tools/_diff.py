"""Unified diffs of two texts.

Invariant: bounded work; beyond the bound the changed middle is one whole replacement.
"""

from difflib import SequenceMatcher

from kova_ls.tools._base import Preview, TextFile, ToolContext
from kova_ls.values import DiffBlock, FileChange

_MAX_COMPARED_LINES = 5_000
_CONTEXT_LINES = 3

Opcode = tuple[str, int, int, int, int]


def unified(old: str, new: str, *, path: str, is_new: bool = False) -> str:
    """Return the unified diff, empty when nothing changed.

    Lines keep a carriage return; a missing last newline is stated as `diff -u` does.
    """
    if old == new:
        return ""
    before, after = split_lines(old), split_lines(new)
    head = f"--- {'/dev/null' if is_new else f'a/{path}'}\n+++ b/{path}\n"
    return head + "".join(
        _hunk(group, before, after) for group in _groups(line_changes(before, after))
    )


def shorten(diff: str, *, max_lines: int = 1_000, max_chars: int = 100_000) -> tuple[str, int]:
    """Return the diff's beginning within both limits and how many lines are left out."""
    lines = split_lines(diff)
    kept, size = 0, 0
    for line in lines[:max_lines]:
        size += len(line)
        if size > max_chars:
            break
        kept += 1
    return "".join(lines[:kept]), len(lines) - kept


def preview_of(ctx: ToolContext, path: str, old: TextFile, new: str, *, is_new: bool) -> Preview:
    """Return what replacing `old` by `new` would do, whole: an answer covers all of it."""
    change = FileChange(
        uri=ctx.workspace.uri(path),
        change="create" if is_new else "modify",
        diff=unified(old.text, new, path=ctx.workspace.display(path), is_new=is_new),
        document_version=old.version,
    )
    return Preview((change,), {path: old.digest})


def shown(change: FileChange, ctx: ToolContext) -> tuple[DiffBlock, str | None]:
    """Return a change that was made as a block, and the whole diff's `outputRef` when cut."""
    diff, hidden_lines = shorten(change.diff)
    output_ref = None
    if hidden_lines:
        output_ref, _ = ctx.save_output(change.diff.encode("utf-8", "replace"), name="diff")
    block = DiffBlock(uri=change.uri, change=change.change, diff=diff, hidden_lines=hidden_lines)
    return block, output_ref


def counts(diff: str) -> tuple[int, int]:
    """Return how many lines the diff adds and removes."""
    added = removed = 0
    for line in diff.split("\n")[2:]:
        added += line.startswith("+")
        removed += line.startswith("-")
    return added, removed


def split_lines(text: str) -> list[str]:
    """Return the lines with their ends; only `\\n` ends one."""
    parts = text.split("\n")
    last = parts.pop()
    return [f"{part}\n" for part in parts] + ([last] if last else [])


def line_changes(before: list[str], after: list[str]) -> list[Opcode]:
    """Return opcodes as of `difflib` that lead from one list of lines to the other."""
    shorter = min(len(before), len(after))
    start = 0
    while start < shorter and before[start] == after[start]:
        start += 1
    end = 0
    while end < shorter - start and before[-1 - end] == after[-1 - end]:
        end += 1
    old = before[start : len(before) - end]
    new = after[start : len(after) - end]
    if not old or not new or max(len(old), len(new)) > _MAX_COMPARED_LINES:
        middle: list[Opcode] = [("replace", 0, len(old), 0, len(new))]
    else:
        middle = list(SequenceMatcher(None, old, new).get_opcodes())
    ops: list[Opcode] = [("equal", 0, start, 0, start)] if start else []
    ops += [(tag, i + start, j + start, k + start, m + start) for tag, i, j, k, m in middle]
    if end:
        ops.append(
            ("equal", len(before) - end, len(before), len(after) - end, len(after)),
        )
    return ops


def _groups(ops: list[Opcode]) -> list[list[Opcode]]:
    groups: list[list[Opcode]] = [[]]
    for number, (tag, i, j, k, m) in enumerate(ops):
        if tag != "equal":
            groups[-1].append((tag, i, j, k, m))
            continue
        is_first, is_last = number == 0, number == len(ops) - 1
        length = j - i
        if not is_first and not is_last and length <= 2 * _CONTEXT_LINES:
            groups[-1].append((tag, i, j, k, m))
            continue
        reach = min(_CONTEXT_LINES, length)
        if not is_first:
            groups[-1].append((tag, i, i + reach, k, k + reach))
        if not is_last:
            if not is_first:
                groups.append([])
            groups[-1].append((tag, j - reach, j, m - reach, m))
    return groups


def _hunk(group: list[Opcode], before: list[str], after: list[str]) -> str:
    first, last = group[0], group[-1]
    out = [f"@@ -{_span(first[1], last[2])} +{_span(first[3], last[4])} @@\n"]
    for tag, i, j, k, m in group:
        if tag == "equal":
            out += [_marked(" ", line) for line in before[i:j]]
            continue
        out += [_marked("-", line) for line in before[i:j]]
        out += [_marked("+", line) for line in after[k:m]]
    return "".join(out)


def _marked(sign: str, line: str) -> str:
    return (
        f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"
    )


def _span(start: int, stop: int) -> str:
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"
