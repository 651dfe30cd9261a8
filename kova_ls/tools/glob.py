"""Find files by name pattern, newest first.

Invariant: looks at names and times alone, never into a file.
"""

import asyncio
import os

from pydantic import Field

from kova_ls.permission.effects import Effect
from kova_ls.tools._args import Args
from kova_ls.tools._base import Resolve, Tool, ToolContext, ToolResult, reports_errors
from kova_ls.tools._ripgrep import listed, matcher, secrets
from kova_ls.values import TextBlock
from kova_ls.vocabulary import ToolKind

_MAX_CHARS = 30_000
_MAX_INLINE_STATS = 500


class GlobArgs(Args):
    """Arguments of `glob`."""

    pattern: str
    """`*.{ts,tsx}` matches names at any depth, `src/**/*.py` below path."""
    path: str | None = None
    """Folder; default the workspace."""
    include_ignored: bool = False
    """Also files that .gitignore and its kin exclude."""
    offset: int = Field(default=0, ge=0)
    """Skip so many."""
    head_limit: int = Field(default=100, ge=0)
    """0 = no limit."""


def effects(args: GlobArgs, resolve: Resolve) -> list[Effect]:
    """Declare the folder and everything below."""
    return [resolve(_place(args)[0]).reads(is_tree=True)]


@reports_errors
async def run(args: GlobArgs, ctx: ToolContext) -> ToolResult:
    """List the folder afresh and return one page."""
    place, pattern = _place(args)
    folder = ctx.resolve(place)
    if not folder.exists or not os.path.isdir(folder.path):
        what = "is not a folder" if folder.exists else "does not exist"
        name = ctx.workspace.display(folder.path)
        return ToolResult(f"{name} {what}; give a folder as path.", is_error=True)
    tree = folder.path
    matches = matcher(pattern)
    paths, incomplete = await listed(ctx, tree, includes_ignored=args.include_ignored)
    is_sensitive = secrets(ctx)
    unsaved = [path for path in ctx.workspace.overlays(tree) if not os.path.lexists(path)]
    found = {
        path
        for path in (*paths, *unsaved)
        if matches(_below(path, tree)) and not is_sensitive(path)
    }
    ordered = (
        _newest_first(found)
        if len(found) <= _MAX_INLINE_STATS
        else await asyncio.to_thread(_newest_first, found)
    )
    return _page(args, ctx, ordered, frozenset(unsaved), incomplete)


def _place(args: GlobArgs) -> tuple[str, str]:
    """Move the literal beginning of an absolute pattern to the folder."""
    path, pattern = args.path or ".", args.pattern
    if not pattern.startswith(("/", "~/", "../")):
        return path, pattern
    names = pattern.split("/")
    literal = 0
    while literal < len(names) - 1 and not any(sign in names[literal] for sign in "*?[{"):
        literal += 1
    folder, rest = "/".join(names[:literal]) or "/", "/".join(names[literal:])
    if pattern.startswith("../"):
        folder = f"{path}/{folder}"
    return folder, f"/{rest}"


def _page(
    args: GlobArgs, ctx: ToolContext, ordered: list[str], unsaved: frozenset[str], incomplete: str
) -> ToolResult:
    rows = [ctx.workspace.display(path) for path in ordered[args.offset :]]
    limit = args.head_limit or len(rows)
    size, count = 0, 0
    for row in rows[:limit]:
        size += len(row) + 1
        if size > _MAX_CHARS and count:
            break
        count += 1
    notes = [incomplete] if incomplete else []
    output_ref = None
    if count < len(rows[:limit]):
        whole = "\n".join(rows[:limit]).encode("utf-8", "surrogateescape")
        output_ref, path = ctx.save_output(whole, name="paths")
        notes.append(f"[The whole page is in {path}, which read can show.]")
    if count < len(rows):
        following = args.offset + count
        notes.append(f"[{following} of {len(ordered)} shown; next offset={following}.]")
    shown = ordered[args.offset : args.offset + count]
    new = ", ".join(ctx.workspace.display(path) for path in shown if path in unsaved)
    if new:
        notes.append(f"[Not on the disk, only open in the editor, unsaved: {new}.]")
    if not rows:
        none = f"No more: {len(ordered)} files match." if ordered else "No file matches."
        notes.insert(0, f"[{none}]")
    listing = "\n".join(rows[:count])
    text = "\n".join([listing, *notes] if listing else notes)
    return ToolResult(text, (TextBlock(text=text),), output_ref=output_ref)


def _below(path: str, tree: str) -> str:
    return path[len(tree) :].lstrip(os.sep).replace(os.sep, "/")


def _newest_first(paths: set[str]) -> list[str]:
    return sorted(paths, key=lambda path: (-_changed_at(path), path))


def _changed_at(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return float("inf")


TOOL = Tool(
    name="glob",
    kind=ToolKind.READ,
    args=GlobArgs,
    description="Find files by glob pattern, newest first.",
    effects=effects,
    run=run,
    title=lambda args: f"Find {args.pattern}" + (f" in {args.path}" if args.path else ""),
    aliases=("Glob",),
)
