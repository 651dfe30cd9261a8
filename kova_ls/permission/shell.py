"""Command text -> what it would run, when two independent readings agree.

One reading is our own strict lexer, the other bashlex's tree; the words' values are our lexer's.
Invariant: bashlex is imported here alone, when a command is first judged, and nothing it raises
leaves this file.
Invariant: a text that the readings disagree on is opaque: neither allowed nor remembered.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from kova_ls.permission.escape_checks import find_escape
from kova_ls.permission.inert import is_inert
from kova_ls.permission.lexer import EXPANDS, Line, SimpleCommand, lex
from kova_ls.permission.programs import (
    FOLDER_CHANGERS,
    SHELL_CHANGERS,
    development_program,
    make_rule,
    never_reason,
    program_name,
)
from kova_ls.values import Reason


class Part(NamedTuple):
    """One simple command and what stands against matching it."""

    text: str
    """As it stands in the line."""
    name: str
    """The program's name, or the empty string."""
    values: tuple[str, ...]
    keys: tuple[str, ...]
    """The words for comparison: a word with an expansion equals no literal word."""
    guard: Reason | None
    """Why no rule at all may match it."""
    never: str | None
    """Why only an exact rule, or the user's own free pass, may match it."""
    rule: str | None
    """What remembering it would write."""
    has_redirect: bool
    has_expansion: bool


class Analysis(NamedTuple):
    """A command line as far as it depends on nothing but its text."""

    refusal: Reason | None
    """Why it is opaque; `parts` may then hold what one reading saw."""
    parts: tuple[Part, ...]
    operators: tuple[str, ...]
    changes_shell: str | None
    """The builtin with which the line asks as a whole."""


@lru_cache(maxsize=2048)
def analyse(text: str) -> Analysis:
    """Read a command line. Never raises; bounded for any input."""
    line = lex(text)
    if isinstance(line, Reason):
        return Analysis(line, (), (), None)
    parts: list[Part] = []
    moved = False
    changes: str | None = None
    for command in line.commands:
        part = _examine(text, command, has_moved=moved)
        parts.append(part)
        moved = moved or part.name in FOLDER_CHANGERS
        if part.name in SHELL_CHANGERS:
            changes = part.name
    is_open = any(part.guard is None for part in parts)
    refusal = None
    if is_open and not _agrees(text, line):
        refusal = Reason(
            code="unparseable",
            text="The command cannot be read with certainty: two readings differ.",
        )
    return Analysis(refusal, tuple(parts), line.operators, changes)


def _examine(text: str, command: SimpleCommand, *, has_moved: bool) -> Part:
    words = command.words
    shown = text[command.start : command.end]
    values = tuple(word.value for word in words)
    keys = values[:1] + tuple(
        f"\0{text[word.start : word.end]}" if word.flags & EXPANDS else word.value
        for word in words[1:]
    )
    name = program_name(values[0]) if words else ""
    never: str | None = None
    rule: str | None = None
    guard = _guard(text, command, has_moved=has_moved)
    if words:
        never = never_reason(values)
        if guard is None:
            escape = find_escape(words)
            inner = development_program(values)
            if escape is None and inner:
                escape = find_escape(words[inner:])
            if escape is not None:
                guard = Reason(code="escape", text=escape)
            elif never is None:
                rule = make_rule(keys)
    return Part(
        shown,
        name,
        values,
        keys,
        guard,
        never,
        rule,
        bool(command.redirects),
        bool(command.assignments) or any(word.flags & EXPANDS for word in words[1:]),
    )


def _guard(text: str, command: SimpleCommand, *, has_moved: bool) -> Reason | None:
    if any(not redirect.is_inert for redirect in command.redirects):
        return Reason(code="hidden_write", text="A redirect reads or writes a file.")
    if not command.words:
        what = "assignment" if command.assignments else "redirect"
        return Reason(code=what, text=f"A bare {what} changes what the rest of the line does.")
    for word in command.assignments:
        name, _, value = word.value.partition("=")
        if word.flags or not is_inert(name, value):
            shown = name.rstrip("+")
            return Reason(
                code="assignment", text=f"The variable {shown!r} may change what the command does."
            )
    first = command.words[0].value
    if not first.isascii():
        return Reason(code="odd_character", text="The program's name holds unusual letters.")
    if has_moved and "/" in first and not first.startswith("/"):
        return Reason(
            code="relative_program",
            text=f"{first!r} is another program after a change of folder.",
        )
    if first in SHELL_CHANGERS:
        return Reason(code="shell_change", text=f"`{first}` changes the shell that runs the line.")
    return None


# -- the second reading -------------------------------------------------------------------------

_Shape = tuple[list[list[tuple[int, int]]], list[str]]


def _agrees(text: str, line: Line) -> bool:
    """Tell whether bashlex sees the same words and the same operators."""
    seen = _bashlex_shape(text)
    if seen is None:
        return False
    commands, operators = seen
    if len(commands) != len(line.commands) or operators != list(line.operators):
        return False
    for spans, command in zip(commands, line.commands, strict=True):
        own = [(word.start, word.end) for word in command.assignments]
        own += [(word.start, word.end) for word in command.words]
        own += [(redirect.start, redirect.end) for redirect in command.redirects]
        own.sort()
        if spans != own:
            return False
    return True


class _Differs(Exception):
    """The tree holds something that our reading does not know."""


def _bashlex_shape(text: str) -> _Shape | None:
    import bashlex

    commands: list[list[tuple[int, int]]] = []
    operators: list[str] = []
    try:
        for part in bashlex.parse(text):  # pyright: ignore[reportUnknownMemberType]
            if commands and len(operators) < len(commands):
                operators.append("\n")
            _walk(part, commands, operators)
    except Exception:  # noqa: BLE001  (bashlex raises many kinds, among them RecursionError)
        return None
    if len(operators) < len(commands):
        operators.append("")
    return commands, operators


def _walk(node: Any, commands: list[list[tuple[int, int]]], operators: list[str]) -> None:
    kind: str = node.kind
    if kind == "command":
        commands.append(_spans(node.parts))
    elif kind in ("list", "pipeline"):
        for part in node.parts:
            _walk(part, commands, operators)
    elif kind == "operator":
        operators.append(node.op)
    elif kind == "pipe":
        operators.append(node.pipe)
    else:
        raise _Differs(kind)


def _spans(parts: Sequence[Any]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for part in parts:
        kind: str = part.kind
        if kind not in ("word", "assignment", "redirect"):
            raise _Differs(kind)
        target = getattr(part, "output", None) if kind == "redirect" else part
        for inner in getattr(target, "parts", ()):
            if inner.kind not in ("parameter", "tilde"):
                raise _Differs(inner.kind)
        spans.append(part.pos)
    return spans
