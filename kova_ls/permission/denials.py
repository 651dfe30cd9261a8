"""Read a command as widely as possible, to find whether a deny rule names it.

Invariant: errs towards a match; a command that is not understood is searched word by word.
"""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import lru_cache

from kova_ls.permission.programs import development_program, program_name
from kova_ls.permission.shell import analyse, is_confirmed

_CHUNKS = re.compile(r"[;&|\n(){}<>`]+|\$\(")
_ANSI = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|[0-7]{1,3}|.)", re.DOTALL)
_IFS = re.compile(r"\$\{?IFS\}?")
_VARIABLE = re.compile(r"\$\{[^}]*\}|\$[A-Za-z_][A-Za-z0-9_]*|\$[^(\s]")
_QUOTING = re.compile(r"['\"\\]")
_PIECES = re.compile(r"[=:@,]")
_BRACES = re.compile(r"[{},]")
_MAX_TOKENS = 8000


def covers(command: str, words: Sequence[str], *, is_prefix: bool) -> bool:
    """Tell whether any reading of the command runs the words of a deny rule."""
    analysis = analyse(command)
    for part in analysis.parts:
        if part.values and _covers_words(part.values, words, is_prefix=is_prefix):
            return True
        inner = development_program(part.values)
        if inner:
            started = [inner.program, *part.values[inner.at + 1 :]]
            if _covers_words(started, words, is_prefix=is_prefix):
                return True
    if (
        analysis.refusal is None
        and analysis.changes_shell is None
        and all(
            part.never is None and part.values and not development_program(part.values)
            for part in analysis.parts
        )
        and is_confirmed(command)
    ):
        return False
    return any(_covers_anywhere(chunk, words) for chunk in _rough(command))


def rough_words(command: str) -> list[str]:
    """Return every word that the command may name, and the pieces of `--option=value`."""
    words = [word for chunk in _rough(command) for word in chunk]
    return [*words, *(piece for word in words for piece in _PIECES.split(word) if piece != word)]


def _covers_words(values: Sequence[str], words: Sequence[str], *, is_prefix: bool) -> bool:
    """Compare one segment, with options skipped between the program and the rule's next words."""
    if not _same_program(values[0], words[0]):
        return False
    if not is_prefix:
        return list(values[1:]) == list(words[1:])
    at = 1
    for word in words[1:]:
        while at < len(values) and values[at] != word and values[at].startswith("-"):
            at += 1
            if at < len(values) and values[at] != word and word in values[at:]:
                at = values.index(word, at)
        if at >= len(values) or values[at] != word:
            return False
        at += 1
    return True


def _covers_anywhere(tokens: Sequence[str], words: Sequence[str]) -> bool:
    """Look for the rule's words in order, the first of them at any place."""
    for at, token in enumerate(tokens):
        if _same_program(token, words[0]):
            rest = iter(tokens[at + 1 :])
            return all(any(_same_word(other, word) for other in rest) for word in words[1:])
    return False


def _same_program(token: str, word: str) -> bool:
    if token == word:
        return True
    name, wanted = program_name(token), program_name(word)
    return _same_word(name, wanted) or name.lower() == wanted.lower()


def _same_word(token: str, word: str) -> bool:
    if token == word:
        return True
    if not any(char in token for char in "*?[") or token == "*":
        return False
    return len(token) < 256 and fnmatchcase(word, token)


@lru_cache(maxsize=256)
def _rough(command: str) -> tuple[tuple[str, ...], ...]:
    """Split a text into words as a shell might, nothing certain: quotes gone, pieces apart."""
    text = _ANSI.sub(lambda match: _ESCAPE.sub(_unescape, match[1]), command[: 64 * 1024])
    text = _VARIABLE.sub("*", _IFS.sub(" ", text.replace("\\\n", "")))
    found: list[tuple[str, ...]] = []
    left = _MAX_TOKENS
    for chunk in _CHUNKS.split(text):
        tokens = _QUOTING.sub("", chunk).split()
        found.append(tuple(tokens[:left]))
        left -= len(tokens)
        if left <= 0:
            break
    whole = _QUOTING.sub("", _BRACES.sub(" ", text)).split()
    if "{" in text:
        found.append(tuple(whole[:_MAX_TOKENS]))
    return tuple(found)


def _unescape(match: re.Match[str]) -> str:
    what = match[1]
    try:
        if what[0] in "xu" and len(what) > 1:
            return chr(int(what[1:], 16))
        if what[0].isdigit():
            return chr(int(what, 8))
    except ValueError:
        return what
    return {"n": "\n", "t": " ", "r": " "}.get(what, what)
