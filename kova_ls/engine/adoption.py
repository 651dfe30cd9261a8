"""Adopt cards: what waits in a permission file, offered to the person.

A card is offered when a turn is about to show a card anyway, before that one: whoever is asked is
there, and what is confirmed may settle the call. Each content is offered once in the life of an
engine; "no" leaves it as it is. `kova/permission/adopt` and `kova-ls permission adopt` do the same
at any time.
Invariant: what is put into force is exactly what the card showed.
"""

from secrets import token_hex
from typing import TYPE_CHECKING

from kova_ls.engine.grant_set import Pending, visible
from kova_ls.engine.notices import notice
from kova_ls.engine.places import workspace_path
from kova_ls.errors import KovaError
from kova_ls.values import Approval, OtherSubject, Reason
from kova_ls.vocabulary import ApprovalLevel, RootSource

if TYPE_CHECKING:
    from kova_ls.engine.session import Session

DECISIONS = ("deny", "adopt")
_WHY = {
    RootSource.LOCAL: Reason(
        code="unconfirmed",
        text="The file holds entries that nobody confirmed on this machine: somebody wrote them by "
        "hand, they came with the project, or a command of the agent put them there.",
    ),
    RootSource.USER: Reason(
        code="unconfirmed",
        text="The file changed while a command of the agent ran, so the agent may have written it.",
    ),
}


def offered(session: "Session") -> Pending | None:
    """Return what is to be offered now, or None."""
    engine = session.engine
    # At level `ask` no rule applies: there is nothing to gain.
    if not session.state.trusted or session.state.level is ApprovalLevel.ASK:
        return None
    if not any(editor.trusted for editor in engine.editors):
        return None
    grants = engine.grants.load(workspace_path(session))
    for pending in (grants.pending_local, grants.pending_user):
        if pending is not None and _key(pending) not in engine.declined:
            return pending
    return None


def card(session: "Session", pending: Pending, *, turn_id: str, call_id: str) -> Approval:
    """Build the card; every entry is on it."""
    return Approval(
        approval_id=f"{session.id}.{token_hex(6)}",
        session_id=session.id,
        turn_id=turn_id,
        call_id=call_id,
        kind="adopt",
        title=f"Put what is new in {visible(pending.path)} into force?",
        subject=OtherSubject(summary="\n".join(pending.lines())),
        reasons=(_WHY[pending.source],),
        decisions=DECISIONS,
        notices=("Adopt only what you know. Without a yes it stays in the file and does nothing.",),
        requested_at=session.engine.now(),
    )


def settle(session: "Session", pending: Pending, decision: str) -> None:
    """Do what the person said; a failure is told and grants nothing."""
    engine = session.engine
    if decision != "adopt":
        engine.declined.add(_key(pending))
        return
    try:
        engine.grants.adopt(workspace_path(session), pending.source, shown=pending)
    except KovaError as error:
        notice(session, "warning", f"Nothing was put into force. {error.message}")
    engine.recheck()


def _key(pending: Pending) -> tuple[str, str]:
    return pending.path, pending.digest
