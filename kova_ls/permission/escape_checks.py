"""Tell whether the words of a program make it write or run something beyond its purpose.

Invariant: a word that cannot be told apart from an option is taken for one.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from kova_ls.permission.escapes import ESCAPES, Escape
from kova_ls.permission.lexer import BRACE, DOLLAR, GLOB_FIRST, Word
from kova_ls.permission.programs import program_name


class _Options(NamedTuple):
    shorts: frozenset[str]
    longs: tuple[str, ...]
    singles: tuple[str, ...]
    """Go style words, without their dash."""
    operands: frozenset[str]
    valued: str
    abbreviates: bool
    reason: str


def find_escape(words: Sequence[Word]) -> str | None:
    """Return why these words ask although a prefix matches them, or None."""
    name = program_name(words[0].value)
    entry = _entry(name)
    if entry is None:
        return None
    for word in words[1:]:
        if word.flags & (GLOB_FIRST | BRACE | DOLLAR):
            return (
                f"`{name}` has options that write or run, and a word of the command is built by the"
                " shell."
            )
    values = [word.value for word in words[1:]]
    options, check = entry
    at = 0
    if name == "git":
        at = _git_subcommand(values)
        if at < 0:
            return "Options before git's sub-command change what git runs."
    if options:
        reason = _check_options(name, options, values[at:])
        if reason:
            return reason
    return check(values[at:]) if check else None


def _entry(
    name: str,
) -> "tuple[tuple[_Options, ...], Callable[[list[str]], str | None] | None] | None":
    entry = _BY_PROGRAM.get(name)
    if entry is None and name[-1:].isdigit():
        entry = _BY_PROGRAM.get(name.rstrip("0123456789.") + "#")
    if entry is None and not name.islower():
        entry = _BY_PROGRAM.get(name.lower())
    return entry


_GIT_SAFE = frozenset({"--no-pager", "-P", "--no-optional-locks", "--no-lazy-fetch"})
_GIT_ALONE = frozenset({"--version", "-v", "--help", "-h", "--html-path", "--man-path"})


def _git_subcommand(values: list[str]) -> int:
    """Return where the sub-command stands; negative when an option before it is not harmless."""
    for at, value in enumerate(values):
        if not value.startswith("-"):
            return at
        if value in _GIT_ALONE:
            return at
        if value not in _GIT_SAFE:
            return -1
    return 0


def _check_options(name: str, entries: tuple[_Options, ...], values: list[str]) -> str | None:
    for options in entries:
        positional = 0
        for value in values:
            if not value.startswith("-") or len(value) < 2:
                if positional < 2 and value in options.operands:
                    return f"`{name} {value}` {options.reason}."
                positional += 1
                continue
            if _is_dangerous(value, options):
                return f"`{name} {value.split('=', 1)[0]}` {options.reason}."
    return None


def _is_dangerous(value: str, options: _Options) -> bool:
    if options.singles:
        bare = value.lstrip("-").split("=", 1)[0]
        if bare in options.singles:
            return True
    if value.startswith("--"):
        given = value.split("=", 1)[0]
        if len(given) < 3:
            return False
        if options.abbreviates:
            return any(long.startswith(given) for long in options.longs)
        return given in options.longs
    for letter in value[1:]:
        if letter in options.shorts:
            return True
        if letter in options.valued or not letter.isalnum():
            return False
    return False


def _compile(entry: Escape) -> _Options:
    shorts: set[str] = set()
    longs: list[str] = []
    singles: list[str] = []
    operands: set[str] = set()
    for option in entry.options.split():
        if option.startswith("--"):
            longs.append(option)
        elif option.startswith("-") and len(option) == 2:
            shorts.add(option[1])
        elif option.startswith("-"):
            singles.append(option[1:])
        else:
            operands.add(option)
    return _Options(
        frozenset(shorts),
        tuple(longs),
        tuple(singles),
        frozenset(operands),
        entry.valued,
        entry.abbreviates,
        entry.reason,
    )


# -- programs read word by word -----------------------------------------------------------------

_SAFE_CURL_FLAGS = frozenset("sSLfvikgIG0146#NaRl")
_SAFE_CURL_VALUED = frozenset("HXdAeumxrbFyYz")
_SAFE_CURL_LONG_FLAGS = frozenset(
    "--silent --show-error --location --fail --fail-with-body --verbose --include --insecure"
    " --globoff --head --get --http1.0 --http1.1 --http2 --http3 --ipv4 --ipv6 --progress-bar"
    " --no-buffer --compressed --no-progress-meter --tlsv1.2 --tlsv1.3 --raw --no-keepalive"
    " --path-as-is --anyauth --basic --digest --styled-output --version --ssl-reqd --tcp-nodelay"
    " --location-trusted --post301 --post302 --retry-connrefused --retry-all-errors --no-sessionid"
    " --fail-early --parallel".split()
)
_SAFE_CURL_LONG_VALUED = frozenset(
    "--header --request --data --data-raw --data-binary --data-urlencode --data-ascii --json"
    " --user-agent --referer --user --max-time --connect-timeout --proxy --range --form"
    " --form-string --retry --retry-delay --retry-max-time --max-redirs --url --resolve --limit-rate"
    " --cacert --oauth2-bearer --speed-limit --speed-time --max-filesize --interface"
    " --cookie".split()
)


def _check_curl(values: list[str]) -> str | None:
    at = 0
    while at < len(values):
        value = values[at]
        at += 1
        if not value.startswith("-") or value == "-":
            continue
        if value.startswith("--"):
            if "=" in value:
                return f"`curl {value.split('=')[0]}=` is not understood."
            if value in _SAFE_CURL_LONG_FLAGS:
                continue
            argument = values[at] if at < len(values) else ""
            at += 1
            if value in _SAFE_CURL_LONG_VALUED:
                continue
            if value == "--output" and argument == "/dev/null":
                continue
            if value == "--write-out" and "%output" not in argument and argument[:1] != "@":
                continue
            return f"`curl {value}` writes a file or changes what curl does."
        for position, letter in enumerate(value[1:], start=2):
            if letter in _SAFE_CURL_FLAGS:
                continue
            argument = value[position:]
            if not argument:
                argument = values[at] if at < len(values) else ""
                at += 1
            if (
                letter in _SAFE_CURL_VALUED
                or (letter == "o" and argument == "/dev/null")
                or (letter == "w" and "%output" not in argument and argument[:1] != "@")
            ):
                break
            return f"`curl -{letter}` writes a file or changes what curl does."
    return None


def _check_wget(values: list[str]) -> str | None:
    return "`wget` writes files, and a history beside them."


_SED_FLAGS = frozenset("nErsuz")
_SED_LONG = frozenset(
    "--quiet --silent --regexp-extended --separate --unbuffered --null-data --posix --debug"
    " --version --help --sandbox".split()
)


def _check_sed(values: list[str]) -> str | None:
    scripts: list[str] = []
    operands: list[str] = []
    at = 0
    while at < len(values):
        value = values[at]
        at += 1
        if value == "--":
            return "`sed --` is not read."
        if value.startswith("--"):
            if value.startswith("--expression="):
                scripts.append(value.partition("=")[2])
            elif value not in _SED_LONG:
                return f"`sed {value.split('=')[0]}` is not a plain option."
        elif value.startswith("-") and len(value) > 1:
            for position, letter in enumerate(value[1:], start=2):
                if letter in _SED_FLAGS:
                    continue
                if letter != "e":
                    return f"`sed -{letter}` is not a plain option."
                script = value[position:]
                if not script:
                    if at >= len(values):
                        return "`sed -e` has no script."
                    script = values[at]
                    at += 1
                scripts.append(script)
                break
        else:
            operands.append(value)
    if not scripts:
        if not operands:
            return None
        scripts.append(operands[0])
    if all(_is_plain_sed(script) for script in scripts):
        return None
    return "The `sed` script does more than print, delete, quit and substitute."


_SED_SPACE = re.compile(r"[ \t]*")
_SED_ADDRESS = re.compile(r"\d+(~\d+)?|\$|[+~]\d+")
_SED_S_FLAGS = re.compile(r"[gpiI0-9mM]*")


def _is_plain_sed(script: str) -> bool:
    """Tell whether a script holds plain `p`, `d`, `q`, `=` and `s` commands only."""
    at, n = 0, len(script)
    while at < n:
        if script[at] in " \t\n;":
            at += 1
            continue
        for is_second in (False, True):
            if is_second:
                at = _skip(script, at)
                if script[at : at + 1] != ",":
                    break
                at = _skip(script, at + 1)
            if at < n and script[at] == "/":
                end = _sed_part(script, at + 1, "/", is_regex=True)
                if end < 0:
                    return False
                at = end
                while at < n and script[at] in "IM":
                    at += 1
            else:
                match = _SED_ADDRESS.match(script, at)
                if match:
                    at = match.end()
                elif is_second:
                    return False
        at = _skip(script, at)
        while at < n and script[at] in "! ":
            at += 1
        if at >= n:
            return False
        command = script[at]
        at += 1
        if command == "s":
            if at >= n or script[at] in "\n\\ " or script[at].isalnum():
                return False
            delimiter = script[at]
            end = _sed_part(script, at + 1, delimiter, is_regex=True)
            if end < 0:
                return False
            end = _sed_part(script, end, delimiter, is_regex=False)
            if end < 0:
                return False
            match = _SED_S_FLAGS.match(script, end)
            assert match
            at = match.end()
        elif command == "q":
            at = _skip(script, at)
            while at < n and script[at].isdigit():
                at += 1
        elif command not in "pd=":
            return False
        at = _skip(script, at)
        if at < n and script[at] not in ";\n":
            return False
    return True


def _skip(script: str, at: int) -> int:
    match = _SED_SPACE.match(script, at)
    return match.end() if match else at


def _sed_part(script: str, at: int, delimiter: str, *, is_regex: bool) -> int:
    """Return the offset behind the delimiter that ends a pattern; -1 when that is not certain."""
    start, n = at, len(script)
    while at < n:
        char = script[at]
        if char == "\\":
            at += 2
            continue
        if char == "\n":
            return -1
        if char == delimiter:
            part = re.sub(r"\\.", "", script[start:at], flags=re.DOTALL)
            is_open = part.rfind("[") > part.rfind("]") or part.endswith(("[", "[^", "[]", "[^]"))
            return -1 if is_regex and is_open else at + 1
        at += 1
    return -1


def _check_tar(values: list[str]) -> str | None:
    """Accept listing an archive and nothing else."""
    lists = False
    at = 0
    while at < len(values):
        value = values[at]
        at += 1
        if value.startswith("--"):
            name = value.split("=", 1)[0]
            if name == "--list":
                lists = True
            elif name == "--file":
                if "=" not in value:
                    at += 1
            elif name not in ("--verbose", "--gzip", "--bzip2", "--xz", "--zstd", "--wildcards"):
                return f"`tar {name}` writes or runs something."
        elif value.startswith("-") or at == 1:
            for position, letter in enumerate(value.lstrip("-"), start=1):
                if letter == "t":
                    lists = True
                elif letter == "f":
                    if position == len(value.lstrip("-")):
                        at += 1
                    elif value.startswith("-"):
                        break
                elif letter not in "vzjJ":
                    return f"`tar` with `{letter}` writes or runs something."
    if any(":" in value for value in values):
        return "`tar` may reach another machine for a name with a colon."
    return None if lists else "`tar` writes or runs something unless it lists."


def _check_second_operand(name: str, flags: str, valued: str) -> Callable[[list[str]], str | None]:
    def check(values: list[str]) -> str | None:
        operands = 0
        at = 0
        while at < len(values):
            value = values[at]
            at += 1
            if value.startswith("-") and len(value) > 1:
                for position, letter in enumerate(value[1:], start=2):
                    if letter in valued:
                        if not value[position:]:
                            at += 1
                        break
                    if letter not in flags:
                        return f"`{name} {value}` is not understood."
            else:
                operands += 1
        return f"The second operand of `{name}` is written." if operands > 1 else None

    return check


def _check_printf(values: list[str]) -> str | None:
    if any(value.startswith("-") for value in values[:2]):
        return "`printf` with an option evaluates the name it stores into."
    return None


def _check_test(values: list[str]) -> str | None:
    if any(value in ("-v", "-R") for value in values):
        return "`test -v` evaluates the subscript of the name it asks about."
    return None


_SQLITE_FLAGS = frozenset(
    "-header -noheader -csv -json -column -line -list -html -markdown -table -box -readonly -bail"
    " -batch -quote -tabs -ascii -version -nullvalue -separator -safe".split()
)
_SQLITE_WORDS = re.compile(
    r"(^|[\n;])\s*\.|writefile|load_extension|\bedit\s*\(|\battach\b|\binto\s+['\"]|fts\d_tokenizer",
    re.IGNORECASE,
)


def _check_sqlite(values: list[str]) -> str | None:
    for value in values:
        if value.startswith("-"):
            if "-" + value.lstrip("-") not in _SQLITE_FLAGS:
                return f"`sqlite3 {value}` is not a plain option."
        elif _SQLITE_WORDS.search(value):
            return "The statement of `sqlite3` may write a file or run a program."
    return None


_CLIENT_WORDS = re.compile(
    r"\\|\bprogram\b|\bsystem\b|\btee\b|\bpager\b|outfile|dumpfile|\bsource\b", re.IGNORECASE
)


def _check_client(values: list[str]) -> str | None:
    for value in values:
        if _CLIENT_WORDS.search(value):
            return "The statement may write a file or run a program."
    return None


_MAKE_VALUE = re.compile(r"\d*|yes|no|true|false|on|off|y|n")


def _check_make(values: list[str]) -> str | None:
    for value in values:
        name, has_value, rest = value.partition("=")
        if value.startswith("-"):
            continue
        if has_value and not (
            re.fullmatch(r"[A-Z][A-Z0-9_]*", name) and _MAKE_VALUE.fullmatch(rest)
        ):
            return f"`make {name}=` may name a program to run."
        if "$" in value or "|" in value:
            return "A word of `make` may be run."
    return None


_SHELL_LINK = re.compile(r"extld|linkmode|buildmode|-r\b|-I\b|-o\b|plugin", re.IGNORECASE)


def _check_go(values: list[str]) -> str | None:
    for at, value in enumerate(values):
        bare = value.lstrip("-")
        if bare.split("=", 1)[0] in ("ldflags", "gcflags", "asmflags") and value.startswith("-"):
            given = bare.partition("=")[2] or (values[at + 1] if at + 1 < len(values) else "")
            if _SHELL_LINK.search(given):
                return "The flags given to the linker may run a program."
        if at and values[0] == "run" and "@" in value:
            return "`go run` with a version fetches a program and runs it."
    return None


_GIT_CONFIG_READS = frozenset(
    "--get --get-all --get-regexp --get-urlmatch --list -l --get-color --get-colorbool get list"
    " --show-origin --show-scope --global --local --system --worktree --name-only -z --null --bool"
    " --int --path --includes --no-includes --type --default --all".split()
)


def _check_git(values: list[str]) -> str | None:
    if not values:
        return None
    for value in values:
        if "::" in value and not value.startswith("-"):
            return "A git address with `::` runs a helper program."
    if values[0] == "config":
        reads = {
            "--get",
            "--get-all",
            "--get-regexp",
            "--get-urlmatch",
            "--list",
            "-l",
            "get",
            "list",
        }
        if not reads.intersection(values[1:]):
            return "`git config` changes what git runs later."
        for value in values[1:]:
            if value.startswith("-") and value.split("=")[0] not in _GIT_CONFIG_READS:
                return f"`git config {value}` is not a plain reading option."
        if values[1] in ("set", "unset", "edit", "rename-section", "remove-section"):
            return "`git config` changes what git runs later."
    return None


_CHECKS: dict[str, Callable[[list[str]], str | None]] = {
    "curl": _check_curl,
    "wget": _check_wget,
    "sed": _check_sed,
    "gsed": _check_sed,
    "tar": _check_tar,
    "bsdtar": _check_tar,
    "gtar": _check_tar,
    "uniq": _check_second_operand("uniq", "cduiDz", "fsw"),
    "xxd": _check_second_operand("xxd", "abeEipuC", "clogsnR"),
    "printf": _check_printf,
    "test": _check_test,
    "[": _check_test,
    "sqlite3": _check_sqlite,
    "sqlite": _check_sqlite,
    "psql": _check_client,
    "mysql": _check_client,
    "mariadb": _check_client,
    "make": _check_make,
    "gmake": _check_make,
    "go": _check_go,
    "git": _check_git,
}

_SubOptions = dict[str, tuple[_Options, ...]]


def _tables() -> "dict[str, tuple[tuple[_Options, ...], Callable[[list[str]], str | None] | None]]":
    own: dict[str, list[_Options]] = {}
    subs: dict[str, dict[str, list[_Options]]] = {}
    for entry in ESCAPES:
        options = _compile(entry)
        for name in entry.programs.split():
            program, _, sub = name.partition(":")
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
    check: Callable[[list[str]], str | None] | None,
) -> Callable[[list[str]], str | None] | None:
    if not subs:
        return check
    tables: _SubOptions = {sub: tuple(options) for sub, options in subs.items()}

    def both(values: list[str]) -> str | None:
        at = next((i for i, value in enumerate(values) if not value.startswith("-")), None)
        if at is not None and (options := tables.get(values[at])):
            reason = _check_options(f"{name} {values[at]}", options, values[:at] + values[at + 1 :])
            if reason:
                return reason
        return check(values) if check else None

    return both


_BY_PROGRAM = _tables()
