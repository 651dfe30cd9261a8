"""Read a shell command line strictly: simple commands joined by operators, nothing else.

Invariant: what the shell could read in another way, or what builds text while it runs, is refused.
Invariant: one pass over at most 16 KiB; no recursion.
Invariant: spans are offsets into the text as given, line continuations included.
"""

import re
import unicodedata
from typing import NamedTuple

from kova_ls.values import Reason

MAX_BYTES = 16 * 1024

QUOTED = 1
"""Some part of the word was quoted or escaped."""
DOLLAR = 2
"""The word holds an unquoted `$`."""
QUOTED_DOLLAR = 4
"""The word holds an expansion inside double quotes."""
GLOB = 8
"""The word holds an unquoted `*`, `?` or `[`."""
GLOB_FIRST = 16
"""The word begins with one of them."""
BRACE = 32
"""The word holds an unquoted `{`."""
TILDE = 64
"""The shell may put a home folder into the word."""

EXPANDS = DOLLAR | QUOTED_DOLLAR | GLOB | BRACE | TILDE


class Word(NamedTuple):
    """One word of a simple command."""

    start: int
    end: int
    value: str
    """After quote removal; expansions stay as written."""
    flags: int

    @property
    def is_literal(self) -> bool:
        """True when the program gets exactly `value`."""
        return not self.flags & EXPANDS


class Redirect(NamedTuple):
    """A redirect of a simple command."""

    start: int
    end: int
    is_inert: bool
    """It duplicates one output stream into the other or names the literal null device."""


class SimpleCommand(NamedTuple):
    """What stands between two operators."""

    start: int
    end: int
    assignments: tuple[Word, ...]
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]


class Line(NamedTuple):
    """A whole command line that could be read."""

    commands: tuple[SimpleCommand, ...]
    operators: tuple[str, ...]
    """After each command; newline as `\\n`, nothing as the empty string. As long as `commands`."""


class _Refused(Exception):
    """The text is outside of what is read."""

    def __init__(self, code: str, text: str) -> None:
        self.reason = Reason(code=code, text=text)


_PLAIN = re.compile(r"[A-Za-z0-9_./:=@%+,\-\]^}#]+")
_BLANKS = re.compile(r"[ \t]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\[.*\])?\+?=", re.DOTALL)
_BRACED_NAME = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_EXIT_STATUS = re.compile(r"\{PIPESTATUS\[(?:[0-9]{1,2}|[@*])\]\}")
"""Numbers that the shell alone sets, like `$?`."""
_REDIRECT = re.compile(r"<<<|<<-|<<|<&|<>|<|&>>|&>|>>|>&|>\||>")
_NAMED_FD = re.compile(r"\{[A-Za-z_][A-Za-z0-9_]*\}\Z")
_DOUBLE_PLAIN = re.compile(r'[^"$`\\\x00-\x08\x0e-\x1f\x7f]+')
_SINGLE = re.compile(r"'([^']*)'")

KEYWORDS = frozenset(
    "! [[ ]] { } case coproc do done elif else esac fi for function if in select then time until"
    " while".split()
)
"""Words that begin or end a compound command; `time` runs what follows."""

MOVING_NAMES = re.compile(r"_\Z|BASH|OPTARG\Z|OPTIND\Z|REPLY\Z|DIRSTACK\Z|COMP|READLINE|MAPFILE\Z")
"""Variables whose value the line itself can steer: `$_` is the last word of the command before."""


def lex(text: str) -> Line | Reason:
    """Return the line's simple commands, or why it is refused."""
    try:
        _check_size(text)
        if "\\\n" in text:
            joined, places = _join(text)
            return _moved(_Lexer(joined).line(), places)
        return _Lexer(text).line()
    except _Refused as refused:
        return refused.reason


def _check_size(text: str) -> None:
    if len(text) > MAX_BYTES:
        raise _Refused("too_long", "The command is too long to be judged.")
    if text.isascii():
        return
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise _Refused("odd_character", "The command holds text that is not Unicode.") from None
    if size > MAX_BYTES:
        raise _Refused("too_long", "The command is too long to be judged.")


def _join(text: str) -> tuple[str, list[int]]:
    """Drop every `\\`-newline that the shell drops.

    Shape: the joined text and, for each of its offsets and its end, the offset in `text`.
    """
    kept: list[str] = []
    places: list[int] = []
    quote = ""
    begins_word = True
    at, n = 0, len(text)
    while at < n:
        char = text[at]
        if quote == "#":
            if char == "\n":
                quote = ""
        elif quote == "'":
            if char == "'":
                quote = ""
        elif char == "\\" and at + 1 < n:
            if text[at + 1] == "\n":
                at += 2
                continue
            kept += text[at : at + 2]
            places += (at, at + 1)
            at += 2
            begins_word = False
            continue
        elif quote == '"':
            if char == '"':
                quote = ""
        elif char in "'\"" or (char == "#" and begins_word):
            quote = char
        begins_word = char in " \t\n;&|<>()" and not quote
        kept.append(char)
        places.append(at)
        at += 1
    places.append(n)
    return "".join(kept), places


def _moved(line: Line, places: list[int]) -> Line:
    """Return the line with its spans in the text before joining."""

    def end(offset: int) -> int:
        return places[offset - 1] + 1 if offset else 0

    def words(old: tuple[Word, ...]) -> tuple[Word, ...]:
        return tuple(Word(places[w.start], end(w.end), w.value, w.flags) for w in old)

    return Line(
        tuple(
            SimpleCommand(
                places[command.start],
                end(command.end),
                words(command.assignments),
                words(command.words),
                tuple(Redirect(places[r.start], end(r.end), r.is_inert) for r in command.redirects),
            )
            for command in line.commands
        ),
        line.operators,
    )


class _Lexer:
    """One reading of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def line(self) -> Line:
        commands: list[SimpleCommand] = []
        operators: list[str] = []
        text, n = self.text, len(self.text)
        is_open = False
        while True:
            self._skip_blanks(with_newlines=True)
            if self.at >= n:
                break
            command = self._command()
            commands.append(command)
            operator = self._operator()
            operators.append(operator)
            is_open = operator in ("&&", "||", "|", "|&")
        if is_open:
            raise _Refused("unparseable", "The command line is not finished.")
        if not commands:
            raise _Refused("unparseable", "There is no command.")
        if operators[-1] == "\n" and not text[self.at :].strip():
            operators[-1] = ""
        return Line(tuple(commands), tuple(operators))

    def _skip_blanks(self, *, with_newlines: bool) -> None:
        text, n = self.text, len(self.text)
        while self.at < n:
            char = text[self.at]
            if char in " \t":
                match = _BLANKS.match(text, self.at)
                assert match
                self.at = match.end()
            elif char == "\n" and with_newlines:
                self.at += 1
            elif char == "#":
                end = text.find("\n", self.at)
                end = n if end < 0 else end
                for other in text[self.at : end]:
                    if other != "\t":
                        _check_character(other)
                self.at = end
            else:
                return

    def _operator(self) -> str:
        text = self.text
        if self.at >= len(text):
            return ""
        two = text[self.at : self.at + 2]
        if two in ("&&", "||", "|&"):
            self.at += 2
            return two
        char = text[self.at]
        if two in (";;", ";&") or char not in ";|&\n":
            raise _Refused("compound", "The line holds more than simple commands.")
        self.at += 1
        return char

    def _command(self) -> SimpleCommand:
        text, n = self.text, len(self.text)
        start = end = self.at
        assignments: list[Word] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        while True:
            self._skip_blanks(with_newlines=False)
            if self.at >= n:
                break
            char = text[self.at]
            if char in ";|\n" or (char == "&" and text[self.at + 1 : self.at + 2] != ">"):
                break
            if char in "()":
                raise _Refused("compound", "The line holds a group, a function or a pattern.")
            if char in "<>&":
                redirects.append(self._redirect(self.at, ""))
            else:
                word = self._word()
                raw = text[word.start : word.end]
                if self.at < n and text[self.at] in "<>" and (raw.isdigit() or raw[0] == "{"):
                    if _NAMED_FD.match(raw):
                        raise _Refused("hidden_write", "A redirect opens a named descriptor.")
                    if raw.isdigit():
                        redirects.append(self._redirect(word.start, raw))
                        end = self.at
                        continue
                if not words and _ASSIGNMENT.match(raw):
                    assignments.append(word)
                else:
                    if not words:
                        _check_command_word(word, raw)
                    words.append(word)
            end = self.at
        if not words and not assignments and not redirects:
            raise _Refused("unparseable", "An operator stands where a command should.")
        return SimpleCommand(start, end, tuple(assignments), tuple(words), tuple(redirects))

    def _redirect(self, start: int, fd: str) -> Redirect:
        text = self.text
        match = _REDIRECT.match(text, self.at)
        if match is None:
            raise _Refused("unparseable", "An operator could not be read.")
        operator = match[0]
        if text[match.end() : match.end() + 1] == "(":
            raise _Refused("substitution", "A process substitution runs another command.")
        if operator.startswith("<<"):
            raise _Refused("hidden_write", "A here-document or here-string cannot be judged.")
        glued = match.end()
        self.at = glued
        match_blank = _BLANKS.match(text, self.at)
        if match_blank:
            self.at = match_blank.end()
        if self.at >= len(text) or text[self.at] in ";|&\n<>()#":
            raise _Refused("unparseable", "A redirect has no target.")
        target = self._word()
        raw = text[target.start : target.end]
        if self.at < len(text) and text[self.at] in "<>" and raw.isdigit() and operator[-1] != "&":
            raise _Refused("unparseable", "A redirect has no clear target.")
        if operator == ">&":
            is_inert = (fd, raw) in _DUPLICATES and target.start == glued
        elif operator == "<":
            is_inert = raw == "/dev/null" and fd in ("", "0")
        else:
            is_inert = raw == "/dev/null" and operator in _OUTPUTS and len(fd) < 2
        return Redirect(start, self.at, is_inert)

    def _word(self) -> Word:
        text, n = self.text, len(self.text)
        start = self.at
        at = start
        parts: list[str] = []
        flags = 0
        while at < n:
            match = _PLAIN.match(text, at)
            if match:
                parts.append(match[0])
                at = match.end()
                continue
            char = text[at]
            if char in " \t\n;|&<>":
                break
            if char == "'":
                match = _SINGLE.match(text, at)
                if match is None:
                    raise _Refused("unparseable", "A quote is not closed.")
                inner = match[1]
                if not inner.isprintable():
                    for other in inner:
                        _check_quoted(other)
                parts.append(inner)
                flags |= QUOTED
                at = match.end()
            elif char == '"':
                at, inner, more = self._double(at + 1)
                parts.append(inner)
                flags |= QUOTED | more
            elif char == "\\":
                if at + 1 >= n:
                    raise _Refused("unparseable", "The line ends in a backslash.")
                _check_character(text[at + 1])
                parts.append(text[at + 1])
                flags |= QUOTED
                at += 2
            elif char == "$":
                end, more = _dollar(text, at, is_quoted=False)
                parts.append(_spelled(text, at, end))
                flags |= more
                at = end
            elif char == "`":
                raise _Refused("substitution", "Backticks run another command.")
            elif char in "*?[":
                flags |= GLOB | (GLOB_FIRST if at == start else 0)
                parts.append(char)
                at += 1
            elif char == "{":
                flags |= BRACE
                parts.append(char)
                at += 1
            elif char == "~":
                if at == start or text[at - 1] in "=:":
                    flags |= TILDE
                parts.append(char)
                at += 1
            elif char == "!":
                if at + 1 < n and text[at + 1] not in " \t\n=;|&":
                    raise _Refused("history", "An unquoted ! may stand for an earlier command.")
                parts.append(char)
                at += 1
            elif char in "()":
                raise _Refused("compound", "The line holds a group, a function or a pattern.")
            else:
                _check_character(char)
                parts.append(char)
                at += 1
        self.at = at
        return Word(start, at, parts[0] if len(parts) == 1 else "".join(parts), flags)

    def _double(self, at: int) -> tuple[int, str, int]:
        """Read from behind an opening double quote to behind the closing one."""
        text, n = self.text, len(self.text)
        parts: list[str] = []
        flags = 0
        while at < n:
            match = _DOUBLE_PLAIN.match(text, at)
            if match:
                parts.append(match[0])
                at = match.end()
                if at >= n:
                    break
            char = text[at]
            if char == '"':
                return at + 1, "".join(parts), flags
            if char == "\\":
                follower = text[at + 1 : at + 2]
                if follower and follower in '$`"\\':
                    parts.append(follower)
                    at += 2
                else:
                    parts.append(char)
                    at += 1
            elif char == "$":
                end, more = _dollar(text, at, is_quoted=True)
                parts.append(_spelled(text, at, end))
                flags |= more
                at = end
            elif char == "`":
                raise _Refused("substitution", "Backticks run another command.")
            else:
                _check_quoted(char)
                parts.append(char)
                at += 1
        raise _Refused("unparseable", "A quote is not closed.")


_DUPLICATES = frozenset({("2", "1"), ("1", "2"), ("", "2")})
_OUTPUTS = frozenset({">", ">>", ">|", "&>", "&>>"})


def _dollar(text: str, at: int, *, is_quoted: bool) -> tuple[int, int]:
    """Read what stands at a `$`; returns the offset behind it and the word's flag."""
    flag = QUOTED_DOLLAR if is_quoted else DOLLAR
    follower = text[at + 1 : at + 2]
    if follower == "{":
        status = _EXIT_STATUS.match(text, at + 1)
        if status is not None:
            return status.end(), flag
        match = _BRACED_NAME.match(text, at + 1)
        if match is None:
            raise _Refused("expansion", "An expansion does more than name a variable.")
        name = match[1]
    elif follower in ("(", "["):
        raise _Refused("substitution", "A substitution runs or computes something.")
    elif follower in ("'", '"') and follower and not is_quoted:
        raise _Refused("ansi_quote", "A quote of the form $'…' or $\"…\" is never matched.")
    elif follower and follower in "?$#!":
        return at + 2, flag
    elif follower and (follower in "@*-" or (follower.isascii() and follower.isdigit())):
        raise _Refused("expansion", "A special parameter stands for unknown words.")
    else:
        match = _NAME.match(text, at + 1)
        if match is None:
            return at + 1, 0 if is_quoted else DOLLAR
        name = match[0]
    if MOVING_NAMES.match(name):
        raise _Refused("expansion", f"The value of ${name} can be set by the line itself.")
    return match.end(), flag


def _spelled(text: str, at: int, end: int) -> str:
    """Return an expansion so that its name still ends there when the quotes are gone."""
    if text[end : end + 1] in ('"', "'", "\\") and _JOINED.match(text, end + 1):
        name = _NAME.fullmatch(text, at + 1, end)
        if name is not None:
            return f"${{{name[0]}}}"
    return text[at:end]


_JOINED = re.compile(r"[A-Za-z0-9_'\"\\$]")


def _check_command_word(word: Word, raw: str) -> None:
    value = word.value
    if raw in KEYWORDS or (value in KEYWORDS and value != "time"):
        raise _Refused("compound", f"The line holds the shell's keyword {value!r}.")
    if word.flags & EXPANDS and raw != "[":
        raise _Refused("expansion", "The program's name is built by the shell.")
    if not value:
        raise _Refused("unparseable", "The program's name is empty.")


def _check_character(char: str) -> None:
    """Refuse what looks like a separator and is none, and what cannot be seen."""
    if char.isascii():
        if char < " " or char == "\x7f":
            raise _Refused("odd_character", "The line holds a control character.")
    elif unicodedata.category(char)[0] in "ZC":
        raise _Refused("odd_character", "The line holds an odd space or an invisible character.")


def _check_quoted(char: str) -> None:
    """Refuse what a shell treats specially even inside quotes."""
    if char in "\x00\x01\x7f":
        raise _Refused("odd_character", "The line holds a control character.")
