"""Cards: what a waiting call shows, and how its turn is woken. First answer wins.

Invariant: silence is never a yes; a card offers "remember" only for rules that it lists.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from secrets import token_hex

from kova_ls.permission.effects import Connect, RunCommand
from kova_ls.permission.facts import Call, Ruling
from kova_ls.tools._base import AskPlan, Preview, Tool
from kova_ls.values import (
    Approval,
    CommandSubject,
    EditSubject,
    FileChange,
    NetworkSubject,
    OtherSubject,
    PlanSubject,
    Subject,
)
from kova_ls.vocabulary import ApprovalLevel

PLAN_DECISIONS = ("reject", "rejectAndExit", "revise", "approve")
_CARD_LINES = 400
_CARD_CHARS = 60_000


@dataclass(slots=True)
class Waiter:
    """A turn that waits for a person."""

    future: asyncio.Future[None]
    rejudge: Callable[[str], None]
    """Called with `mode` or `level` when one of them changed."""

    def wake(self) -> None:
        """Let the turn look again."""
        if not self.future.done():
            self.future.set_result(None)


def tool_card(
    *,
    session_id: str,
    turn_id: str,
    call_id: str,
    tool: Tool,
    title: str,
    call: Call,
    ruling: Ruling,
    preview: Preview | None,
    level: ApprovalLevel,
    rules_path: str | None,
    uri: Callable[[str], str],
    keep: Callable[[str], str],
    now: float,
    notices: Sequence[str] = (),
) -> Approval:
    """Build the card of a call that asks; `keep` stores a long text and returns its outputRef."""
    remembers = bool(ruling.rules) and level is not ApprovalLevel.ASK and rules_path is not None
    said = [*notices, *ruling.notices]
    if not remembers and any(isinstance(e, RunCommand) for e in call.effects):
        said.append("This approval is for this one time.")
    return Approval(
        approval_id=f"{session_id}.{token_hex(6)}",
        session_id=session_id,
        turn_id=turn_id,
        call_id=call_id,
        kind="tool",
        tool=tool.name,
        title=title,
        subject=_subject(title, call, ruling, preview, uri, keep),
        reasons=ruling.reasons,
        decisions=("deny", "once", "remember") if remembers else ("deny", "once"),
        rules=ruling.rules if remembers else (),
        rules_path=rules_path if remembers else None,
        notices=tuple(said),
        requested_at=now,
    )


def plan_card(
    *, session_id: str, turn_id: str, call_id: str, tool: str, ask: AskPlan, now: float
) -> Approval:
    """Build the card of a plan."""
    return Approval(
        approval_id=f"{session_id}.{token_hex(6)}",
        session_id=session_id,
        turn_id=turn_id,
        call_id=call_id,
        kind="plan",
        tool=tool,
        title="Approve the plan?",
        subject=PlanSubject(markdown=ask.markdown, options=ask.options),
        decisions=PLAN_DECISIONS,
        requested_at=now,
    )


def _subject(
    title: str,
    call: Call,
    ruling: Ruling,
    preview: Preview | None,
    uri: Callable[[str], str],
    keep: Callable[[str], str],
) -> Subject:
    for effect in call.effects:
        if isinstance(effect, RunCommand):
            return CommandSubject(
                command=effect.command, cwd=uri(effect.cwd), segments=ruling.segments
            )
        if isinstance(effect, Connect):
            return NetworkSubject(method=effect.method, url=effect.url)
    if preview is not None and preview.files:
        return EditSubject(files=tuple(_shortened(file, keep) for file in preview.files))
    return OtherSubject(summary=title)


def _shortened(file: FileChange, keep: Callable[[str], str]) -> FileChange:
    lines = file.diff.splitlines(keepends=True)
    shown: list[str] = []
    room = _CARD_CHARS
    for line in lines[:_CARD_LINES]:
        room -= len(line)
        if room < 0:
            break
        shown.append(line)
    if len(shown) == len(lines):
        return file
    return file.model_copy(
        update={
            "diff": "".join(shown),
            "hidden_lines": len(lines) - len(shown),
            "output_ref": keep(file.diff),
        }
    )
