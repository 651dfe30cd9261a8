"""Tell whether the words of a program make it write or run something beyond its purpose.

Invariant: a word that cannot be told apart from an option is taken for one.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from kova_ls.permission.escape_words import CHECKS, STEERED
from kova_ls.permission.escape_words_data import DATA_CHECKS
from kova_ls.permission.escape_words_services import SERVICE_CHECKS
from kova_ls.permission.escape_words_tools import TOOL_CHECKS
from kova_ls.permission.escapes import ESCAPES, Escape
from kova_ls.permission.escapes_builds import BUILD_ESCAPES
from kova_ls.permission.escapes_checkers import CHECKER_ESCAPES
from kova_ls.permission.escapes_compilers import COMPILER_ESCAPES
from kova_ls.permission.escapes_git import GIT_ESCAPES
from kova_ls.permission.escapes_machine import MACHINE_ESCAPES
from kova_ls.permission.escapes_packages import PACKAGE_ESCAPES
from kova_ls.permission.escapes_python import PYTHON_ESCAPES
from kova_ls.permission.escapes_services import SERVICE_ESCAPES
from kova_ls.permission.escapes_text import TEXT_ESCAPES
from kova_ls.permission.lexer import BRACE, DOLLAR, GLOB, GLOB_FIRST, QUOTED_DOLLAR, Word
from kova_ls.permission.programs import plain_name, program_name
from kova_ls.permission.protected import runs_by_itself


class _Options(NamedTuple):
    """The options of one `Escape`. Values of the tables: the mark behind the option, or nothing."""

    shorts: dict[str, str]
    longs: dict[str, str]
    singles: frozenset[str]
    """Whole words with one dash and several letters."""
    stems: tuple[str, ...]
    """Beginnings of words."""
    operands: frozenset[str]
    any_operand: bool
    valued: str
    abbreviates: bool
    single_dash: bool
    reason: str


def find_escape(words: Sequence[Word]) -> str | None:
    """Return why these words ask although a prefix matches them, or None."""
    name = program_name(words[0].value)
    entry = _entry(name)
    if entry is None:
        return None
    values = [word.value for word in words[1:]]
    if any(word.flags for word in words[1:]):
        if any(_may_be_option(word) for word in words[1:]):
            return (
                f"`{name}` has options that write or run, and a word of the command is built by the"
                " shell."
            )
        bare = [
            bare_value(word.value) if word.flags & QUOTED_DOLLAR else word.value
            for word in words[1:]
        ]
        if bare != values:
            steered = [_STEERABLE.sub(STEERED, value) for value in values]
            reason = _read(name, entry, bare) or (
                _read(name, entry, steered) if steered != values else None
            )
            if reason:
                return reason
    return _read(name, entry, values)


_STEERABLE = re.compile(r"\$(?:OLD)?PWD(?![A-Za-z0-9_])|\$\{(?:OLD)?PWD\}")
"""A `cd` of the line sets them, and a folder may have any name."""
_EXPANSION = re.compile(r"\$(?:[A-Za-z_][A-Za-z0-9_]*|\{[^}]*\}|[?$#!])")


def bare_value(value: str) -> str:
    """Return the word that a program gets when every variable in it is empty."""
    return _EXPANSION.sub("", value)


def _may_be_option(word: Word) -> bool:
    """Tell whether what the shell puts into a word can make it an option."""
    if word.flags & (GLOB_FIRST | BRACE | DOLLAR):
        return True
    if word.flags & GLOB:
        return word.value[:1] in "-*?[$"
    if word.flags & QUOTED_DOLLAR:
        bare = bare_value(word.value)
        return bare.startswith("-") and (
            not word.value.startswith("-") or "$" in word.value.split("=", 1)[0]
        )
    return False


def _read(name: str, entry: "_Entry", values: Sequence[str]) -> str | None:
    options, check = entry
    at = 0
    if name == "git":
        at = _git_subcommand(values)
        if at < 0:
            return "Options before git's sub-command change what git runs."
        values = values[: _git_paths(values, at)]
    if name == "cargo" and values[:1] and values[0] in _CARGO_RUNS and "--" in values:
        values = values[: values.index("--")]
    if name == "coverage" and values[:1] == ["run"] and (measured := _measured(values)):
        before, started = values[1 : measured - 1], _entry(values[measured])
        reason = _check_options(name, options, before)
        if reason or started is None:
            return reason
        return _read(values[measured], started, values[measured + 1 :])
    if options:
        reason = _check_options(name, options, values[at:])
        if reason:
            return reason
    return check(values[at:]) if check else None


_COVERAGE_FLAG = re.compile(
    r"--(branch|append|parallel-mode|timid|source=.*|source-pkgs=.*|omit=.*|include=.*)|-[apL]"
)


def _measured(values: Sequence[str]) -> int:
    """Return where `coverage run … -m X` names a runner of tests, or 0."""
    for at, value in enumerate(values[1:], start=1):
        if value == "-m":
            return at + 1 if values[at + 1 : at + 2] in (["pytest"], ["unittest"]) else 0
        if not _COVERAGE_FLAG.fullmatch(value):
            return 0
    return 0


_Entry = tuple[tuple[_Options, ...], Callable[[Sequence[str]], str | None] | None]


_CROSS = re.compile(r".+-.+-(?:gcc|g\+\+|cc|c\+\+|cpp|clang(?:\+\+)?|ld|as|ar|nm|objdump|strip)\Z")
"""Compilers and their kin for another machine: `aarch64-linux-gnu-gcc`."""


def _entry(name: str) -> _Entry | None:
    entry = _BY_PROGRAM.get(name)
    if entry is None and name[-1:].isdigit():
        entry = _BY_PROGRAM.get(name.rstrip("0123456789."))
    if entry is None and ("-" in name or "." in name):
        plain = plain_name(name)
        entry = _BY_PROGRAM.get(plain)
        if entry is None and _CROSS.match(plain):
            entry = _BY_PROGRAM.get(plain.rpartition("-")[2])
    if entry is None and not name.islower():
        entry = _BY_PROGRAM.get(name.lower())
    return entry


_CARGO_RUNS = frozenset({"run", "r", "test", "t", "bench"})
"""What follows `--` is for the program that cargo built."""
_GIT_SAFE = frozenset({"--no-pager", "-P", "--no-optional-locks", "--no-lazy-fetch"})
_GIT_ALONE = frozenset({"--version", "-v", "--help", "-h", "--html-path", "--man-path"})


def _git_subcommand(values: Sequence[str]) -> int:
    """Return where the sub-command stands; negative when an option before it is not harmless."""
    for at, value in enumerate(values):
        if not value.startswith("-"):
            return at
        if value in _GIT_ALONE:
            return at
        if value not in _GIT_SAFE:
            return -1
    return 0


_GIT_TAKES_PATHS = frozenset(
    "log diff show status blame add restore checkout shortlog rev-list ls-files whatchanged commit rm"
    " grep".split()
)
_GIT_FLAG = re.compile(
    r"[^-].*|-\d+|--[a-z-]+=.*|-p|--(oneline|stat|patch|name-only|name-status|cached|staged|follow|all"
    r"|graph|short|porcelain)",
    re.DOTALL,
)
"""What takes no value from the word behind it."""


def _git_paths(values: Sequence[str], at: int) -> int:
    """Return where options end and paths begin: a `--` that is no option's value."""
    if at < len(values) and values[at] in _GIT_TAKES_PATHS and "--" in values:
        place = values.index("--")
        if place > at and _GIT_FLAG.fullmatch(values[place - 1]):
            return place
    return len(values)


def _check_options(name: str, entries: tuple[_Options, ...], values: Sequence[str]) -> str | None:
    for options in entries:
        positional = 0
        may_be_value = False
        for at, value in enumerate(values):
            follower = values[at + 1] if at + 1 < len(values) else ""
            if options.stems and value.startswith(options.stems):
                return f"`{name} {value.split('=', 1)[0]}` {options.reason}."
            if not value.startswith("-") or len(value) < 2:
                if options.any_operand or (positional < 2 and value in options.operands):
                    return f"`{name} {value}` {options.reason}."
                positional += not may_be_value
                may_be_value = False
            elif _is_dangerous(value, follower, options):
                return f"`{name} {value.split('=', 1)[0]}` {options.reason}."
            else:
                may_be_value = "=" not in value
    return None


def _is_dangerous(value: str, follower: str, options: _Options) -> bool:
    if options.singles and value.split("=", 1)[0] in options.singles:
        return True
    if value.startswith("--") or (options.single_dash and options.longs):
        given, has_value, rest = value.partition("=")
        if not given.startswith("--"):
            given = f"-{given}"
        if len(given) < 3:
            return False
        argument = rest if has_value else follower
        mark = options.longs.get(given)
        if mark is not None:
            return _counts(mark, argument)
        is_short = len(given) < (5 if given != value.partition("=")[0] else 3)
        if options.abbreviates and not is_short and given not in _WHOLE:
            if any(long.startswith(given) for long in options.longs):
                return True
        if value.startswith("--") or not options.shorts:
            return _is_glued(given, options)
    for position, letter in enumerate(value[1:], start=2):
        mark = options.shorts.get(letter)
        if mark is not None:
            return _counts(mark, value[position:].removeprefix("=") or follower)
        if letter in options.valued or not letter.isalnum():
            return False
    return False


_WHOLE = frozenset({"--pre", "--no-index"})
"""Options of their own, though they begin like others."""


def _is_glued(given: str, options: _Options) -> bool:
    """Tell whether a one-letter option of a single-dash program has its value glued on."""
    if not options.single_dash or len(given) < 4:
        return False
    mark = options.longs.get(given[:3])
    return mark is not None and (given[2].isupper() or mark != "") and _counts(mark, given[3:])


_RUNS_LATER = re.compile(
    r"(^|/)\.(git|husky|vscode|idea|kova|cargo|env|npmrc|yarnrc|pre-commit|circleci)", re.IGNORECASE
)
"""Files of the workspace that other programs run or obey."""


_NO_BUILD = re.compile(
    r"~|\$\{?HOME|/(?:etc|usr|bin|sbin|lib|opt|boot|root|proc|sys|System|Library)/"
    r"|/(?:home|Users)/[^/]+/(?:bin|\.[^/]+)(?:/|\Z)"
)
"""What people's homes and the machine run or obey."""


def _counts(mark: str, argument: str) -> bool:
    """Tell whether an option asks, given the mark behind it in the table and its value."""
    if mark == "@":
        pieces = re.split(r"[:=,]", argument)
        return any(
            piece.startswith(("/", "~"))
            or ".." in piece
            or "$" in piece
            or _RUNS_LATER.search(piece)
            or runs_by_itself(piece)
            for piece in pieces
        )
    if mark == "!":
        return _NO_BUILD.match(argument) is not None or runs_by_itself(argument)
    if mark == "%":
        return any(char in argument for char in "/.~$") and not argument.startswith("-")
    if mark == "^":
        return not argument.startswith("no:") or "," in argument
    if mark == "+":
        return bool(argument) and not argument.startswith("-")
    return True


_CAMEL = re.compile(r"(?<=[a-z])[A-Z]")
"""Programs that have options such as `--globalSetup` take `--global-setup` as well."""


def _compile(entry: Escape) -> _Options:
    shorts: dict[str, str] = {}
    longs: dict[str, str] = {}
    singles: set[str] = set()
    stems: list[str] = []
    operands: set[str] = set()
    any_operand = False
    for option in entry.options.split():
        mark = option[-1] if option[-1] in "@%^+*!" else ""
        name = option[: len(option) - len(mark)]
        if option == "*":
            any_operand = True
        elif mark == "*":
            stems.append(name)
            if entry.single_dash and name.startswith("--"):
                stems.append(name[1:])
        elif name.startswith("--"):
            longs[name] = mark
            longs[_CAMEL.sub(lambda match: f"-{match[0].lower()}", name)] = mark
        elif name.startswith("-") and len(name) == 2:
            shorts[name[1]] = mark
        elif name.startswith("-"):
            singles.add(name)
        else:
            operands.add(name)
    return _Options(
        shorts,
        longs,
        frozenset(singles),
        tuple(stems),
        frozenset(operands),
        any_operand,
        entry.valued,
        entry.abbreviates,
        entry.single_dash,
        entry.reason,
    )


_CHECKS = CHECKS | DATA_CHECKS | SERVICE_CHECKS | TOOL_CHECKS
_SubOptions = dict[str, tuple[_Options, ...]]


def _tables() -> "dict[str, _Entry]":
    own: dict[str, list[_Options]] = {}
    subs: dict[str, dict[str, list[_Options]]] = {}
    for entry in (
        *ESCAPES,
        *MACHINE_ESCAPES,
        *GIT_ESCAPES,
        *BUILD_ESCAPES,
        *COMPILER_ESCAPES,
        *CHECKER_ESCAPES,
        *PACKAGE_ESCAPES,
        *PYTHON_ESCAPES,
        *SERVICE_ESCAPES,
        *TEXT_ESCAPES,
    ):
        options = _compile(entry)
        for name in entry.programs.split():
            program, _, sub = name.partition(":")
            program = program.rstrip("#")
            if sub:
                subs.setdefault(program, {}).setdefault(sub, []).append(options)
                own.setdefault(program, [])
            else:
                own.setdefault(program, []).append(options)
    return {
        name: (tuple(options), _with_subs(name, subs.get(name, {}), _CHECKS.get(name)))
        for name, options in own.items()
    }


def _with_subs(
    name: str,
    subs: dict[str, list[_Options]],
    check: Callable[[Sequence[str]], str | None] | None,
) -> Callable[[Sequence[str]], str | None] | None:
    if not subs:
        return check
    tables: _SubOptions = {sub: tuple(options) for sub, options in subs.items()}

    def both(values: Sequence[str]) -> str | None:
        at = next((i for i, value in enumerate(values) if not value.startswith("-")), None)
        if at is not None and (options := tables.get(values[at])):
            reason = _check_options(
                f"{name} {values[at]}", options, [*values[:at], *values[at + 1 :]]
            )
            if reason:
                return reason
        return check(values) if check else None

    return both


_BY_PROGRAM = _tables()
