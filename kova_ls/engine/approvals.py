"""Cards: what a waiting call shows. First answer wins.

Invariant: silence is never a yes; a card offers "remember" only for rules that it lists.
"""

from collections.abc import Callable, Sequence
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
_CARD_BYTES = 100_000
"""Of one card's command or diffs, as they travel: no client has to cut them again."""
_BRIEF_CHARS = 1_000


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
        title=brief(title, 200),
        subject=_subject(title, call, ruling, preview, uri, keep),
        reasons=tuple(
            reason.model_copy(update={"text": brief(reason.text)}) for reason in ruling.reasons
        ),
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


def is_same_subject(one: Subject, other: Subject) -> bool:
    """Say whether a person sees the same: a document's version is its editor's own affair."""
    if isinstance(one, EditSubject) and isinstance(other, EditSubject):
        return _without_versions(one.files) == _without_versions(other.files)
    return one == other


def is_same_preview(one: Preview | None, other: Preview | None) -> bool:
    """Say whether two previews would do the same to the same texts."""
    if one is None or other is None:
        return one is other
    same = _without_versions(one.files) == _without_versions(other.files)
    return same and one.digests == other.digests


def _without_versions(files: tuple[FileChange, ...]) -> list[FileChange]:
    return [file.model_copy(update={"document_version": None}) for file in files]


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
            return _command(effect, ruling, uri, keep)
        if isinstance(effect, Connect):
            return NetworkSubject(method=effect.method, url=effect.url)
    if preview is not None and preview.files:
        room = _CARD_BYTES
        files: list[FileChange] = []
        for file in preview.files:
            shown, room = _shortened(file, room, keep)
            files.append(shown)
        return EditSubject(files=tuple(files))
    return OtherSubject(summary=title)


def brief(text: str, limit: int = _BRIEF_CHARS) -> str:
    """Return a text that stands elsewhere in full, cut to a length, and saying so."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… [{len(text) - limit:,} characters more]"


def _command(
    effect: RunCommand, ruling: Ruling, uri: Callable[[str], str], keep: Callable[[str], str]
) -> CommandSubject:
    command = effect.command
    size = len(command)
    while _cost(command[:size]) > _CARD_BYTES:
        size //= 2
    return CommandSubject(
        command=command[:size],
        cwd=uri(effect.cwd),
        segments=tuple(
            segment.model_copy(
                update={
                    "text": brief(segment.text),
                    "reason": brief(segment.reason) if segment.reason is not None else None,
                }
            )
            for segment in ruling.segments
        ),
        hidden_chars=len(command) - size,
        output_ref=keep(command) if size < len(command) else None,
    )


def _shortened(file: FileChange, room: int, keep: Callable[[str], str]) -> tuple[FileChange, int]:
    """Return the part of a file's diff that fits, and the room that is left."""
    lines = file.diff.split("\n")
    shown: list[str] = []
    for line in lines[:_CARD_LINES]:
        cost = _cost(line)
        if cost > room:
            break
        room -= cost
        shown.append(line)
    if len(shown) == len(lines):
        return file, room
    # The end of the last line is no line of its own.
    hidden = len(lines) - len(shown) - (not lines[-1])
    if hidden <= 0:
        return file, room
    update = {
        "diff": "".join(f"{line}\n" for line in shown),
        "hidden_lines": hidden + file.hidden_lines,
        # A diff that came cut already says where the whole of it is.
        "output_ref": file.output_ref or keep(file.diff),
    }
    return file.model_copy(update=update), room


def _cost(text: str) -> int:
    """Return the size of a text in JSON, at most."""
    return len(text) if text.isascii() and text.isprintable() else 6 * len(text)
