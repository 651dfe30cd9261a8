"""Show a panel in the person's editor.

Invariant: content goes one way, to the person.
"""

from typing import Any

from pydantic import Field

from kova_ls.permission.effects import Effect, Interact
from kova_ls.tools._args import Args
from kova_ls.tools._base import Resolve, Tool, ToolContext, ToolResult, reports_errors
from kova_ls.vocabulary import ToolKind


class OpenPluginPanelArgs(Args):
    """Arguments of `open_plugin_panel`."""

    kind: str = Field(min_length=1)
    """`markdown`, `plan`, `loop`, `diff`, or one of a plugin's."""
    title: str = Field(min_length=1)
    """Heading."""
    markdown: str | None = None
    """Content, for `markdown`."""
    data: dict[str, Any] | None = None
    """Content, for other kinds."""


def effects(_args: OpenPluginPanelArgs, _resolve: Resolve) -> list[Effect]:
    """Declare that the editor is asked."""
    return [Interact("panel")]


@reports_errors
async def run(args: OpenPluginPanelArgs, ctx: ToolContext) -> ToolResult:
    """Ask the editor and say what became of it."""
    return ToolResult(ctx.open_panel(args.kind, args.title, markdown=args.markdown, data=args.data))


TOOL = Tool(
    name="open_plugin_panel",
    kind=ToolKind.INTERACT,
    args=OpenPluginPanelArgs,
    description="Show a panel in the person's editor.",
    effects=effects,
    run=run,
    title=lambda args: f"Open panel {args.title}",
)
