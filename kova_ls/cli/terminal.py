"""What may be written to a terminal: foreign text made harmless, colours, widths.

Invariant: pure; text from a model, a tool or a file reaches the terminal only through `shown`,
`shown_lines` or `shown_prose`.
Invariant: what these return holds no control, format, bidi or surrogate character.
"""

import re
import unicodedata
from dataclasses import dataclass

from kova_ls.l10n import Language, say

_UNSEEN = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
) | frozenset(map(chr, range(0xFE00, 0xFE10)))
"""Characters that print nothing though their category says otherwise."""
_EMOJI_GLUE = frozenset("\u200d\ufe0f")
"""Joins emoji in prose; prints nothing alone and moves nothing."""
_WIDE = frozenset("WF")


def shown(text: str) -> str:
    """Return `text` on one line, with everything unprintable spelled out.

    A line end becomes `⏎`, so that a second line cannot hide or pass for our own.
    """
    return "".join("⏎" if char == "\n" else _strict(char) for char in text)


def shown_lines(text: str) -> list[str]:
    """Return the lines of `text`, each with everything unprintable spelled out."""
    return ["".join(_strict(char) for char in line) for line in text.split("\n")]


def shown_prose(text: str) -> str:
    """Return prose with its line ends; emoji sequences stay whole.

    May be called on the pieces of a stream: no character depends on another one.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char == "\n" else _lenient(char) for char in text)


def _strict(char: str) -> str:
    if " " <= char <= "~":
        return char
    if char == "\t":
        return "    "
    if char in _UNSEEN or "\U000e0100" <= char <= "\U000e01ef":
        return _spelled(char)
    category = unicodedata.category(char)
    if category[0] in "CZ":
        return _spelled(char)
    return char


def _lenient(char: str) -> str:
    if " " <= char <= "~" or char in _EMOJI_GLUE:
        return char
    if unicodedata.category(char) in ("Zs", "Co", "Cn"):
        return char
    return _strict(char)


def _spelled(char: str) -> str:
    return f"<U+{ord(char):04X}>"


def columns(text: str) -> int:
    """Count the terminal columns of text that went through `shown`."""
    if text.isascii():
        return len(text)
    return sum(_columns_of(char) for char in text)


def _columns_of(char: str) -> int:
    if unicodedata.combining(char) or char in _EMOJI_GLUE:
        return 0
    return 2 if unicodedata.east_asian_width(char) in _WIDE else 1


def clip(text: str, width_columns: int, mark: str = "…") -> str:
    """Cut text that went through `shown` to a width, with a mark where it was cut."""
    if columns(text) <= width_columns:
        return text
    room = width_columns - columns(mark)
    if room < 0:
        return ""
    kept: list[str] = []
    for char in text:
        room -= _columns_of(char)
        if room < 0:
            break
        kept.append(char)
    return "".join(kept) + mark


def wrap(text: str, width_columns: int) -> list[str]:
    """Break text that went through `shown` into pieces no wider than a width; none is lost."""
    pieces: list[str] = []
    piece: list[str] = []
    used = 0
    for char in text:
        needed = _columns_of(char)
        if used + needed > width_columns and piece:
            pieces.append("".join(piece))
            piece, used = [], 0
        piece.append(char)
        used += needed
    pieces.append("".join(piece))
    return pieces


def wrap_words(text: str, width_columns: int, indent: str = "") -> list[str]:
    """Break prose that went through `shown` between words; later pieces are indented.

    A word wider than a line is broken where the line ends.
    """
    lines: list[str] = []
    line = ""
    for word in re.findall(" *[^ ]+| +$", text):
        line += word
        if columns(line) <= width_columns:
            continue
        before = line.removesuffix(word)
        if before.strip(" "):
            lines.append(before)
            line = indent + word.lstrip(" ")
        *full, line = wrap(line, width_columns)
        lines += full
    return [*lines, line]


@dataclass(frozen=True, slots=True)
class Style:
    """How text is dressed: colours and signs only where the terminal has them."""

    colour: bool
    signs: bool
    """The encoding has signs beyond ASCII."""
    width_columns: int = 80
    language: Language = Language.ENGLISH
    """Of the person."""

    def say(self, text: str) -> str:
        """Return one of our texts in the person's language."""
        return say(text, self.language)

    def bold(self, text: str) -> str:
        """Make it stand out."""
        return self._dressed("1", text)

    def dim(self, text: str) -> str:
        """Make it step back."""
        return self._dressed("2", text)

    def red(self, text: str) -> str:
        """Mark a failure, or a removed line."""
        return self._dressed("31", text)

    def green(self, text: str) -> str:
        """Mark a success, or an added line."""
        return self._dressed("32", text)

    def yellow(self, text: str) -> str:
        """Mark what needs the person."""
        return self._dressed("33", text)

    def cyan(self, text: str) -> str:
        """Mark a place."""
        return self._dressed("36", text)

    def sign(self, sign: str, plain: str) -> str:
        """Choose between a sign and its ASCII stand-in."""
        return sign if self.signs else plain

    def clip(self, text: str, margin_columns: int = 0) -> str:
        """Cut to the terminal's width less a margin."""
        width = max(self.width_columns - margin_columns, 8)
        return clip(text, width, self.sign("…", "..."))

    def _dressed(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text
