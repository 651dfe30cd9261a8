"""Replace exact text in a file.

Invariant: a match that is not unique changes nothing unless every match is meant.
Invariant: line ends stay; a pure CRLF file is matched as `read` shows it, with LF.
"""

import re
from dataclasses import dataclass
from difflib import get_close_matches

from pydantic import AliasChoices, Field, model_validator

from kova_ls.permission.effects import Effect
from kova_ls.tools._args import Args
from kova_ls.tools._base import (
    Preview,
    Resolve,
    TextFile,
    Tool,
    ToolContext,
    ToolError,
    ToolResult,
    reports_errors,
)
from kova_ls.tools._diff import preview_of, shown
from kova_ls.tools._text import line_ends
from kova_ls.vocabulary import ToolKind

_MAX_HINT_LINES = 20_000
_MAX_HINT_CHARS = 600


class EditArgs(Args):
    """Arguments of `edit`."""

    path: str = Field(validation_alias=AliasChoices("path", "file_path"))
    """The file."""
    old_string: str
    """Exact text to replace, without line numbers; unique unless replace_all."""
    new_string: str
    """What to put there."""
    replace_all: bool = False
    """Replace every match."""

    @model_validator(mode="after")
    def _differ(self) -> "EditArgs":
        if not self.old_string:
            raise ValueError("old_string is empty; use write to create a file or append to it")
        if self.old_string == self.new_string:
            raise ValueError("old_string and new_string are identical; nothing would change")
        return self


@dataclass(frozen=True, slots=True)
class _Edited:
    path: str
    old: TextFile
    new: str
    line_nos: list[int]


def effects(args: EditArgs, resolve: Resolve) -> list[Effect]:
    """Declare looking at the file, since hints quote it, and changing it."""
    target = resolve(args.path)
    return [target.reads(), target.writes()]


async def preview(args: EditArgs, ctx: ToolContext) -> Preview:
    """Return the diff without writing."""
    edited = await _edited(args, ctx)
    return preview_of(ctx, edited.path, edited.old, edited.new, is_new=False)


@reports_errors
async def run(args: EditArgs, ctx: ToolContext) -> ToolResult:
    """Replace, unless the file moved since it was looked at."""
    edited = await _edited(args, ctx)
    change = await ctx.workspace.write_text(edited.path, edited.new, like=edited.old)
    block, output_ref = shown(change, ctx)
    count = len(edited.line_nos)
    where = ", ".join(map(str, edited.line_nos[:10])) + (" …" if count > 10 else "")
    text = (
        f"Replaced {count} {'match' if count == 1 else 'matches'} in "
        f"{ctx.workspace.display(edited.path)} (line {where})."
    )
    return ToolResult(text, (block,), output_ref=output_ref)


async def _edited(args: EditArgs, ctx: ToolContext) -> _Edited:
    path = ctx.resolve(args.path).path
    file = await ctx.workspace.read_text(path)
    new, line_nos = replaced(
        file.text,
        args.old_string,
        args.new_string,
        replace_all=args.replace_all,
        name=ctx.workspace.display(path),
    )
    return _Edited(path, file, new, line_nos)


def replaced(
    text: str, old: str, new: str, *, replace_all: bool, name: str
) -> tuple[str, list[int]]:
    """Return the text with the replacement and the line numbers of the matches.

    Raises: ToolError when there is no match, or several and `replace_all` is off.
    """
    ends = line_ends(text)
    if ends == "CRLF":
        text, old, new = (part.replace("\r\n", "\n") for part in (text, old, new))
        if old == new:
            raise ToolError("old_string and new_string differ in line ends alone; nothing to do.")
    if old not in text:
        raise ToolError(
            f"old_string is not in {name}; nothing was changed. {_hint(text, old, ends)}"
        )
    line_nos = _line_nos(text, old, step=len(old) if replace_all else 1)
    if len(line_nos) > 1 and not replace_all:
        listed = ", ".join(map(str, line_nos[:10]))
        raise ToolError(
            f"old_string is in {name} {len(line_nos)} times (lines {listed}); nothing was changed. Give "
            "more of the lines around it to make it unique, or set replace_all: true."
        )
    result = text.replace(old, new)
    return (result.replace("\n", "\r\n") if ends == "CRLF" else result), line_nos


def _line_nos(text: str, old: str, *, step: int) -> list[int]:
    found: list[int] = []
    line_no, seen, at = 1, 0, text.find(old)
    while at >= 0:
        line_no += text.count("\n", seen, at)
        found.append(line_no)
        seen, at = at, text.find(old, at + step)
    return found


def _hint(text: str, old: str, ends: str) -> str:
    stripped = re.sub(r"(?m)^ *\d+\t", "", old)
    if stripped != old and stripped in text:
        return "Leave out the line numbers that read shows."
    if ends == "mixed" and old.replace("\r", "") in text.replace("\r", ""):
        return "The file's line ends are mixed: match the \\r characters that read shows, exactly."
    lines = text.split("\n")[:_MAX_HINT_LINES]
    wanted = old.strip("\n").split("\n")
    place = _loose(lines, wanted)
    if place is not None:
        exact = "\n".join(lines[place : place + len(wanted)])
        return (
            f"Lines {place + 1}-{place + len(wanted)} differ only in white space or quotes; they "
            f"are exactly:\n{_cut(exact)}"
        )
    first = next((line for line in wanted if line.strip()), "")
    near = get_close_matches(first.strip(), {line.strip() for line in lines}, n=1, cutoff=0.7)
    if near:
        at = next(n for n, line in enumerate(lines) if line.strip() == near[0])
        return (
            f"Nearest is line {at + 1}:\n{_cut(lines[at])}\nRead the file again and copy the text."
        )
    return "Read the file again and copy the text."


def _loose(lines: list[str], wanted: list[str]) -> int | None:
    folded = [_folded(line) for line in lines]
    sought = [_folded(line) for line in wanted]
    for start in range(len(folded) - len(sought) + 1):
        if folded[start] == sought[0] and folded[start : start + len(sought)] == sought:
            return start
    return None


def _folded(line: str) -> str:
    return "".join(line.split()).translate(_QUOTES)


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_HINT_CHARS else f"{text[:_MAX_HINT_CHARS]}[… cut]"


_QUOTES = str.maketrans("‘’“”–—", "''\"\"--")

TOOL = Tool(
    name="edit",
    kind=ToolKind.WRITE,
    args=EditArgs,
    description=(
        "Replace exact text in a file. Read it first. Line ends and encoding are kept; CRLF files "
        "match with LF, as read shows them."
    ),
    effects=effects,
    run=run,
    title=lambda args: f"Edit {args.path}",
    preview=preview,
    aliases=("Edit", "StrReplaceFile", "str_replace"),
)
