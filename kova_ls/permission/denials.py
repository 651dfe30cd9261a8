"""Read a command as widely as possible, to find whether a deny rule names it.

Invariant: errs towards a match; a command that is not understood is searched word by word.
"""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import lru_cache

from kova_ls.permission.globs import unbraced
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
_WRITERS = frozenset(
    "tee rm rmdir unlink shred mv cp ln install touch mkdir truncate dd rsync scp chmod chown sponge patch"
    " sed perl".split()
)
_TARGET = re.compile(r">[>|&]?\s*([^\s;&|()<>]+)")
_IN_PLACE = re.compile(r"-[A-Za-z]*i|--in-place")
_OPTION = re.compile(r"-[^-]|--.")
_CLUSTER = re.compile(r"-([A-Za-z0-9]+)\Z")
_ASSIGNED = re.compile(r"\b([A-Za-z_][A-Za-z0-9_]*)=([\w./'\"-]+)")
_ALIASED = re.compile(r"[A-Za-z_][\w-]*=(.+)", re.DOTALL)
_DEFAULT = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*:?[-=+]([^{}]*)\}")
_MAX_TOKENS = 8000
_MAX_TEXT = 64 * 1024


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
    if "{" in command:
        quoted = (_QUOTING.sub("", word) for word in command[:_MAX_TEXT].split() if "{" in word)
        words += [made for word in quoted for made in unbraced(word)]
    return [*words, *(piece for word in words for piece in _PIECES.split(word) if piece != word)]


def written_words(command: str) -> list[str]:
    """Return the words that the command may write: targets of redirects, and what writers name."""
    words = [_QUOTING.sub("", word) for word in _TARGET.findall(command[:_MAX_TEXT])]
    for chunk in _rough(command):
        names = {program_name(word) for word in chunk}
        if names & _WRITERS and (not names & {"sed", "perl"} or any(map(_IN_PLACE.match, chunk))):
            words += [*chunk, *(piece for word in chunk for piece in _PIECES.split(word))]
    return words


def _covers_words(values: Sequence[str], words: Sequence[str], *, is_prefix: bool) -> bool:
    """Compare one segment, with options skipped between the program and the rule's next words."""
    if not _same_program(values[0], words[0]):
        return False
    if not is_prefix:
        return list(values[1:]) == list(words[1:])
    at = 1
    for word in words[1:]:
        if _OPTION.match(word):
            if not _has_option(values, word):
                return False
            continue
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
            return all(
                _has_option(tokens[at + 1 :], word)
                if _OPTION.match(word)
                else any(_same_word(other, word) for other in rest)
                for word in words[1:]
            )
    return False


def _has_option(values: Sequence[str], option: str) -> bool:
    """Tell whether an option stands anywhere among the words, also inside a cluster."""
    if any(value == option or value.startswith(f"{option}=") for value in values):
        return True
    wanted = _CLUSTER.match(option)
    given = "".join(match[1] for value in values if (match := _CLUSTER.match(value)))
    return wanted is not None and set(wanted[1]) <= set(given)


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
    text = _ANSI.sub(lambda match: _ESCAPE.sub(_unescape, match[1]), command[:_MAX_TEXT])
    text = _IFS.sub(" ", text.replace("\\\n", ""))
    known = {match[1]: match[2] for match in _ASSIGNED.finditer(text)}
    text = _VARIABLE.sub(lambda match: _value(match[0], known), text)
    found: list[tuple[str, ...]] = []
    left = _MAX_TOKENS
    for chunk in _CHUNKS.split(text):
        tokens = _QUOTING.sub("", chunk).split()
        if tokens and (match := _ALIASED.match(tokens[-1])):
            tokens.append(match[1])
        found.append(tuple(tokens[:left]))
        left -= len(tokens)
        if left <= 0:
            break
    whole = _QUOTING.sub("", _BRACES.sub(" ", text)).split()
    if "{" in text:
        found.append(tuple(whole[:_MAX_TOKENS]))
    return tuple(found)


def _value(variable: str, known: dict[str, str]) -> str:
    """Return what a variable holds as far as the command itself says so."""
    default = _DEFAULT.fullmatch(variable)
    return default[1] if default else known.get(variable.strip("${}"), "*")


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
