"""Cards and questions put to a person who asked for them, by `window/showMessageRequest`.

Facts of real editors: such a request takes the keyboard in some, and its first choice is what a
stray Enter gives; so it comes one at a time, only when asked for, with the refusal first.
Invariant: only a choice that was offered counts; anything else leaves the card open.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kova_ls.endpoint.handlers import HANDLERS
from kova_ls.endpoint.lsp_cards import MOST_OPTIONS, card_page, card_text, question_text
from kova_ls.endpoint.lsp_forms import put_form, questions_form, words_form, write_private
from kova_ls.endpoint.lsp_text import code, one_line
from kova_ls.engine.outputs import read_whole
from kova_ls.errors import KovaError, RequestFailed
from kova_ls.protocol import approval as pa
from kova_ls.values import (
    Answer,
    Approval,
    PlanSubject,
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
    "revise": "Say what to change …",
    "approve": "Approve",
}
"""What can be answered here: "remember" wants its rules to be seen."""
_DENY_AND_SAY = "Deny and say why …"
_OPEN_WHOLE = "Open the whole of it"
_IN_WRITING = "Answer in writing …"
_DECLINE = "Decline to answer"


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
            lsp.tell_failure(error)
            return
        if not is_answered:
            return


async def _put_card(lsp: "LspServer", card: Approval) -> bool:
    shown = card_text(card, lsp.endpoint.language)
    is_cut = not shown.is_whole and card.approval_id not in lsp.whole_ids
    choices: dict[str, dict[str, Any]] = {}
    for decision in card.decisions:
        if decision not in _WORDS or (is_cut and decision in ("once", "approve", "adopt")):
            continue
        options = card.subject.options if isinstance(card.subject, PlanSubject) else ()
        if decision == "approve" and options:
            for option in options[:MOST_OPTIONS]:
                title = f"Approve: {one_line(option.label, 80)}"
                choices.setdefault(title, {"decision": decision, "option": option.label})
        else:
            choices[_WORDS[decision]] = {"decision": decision}
        if decision == "deny":
            choices[_DENY_AND_SAY] = {"decision": decision}
    titles = [*choices, _OPEN_WHOLE] if is_cut else list(choices)
    title = await lsp.choose(shown.text, titles)
    if title is None:
        if not lsp.puts_choices:
            lsp.tell(shown.text)
            await _open_whole(lsp, card)
            lsp.tell("Kova: this editor puts no choice; answer it by a code action.")
        return False
    if title == _OPEN_WHOLE:
        await _open_whole(lsp, card)
        return False
    if title in (_DENY_AND_SAY, _WORDS["revise"]):
        await _put_words(lsp, card, choices[title]["decision"])
        return False
    _answer(lsp, card.approval_id, **choices[title])
    return True


def direct_choices(lsp: "LspServer") -> list[tuple[str, list[str]]]:
    """Return titles and arguments of `kova.pending` that answer what was opened whole.

    For an editor that puts no choice.
    """
    if lsp.puts_choices:
        return []
    return [
        (
            f"{lsp.say(_WORDS[decision])}: {one_line(lsp.say(card.title), 60)}",
            [card.approval_id, decision],
        )
        for card in open_asks(lsp)
        if isinstance(card, Approval) and card.approval_id in lsp.whole_ids
        for decision in card.decisions
        if decision in _WORDS and decision != "revise"
    ]


def decide(lsp: "LspServer", approval_id: str, decision: str) -> None:
    """Answer a card that was opened whole. Raises: RequestFailed."""
    if [approval_id, decision] not in [arguments for _, arguments in direct_choices(lsp)]:
        raise RequestFailed(
            "invalidParams", "Open the card first: run kova.pending, then choose among its actions."
        )
    _answer(lsp, approval_id, decision=decision)


async def _open_whole(lsp: "LspServer", card: Approval) -> None:
    """Show all that a card would allow; only then may it be allowed here."""
    session = lsp.watches[card.session_id].session
    path = os.path.join(os.path.realpath(session.folder), f"card-{card.approval_id}.md")
    try:
        page = card_page(card, lambda ref: read_whole(session, ref), lsp.endpoint.language)
        write_private(path, page)
    except OSError as error:
        lsp.tell(
            f"Kova: it cannot be shown whole: {error.strerror or error}. Deny it, or make room."
        )
        return
    lsp.whole_ids.add(card.approval_id)
    await lsp.show(path, takes_focus=True)


async def _put_words(lsp: "LspServer", card: Approval, decision: str) -> None:
    """Let the person write what goes to the model with their decision."""

    def send(words: str) -> None:
        _answer(lsp, card.approval_id, decision=decision, feedback=words)

    title = lsp.say(card.title)
    head = [f"# {lsp.say(_WORDS[decision]).removesuffix(' …')}", "", code(title)]
    session = lsp.watches[card.session_id].session
    form = words_form(head, send, lsp.endpoint.language, pa.MOST_FEEDBACK_CHARS)
    await put_form(lsp, session, title, form)


def _answer(lsp: "LspServer", approval_id: str, **answer: Any) -> None:
    """Answer a card. Raises: RequestFailed."""
    params = pa.ApprovalRespondParams(approval_id=approval_id, **answer)
    _tell_other(lsp, HANDLERS["kova/approval/respond"](lsp.endpoint, params))


def _tell_other(lsp: "LspServer", result: Any) -> None:
    """Say so when someone else was first."""
    if result.status == "alreadyResolved":
        what = result.decision if isinstance(result, pa.ApprovalRespondResult) else result.outcome
        lsp.tell(f"Kova: already answered: {what} by {result.resolved_by}.")


async def _put_questions(lsp: "LspServer", request: QuestionRequest) -> bool:
    answers: list[Answer] = []
    for question in request.questions:
        labels: dict[str, str | None] = {_DECLINE: None, _IN_WRITING: None}
        offered = {one_line(option.label, 80): option.label for option in question.options}
        for shown, label in list(offered.items())[:MOST_OPTIONS]:
            labels.setdefault(shown, label)
        text = question_text(question, lsp.endpoint.language)
        title = await lsp.choose(text, list(labels), offered)
        if title is None and lsp.puts_choices:
            return False
        if title is None or title == _IN_WRITING:
            await _put_form(lsp, request)
            return False
        label = labels[title]
        if label is None:
            respond(lsp, request.question_id, None)
            return True
        answers.append(Answer(id=question.id, selected=(label,)))
    respond(lsp, request.question_id, answers)
    return True


async def _put_form(lsp: "LspServer", request: QuestionRequest) -> None:
    """Let the person answer all questions of a request on a page."""

    def send(answers: Sequence[Answer]) -> None:
        respond(lsp, request.question_id, answers)

    session = lsp.watches[request.session_id].session
    form = questions_form(request, send, lsp.endpoint.language)
    await put_form(lsp, session, lsp.say("your answer"), form)


def respond(lsp: "LspServer", question_id: str, answers: Sequence[Answer] | None) -> None:
    """Answer questions, or decline them with None. Raises: RequestFailed."""
    params = pa.QuestionRespondParams(
        question_id=question_id,
        answers=None if answers is None else tuple(answers),
        declined=answers is None,
    )
    _tell_other(lsp, HANDLERS["kova/question/respond"](lsp.endpoint, params))
