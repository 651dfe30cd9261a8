"""Search file contents with ripgrep, open documents as the editor has them.

Invariant: a file with unsaved text is searched in that text alone, by the same ripgrep.
"""

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pydantic import AliasChoices, Field

from kova_ls.permission.effects import Effect
from kova_ls.tools._args import Args
from kova_ls.tools._base import (
    Resolve,
    Tool,
    ToolContext,
    ToolError,
    ToolResult,
    reports_errors,
)
from kova_ls.tools._ripgrep import listed, matcher, missing, search, secrets
from kova_ls.values import TextBlock
from kova_ls.vocabulary import ToolKind

_MAX_CHARS = 40_000
_MAX_LINE_CHARS = 500


class GrepArgs(Args):
    """Arguments of `grep`."""

    pattern: str
    """Regular expression (Rust syntax)."""
    path: str | None = None
    """File or folder; default the workspace."""
    glob: str | None = None
    """Only files that match, as `*.{ts,tsx}` or `src/**`; `!` excludes."""
    type: str | None = None
    """ripgrep file type: py, ts, rust …"""
    output_mode: Literal["files_with_matches", "content", "count_matches"] = "files_with_matches"
    """What to return."""
    after: int = Field(default=0, ge=0, alias="-A")
    """Context lines after (content)."""
    before: int = Field(default=0, ge=0, alias="-B")
    """Before."""
    around: int = Field(default=0, ge=0, alias="-C")
    """Both."""
    ignore_case: bool = Field(default=False, alias="-i")
    """Ignore case."""
    line_numbers: bool = Field(default=True, alias="-n")
    """Line numbers (content)."""
    multiline: bool = False
    """Match across lines; `.` matches newline."""
    include_ignored: bool = False
    """Also files that .gitignore excludes."""
    offset: int = Field(default=0, ge=0)
    """Skip so many rows."""
    head_limit: int = Field(default=250, ge=0, validation_alias=AliasChoices("head_limit", "limit"))
    """0 = no limit."""


@dataclass(frozen=True, slots=True)
class _Row:
    path: str
    """Absolute; empty for the line between two pieces of context."""
    text: str
    """What stands after the path, its separator included."""


def effects(args: GrepArgs, resolve: Resolve) -> list[Effect]:
    """Declare the place and everything below."""
    return [resolve(args.path or ".").reads(is_tree=True)]


@reports_errors
async def run(args: GrepArgs, ctx: ToolContext) -> ToolResult:
    """Search and return one page of rows, ordered by path."""
    place = ctx.resolve(args.path or ".")
    name = ctx.workspace.display(place.path)
    overlays = ctx.workspace.overlays(place.path)
    if not place.exists and place.path not in overlays:
        raise ToolError(f"{name} does not exist; look for it with glob.")
    is_folder = os.path.isdir(place.path)
    tree = place.path if is_folder else os.path.dirname(place.path)
    wanted = _wanted(args, ctx, tree)
    rows, incomplete = await _rows(args, ctx, tree, place.path, args.include_ignored)
    rows = [row for row in rows if row.path not in overlays and wanted(row.path)]
    seen = await _visible(args, ctx, tree, overlays) if is_folder else overlays
    seen = {path: text for path, text in seen.items() if wanted(path)}
    if seen:
        rows += await _unsaved_rows(args, ctx, tree, seen)
    rows = _ordered(rows, overlays)
    return _page(args, ctx, rows, incomplete, bool(seen))


async def _rows(
    args: GrepArgs, ctx: ToolContext, cwd: str, target: str, includes_ignored: bool
) -> tuple[list[_Row], str]:
    code, out, was_cut = await search(
        ctx, [*_options(args), "--", target], cwd=cwd, includes_ignored=includes_ignored
    )
    rows = (
        [_Row(os.fsdecode(name), "") for name in out.split(b"\0")[:-1]]
        if args.output_mode == "files_with_matches"
        else _parsed(out)
    )
    if code == 2 and not rows:
        complaint = out.decode("utf-8", "replace").strip()
        if complaint and "os error" not in complaint:
            raise ToolError(f"ripgrep refused the search: {complaint}")
    if was_cut and rows:
        rows.pop()
    return rows, missing(code, was_cut)


def _parsed(out: bytes) -> list[_Row]:
    rows: list[_Row] = []
    for line in out.split(b"\n"):
        name, separator, rest = line.partition(b"\0")
        if separator:
            rows.append(_Row(os.fsdecode(name), _row_text(rest)))
        elif line == b"--" and rows:
            rows.append(_Row("", "--"))
    return rows


def _options(args: GrepArgs) -> list[str]:
    options = [
        "--null",
        "--with-filename",
        "--no-heading",
        "--color=never",
        f"--regexp={args.pattern}",
    ]
    match args.output_mode:
        case "files_with_matches":
            options.append("--files-with-matches")
        case "count_matches":
            options.append("--count-matches")
        case "content":
            options += [
                f"--max-columns={_MAX_LINE_CHARS}",
                "--max-columns-preview",
                "--line-number" if args.line_numbers else "--no-line-number",
                f"--after-context={args.after or args.around}",
                f"--before-context={args.before or args.around}",
            ]
    if args.ignore_case:
        options.append("--ignore-case")
    if args.multiline:
        options += ["--multiline", "--multiline-dotall"]
    return options + _file_options(args)


def _file_options(args: GrepArgs) -> list[str]:
    """Narrow by type and by glob; an including glob may not undo an ignore file, a type cannot."""
    if args.type:
        return [f"--type={args.type}"]
    last = (args.glob or "").rpartition("/")[2]
    is_plain = last and not last.startswith("!") and last.count("{") == last.count("}")
    if not is_plain or last == "**" or (args.glob or "").startswith("!"):
        return []
    return [f"--type-add=kova:{last}", "--type=kova"]


def _wanted(args: GrepArgs, ctx: ToolContext, tree: str) -> Callable[[str], bool]:
    excludes = (args.glob or "").startswith("!")
    is_sensitive = secrets(ctx)
    test = matcher((args.glob or "**").removeprefix("!"))

    def wanted(path: str) -> bool:
        if not path:
            return True
        below = path[len(tree) :].lstrip(os.sep).replace(os.sep, "/")
        return not is_sensitive(path) and (not args.glob or test(below) != excludes)

    return wanted


async def _visible(
    args: GrepArgs, ctx: ToolContext, tree: str, overlays: dict[str, str]
) -> dict[str, str]:
    """Leave out documents that an ignore file hides; new ones have no file to be hidden."""
    if args.include_ignored or not overlays:
        return overlays
    paths, _ = await listed(ctx, tree, includes_ignored=False)
    on_disk = set(paths)
    return {
        path: text
        for path, text in overlays.items()
        if path in on_disk or not os.path.lexists(path)
    }


async def _unsaved_rows(
    args: GrepArgs, ctx: ToolContext, tree: str, texts: dict[str, str]
) -> list[_Row]:
    with tempfile.TemporaryDirectory(prefix="kova-") as folder:
        folder = os.path.realpath(folder)
        _copy(texts, tree, folder)
        rows, _ = await _rows(args, ctx, folder, folder, includes_ignored=True)
    back = len(folder)
    return [
        _Row(os.path.join(tree, row.path[back:].lstrip(os.sep)) if row.path else "", row.text)
        for row in rows
    ]


def _copy(texts: dict[str, str], tree: str, folder: str) -> None:
    for path, text in texts.items():
        copy = os.path.join(folder, os.path.relpath(path, tree))
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        with open(copy, "w", encoding="utf-8", errors="replace", newline="") as file:
            file.write(text)


def _row_text(rest: bytes) -> str:
    text = rest.decode("utf-8", "replace").rstrip("\r")
    # With many matches in one line --max-columns cuts by bytes, not here.
    return text if len(text) <= 2 * _MAX_LINE_CHARS else f"{text[: 2 * _MAX_LINE_CHARS]} [… cut]"


def _ordered(rows: list[_Row], overlays: dict[str, str]) -> list[_Row]:
    """Order by path, each file's rows kept together with the breaks between them."""
    files: dict[str, list[_Row]] = {}
    breaks = False
    for row in rows:
        if not row.path:
            breaks = True
            continue
        own = files.setdefault(row.path, [])
        if breaks and own:
            own.append(_Row("", "--"))
        breaks = False
        own.append(row)
    return [row for path in sorted(files) for row in files[path]]


def _page(
    args: GrepArgs, ctx: ToolContext, rows: list[_Row], incomplete: str, has_unsaved: bool
) -> ToolResult:
    rest = rows[args.offset :]
    limit = args.head_limit or len(rest)
    lines: list[str] = []
    size = 0
    for row in rest[:limit]:
        line = _line(args, ctx, row)
        size += len(line) + 1
        if size > _MAX_CHARS and lines:
            break
        lines.append(line)
    notes: list[str] = []
    output_ref = None
    if not rest:
        notes.append(f"[No more: {len(rows)} rows match.]" if rows else "[No match.]")
    if len(lines) < len(rest[:limit]):
        whole = "\n".join(_line(args, ctx, row) for row in rest[:limit])
        output_ref, path = ctx.save_output(whole.encode("utf-8", "surrogateescape"), name="matches")
        notes.append(f"[The whole page is in {path}, which read can show.]")
    if len(lines) < len(rest):
        following = args.offset + len(lines)
        notes.append(f"[{following} of {len(rows)} rows shown; next offset={following}.]")
    if has_unsaved:
        notes.append("[Unsaved text of open documents was searched instead of their files.]")
    if incomplete:
        notes.append(incomplete)
    text = "\n".join(lines + notes)
    return ToolResult(text, (TextBlock(text=text),), output_ref=output_ref)


def _line(args: GrepArgs, ctx: ToolContext, row: _Row) -> str:
    if not row.path:
        return row.text
    name = ctx.workspace.display(row.path)
    return name if args.output_mode == "files_with_matches" else f"{name}:{row.text}"


TOOL = Tool(
    name="grep",
    kind=ToolKind.READ,
    args=GrepArgs,
    description="Search file contents with ripgrep. Prefer it to grep in bash.",
    effects=effects,
    run=run,
    title=lambda args: f"Search {args.pattern!r}" + (f" in {args.path}" if args.path else ""),
    aliases=("Grep",),
)
