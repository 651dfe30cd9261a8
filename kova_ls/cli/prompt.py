"""From what was typed to input parts: `@path` words become mentions.

Invariant: the words stay in the text too; a word that names no file is only text.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from kova_ls.values import FilePart, InputPart, Position, Range, TextPart

_MENTION = re.compile(r'(?<!\S)@(?:"([^"\n]+)"|(\S+))')
_LINES = re.compile(r"^(.+?)(?:#L|:)(\d+)(?:-L?(\d+))?$")
_TRAILING = ".,;:!?)]}'\""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt and the mentions in it that name nothing."""

    parts: tuple[InputPart, ...]
    missing: tuple[str, ...]
    """Words that look like a path but name no file."""


def parse(text: str, folder: str) -> Prompt:
    """Find the mentions: `@path`, `@"a path"`, `@path:10-20`; paths are relative to `folder`."""
    parts: list[InputPart] = [TextPart(text=text)]
    missing: list[str] = []
    for quoted, bare in _MENTION.findall(text):
        part = _mention(quoted or bare, folder)
        if part is None and (quoted or "/" in bare or "." in bare.rstrip(_TRAILING)):
            missing.append(quoted or bare)
        elif part is not None and part not in parts:
            parts.append(part)
    return Prompt(tuple(parts), tuple(missing))


def _mention(word: str, folder: str) -> FilePart | None:
    for candidate in (word, word.rstrip(_TRAILING)):
        path = _existing(candidate, folder)
        if path is not None:
            return FilePart(uri=path.as_uri())
        match = _LINES.match(candidate)
        path = _existing(match[1], folder) if match else None
        if match and path is not None:
            first = max(int(match[2]), 1)
            last = max(int(match[3] or first), first)
            lines = Range(
                start=Position(line=first - 1, character=0), end=Position(line=last, character=0)
            )
            return FilePart(uri=path.as_uri(), range=lines)
    return None


def _existing(word: str, folder: str) -> Path | None:
    if not word:
        return None
    path = Path(folder, word).absolute()
    try:
        return path if path.exists() else None
    except (OSError, ValueError):
        return None
