"""Approvals and questions: resources that stay until they are answered."""

from pydantic import Field

from kova_ls.protocol._base import WireModel
from kova_ls.values import Answer, Approval, QuestionRequest

MOST_FEEDBACK_CHARS = 10_000


class ApprovalListParams(WireModel):
    """Which approvals."""

    session_id: str | None = None
    """Absent = of all sessions this editor may see."""


class ApprovalListResult(WireModel):
    """Those still open."""

    approvals: tuple[Approval, ...]
    """Oldest first."""


class ApprovalRespondParams(WireModel):
    """A person's answer to a card."""

    approval_id: str
    """Which card."""
    decision: str
    """One of the card's `decisions`."""
    feedback: str | None = Field(default=None, max_length=MOST_FEEDBACK_CHARS)
    """Goes to the model."""
    option: str | None = None
    """Plan cards: label of the chosen approach."""


class ApprovalRespondResult(WireModel):
    """What holds now; the first answer wins."""

    status: str
    """`resolved` or `alreadyResolved`."""
    decision: str
    """The answer that counts."""
    resolved_by: str
    """Who gave it."""


class QuestionListParams(WireModel):
    """Which questions."""

    session_id: str | None = None
    """Absent = of all sessions this editor may see."""


class QuestionListResult(WireModel):
    """Those still open."""

    questions: tuple[QuestionRequest, ...]
    """Oldest first."""


class QuestionRespondParams(WireModel):
    """A person's answers."""

    question_id: str
    """Which request."""
    answers: tuple[Answer, ...] | None = None
    """One per question."""
    declined: bool = False
    """The person does not want to answer."""


class QuestionRespondResult(WireModel):
    """What holds now; the first answer wins."""

    status: str
    """`resolved` or `alreadyResolved`."""
    outcome: str
    """`answered`, `declined` or `cancelled`."""
    resolved_by: str
    """Who gave it."""
