"""A card or a question as the text of a message, and as a page with the whole of it.

Invariant: pure; foreign text is in both only through `lsp_text`, and nothing is cut silently.
"""

from collections.abc import Callable
from typing import NamedTuple

from kova_ls.endpoint.localize import localized
from kova_ls.endpoint.lsp_text import code, fenced, markdown, one_line, plain
from kova_ls.l10n import Language, say
from kova_ls.values import (
    Approval,
    CommandSubject,
    EditSubject,
    NetworkSubject,
    OtherSubject,
    PlanSubject,
    Question,
)

MOST_OPTIONS = 12
_MOST_CHARS = 800
_LONGEST = 1_000
_REST = "… there is more than a message holds."


class Shown(NamedTuple):
    """What a message says of a card."""

    text: str
    is_whole: bool
    """All that the card would allow is in the text."""


def card_text(card: Approval, language: Language = Language.ENGLISH) -> Shown:
    """Return a card as a message: what would happen, then why it is asked."""
    card = localized(card, language)
    match card.subject:
        case CommandSubject(command=command, hidden_chars=hidden):
            parts = [_cut(command, language, _MOST_CHARS, hidden)]
        case EditSubject(files=files):
            room = _MOST_CHARS // max(len(files), 1)
            parts = [_cut(file.diff, language, room, file.hidden_lines) for file in files]
        case NetworkSubject(method=method, url=url):
            parts = [_cut(f"{method} {url}", language)]
        case PlanSubject(markdown=text):
            parts = [_cut(text, language)]
        case OtherSubject(summary=text):
            parts = [_cut(text, language)]
    why = [one_line(reason.text, 120) for reason in card.reasons[:2]]
    text = "\n".join([f"Kova: {one_line(card.title)}", *(part.text for part in parts), *why])
    is_whole = all(part.is_whole for part in parts)
    if len(text) > _LONGEST:
        rest = f"\n{say(_REST, language)}"
        return Shown(text[: _LONGEST - len(rest)] + rest, is_whole=False)
    return Shown(text, is_whole)


def card_page(
    card: Approval, read: Callable[[str], str], language: Language = Language.ENGLISH
) -> str:
    """Return all that a card would allow, as a page; `read` gives what stands behind a reference.

    Raises: OSError when that cannot be read.
    """
    card = localized(card, language)
    lines = [f"# {code(card.title)}", ""]
    match card.subject:
        case CommandSubject() as command:
            whole = read(command.output_ref) if command.output_ref else command.command
            lines += [_whole(whole, "sh")]
        case EditSubject(files=files):
            for file in files:
                whole = read(file.output_ref) if file.output_ref else file.diff
                lines += [f"## {file.change} {code(file.uri)}", "", _whole(whole, "diff"), ""]
        case NetworkSubject(method=method, url=url):
            lines += [_whole(f"{method} {url}", "")]
        case PlanSubject(markdown=text):
            lines += [markdown(text)]
        case OtherSubject(summary=text):
            lines += [_whole(text, "")]
    lines += ["", *(f"- {code(reason.text)}" for reason in card.reasons)]
    lines += [*(f"- {code(notice)}" for notice in card.notices), ""]
    lines += [say("Run `kova.pending` again to answer.", language), ""]
    return "\n".join(lines)


def question_text(question: Question, language: Language = Language.ENGLISH) -> str:
    """Return a question as a message, with what its options mean."""
    lines = [say(f"Kova asks: {_cut(question.question, language, 300).text}", language)]
    for option in question.options[:MOST_OPTIONS]:
        if option.description:
            lines.append(one_line(f"{option.label}: {option.description}", 120))
    if question.multi_select:
        lines.append(say("Several may be chosen: answer in writing for that.", language))
    return "\n".join(lines)[:_LONGEST]


def _whole(text: str, language: str) -> str:
    return fenced(text, language, most_lines=None)


def _cut(text: str, language: Language, most_chars: int = _MOST_CHARS, hidden: int = 0) -> Shown:
    shown = plain(text).strip("\n")
    rest = len(shown) - most_chars
    if rest <= 0 and not hidden:
        return Shown(shown, is_whole=True)
    more = say("(and much more)" if hidden else f"({rest:,} characters more)", language)
    return Shown(f"{shown[:most_chars]}…\n{more}", is_whole=False)
