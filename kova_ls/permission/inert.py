"""Variables that may stand before a command without changing what it does.

Invariant: a name enters only when no value of the given form can name a program, a file or options.
"""

import re
from typing import NamedTuple


class Inert(NamedTuple):
    """A group of harmless variables."""

    names: str
    """Separated by blanks; a trailing `*` covers every name with that beginning."""
    values: str
    """The whole value must match this pattern."""
    reason: str
    examples: tuple[str, ...]
    """Assignments that count as absent."""
    refused: tuple[str, ...]
    """Assignments that ask."""


_WORD = r"[A-Za-z0-9_.,:=@+-]*"

INERT: tuple[Inert, ...] = (
    Inert(
        "NODE_ENV RAILS_ENV RACK_ENV APP_ENV CI",
        r"[A-Za-z0-9_-]*",
        "names the kind of run",
        ("NODE_ENV=test", "CI=1", "CI=true"),
        ("NODE_ENV=../x", "NODE_OPTIONS=--require=./x.js"),
    ),
    Inert(
        "NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE PY_COLORS COLUMNS LINES",
        r"[A-Za-z0-9]*",
        "changes colours and widths of output",
        ("NO_COLOR=1", "FORCE_COLOR=0"),
        ("COLORTERM=x", "TERM=../x"),
    ),
    Inert(
        "TZ",
        r"([A-Za-z0-9_+,-]+(/[A-Za-z0-9_+-]+)*)?",
        "changes the clock's zone; a path is not a zone",
        ("TZ=UTC", "TZ=America/New_York"),
        ("TZ=/etc/shadow", "TZ=../x"),
    ),
    Inert(
        "LANG LC_*",
        r"[A-Za-z0-9_.@-]*",
        "changes the language of messages; the C library refuses paths, and so do we",
        ("LANG=C.UTF-8", "LC_ALL=en_US.UTF-8"),
        ("LANG=../x", "LOCPATH=x", "LANGUAGE=../x"),
    ),
    Inert(
        "RUST_BACKTRACE PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONIOENCODING PYTHONUTF8"
        " PYTHONHASHSEED CARGO_TERM_COLOR",
        r"[A-Za-z0-9_-]*",
        "switches a language's output or caching",
        ("RUST_BACKTRACE=1", "PYTHONUNBUFFERED=1"),
        ("PYTHONPATH=x", "PYTHONSTARTUP=x", "RUSTC_WRAPPER=x", "GOFLAGS=-toolexec=x"),
    ),
    Inert(
        "RUST_LOG",
        _WORD,
        "chooses which messages are logged",
        ("RUST_LOG=debug", "RUST_LOG=app=info,net=warn"),
        ("RUST_LOG=./x",),
    ),
)


def _table() -> tuple[dict[str, re.Pattern[str]], tuple[tuple[str, re.Pattern[str]], ...]]:
    exact: dict[str, re.Pattern[str]] = {}
    prefixes: list[tuple[str, re.Pattern[str]]] = []
    for entry in INERT:
        pattern = re.compile(entry.values)
        for name in entry.names.split():
            if name.endswith("*"):
                prefixes.append((name[:-1], pattern))
            else:
                exact[name] = pattern
    return exact, tuple(prefixes)


_EXACT, _PREFIXES = _table()


def is_inert(name: str, value: str) -> bool:
    """Tell whether the assignment counts as absent. `value` must be literal."""
    pattern = _EXACT.get(name)
    if pattern is None:
        for prefix, candidate in _PREFIXES:
            if name.startswith(prefix) and name[len(prefix) :].isalpha():
                pattern = candidate
                break
        else:
            return False
    return pattern.fullmatch(value) is not None
