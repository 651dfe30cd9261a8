"""A session as a Markdown page on the disk, for editors that know nothing of Kova.

Written when someone first looks, then added to at the end of each item; never read back.
Invariant: foreign text is on the page only through `lsp_text`.
"""

import contextlib
import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from kova_ls.endpoint.lsp_text import code, fenced, markdown, one_line
from kova_ls.engine import Session
from kova_ls.journal import records as r
from kova_ls.journal.store import Stored
from kova_ls.journal.stream import Delta
from kova_ls.values import (
    Approval,
    CommandBlock,
    CommandSubject,
    CompactionItem,
    DiagnosticPart,
    DiffBlock,
    EditSubject,
    FilePart,
    InputPart,
    Item,
    NetworkSubject,
    NoticeItem,
    OtherSubject,
    PlanSubject,
    Question,
    ReasoningItem,
    ReplyItem,
    SelectionPart,
    TextPart,
    TodosBlock,
    ToolCallItem,
    UserMessageItem,
)
from kova_ls.vocabulary import ItemStatus, StopReason

_log = logging.getLogger(__name__)
_HEAD = "# Kova\n\nWritten as the conversation goes on; nothing that is changed here is read.\n"
_SIGNS = {ItemStatus.OK: "✓", ItemStatus.BLOCKED: "⊘", ItemStatus.ERROR: "✗"}
_LEVELS = {"info": "i", "warning": "!", "error": "✗"}
_OUTPUT_LINES = 60


@dataclass(frozen=True, slots=True)
class Waiting:
    """A card or questions on the page that nobody has answered."""

    id: str
    title: str
    line: int
    """Zero-based line of the page."""
    is_card: bool
    """The title is the engine's; of questions it is the model's."""


@dataclass(slots=True)
class Page:
    """The text that records make; `waiting` says what is open and where it stands."""

    waiting: dict[str, Waiting] = field(default_factory=dict[str, Waiting])
    _lines: int = 0
    _speaker: str = ""
    _goal_stands: tuple[str, str] = ("", "")

    def head(self) -> str:
        """Return how every page begins."""
        self._lines = _HEAD.count("\n")
        return _HEAD

    def add(self, record: r.Record) -> str:
        """Return what a record adds to the page; often nothing."""
        match record:
            case r.ItemCompleted():
                text = self._item(record.item)
            case r.ApprovalRequested():
                card = record.approval
                self._wait(card.approval_id, card.title, is_card=True)
                text = _card(card)
            case r.QuestionRequested():
                asked = record.request
                self._wait(asked.question_id, asked.questions[0].question, is_card=False)
                text = "\n\n".join(map(_question, asked.questions))
            case r.ApprovalResolved():
                self.waiting.pop(record.approval_id, None)
                text = f"- answer: {code(record.decision)} by {code(record.resolved_by)}"
            case r.QuestionResolved():
                self.waiting.pop(record.question_id, None)
                text = f"- {record.outcome} by {code(record.resolved_by)}"
            case r.GoalUpdated():
                text = self._goal(record.goal)
            case r.TurnCompleted():
                text = _end(record)
            case _:
                text = ""
        if not text:
            return ""
        text = f"\n{text}\n"
        self._lines += text.count("\n")
        return text

    def _wait(self, id: str, title: str, *, is_card: bool) -> None:
        self.waiting[id] = Waiting(id, title, self._lines + 1, is_card)

    def _item(self, item: Item) -> str:
        match item:
            case UserMessageItem():
                self._speaker = "You" if item.goal_id is None else "Goal"
                words = markdown("\n".join(_said(item.input)))
                return f"## {self._speaker}\n\n{_quoted(words)}"
            case ReplyItem():
                return self._by_kova(markdown(item.text.strip())) if item.text.strip() else ""
            case ToolCallItem():
                return self._by_kova(_call(item))
            case NoticeItem():
                return self._by_kova(f"- {_LEVELS[item.level]} {code(item.text)}")
            case CompactionItem():
                return "- earlier turns were folded into a summary"
            case ReasoningItem():
                return ""

    def _goal(self, goal: r.Goal) -> str:
        now = (goal.goal_id, goal.status.value)
        if now == self._goal_stands:
            return ""
        self._goal_stands = now
        why = f": {code(goal.reason)}" if goal.reason else ""
        return f"- goal {code(goal.objective)}: {goal.status}{why}"

    def _by_kova(self, text: str) -> str:
        is_new, self._speaker = self._speaker != "Kova", "Kova"
        return f"## Kova\n\n{text}" if is_new else text


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" if line else ">" for line in text.split("\n"))


def _said(parts: Sequence[InputPart]) -> list[str]:
    lines: list[str] = []
    for part in parts:
        match part:
            case TextPart():
                lines.append(part.text)
            case FilePart():
                lines.append(f"\n{code('@' + part.uri)}")
            case SelectionPart():
                first, last = part.range.start.line + 1, part.range.end.line + 1
                lines.append(f"\n{code(f'{part.uri}, lines {first} to {last}')}")
            case DiagnosticPart():
                place = f"{part.uri}, line {part.range.start.line + 1}: {part.message}"
                lines.append(f"\n{code(place)}")
            case _:
                lines.append("\na picture")
    return lines


def _call(item: ToolCallItem) -> str:
    lines = [f"- {_SIGNS.get(item.status, '⊘')} {code(item.title)}"]
    if item.error:
        lines.append(f"  {code(item.error)}")
    for block in item.display:
        match block:
            case DiffBlock():
                lines += ["", fenced(block.diff, "diff")]
                if block.hidden_lines:
                    lines.append(f"\n{block.hidden_lines:,} lines more")
            case CommandBlock() if block.output.strip():
                lines += ["", fenced(block.output, most_lines=_OUTPUT_LINES)]
            case TodosBlock():
                lines += [f"  - {todo.status}: {code(todo.text)}" for todo in block.todos]
            case _:
                pass
    return "\n".join(lines)


def _card(card: Approval) -> str:
    lines = [f"**Kova waits** for your answer (`kova.pending`): {code(card.title)}"]
    match card.subject:
        case CommandSubject():
            lines += ["", fenced(card.subject.command, "sh", most_lines=10_000)]
        case EditSubject():
            for file in card.subject.files:
                lines += ["", fenced(file.diff, "diff", most_lines=10_000)]
                if file.hidden_lines:
                    lines.append(f"\n{file.hidden_lines:,} lines more")
        case NetworkSubject():
            lines += ["", code(f"{card.subject.method} {card.subject.url}")]
        case PlanSubject():
            lines += ["", _quoted(markdown(card.subject.markdown))]
        case OtherSubject():
            lines += ["", code(card.subject.summary)]
    lines += ["", *(f"- {code(reason.text)}" for reason in card.reasons)]
    lines += [f"- {code(notice)}" for notice in card.notices]
    return "\n".join(lines).rstrip()


def _question(question: Question) -> str:
    lines = [f"**Kova asks** (`kova.pending`): {code(question.question)}", ""]
    for option in question.options:
        more = f" {code(option.description)}" if option.description else ""
        lines.append(f"- {code(option.label)}{more}")
    return "\n".join(lines).rstrip()


def _end(record: r.TurnCompleted) -> str:
    if record.stop_reason is StopReason.DONE:
        return ""
    why = code(record.error.message) if record.error else ", ".join(map(code, record.stopped))
    return f"- ⊘ {record.stop_reason.value}" + (f": {why}" if why else "")


class Transcript:
    """One session's page."""

    def __init__(self, session: Session) -> None:
        self.path = os.path.join(os.path.realpath(session.folder), "transcript.md")
        self.page = Page()
        self._is_failing = False
        text = [self.page.head()]
        for stored in session.journal.read(1, session.journal.seq):
            text.append(self.page.add(stored.record))
        self._write("".join(text), os.O_TRUNC)
        session.stream.subscribe(self._hear)

    def waiting(self) -> list[Waiting]:
        """Return what is open, in the order of the page."""
        return list(self.page.waiting.values())

    def _hear(self, fact: Stored | Delta) -> None:
        if isinstance(fact, Stored):
            text = self.page.add(fact.record)
            if text:
                self._write(text, os.O_APPEND)

    def _write(self, text: str, flag: int) -> None:
        # A page is a convenience: that it cannot be written never harms the turn.
        try:
            fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | flag, 0o600)
            with contextlib.closing(os.fdopen(fd, "wb", 0)) as file:
                file.write(text.encode("utf-8", "replace"))
        except OSError as error:
            if not self._is_failing:
                _log.warning("%s cannot be written: %s", self.path, error)
            self._is_failing = True


_TRANSCRIPTS: WeakKeyDictionary[Session, Transcript] = WeakKeyDictionary()


def transcript_of(session: Session) -> Transcript:
    """Return the session's transcript, begun when it is first asked for."""
    found = _TRANSCRIPTS.get(session)
    if found is None:
        found = _TRANSCRIPTS[session] = Transcript(session)
    return found


def summary(text: str) -> str:
    """Return an answer's first lines for a message."""
    return one_line(" ".join(text.split()), 300)
