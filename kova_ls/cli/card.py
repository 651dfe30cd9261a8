"""Approval cards and questions as lines of text, and the answers a person may type.

Invariant: pure; every foreign text is shown through `terminal`.
Invariant: no answer is the default: an empty line or an unknown key chooses nothing.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from kova_ls.cli.terminal import Style, shown, shown_lines, wrap, wrap_words
from kova_ls.l10n import Language, say
from kova_ls.values import (
    Answer,
    Approval,
    CommandSubject,
    EditSubject,
    NetworkSubject,
    PlanSubject,
    Question,
    QuestionRequest,
    Segment,
)

_KEYS = {
    "deny": ("d", "[d]eny"),
    "once": ("o", "[o]nce"),
    "remember": ("r", "[r]emember"),
    "approve": ("a", "[a]pprove"),
    "reject": ("n", "[n]o"),
    "revise": ("v", "re[v]ise"),
    "rejectAndExit": ("x", "no, and e[x]it plan mode"),
    "adopt": ("a", "[a]dopt"),
}
WHY_KEY = "w"
"""Deny, and type a reason."""
DIFF_LINES = 200
"""Longer diffs are cut on a card, and say so."""


def path_of(uri: str, folder: str = "") -> str:
    """Return the path of a `file:` URI, relative below `folder` if given."""
    if not uri.startswith("file:"):
        return shown(uri)
    path = unquote(urlsplit(uri).path)
    return shown(path.removeprefix(folder.rstrip("/") + "/") if folder else path)


def approval_lines(approval: Approval, style: Style, folder: str) -> list[str]:
    """Draw a card, without its prompt."""
    body: list[_Line] = []
    head = shown(approval.title)
    subject = approval.subject
    told: set[str | None] = set()
    match subject:
        case CommandSubject():
            head = style.say(f"{shown(approval.tool or 'The agent')}: run this command?")
            for number, line in enumerate(shown_lines(subject.command)):
                body.append(_Line(_plain, f"{'$' if number == 0 else '>'} {line}"))
            if subject.hidden_chars:
                hidden = style.say(f"({subject.hidden_chars:,} more characters not shown)")
                body.append(_Line(style.red, hidden))
            body.append(_Line(style.dim, style.say(f"in {path_of(subject.cwd)}")))
            if len(subject.segments) > 1 or any(part.rule for part in subject.segments):
                body += [_segment(part, style) for part in subject.segments]
                told = {part.reason for part in subject.segments}
        case EditSubject():
            for file in subject.files:
                path = path_of(file.uri, folder)
                if len(subject.files) > 1 or path not in head:
                    body.append(_Line(style.bold, f"{file.change} {path}"))
                body += _diff(file.diff, style, file.hidden_lines)
        case NetworkSubject():
            body.append(_Line(_plain, f"{shown(subject.method)} {shown(subject.url)}"))
        case PlanSubject():
            body += [_prose(line) for line in shown_lines(subject.markdown.rstrip("\n"))]
            for number, option in enumerate(subject.options, 1):
                body.append(_option(number, option.label, option.description))
        case _:
            body += [_Line(_plain, line) for line in shown_lines(subject.summary)]
    for reason in approval.reasons:
        if reason.text not in told:
            body.append(_prose(style.say(f"why: {shown(reason.text)}"), style.yellow))
    body += [_prose(f"! {shown(notice)}", style.yellow) for notice in approval.notices]
    if approval.rules and "remember" in approval.decisions:
        rules = ", ".join(shown(rule) for rule in approval.rules)
        where = f" to {path_of(approval.rules_path or '', folder)}" if approval.rules_path else ""
        body.append(_Line(style.dim, style.say(f"remember writes {rules}{where}")))
    return _framed(head, body, style)


def diff_lines(
    diff: str, style: Style, hidden_lines: int = 0, most: int | None = DIFF_LINES
) -> list[str]:
    """Colour a unified diff; its head with the file names is left out."""
    return [line.paint(line.text) for line in _diff(diff, style, hidden_lines, most)]


def counts(diff: str) -> tuple[int, int]:
    """Count the added and removed lines of a unified diff."""
    lines = _hunks(diff.split("\n"))
    return (
        sum(line.startswith("+") for line in lines),
        sum(line.startswith("-") for line in lines),
    )


def _diff(
    diff: str, style: Style, hidden_lines: int, most: int | None = DIFF_LINES
) -> "list[_Line]":
    lines = _hunks(shown_lines(diff.rstrip("\n")))
    hidden = hidden_lines + (max(len(lines) - most, 0) if most is not None else 0)
    painted: list[_Line] = []
    for line in lines[:most]:
        paint = {"+": style.green, "-": style.red, "@": style.cyan}.get(line[:1], _plain)
        painted.append(_Line(paint, line))
    if hidden:
        painted.append(_Line(style.dim, style.say(f"({hidden} more lines not shown here)")))
    return painted


def _hunks(lines: list[str]) -> list[str]:
    # Only before the first hunk is a line with three signs a file name: later it is content.
    first = next((n for n, line in enumerate(lines) if line.startswith("@@")), 0)
    return lines[first:]


def _segment(part: Segment, style: Style) -> "_Line":
    why = style.say(f"allowed by {part.rule}" if part.rule else part.reason or "asks")
    paint = style.green if part.rule else style.yellow
    return _Line(paint, f"  {shown(part.text)}  {shown(why)}", indent="      ")


def decision_prompt(approval: Approval, language: Language = Language.ENGLISH) -> str:
    """Return the line that offers the card's decisions."""
    offers = [label for _, label, _ in _offers(approval)]
    if "deny" in approval.decisions:
        offers.insert(1, "deny and say [w]hy")
    return "  ".join(say(offer, language) for offer in offers)


def decision_of(approval: Approval, key: str) -> str | None:
    """Return the decision a key stands for on this card, None when it stands for none."""
    key = key.lower()
    if key == WHY_KEY and "deny" in approval.decisions:
        return "deny"
    return next((decision for own, _, decision in _offers(approval) if own == key), None)


def refusal(approval: Approval) -> str:
    """Return the card's safest decision."""
    return next(
        (word for word in ("deny", "reject") if word in approval.decisions),
        approval.decisions[0],
    )


def _offers(approval: Approval) -> list[tuple[str, str, str]]:
    offers: list[tuple[str, str, str]] = []
    for number, decision in enumerate(approval.decisions, 1):
        key, label = _KEYS.get(decision, (str(number), f"[{number}] {shown(decision)}"))
        offers.append((key, label, decision))
    return offers


def question_lines(request: QuestionRequest, question: Question, style: Style) -> list[str]:
    """Draw one question of a request, without its prompt."""
    body: list[_Line] = [_prose(line) for line in shown_lines(question.question)]
    for number, option in enumerate(question.options, 1):
        body.append(_option(number, option.label, option.description))
    position, total = request.questions.index(question) + 1, len(request.questions)
    head = shown(question.header or style.say("The agent asks"))
    return _framed(f"{head} ({position}/{total})" if total > 1 else head, body, style)


def question_prompt(question: Question, language: Language = Language.ENGLISH) -> str:
    """Return the line that says how to answer."""
    ways: list[str] = []
    if question.options:
        ways.append("numbers, as 1,3" if question.multi_select else "a number")
    if question.allow_other or not question.options:
        ways.append("your own words")
    offered = say(" or ", language).join(say(way, language) for way in ways)
    return say(f"{offered}; an empty line declines", language)


def answer_of(question: Question, line: str) -> Answer | None:
    """Read an answer to a question; None when the line is no possible one."""
    words = [word.strip() for word in line.split(",")]
    labels = [option.label for option in question.options]
    numbers = [int(word) for word in words if word.isascii() and word.isdecimal()]
    if labels and len(numbers) == len(words):
        unique = list(dict.fromkeys(numbers))
        fits = all(1 <= number <= len(labels) for number in unique)
        if fits and (question.multi_select or len(unique) == 1):
            return Answer(id=question.id, selected=tuple(labels[n - 1] for n in unique))
        return None
    named = [label for label in labels if label.lower() == line.strip().lower()]
    if named:
        return Answer(id=question.id, selected=tuple(named))
    if question.allow_other or not labels:
        return Answer(id=question.id, other=line.strip())
    return None


def _framed(head: str, body: "Iterable[_Line]", style: Style) -> list[str]:
    # Wrapped here and not by the terminal: a long line could else draw a frame of its own.
    top, side = style.sign("┌", "+"), style.sign("│", "|")
    width = max(style.width_columns - 3, 20)
    lines = [f"{top} {style.bold(style.yellow(piece))}" for piece in wrap(head, width)]
    for paint, text, indent in body:
        pieces = wrap(text, width) if indent is None else wrap_words(text, width, indent)
        lines += [f"{side} {paint(piece)}".rstrip() for piece in pieces]
    return lines


class _Line(NamedTuple):
    """How to dress a line, and the line."""

    paint: Callable[[str], str]
    text: str
    indent: str | None = None
    """Of what a line of prose goes on with; None = no prose: nothing in it is left out."""


def _plain(text: str) -> str:
    return text


def _prose(text: str, paint: Callable[[str], str] = _plain) -> _Line:
    return _Line(paint, text, indent="  " if paint is not _plain else "")


def _option(number: int, label: str, description: str) -> _Line:
    text = f"{number}) {shown(label)}  {shown(description)}"
    return _Line(_plain, text.rstrip(), indent="   ")
