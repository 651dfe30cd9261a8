"""Which word of a search or of `jq` is its pattern, and so names no file; which words are prose.

Invariant: answers only where no option that is not known stands in the command.
"""

import re
from collections.abc import Sequence

_GREP_OPTION = re.compile(
    r"-[rnilcEFwohHPsqvxaILRG]*([ABCm]\d*)?|--(include|exclude|exclude-dir|colou?r)=.*"
    r"|--(colou?r|line-number|ignore-case|recursive|files-with-matches|count|fixed-strings|extended-regexp"
    r"|word-regexp|only-matching|no-filename|with-filename|invert-match)"
)
_RG_OPTION = re.compile(
    r"-[nilcFwovsSuUxaLPHINp]*([ABCm]\d*|[gt])?|--(glob|iglob|type|colou?r|max-count)=.*"
    r"|--(line-number|ignore-case|hidden|no-ignore|files-with-matches|count|fixed-strings|word-regexp"
    r"|only-matching|no-filename|with-filename|invert-match|no-heading|heading|multiline)"
)
_JQ_OPTION = re.compile(
    r"-[rcesnRSjaMC]+|--(raw-output0?|compact-output|exit-status|slurp|null-input|raw-input|sort-keys"
    r"|join-output|ascii-output|monochrome-output|color-output|tab|seq|stream|arg|argjson)"
)
_SEARCHES = {
    "grep": _GREP_OPTION,
    "egrep": _GREP_OPTION,
    "fgrep": _GREP_OPTION,
    "rg": _RG_OPTION,
    "jq": _JQ_OPTION,
    "gojq": _JQ_OPTION,
}
_OPERAND_FIRST = re.compile(r"[\w./]")


def search_pattern(name: str, keys: Sequence[str]) -> int:
    """Return which word is a search's pattern, and so names no file; 0 when that is not certain.

    `keys` as in `Part`: a word that the shell changes begins with NUL.
    """
    option = _SEARCHES.get(name)
    if option is None:
        return 0
    found = 0
    values = 0
    for at, key in enumerate(keys[1:], start=1):
        if values:
            values -= 1
        elif key.startswith("\0"):
            if not found or not _OPERAND_FIRST.match(key, 1):
                return 0
        elif key.startswith("-"):
            match = option.fullmatch(key)
            if match is None or key == "-":
                return 0
            if key.startswith("--"):
                values = 2 if key in ("--arg", "--argjson") else 0
            else:
                values = int(key[-1] in "ABCmgt" and match[1] is not None)
        elif not found:
            found = at
    return found


_PROSE = frozenset("echo printf jq gojq grep egrep fgrep rg ag ack sed".split())
_MESSAGE = re.compile(
    r"-[a-z]*m|-[tbdHknceqFf]|--(message|title|body|data[a-z-]*|header|notes|description|grep|format"
    r"|pretty|jq|query|execute|command|json|field|raw-field|author|trailer)"
)


def is_prose(name: str, values: Sequence[str], at: int) -> bool:
    """Tell whether a word that holds blanks is likelier text than the name of a file."""
    return (
        name in _PROSE
        or _MESSAGE.fullmatch(values[at - 1]) is not None
        or _MESSAGE.fullmatch(values[at].partition("=")[0]) is not None
    )
