"""What a session is called in lists."""

import unicodedata

from kova_ls.values import InputPart, TextPart

_JOINERS = "\u200c\u200d"
"""Parts of words and pictures in some scripts."""


def one_line(text: str) -> str:
    """Return a title as every list can show it: one line, nothing that acts on a terminal."""
    kept = (
        " " if char.isspace() else char
        for char in text
        if char.isspace() or char in _JOINERS or unicodedata.category(char)[0] != "C"
    )
    return " ".join("".join(kept).split())


def title_of(input: tuple[InputPart, ...]) -> str:
    """Return a title made of the first prompt: its first line, shortened."""
    for part in input:
        if isinstance(part, TextPart) and part.text.strip():
            line = one_line(part.text.strip().splitlines()[0][:1_000])
            if line:
                return line if len(line) <= 60 else line[:59].rstrip() + "…"
    return "Untitled"
