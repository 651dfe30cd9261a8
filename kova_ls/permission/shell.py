"""Command text -> what it would run, when two independent readings agree.

One reading is our own strict lexer, the other bashlex's tree; the words' values are our lexer's.
Invariant: bashlex is imported here alone, when a command is first judged, and nothing it raises
leaves this file.
Invariant: a text that the readings disagree on is opaque: neither allowed nor remembered.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, cast

from kova_ls.permission.escape_checks import bare_value, find_escape
from kova_ls.permission.inert import is_inert
from kova_ls.permission.lexer import (
    DOLLAR,
    EXPANDS,
    KEYWORDS,
    QUOTED_DOLLAR,
    Line,
    SimpleCommand,
    Word,
    lex,
)
from kova_ls.permission.programs import (
    FOLDER_CHANGERS,
    SHELL_CHANGERS,
    development_program,
    has_subcommands,
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
    """Why our own reading refuses it; `parts` is empty then."""
    parts: tuple[Part, ...]
    operators: tuple[str, ...]
    changes_shell: str | None
    """The builtin with which the line asks as a whole."""


DIFFERS = Reason(
    code="unparseable",
    text="The command cannot be read with certainty: two readings of it differ.",
)


_lex = lru_cache(maxsize=16)(lex)
"""Both questions about a line are asked one after the other."""


@lru_cache(maxsize=2048)
def analyse(text: str) -> Analysis:
    """Read a command line once. Never raises; bounded for any input.

    Nothing may be allowed or remembered on this alone: ask `is_confirmed` as well.
    """
    line = _lex(text)
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
    return Analysis(None, tuple(parts), line.operators, changes)


@lru_cache(maxsize=2048)
def is_confirmed(text: str) -> bool:
    """Tell whether the second reading agrees with ours on every border."""
    line = _lex(text)
    return not isinstance(line, Reason) and _agrees(text, line)


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
        if any(word.flags & (DOLLAR | QUOTED_DOLLAR) for word in words[1:]):
            bare = (bare_value(value) for value in values)
            never = never or never_reason([value for value in bare if value])
        inner = development_program(values)
        guard = guard or _built_word(words, 1, name)
        if inner and inner.is_module:
            guard = guard or _built_word(words, inner.at + 1, inner.program)
        if guard is None:
            escape = find_escape(words)
            if escape is None and inner:
                started = words[inner.at]._replace(value=inner.program)
                escape = find_escape((started, *words[inner.at + 1 :]))
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


def _built_word(words: Sequence[Word], at: int, program: str) -> Reason | None:
    """Return why a sub-command at this place is not known, or None."""
    if len(words) > at and words[at].flags & EXPANDS and has_subcommands(program):
        text = f"The shell builds the word that tells `{program}` what to do."
        return Reason(code="expansion", text=text)
    return None


def _guard(text: str, command: SimpleCommand, *, has_moved: bool) -> Reason | None:
    if any(not redirect.is_inert for redirect in command.redirects):
        return Reason(code="hidden_write", text="A redirect reads or writes a file.")
    if not command.words:
        what = "assignment" if command.assignments else "redirect"
        return Reason(code=what, text=f"A bare {what} changes what the rest of the line does.")
    for word in command.assignments:
        name, _, value = word.value.partition("=")
        if word.flags & EXPANDS or not is_inert(name, value):
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

_Spans = tuple[tuple[int, int], ...]
_RUN = re.compile(r"[A-Za-z0-9_./,:@%+-]+")
"""Text with no meaning to any shell's lexer, unless it is a keyword, a number or a variable."""
_STAND_IN = "x_x"


def _agrees(text: str, line: Line) -> bool:
    """Tell whether bashlex sees the same words and the same operators.

    Plain text is replaced by a stand-in first, so that lines of one shape are parsed once: bashlex
    takes its time per character.
    """
    skeleton, ends, shifts, dropped = _skeleton(text)
    seen = _bashlex_shape(skeleton)
    if seen is None:
        return False
    commands, operators = seen
    if len(commands) != len(line.commands) or operators != line.operators:
        return False
    for spans, command in zip(commands, line.commands, strict=True):
        own = [(word.start, word.end) for word in command.assignments]
        own += [(word.start, word.end) for word in command.words]
        if command.redirects:
            own += [(redirect.start, redirect.end) for redirect in command.redirects]
            own.sort()
        if dropped:
            own = [span for span in own if span[0] not in dropped]
        if len(own) != len(spans):
            return False
        for (start, end), (their_start, their_end) in zip(own, spans, strict=True):
            if start + shifts[bisect_right(ends, start)] != their_start:
                return False
            if end + shifts[bisect_right(ends, end)] != their_end:
                return False
    return True


def _skeleton(text: str) -> tuple[str, list[int], list[int], set[int]]:
    """Return the text with plain runs replaced, and how to find a place of the text in it.

    Shape: the skeleton; where the runs end; by how much each shifts what follows; where the runs
    start that were left out. Of plain runs with one blank between them the first and the last stay:
    in quotes they are text like any other, outside of quotes each is a word of its own.
    """
    runs: list[tuple[int, int, str]] = []
    for match in _RUN.finditer(text):
        start, end = match.span()
        run = match[0]
        if run not in KEYWORDS and text[end : end + 1] not in ("=", "["):
            runs.append((start, end, "1" if run.isdigit() else _STAND_IN))
    ends: list[int] = []
    shifts: list[int] = [0]
    dropped: set[int] = set()
    pieces: list[str] = []
    at = 0
    shift = 0
    last = len(runs) - 1
    for index, (start, end, stand_in) in enumerate(runs):
        if (
            0 < index < last
            and runs[index - 1][1] == start - 1
            and text[start - 1] == " "
            and runs[index + 1][0] == end + 1
            and text[end] == " "
        ):
            dropped.add(start)
            shift -= end - start + 1
        else:
            pieces.append(text[at:start])
            pieces.append(stand_in)
            shift += len(stand_in) - (end - start)
        at = end
        ends.append(end)
        shifts.append(shift)
    pieces.append(text[at:])
    return "".join(pieces), ends, shifts, dropped


class _Differs(Exception):
    """The tree holds something that our reading does not know."""


@lru_cache(maxsize=1)
def _bashlex_parser() -> Callable[[str], Any]:
    import bashlex
    from bashlex import subst

    expand: Callable[[Any, str, int], tuple[Any, int]] = cast(Any, subst)._paramexpand

    def bounded(parser: Any, text: str, at: int) -> tuple[Any, int]:
        node, end = expand(parser, text, at)
        # At a `${` without an end, as in a'${x', bashlex begins the word again, for ever.
        if end <= at:
            raise _Differs("expansion")
        return node, end

    cast(Any, subst)._paramexpand = bounded
    return cast(Any, bashlex).parsesingle


@lru_cache(maxsize=4096)
def _bashlex_shape(text: str) -> tuple[tuple[_Spans, ...], tuple[str, ...]] | None:
    parse_line = _bashlex_parser()
    commands: list[_Spans] = []
    operators: list[str] = []
    at, n = 0, len(text)
    try:
        while True:
            at = _skip_blank(text, at)
            if at >= n:
                break
            if commands and len(operators) < len(commands):
                operators.append("\n")
            node = parse_line(text[at:])
            _walk(node, at, commands, operators)
            at += int(node.pos[1])
    except Exception:  # noqa: BLE001  (bashlex raises many kinds, among them RecursionError)
        return None
    if len(operators) < len(commands):
        operators.append("")
    return tuple(commands), tuple(operators)


def _skip_blank(text: str, at: int) -> int:
    """Return the offset behind blanks, newlines and comments between two lines."""
    while at < len(text):
        if text[at] == "#":
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif text[at] in " \t\n":
            at += 1
        elif text.startswith("\\\n", at):
            at += 2
        else:
            break
    return at


def _walk(node: Any, shift: int, commands: list[_Spans], operators: list[str]) -> None:
    kind: str = node.kind
    if kind == "command":
        commands.append(_spans(node.parts, shift))
    elif kind in ("list", "pipeline"):
        for part in node.parts:
            _walk(part, shift, commands, operators)
    elif kind == "operator":
        operators.append(node.op)
    elif kind == "pipe":
        operators.append(node.pipe)
    else:
        raise _Differs(kind)


def _spans(parts: Sequence[Any], shift: int) -> _Spans:
    spans: list[tuple[int, int]] = []
    for part in parts:
        kind: str = part.kind
        if kind not in ("word", "assignment", "redirect"):
            raise _Differs(kind)
        target = getattr(part, "output", None) if kind == "redirect" else part
        for inner in getattr(target, "parts", ()):
            if inner.kind not in ("parameter", "tilde"):
                raise _Differs(inner.kind)
        start, end = part.pos
        spans.append((start + shift, end + shift))
    return tuple(spans)
