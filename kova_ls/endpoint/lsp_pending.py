"""Cards and questions put to a person who asked for them, by `window/showMessageRequest`.

Facts of real editors: such a request takes the keyboard in some, and its first choice is what a
stray Enter gives; so it comes one at a time, only when asked for, with the refusal first.
Invariant: only a choice that was offered counts; anything else leaves the card open.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kova_ls.endpoint.handlers import HANDLERS
from kova_ls.endpoint.lsp_text import one_line, plain
from kova_ls.errors import KovaError
from kova_ls.protocol import approval as pa
from kova_ls.values import (
    Answer,
    Approval,
    CommandSubject,
    EditSubject,
    NetworkSubject,
    OtherSubject,
    PlanSubject,
    Question,
    QuestionRequest,
)

if TYPE_CHECKING:
    from kova_ls.endpoint.lsp_server import LspServer

_WORDS = {
    "deny": "Deny",
    "once": "Allow once",
    "adopt": "Adopt",
    "reject": "Reject",
    "rejectAndExit": "Reject and leave plan mode",
    "approve": "Approve",
}
"""What can be answered by one choice: "remember" wants its rules to be seen, "revise" a text."""
_DECLINE = "Decline to answer"
_MOST_CHARS = 800
_MOST_OPTIONS = 12


def open_asks(lsp: "LspServer") -> list[Approval | QuestionRequest]:
    """Return what waits in the sessions this editor follows, oldest first."""
    found: list[Approval | QuestionRequest] = []
    for watch in lsp.watches.values():
        found += [*watch.session.state.approvals, *watch.session.state.questions]
    return sorted(found, key=lambda ask: ask.requested_at)


def id_of(ask: Approval | QuestionRequest) -> str:
    """Return the id of a card or of questions."""
    return ask.approval_id if isinstance(ask, Approval) else ask.question_id


async def put(lsp: "LspServer", first_id: str | None) -> None:
    """Put everything that waits to the person, until there is nothing more or they turn away."""
    put_ids: set[str] = set()
    while True:
        asks = [ask for ask in open_asks(lsp) if id_of(ask) not in put_ids]
        asks.sort(key=lambda ask: id_of(ask) != first_id)
        if not asks:
            return
        ask = asks[0]
        put_ids.add(id_of(ask))
        try:
            if isinstance(ask, Approval):
                is_answered = await _put_card(lsp, ask)
            else:
                is_answered = await _put_questions(lsp, ask)
        except KovaError as error:
            lsp.tell(error.message)
            return
        if not is_answered:
            return


async def _put_card(lsp: "LspServer", card: Approval) -> bool:
    choices: dict[str, dict[str, Any]] = {}
    for decision in card.decisions:
        if decision not in _WORDS:
            continue
        options = card.subject.options if isinstance(card.subject, PlanSubject) else ()
        if decision == "approve" and options:
            for option in options[:_MOST_OPTIONS]:
                title = f"Approve: {one_line(option.label, 80)}"
                choices.setdefault(title, {"decision": decision, "option": option.label})
        else:
            choices[_WORDS[decision]] = {"decision": decision}
    title = await lsp.choose(card_text(card), list(choices))
    if title is None:
        return False
    params = pa.ApprovalRespondParams(approval_id=card.approval_id, **choices[title])
    _tell_other(lsp, HANDLERS["kova/approval/respond"](lsp.endpoint, params))
    return True


def _tell_other(lsp: "LspServer", result: Any) -> None:
    """Say so when someone else was first."""
    if result.status == "alreadyResolved":
        what = result.decision if isinstance(result, pa.ApprovalRespondResult) else result.outcome
        lsp.tell(f"Kova: already answered: {what} by {result.resolved_by}.")


async def _put_questions(lsp: "LspServer", request: QuestionRequest) -> bool:
    answers: list[Answer] = []
    for question in request.questions:
        if not question.options:
            lsp.tell(
                f"Kova asks: {one_line(question.question, 600)} "
                "Answer with the command kova.answer and your text as its argument."
            )
            return False
        labels: dict[str, str | None] = {_DECLINE: None}
        for option in question.options[:_MOST_OPTIONS]:
            labels.setdefault(one_line(option.label, 80), option.label)
        title = await lsp.choose(question_text(question), list(labels))
        if title is None:
            return False
        label = labels[title]
        if label is None:
            respond(lsp, request.question_id, None)
            return True
        answers.append(Answer(id=question.id, selected=(label,)))
    respond(lsp, request.question_id, answers)
    return True


def respond(lsp: "LspServer", question_id: str, answers: Sequence[Answer] | None) -> None:
    """Answer questions, or decline them with None. Raises: RequestFailed."""
    params = pa.QuestionRespondParams(
        question_id=question_id,
        answers=None if answers is None else tuple(answers),
        declined=answers is None,
    )
    _tell_other(lsp, HANDLERS["kova/question/respond"](lsp.endpoint, params))


def card_text(card: Approval) -> str:
    """Return a card as a message: what would happen, then why it is asked."""
    lines = [f"Kova: {one_line(card.title)}"]
    match card.subject:
        case CommandSubject():
            lines += [_cut(card.subject.command)]
        case EditSubject():
            for file in card.subject.files:
                lines += [_cut(file.diff, _MOST_CHARS // len(card.subject.files))]
        case NetworkSubject():
            lines += [_cut(f"{card.subject.method} {card.subject.url}")]
        case PlanSubject():
            lines += [_cut(card.subject.markdown)]
        case OtherSubject():
            lines += [_cut(card.subject.summary)]
    lines += [one_line(reason.text, 120) for reason in card.reasons[:2]]
    return "\n".join(lines)[:1_000]


def question_text(question: Question) -> str:
    """Return a question as a message, with what its options mean."""
    lines = [f"Kova asks: {_cut(question.question, 300)}"]
    for option in question.options[:_MOST_OPTIONS]:
        if option.description:
            lines.append(one_line(f"{option.label}: {option.description}", 120))
    return "\n".join(lines)[:1_000]


def _cut(text: str, most_chars: int = _MOST_CHARS) -> str:
    shown = plain(text).strip("\n")
    if len(shown) <= most_chars:
        return shown
    rest = len(shown) - most_chars
    return f"{shown[:most_chars]}…\n({rest:,} characters more: read them on the page, kova.open)"
