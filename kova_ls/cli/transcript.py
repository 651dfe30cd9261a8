"""A running turn as text: the answer streamed, thoughts dim, one line for each tool call.

Invariant: the answer alone goes to stdout; where stdout is no terminal the rest goes to stderr.
Invariant: a lost delta costs nothing: an item's end writes what is still missing.
"""

from dataclasses import dataclass, field

from kova_ls.cli.card import counts
from kova_ls.cli.console import Console, is_terminal
from kova_ls.cli.terminal import Style, clip, columns, shown, shown_lines, shown_prose
from kova_ls.values import (
    CommandBlock,
    CompactionItem,
    DiffBlock,
    Item,
    NoticeItem,
    ReasoningItem,
    ReplyItem,
    TodosBlock,
    ToolCallItem,
    UserMessageItem,
)
from kova_ls.vocabulary import Decision, ItemStatus

_SIGNS = {
    ItemStatus.OK: ("✓", "ok"),
    ItemStatus.ERROR: ("✗", "failed"),
    ItemStatus.BLOCKED: ("⊘", "blocked"),
    ItemStatus.CANCELLED: ("⊘", "cancelled"),
    ItemStatus.INTERRUPTED: ("⊘", "interrupted"),
    ItemStatus.RUNNING: ("…", "running"),
    ItemStatus.WAITING: ("?", "waiting"),
}
_TODO_SIGNS = {"pending": ("☐", "[ ]"), "in_progress": ("▸", "[>]"), "done": ("☑", "[x]")}

_LEAST_REASON_COLUMNS = 12
_LAST_LINE_COLUMNS = 40


def tool_line(item: ToolCallItem, style: Style) -> str:
    """Tell a tool call in one line: how it ended, what it was, why it was let through or not."""
    sign = style.sign(*_SIGNS[item.status])
    paint = style.green if item.status is ItemStatus.OK else style.red
    if not item.status.is_end:
        paint = style.dim
    title = shown(item.title or item.tool)
    result = " ".join(filter(None, (_result(block) for block in item.display)))
    why = "" if item.error else style.say(_verdict(item))
    text = style.clip("  ".join(filter(None, (title, result))), columns(sign) + 1)
    line = f"{paint(sign)} {text}"
    room = style.width_columns - columns(f"{sign} {text}") - 2
    if why and room >= _LEAST_REASON_COLUMNS:
        line += "  " + style.dim(clip(why, room, style.sign("…", "...")))
    if item.error:
        line += "\n" + style.red(style.clip(f"  {shown(item.error)}"))
    return line


def tool_details(item: ToolCallItem, style: Style) -> list[str]:
    """Return the lines a task list adds below its call."""
    lines: list[str] = []
    for block in item.display:
        if isinstance(block, TodosBlock):
            for todo in block.todos:
                sign = style.sign(*_TODO_SIGNS.get(todo.status, ("☐", "[ ]")))
                lines.append(style.clip(f"  {sign} {shown(todo.text)}"))
    return lines


def _verdict(item: ToolCallItem) -> str:
    reasons = item.verdict.reasons
    word = {
        Decision.ALLOW: "allowed",
        Decision.ASK: "asked",
        Decision.DENY: "denied",
        Decision.BLOCKED: "blocked",
    }[item.verdict.decision]
    return f"{word}: {shown(reasons[0].text)}" if reasons else word


def _result(block: object) -> str:
    match block:
        case DiffBlock():
            added, removed = counts(block.diff)
            more = "+" if block.hidden_lines else ""
            return f"+{added}{more} -{removed}{more}"
        case CommandBlock():
            said = [line for line in shown_lines(block.output) if line.strip()]
            code = f"exit {block.exit_code}" if block.exit_code else ""
            last = clip(said[-1].strip(), _LAST_LINE_COLUMNS) if said else ""
            return ", ".join(filter(None, (code, last)))
        case _:
            return ""


@dataclass(slots=True)
class Feed:
    """Writes a turn as it comes."""

    console: Console
    style: Style = field(init=False)
    _is_live: bool = field(init=False)
    """The answer and the rest share one terminal."""
    _can_wipe: bool = field(init=False)
    """A line may be taken back."""
    _written: dict[str, int] = field(default_factory=dict[str, int])
    """Characters of each streamed item on the screen."""
    _open: str | None = None
    """The item whose line is unfinished."""
    _open_is_reply: bool = True
    _passing: bool = False
    """The last line is a passing one, to be overwritten."""

    def __post_init__(self) -> None:
        """Find out what the terminal can do."""
        self.style = self.console.style(self.console.talk)
        self._is_live = is_terminal(self.console.stdout)
        self._can_wipe = self._is_live and self.console.env.get("TERM", "dumb") != "dumb"

    def delta(self, kind: str, item_id: str, offset: int, text: str) -> None:
        """Write the next piece of a reply or a thought."""
        if kind not in ("reply", "reasoning"):
            return
        written = self._written.get(item_id, 0)
        if offset > written or offset + len(text) <= written:
            return
        self._stream(kind, item_id, text[written - offset :])

    def completed(self, item: Item) -> None:
        """Write an item's end."""
        match item:
            case ReplyItem() | ReasoningItem():
                rest = item.text[self._written.get(item.item_id, 0) :]
                if rest:
                    self._stream(item.kind, item.item_id, rest)
                self._written.pop(item.item_id, None)
                self.end_line()
            case ToolCallItem():
                self.line(tool_line(item, self.style))
                for line in tool_details(item, self.style):
                    self.line(line)
            case NoticeItem():
                paint = {"error": self.style.red, "warning": self.style.yellow}.get(
                    item.level, self.style.dim
                )
                self.line(paint(shown_prose(item.text)))
            case CompactionItem():
                self.line(
                    self.style.dim(self.style.say("earlier turns were folded into a summary"))
                )
            case UserMessageItem():
                pass

    def running(self, title: str) -> None:
        """Show what is going on until the next line; on a terminal only."""
        if not self._can_wipe or self._open:
            return
        self._wipe()
        text = f"{self.style.sign('…', '...')} {self.style.say(shown(title))}"
        self.console.stdout.write(self.style.dim(self.style.clip(text, 1)))
        self.console.stdout.flush()
        self._passing = True

    def line(self, text: str) -> None:
        """Write a line beside the answer."""
        self.end_line()
        self.console.say(text)

    def end_line(self) -> None:
        """Finish the line that a stream left open."""
        self._wipe()
        if self._open is not None:
            stream = self.console.stdout if self._open_is_reply else self.console.talk
            stream.write("\n")
            stream.flush()
            self._open = None

    def _stream(self, kind: str, item_id: str, text: str) -> None:
        is_reply = kind == "reply"
        self._written[item_id] = self._written.get(item_id, 0) + len(text)
        if not is_reply and not self._is_live:
            return
        if self._open not in (None, item_id):
            self.end_line()
        self._wipe()
        plain = shown_prose(text)
        stream = self.console.stdout if is_reply else self.console.talk
        stream.write(plain if is_reply else self.style.dim(plain))
        stream.flush()
        ended = plain.endswith("\n")
        self._open = None if ended else item_id
        self._open_is_reply = is_reply

    def _wipe(self) -> None:
        if self._passing:
            self.console.stdout.write("\r\x1b[K")
            self._passing = False
