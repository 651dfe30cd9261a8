"""Create a file, replace its text, or append to it.

Invariant: the form of a file that is there (encoding, byte order mark, mode) stays.
"""

from typing import Literal

from pydantic import AliasChoices, Field

from kova_ls.permission.effects import Effect
from kova_ls.tools._args import Args
from kova_ls.tools._base import (
    Preview,
    Resolve,
    TextFile,
    Tool,
    ToolContext,
    ToolResult,
    reports_errors,
)
from kova_ls.tools._diff import counts, preview_of, shown
from kova_ls.tools._text import no_file
from kova_ls.vocabulary import ToolKind


class WriteArgs(Args):
    """Arguments of `write`."""

    path: str = Field(validation_alias=AliasChoices("path", "file_path"))
    """Parent folders are created."""
    content: str
    """The whole text, or what to append."""
    mode: Literal["overwrite", "append"] = "overwrite"
    """`append` adds no newline."""


def effects(args: WriteArgs, resolve: Resolve) -> list[Effect]:
    """Declare the one file."""
    return [resolve(args.path).writes()]


async def preview(args: WriteArgs, ctx: ToolContext) -> Preview:
    """Return the diff without writing."""
    path, is_new, old, new = await _texts(args, ctx)
    return preview_of(ctx, path, old, new, is_new=is_new)


@reports_errors
async def run(args: WriteArgs, ctx: ToolContext) -> ToolResult:
    """Write, unless the file moved since it was looked at."""
    path, is_new, old, new = await _texts(args, ctx)
    change = await ctx.workspace.write_text(path, new, like=old)
    added, removed = counts(change.diff)
    deed = "Created" if is_new else "Appended to" if args.mode == "append" else "Replaced"
    block, output_ref = shown(change, ctx)
    text = f"{deed} {ctx.workspace.display(path)} (+{added} -{removed} lines)."
    return ToolResult(text, (block,), output_ref=output_ref)


async def _texts(args: WriteArgs, ctx: ToolContext) -> tuple[str, bool, TextFile, str]:
    target = ctx.resolve(args.path)
    is_new = not target.exists and target.path not in ctx.workspace.overlays(target.path)
    old = no_file() if is_new else await ctx.workspace.read_text(target.path)
    new = old.text + args.content if args.mode == "append" else args.content
    return target.path, is_new, old, new


TOOL = Tool(
    name="write",
    kind=ToolKind.WRITE,
    args=WriteArgs,
    description="Create or overwrite a text file. For changes to a file prefer edit.",
    effects=effects,
    run=run,
    title=lambda args: f"Write {args.path}",
    preview=preview,
    aliases=("Write", "WriteFile", "write_file"),
)
