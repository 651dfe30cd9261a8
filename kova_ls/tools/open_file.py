"""Show a file in the person's editor.

Invariant: nothing of the file reaches the model.
"""

from pydantic import AliasChoices, Field

from kova_ls.permission.effects import Effect, Interact
from kova_ls.tools._args import Args
from kova_ls.tools._base import Resolve, Tool, ToolContext, ToolResult, reports_errors
from kova_ls.values import LinkBlock
from kova_ls.vocabulary import ToolKind


class OpenFileArgs(Args):
    """Arguments of `open_file`."""

    path: str = Field(validation_alias=AliasChoices("path", "file_path"))
    """The file."""
    line: int | None = Field(default=None, ge=1)
    """Line to show, from 1."""


def effects(_args: OpenFileArgs, _resolve: Resolve) -> list[Effect]:
    """Declare that the editor is asked."""
    return [Interact("open")]


@reports_errors
async def run(args: OpenFileArgs, ctx: ToolContext) -> ToolResult:
    """Ask the editor and say what became of it."""
    target = ctx.resolve(args.path)
    name = ctx.workspace.display(target.path)
    if not target.exists:
        return ToolResult(f"{name} does not exist; look for it with glob.", is_error=True)
    said = ctx.open_file(target.path, args.line)
    label = f"{name}:{args.line}" if args.line else name
    return ToolResult(said, (LinkBlock(uri=ctx.workspace.uri(target.path), text=label),))


TOOL = Tool(
    name="open_file",
    kind=ToolKind.INTERACT,
    args=OpenFileArgs,
    description="Show a file to the person in their editor.",
    effects=effects,
    run=run,
    title=lambda args: f"Open {args.path}",
    aliases=("OpenFile",),
)
