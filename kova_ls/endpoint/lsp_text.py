"""Foreign text made harmless, for messages and for Markdown that an editor may render.

Invariant: pure; what these return holds no control, format, bidi or surrogate character.
Invariant: rendered, it fetches nothing, holds no HTML and does not pass for the page around it.
"""

import re
import unicodedata

from kova_ls.journal.records import Goal

_EMOJI_GLUE = "\u200d\ufe0f"
_FENCE = re.compile(r"(`{3,}|~{3,})([^\n]*)")
_HTML = re.compile(r"<(?=[A-Za-z/!?])")
_RUNS = re.compile(r"`+")
_HEADING = re.compile(r"^( {0,3})#{1,2}(?=[ \t]|$)")
_UNDERLINE = re.compile(r"^[ >]*(=+|-+)[ \t]*$")


def plain(text: str) -> str:
    """Return `text` with its lines, and with everything unprintable spelled out."""
    text = text.replace("\r\n", "\n")
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if _is_harmless(char) else f"⟨U+{ord(char):04X}⟩" for char in text)


def _is_harmless(char: str) -> bool:
    if " " <= char <= "~" or char in "\n\t" or char in _EMOJI_GLUE:
        return True
    category = unicodedata.category(char)
    return category[0] != "C" and category not in ("Zl", "Zp")


def one_line(text: str, most_chars: int = 200) -> str:
    """Return `text` on one line, cut to a length."""
    line = plain(text).replace("\n", "⏎").replace("\t", " ")
    return line if len(line) <= most_chars else line[: most_chars - 1] + "…"


def code(text: str) -> str:
    """Return one line as a code span: nothing in it is Markdown."""
    line = one_line(text)
    longest = max((len(run) for run in _RUNS.findall(line)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if longest or not line.strip() else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def fenced(text: str, language: str = "", most_lines: int | None = 200) -> str:
    """Return a block of code that ends where we end it, cut to a number of lines; None = whole."""
    body = plain(text).removesuffix("\n")
    if most_lines is not None:
        lines = body.split("\n")
        if len(lines) > most_lines:
            lines = [*lines[:most_lines], f"… {len(lines) - most_lines:,} lines more"]
        body = "\n".join(line if len(line) <= 2_000 else line[:2_000] + "…" for line in lines)
    longest = max((len(run) for run in _RUNS.findall(body)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{body}\n{ticks}"


def markdown(text: str) -> str:
    """Return someone's Markdown without HTML and pictures, its headings below ours, all closed.

    Only code that every renderer must take for code is left as it is: blocks fenced at the first
    column, and code spans of lines without stray backticks before them.
    """
    shown: list[str] = []
    closing: re.Pattern[str] | None = None
    fence = ""
    is_even = True
    """No backtick is left open in this paragraph."""
    for line in plain(text).split("\n"):
        if closing is not None:
            shown.append(line)
            if closing.fullmatch(line):
                closing = None
            continue
        opened = _FENCE.fullmatch(line)
        if opened and not (opened[1][0] == "`" and "`" in opened[2]):
            fence = opened[1]
            closing = re.compile(rf" {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}[ \t]*")
            shown.append(line)
            continue
        if not line.strip():
            is_even = True
        line, is_even = _prose(line, is_even=is_even)
        line = _HEADING.sub(r"\1###", line)
        if _UNDERLINE.match(line) and shown and shown[-1].strip():
            shown.append("")
        shown.append(line)
    if closing is not None:
        shown.append(fence)
    return "\n".join(shown)


def _prose(line: str, *, is_even: bool) -> tuple[str, bool]:
    """Escape a line outside of its code spans; say whether it leaves no backtick open."""
    if "`" not in line:
        return _escaped(line), is_even
    if not is_even or "\\" in line or "|" in line:
        return _escaped(line), False
    parts: list[str] = []
    at = 0
    while (run := _RUNS.search(line, at)) is not None:
        stop = next((r for r in _RUNS.finditer(line, run.end()) if r[0] == run[0]), None)
        if stop is None:
            return "".join(parts) + _escaped(line[at:]), False
        parts += [_escaped(line[at : run.start()]), line[run.start() : stop.end()]]
        at = stop.end()
    return "".join(parts) + _escaped(line[at:]), True


def _escaped(text: str) -> str:
    # An entity: a backslash would be undone by one that stands before it.
    return _HTML.sub("&lt;", text).replace("![", "!\\[")


def goal_line(goal: Goal | None) -> str:
    """Say where a goal stands, in one line."""
    if goal is None:
        return "Kova: this conversation has no goal."
    objective = one_line(goal.objective, 100)
    if goal.reason is None:
        return f"Kova: the goal is {goal.status.value}: {objective}"
    return f"Kova: the goal is {goal.status.value}: {objective} ({one_line(goal.reason, 200)})"
