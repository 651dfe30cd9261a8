"""Requests about approvals and questions."""

from typing import TYPE_CHECKING

from kova_ls.endpoint.handlers._table import handles, may_act, session_of
from kova_ls.engine import Session, answers
from kova_ls.errors import RequestFailed
from kova_ls.protocol import approval as pa
from kova_ls.protocol._base import WireModel

if TYPE_CHECKING:
    from kova_ls.endpoint.server import EditorEndpoint


def _waiting(endpoint: "EditorEndpoint", session_id: str | None) -> list[Session]:
    if session_id is not None:
        return [session_of(endpoint, session_id)]
    return [session for session in endpoint.engine.running if session.state.is_waiting]


@handles("kova/approval/list")
def approval_list(endpoint: "EditorEndpoint", params: pa.ApprovalListParams) -> WireModel:
    """List open cards."""
    found = [a for s in _waiting(endpoint, params.session_id) for a in s.state.approvals]
    return pa.ApprovalListResult(approvals=tuple(sorted(found, key=lambda a: a.requested_at)))


@handles("kova/approval/respond")
def approval_respond(endpoint: "EditorEndpoint", params: pa.ApprovalRespondParams) -> WireModel:
    """Answer a card."""
    session = _asked_by(endpoint, params.approval_id, "approval")
    if any(a.approval_id == params.approval_id for a in session.state.approvals):
        may_act(endpoint, session)
        answers.respond(
            session,
            params.approval_id,
            params.decision,
            endpoint.name,
            feedback=params.feedback,
            option=params.option,
        )
        return pa.ApprovalRespondResult(
            status="resolved", decision=params.decision, resolved_by=endpoint.name
        )
    decision, by = _resolution(session, params.approval_id, "approval")
    return pa.ApprovalRespondResult(status="alreadyResolved", decision=decision, resolved_by=by)


def _asked_by(endpoint: "EditorEndpoint", ask_id: str, what: str) -> Session:
    """Return the session whose id leads the id of an approval or question."""
    session_id = ask_id.partition(".")[0]
    try:
        return session_of(endpoint, session_id)
    except RequestFailed as error:
        raise _not_asked(ask_id, what) from error


def _resolution(session: Session, ask_id: str, what: str) -> tuple[str, str]:
    found = answers.resolution(session, ask_id)
    if found is None:
        raise _not_asked(ask_id, what)
    return found


def _not_asked(ask_id: str, what: str) -> RequestFailed:
    return RequestFailed(
        f"{what}NotFound", f"There is no {what} {ask_id!r}. List the open {what}s again."
    )


@handles("kova/question/list")
def question_list(endpoint: "EditorEndpoint", params: pa.QuestionListParams) -> WireModel:
    """List open questions."""
    found = [q for s in _waiting(endpoint, params.session_id) for q in s.state.questions]
    return pa.QuestionListResult(questions=tuple(sorted(found, key=lambda q: q.requested_at)))


@handles("kova/question/respond")
def question_respond(endpoint: "EditorEndpoint", params: pa.QuestionRespondParams) -> WireModel:
    """Answer or decline questions."""
    if params.answers is None and not params.declined:
        raise RequestFailed("invalidParams", "answers: give `answers`, or `declined: true`.")
    session = _asked_by(endpoint, params.question_id, "question")
    if any(q.question_id == params.question_id for q in session.state.questions):
        may_act(endpoint, session)
        given = None if params.declined else params.answers
        answers.answer(session, params.question_id, given, endpoint.name)
        return pa.QuestionRespondResult(
            status="resolved",
            outcome="declined" if params.declined else "answered",
            resolved_by=endpoint.name,
        )
    outcome, by = _resolution(session, params.question_id, "question")
    return pa.QuestionRespondResult(status="alreadyResolved", outcome=outcome, resolved_by=by)
