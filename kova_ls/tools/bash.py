"""Run a shell command.

Invariant: no terminal, no input; both streams come as one text, and the model is told so.
"""

import re

from pydantic import AliasChoices, Field

from kova_ls.permission.effects import Effect, RunCommand
from kova_ls.tools._args import Args
from kova_ls.tools._base import (
    CommandResult,
    Resolve,
    Tool,
    ToolContext,
    ToolResult,
    reports_errors,
)
from kova_ls.values import CommandBlock
from kova_ls.vocabulary import ToolKind

_DEFAULT_MS = 60_000
_MAX_MS = 300_000
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")


class BashArgs(Args):
    """Arguments of `bash`."""

    command: str
    """Run by bash -c."""
    cwd: str | None = None
    """Folder; default the workspace."""
    timeout: int = Field(
        default=_DEFAULT_MS, ge=1, validation_alias=AliasChoices("timeout", "timeout_ms")
    )
    """Milliseconds, at most 300000."""
    description: str | None = None
    """What it is for, in a few words."""


def effects(args: BashArgs, resolve: Resolve) -> list[Effect]:
    """Declare the command line and its folder."""
    return [RunCommand(args.command, resolve(args.cwd or ".").path)]


@reports_errors
async def run(args: BashArgs, ctx: ToolContext) -> ToolResult:
    """Run to the end, or to the end of time."""
    cwd = ctx.resolve(args.cwd or ".").path
    timeout_s = min(args.timeout, _MAX_MS) / 1_000
    done = await ctx.run_command(args.command, cwd=cwd, timeout_s=timeout_s)
    block = CommandBlock(
        command=args.command,
        cwd_path=cwd,
        exit_code=done.exit_code,
        output=done.output,
        hidden_bytes=done.hidden_bytes,
    )
    return ToolResult(
        _text(done, timeout_s),
        (block,),
        is_error=done.exit_code != 0,
        output_ref=done.output_ref,
    )


def _text(done: CommandResult, timeout_s: float) -> str:
    output = _plain(done.output).rstrip("\n")
    notes: list[str] = []
    if done.hidden_bytes and done.output_path:
        notes.append(f"The whole output is in {done.output_path}: use read or grep on it.")
    if done.background_group is not None:
        notes.append(
            "It left processes running in the background, whose further output is not seen; "
            f"`kill -- -{done.background_group}` ends them."
        )
    if done.timed_out:
        notes.append(
            f"Stopped after {timeout_s:g} s with everything it had started. Raise timeout (at most "
            f"{_MAX_MS} ms), or run it in parts."
        )
    elif done.exit_code is None:
        notes.append("Stopped before its end.")
    elif done.exit_code < 0:
        notes.append(f"Ended by signal {-done.exit_code}.")
    else:
        notes.append(f"exit code {done.exit_code}")
    return (output or "(no output)") + "".join(f"\n[{note}]" for note in notes)


def _plain(output: str) -> str:
    """Return the text as a terminal would leave it: no escapes, overwritten lines gone."""
    text = _ESCAPES.sub("", output).replace("\r\n", "\n")
    if "\r" not in text:
        return text
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))


def _title(args: BashArgs) -> str:
    first, _, rest = args.command.strip().partition("\n")
    return f"$ {first}" + (" …" if rest else "")


TOOL = Tool(
    name="bash",
    kind=ToolKind.SHELL,
    args=BashArgs,
    description=(
        "Run a shell command; returns its output, stdout and stderr in one. No terminal, stdin is "
        "empty. Each call is a new shell: no cd or variable carries over. Use read, grep, glob, "
        "edit and write for files, where they do the same."
    ),
    effects=effects,
    run=run,
    title=_title,
    aliases=("Bash", "Shell"),
)
