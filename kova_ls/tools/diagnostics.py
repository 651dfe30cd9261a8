"""Ask the editor what its language tools say.

Invariant: nothing is run; what the editor does not know is not looked for elsewhere.
"""

from pydantic import AliasChoices, Field

from kova_ls.permission.effects import Effect
from kova_ls.tools._args import Args
from kova_ls.tools._base import (
    Diagnosed,
    Diagnostic,
    Resolve,
    Tool,
    ToolContext,
    ToolResult,
    reports_errors,
)
from kova_ls.vocabulary import ToolKind

_SETTLE_MS = 1_000
_MAX_LINES = 200
_MAX_MESSAGE_CHARS = 500


class DiagnosticsArgs(Args):
    """Arguments of `diagnostics`."""

    path: str | None = Field(
        default=None, validation_alias=AliasChoices("path", "file_path", "uri")
    )
    """The file; default all files that the editor has open in the workspace."""


def effects(args: DiagnosticsArgs, resolve: Resolve) -> list[Effect]:
    """Declare looking at the file, or at the workspace."""
    return [resolve(args.path or ".").reads(is_tree=args.path is None)]


@reports_errors
async def run(args: DiagnosticsArgs, ctx: ToolContext) -> ToolResult:
    """Return errors and warnings as lines."""
    path = ctx.resolve(args.path).path if args.path is not None else None
    said = await ctx.diagnostics(path, settle_ms=_SETTLE_MS)
    lines = _lines(said, path, ctx)
    if not lines:
        where = ctx.workspace.display(path) if path is not None else "the open files"
        lines = [f"The editor reports no errors or warnings in {where}."]
        if not said.is_open:
            lines.append("[It is not open there, so its tools may not have looked at it.]")
    if not said.is_settled:
        lines.append("[The editor's tools were still at work: ask again for the rest.]")
    return ToolResult("\n".join(lines))


def _lines(said: Diagnosed, path: str | None, ctx: ToolContext) -> list[str]:
    root = ctx.workspace.root
    found: list[tuple[str, Diagnostic]] = []
    for entry in said.diagnostics:
        place = ctx.resolve(entry.uri).path
        is_inside = root is not None and place.startswith(f"{root.rstrip('/')}/")
        if place == path or (path is None and is_inside):
            found.append((ctx.workspace.display(place), entry))
    serious = [(name, entry) for name, entry in found if entry.severity in ("error", "warning")]
    serious.sort(key=lambda pair: (pair[1].severity != "error", pair[0], pair[1].line_no))
    lines = [_line(name, entry) for name, entry in serious[:_MAX_LINES]]
    if len(serious) > _MAX_LINES:
        lines.append(f"[{len(serious) - _MAX_LINES} more; name a path to see fewer.]")
    hidden = len(found) - len(serious)
    if hidden:
        lines.append(f"[{hidden} hints and notes are left out.]")
    return lines


def _line(name: str, entry: Diagnostic) -> str:
    message = " ".join(entry.message.split())
    if len(message) > _MAX_MESSAGE_CHARS:
        message = f"{message[:_MAX_MESSAGE_CHARS]}[… cut]"
    by = " ".join(part for part in (entry.source, entry.code) if part)
    return f"{name}:{entry.line_no}: {entry.severity}: {message}" + (f" [{by}]" if by else "")


TOOL = Tool(
    name="diagnostics",
    kind=ToolKind.READ,
    args=DiagnosticsArgs,
    description=(
        "Errors and warnings that the editor's language tools report, for a file or for all open "
        "ones. Only in editors that tell them; open files are seen as edited."
    ),
    effects=effects,
    run=run,
    title=lambda args: f"Diagnostics {args.path}" if args.path else "Diagnostics",
)
