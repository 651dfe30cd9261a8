"""Runs that nobody watches: at which level they are judged, and what is said of what would ask.

Invariant: an unattended run never waits for a person, and is at `auto` only where the user's own
config.toml says so for the run's name.
"""

from typing import TYPE_CHECKING

from kova_ls.permission.facts import Ruling
from kova_ls.values import Reason, Verdict
from kova_ls.vocabulary import ApprovalLevel, Decision

if TYPE_CHECKING:
    from kova_ls.engine.editor import Editor
    from kova_ls.engine.session import Session

_NOBODY = Reason(
    code="unattended",
    text="Nobody watches this run, so what would ask is denied. Go on without it, or say what "
    "should be allowed beforehand.",
)


def level_for(session: "Session", name: str, editor: "Editor | None") -> ApprovalLevel:
    """Return the level of a run of that name, whatever the session's own is."""
    if editor is None or not editor.trusted or not session.state.trusted:
        return ApprovalLevel.ASK
    settings = session.engine.settings.automation
    return settings.levels.get(name, ApprovalLevel(settings.level))


def level_now(session: "Session") -> ApprovalLevel:
    """Return the level that calls are judged by."""
    return session.state.unattended or session.state.level


def denied(session: "Session", ruling: Ruling) -> Ruling:
    """Return the verdict on a call that would need a person, with the rules that would help."""
    helps = session.state.unattended is not ApprovalLevel.ASK
    return Ruling(
        Decision.DENY,
        (_NOBODY, *ruling.reasons),
        ruling.segments,
        ruling.rules if helps else (),
        ruling.notices,
    )


def verdict(ruling: Ruling) -> Verdict:
    """Return what is told of a refused call."""
    rules = ruling.rules if ruling.reasons[0] is _NOBODY else ()
    return Verdict(decision=ruling.decision, reasons=ruling.reasons, rules=rules)
