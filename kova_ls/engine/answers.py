"""What people answer to a turn that waits: whether it fits, its record, and the turn's waking.

Invariant: nothing is recorded that the card or the questions did not offer.
"""

from typing import TYPE_CHECKING

from kova_ls.engine.notices import notice
from kova_ls.engine.places import workspace_path
from kova_ls.engine.waiters import wake
from kova_ls.errors import KovaError, RequestFailed
from kova_ls.journal import records as r
from kova_ls.values import Answer, QuestionRequest

if TYPE_CHECKING:
    from kova_ls.engine.session import Session


def check(request: QuestionRequest, answers: tuple[Answer, ...]) -> None:
    """Refuse answers that are missing or were not offered. Raises: RequestFailed."""
    given = {answer.id: answer for answer in answers}
    for number, question in enumerate(request.questions):
        answer = given.get(question.id)
        if answer is None or not (answer.selected or (answer.other or "").strip()):
            raise RequestFailed(
                "invalidParams", f"answers: question {question.id!r} has no answer."
            )
        labels = {option.label for option in question.options}
        unknown = [label for label in answer.selected if label not in labels]
        if unknown:
            raise RequestFailed(
                "invalidParams",
                f"answers[{number}].selected: {unknown[0]!r} is not an option; give a free text "
                "as `other`.",
            )
        if len(answer.selected) > 1 and not question.multi_select:
            raise RequestFailed(
                "invalidParams", f"answers[{number}].selected: only one option may be chosen."
            )


def respond(
    session: "Session",
    approval_id: str,
    decision: str,
    by: str,
    *,
    feedback: str | None,
    option: str | None,
) -> None:
    """Answer an open card. Raises: RequestFailed for a decision that it does not offer."""
    card = next(a for a in session.state.approvals if a.approval_id == approval_id)
    if decision not in card.decisions:
        raise RequestFailed(
            "invalidParams",
            f"decision: {decision!r} is not offered; expected one of {', '.join(card.decisions)}.",
        )
    session.record(
        r.ApprovalResolved(
            approval_id=approval_id,
            turn_id=card.turn_id,
            decision=decision,
            resolved_by=by,
            feedback=feedback,
            option=option,
        )
    )
    wake(session, approval_id)


def remember(session: "Session", rules: tuple[str, ...]) -> None:
    """Write what the card offered to remember; a failure is told, and the yes holds once."""
    workspace = workspace_path(session)
    assert workspace is not None
    try:
        session.engine.grants.remember(workspace, rules)
    except (KovaError, OSError) as error:
        message = error.message if isinstance(error, KovaError) else str(error)
        notice(session, "warning", f"Allowed once, but not remembered: {message}")


def answer(
    session: "Session", question_id: str, answers: tuple[Answer, ...] | None, by: str
) -> None:
    """Answer or, with None, decline open questions."""
    request = next(q for q in session.state.questions if q.question_id == question_id)
    if answers is not None:
        check(request, answers)
    session.record(
        r.QuestionResolved(
            question_id=question_id,
            turn_id=request.turn_id,
            answers=answers or (),
            outcome="declined" if answers is None else "answered",
            resolved_by=by,
        )
    )
    wake(session, question_id)


def resolution(session: "Session", ask_id: str) -> tuple[str, str] | None:
    """Return decision and answerer of a resolved approval or question, from the journal."""
    for stored in reversed(session.journal.read(1, session.journal.seq)):
        match stored.record if stored.tag in _RESOLVED else None:
            case r.ApprovalResolved(approval_id=known) as record if known == ask_id:
                return record.decision, record.resolved_by
            case r.QuestionResolved(question_id=known) as record if known == ask_id:
                return record.outcome, record.resolved_by
            case _:
                pass
    return None


_RESOLVED = ("approval.resolved", "question.resolved")
