"""Read a text file with line numbers.

Invariant: what is left out is stated, with the call that shows it.
"""

from pydantic import AliasChoices, Field

from kova_ls.permission.effects import Effect
from kova_ls.tools._args import Args
from kova_ls.tools._base import (
    Resolve,
    TextFile,
    Tool,
    ToolContext,
    ToolError,
    ToolResult,
    reports_errors,
)
from kova_ls.tools._text import line_ends
from kova_ls.values import LinkBlock
from kova_ls.vocabulary import ToolKind

_MAX_LINES = 1_000
_MAX_BYTES = 100_000
_MAX_LINE_CHARS = 2_000


class ReadArgs(Args):
    """Arguments of `read`."""

    path: str = Field(validation_alias=AliasChoices("path", "file_path"))
    """Absolute, `~`-led or relative to the workspace."""
    line_offset: int | None = Field(
        default=None, validation_alias=AliasChoices("line_offset", "offset")
    )
    """First line, from 1; negative counts from the end."""
    n_lines: int | None = Field(
        default=None, ge=1, validation_alias=AliasChoices("n_lines", "limit")
    )
    """Lines to read."""


def effects(args: ReadArgs, resolve: Resolve) -> list[Effect]:
    """Declare the one file."""
    return [resolve(args.path).reads()]


@reports_errors
async def run(args: ReadArgs, ctx: ToolContext) -> ToolResult:
    """Return the lines asked for, with what is missing."""
    path = ctx.resolve(args.path).path
    file = await ctx.workspace.read_text(path)
    name = ctx.workspace.display(path)
    ends = line_ends(file.text)
    lines = file.text.replace("\r\n", "\n").split("\n") if ends == "CRLF" else file.text.split("\n")
    if not lines[-1]:
        lines.pop()
    first = _first(args.line_offset, len(lines), name)
    shown = _numbered(lines, first, min(args.n_lines or _MAX_LINES, _MAX_LINES), ends == "mixed")
    last = first + len(shown) - 1
    text = "".join(shown) + _note(file, ends, first, last, len(lines))
    label = name if last - first + 1 == len(lines) else f"{name}:{first}-{last}"
    return ToolResult(text, (LinkBlock(uri=ctx.workspace.uri(path), text=label),))


def _first(offset: int | None, total: int, name: str) -> int:
    if not offset or not total:
        return 1
    if offset > total:
        raise ToolError(f"{name} has {total} lines; line_offset {offset} is beyond its end.")
    return offset if offset > 0 else max(1, total + 1 + offset)


def _numbered(lines: list[str], first: int, count: int, shows_returns: bool) -> list[str]:
    asked = lines[first - 1 : first - 1 + count]
    longest = max(map(len, asked), default=0)
    if (
        not shows_returns
        and longest <= _MAX_LINE_CHARS
        and len(asked) * (longest * 4 + 8) < _MAX_BYTES
    ):
        return [f"{number}\t{line}\n" for number, line in enumerate(asked, first)]
    shown: list[str] = []
    size = 0
    for number, line in enumerate(asked, first):
        if len(line) > _MAX_LINE_CHARS:
            more = len(line) - _MAX_LINE_CHARS
            line = f"{line[:_MAX_LINE_CHARS]} [… {more:,} more characters; cut them out in bash]"
        if shows_returns:
            line = line.replace("\r", "\\r")
        row = f"{number}\t{line}\n"
        size += len(row) if row.isascii() else len(row.encode("utf-8", "replace"))
        if size > _MAX_BYTES and shown:
            break
        shown.append(row)
    return shown


def _note(file: TextFile, ends: str, first: int, last: int, total: int) -> str:
    if not total:
        span = "Empty file"
    elif (first, last) == (1, total):
        span = f"{total} lines, the whole file" if total > 1 else "1 line, the whole file"
    else:
        span = f"Lines {first}-{last} of {total}"
    words = [span, f"line ends {ends}"]
    if file.encoding != "utf-8" or file.has_bom:
        words.append(file.encoding.upper() + (" with BOM" if file.has_bom else ""))
    if file.source == "editor":
        words.append("as in the editor, not saved")
    text = "; ".join(words)
    if ends == "mixed":
        text += ". \\r shows a carriage return; edit must match it as that character"
    if last < total:
        text += f". Go on with line_offset={last + 1}"
    return f"[{text}.]"


TOOL = Tool(
    name="read",
    kind=ToolKind.READ,
    args=ReadArgs,
    description=(
        "Read a text file: `number<TAB>line`, at most 1000 lines or 100 KB a call. Shows unsaved "
        "text of files open in the editor. For folders use glob."
    ),
    effects=effects,
    run=run,
    title=lambda args: f"Read {args.path}",
    aliases=("Read", "ReadFile", "read_file"),
)
