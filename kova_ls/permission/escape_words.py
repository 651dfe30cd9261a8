"""Read the words of programs whose options and scripts need more than a list of names.

Invariant: what is not known to be harmless is taken for an escape.
"""

import re
from collections.abc import Callable, Sequence

STEERED = "\x01"
"""Stands for what the line itself may have put there: the name of a folder is free text."""

_SAFE_CURL_FLAGS = frozenset("sSLfvikgIG0146#NaRl")
_SAFE_CURL_VALUED = frozenset("HXdAeumxrbFyY")
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


_CURL_SINKS = frozenset({"/dev/null", "-"})


def _check_curl(values: Sequence[str]) -> str | None:
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
            if value in ("--output", "--dump-header") and argument in _CURL_SINKS:
                continue
            if value == "--write-out" and _is_plain_format(argument):
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
                or (letter in "oD" and argument in _CURL_SINKS)
                or (letter == "w" and _is_plain_format(argument))
            ):
                break
            return f"`curl -{letter}` writes a file or changes what curl does."
    return None


def _is_plain_format(argument: str) -> bool:
    return "%output" not in argument and argument[:1] != "@" and STEERED not in argument


def _check_wget(values: Sequence[str]) -> str | None:
    return "`wget` writes files, and a history beside them."


_SED_FLAGS = frozenset("nErsuz")
_SED_LONG = frozenset(
    "--quiet --silent --regexp-extended --separate --unbuffered --null-data --posix --debug"
    " --version --help --sandbox".split()
)


def _check_sed(values: Sequence[str]) -> str | None:
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
    if STEERED in script:
        return False
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


def _check_tar(values: Sequence[str]) -> str | None:
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


def _check_second_operand(
    name: str, flags: str, valued: str
) -> Callable[[Sequence[str]], str | None]:
    def check(values: Sequence[str]) -> str | None:
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


def _check_pdftotext(values: Sequence[str]) -> str | None:
    if len(values) > 1 and values[-1] != "-" and not values[-2].startswith("-"):
        return "The second operand of `pdftotext` is written."
    if values and not values[-1].startswith("-") and values[-1][-4:].lower() != ".pdf":
        return "The second operand of `pdftotext` is written."
    return None


_XXD_FLAGS = frozenset("-a -b -e -E -i -p -ps -u -C -v -h".split())
_XXD_VALUED = re.compile(r"-[clogsnR](.*)")


def _check_xxd(values: Sequence[str]) -> str | None:
    operands = 0
    is_value = False
    for value in values:
        valued = _XXD_VALUED.fullmatch(value)
        if is_value:
            is_value = False
        elif value in _XXD_FLAGS:
            continue
        elif valued and not re.match(r"[a-z]", valued[1]):
            is_value = not valued[1]
        elif value.startswith("-"):
            return f"`xxd {value}` is not understood."
        else:
            operands += 1
    return "The second operand of `xxd` is written." if operands > 1 else None


def _check_jar(values: Sequence[str]) -> str | None:
    first = values[0].lstrip("-") if values else ""
    if re.fullmatch(r"t[vf]*|list", first):
        return None
    return "`jar` writes files unless it lists."


_PRINTF_STORES = re.compile(r"%[^a-zA-Z%]*[hlLjzt]*n|\x01")


def _check_printf(values: Sequence[str]) -> str | None:
    if any(value.startswith("-") for value in values[:1]):
        return "`printf` with an option evaluates the name it stores into."
    if any(_PRINTF_STORES.search(value.replace("%%", "")) for value in values[:1]):
        return "`printf %n` changes a variable of the shell, such as PATH."
    return None


def _check_test(values: Sequence[str]) -> str | None:
    if any(value in ("-v", "-R") for value in values):
        return "`test -v` evaluates the subscript of the name it asks about."
    return None


def _check_unzip(values: Sequence[str]) -> str | None:
    first = values[0] if values else "-v"
    if re.fullmatch(r"-[qC]*[lptvZ][qC0-9smt]*", first) and not any(
        value.startswith("-") for value in values[1:]
    ):
        return None
    return "`unzip` writes whatever the archive names."


def _check_patch(values: Sequence[str]) -> str | None:
    if "--dry-run" in values or values[:1] == ["--version"]:
        return None
    return "`patch` writes whatever the patch names, and runs `ed` for some."


def _check_zip(values: Sequence[str]) -> str | None:
    if any(re.match(r"-[^-]*l[fa]", value) for value in values):
        return "`zip -lf` writes another file."
    return None


def _check_split(values: Sequence[str]) -> str | None:
    if any(value.startswith("--add") for value in values):
        return "`split` with a suffix writes files of any name."
    if any(
        value.startswith(("/", "~")) or ".." in value or "/." in value or value[:1] == "."
        for value in [value for value in values if not value.startswith("-")][1:]
    ):
        return "`split` writes elsewhere."
    return None


def _check_date(values: Sequence[str]) -> str | None:
    is_value = False
    for value in values:
        if value.startswith("-"):
            is_value = value in ("-d", "-r", "-f", "-v", "--date", "--reference", "--file", "-ud")
        elif not is_value and not value.startswith("+"):
            return "`date` with a number sets the machine's clock."
        else:
            is_value = False
    return None


CHECKS: dict[str, Callable[[Sequence[str]], str | None]] = {
    "curl": _check_curl,
    "wget": _check_wget,
    "sed": _check_sed,
    "gsed": _check_sed,
    "tar": _check_tar,
    "bsdtar": _check_tar,
    "gtar": _check_tar,
    "uniq": _check_second_operand("uniq", "cduiDz", "fsw"),
    "guniq": _check_second_operand("uniq", "cduiDz", "fsw"),
    "pdftotext": _check_pdftotext,
    "xxd": _check_xxd,
    "jar": _check_jar,
    "printf": _check_printf,
    "gprintf": _check_printf,
    "test": _check_test,
    "[": _check_test,
    "cpp": _check_second_operand("cpp", "PEHM", "DIUWfmstdOx"),
    "unzip": _check_unzip,
    "patch": _check_patch,
    "zip": _check_zip,
    **dict.fromkeys(("split", "csplit", "gsplit", "gcsplit"), _check_split),
    "date": _check_date,
    "gdate": _check_date,
}
