"""Which fields are texts for people, and how they are said in an editor's language.

Everything else that travels stays as it is: codes, ids, what the person, the model, a file or a
command said. The journal is English; two editors on one session may read it in two languages.
Invariant: only the fields named here change; for an English editor nothing is looked at.
"""

from typing import Any, TypeVar, cast

from kova_ls import values as v
from kova_ls.journal import records as r
from kova_ls.l10n import Language, say
from kova_ls.protocol import catalog, changes, permission, session, turn
from kova_ls.values import Value

T = TypeVar("T", bound=Value)

FOR_PEOPLE: dict[type[Value], tuple[str, ...]] = {
    v.Reason: ("text",),
    v.Segment: ("reason",),
    v.Approval: ("title", "notices"),
    v.OtherSubject: ("summary",),
    v.Failure: ("message",),
    v.ToolCallItem: ("title", "error"),
    v.NoticeItem: ("text",),
    r.TurnCompleted: ("stopped",),
    r.Goal: ("reason",),
    session.SessionSnapshot: ("notices",),
    turn.TurnInterruptResult: ("stopped",),
    turn.LoopCall: ("title",),
    turn.LoopReadResult: ("stopped_because",),
    changes.Change: ("conflict",),
    changes.ChangesDecideResult: ("refused",),
    catalog.ModelEntry: ("problem",),
    permission.PermissionExplainResult: ("notices",),
    permission.PermissionListResult: ("problems",),
    permission.ProposalEntry: ("sentence", "refusal"),
    permission.PendingEntry: ("lines",),
    permission.PermissionChangeResult: ("notices",),
}


def localized(value: T, language: Language) -> T:
    """Return a wire value as an editor with this language is to see it."""
    if language is Language.ENGLISH:
        return value
    return cast(T, _value(value, language))


def _said(texts: str | tuple[str, ...] | None, language: Language) -> Any:
    match texts:
        case None:
            return None
        case str():
            return say(texts, language)
        case _:
            return tuple(say(text, language) for text in texts)


def _value(value: Value, language: Language) -> Value:
    kind = type(value)
    spoken = FOR_PEOPLE.get(kind, ())
    update: dict[str, Any] = {}
    before: Any
    for name, before in vars(value).items():
        if name not in spoken:
            after = _inside(before, language)
        elif kind is v.OtherSubject:  # one entry a line
            after = "\n".join(say(line, language) for line in before.split("\n"))
        else:
            after = _said(before, language)
        if after is not before:
            update[name] = after
    return value.model_copy(update=update) if update else value


def _inside(value: Any, language: Language) -> Any:
    if isinstance(value, Value):
        return _value(value, language)
    if isinstance(value, tuple):
        before = cast(tuple[Any, ...], value)
        after = tuple(_inside(entry, language) for entry in before)
        return after if any(a is not b for a, b in zip(after, before, strict=True)) else before
    return value
