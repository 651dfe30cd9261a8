"""Which word of a search is its pattern, and so names no file.

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
_SEARCHES = {
    "grep": _GREP_OPTION,
    "egrep": _GREP_OPTION,
    "fgrep": _GREP_OPTION,
    "rg": _RG_OPTION,
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
    is_value = False
    for at, key in enumerate(keys[1:], start=1):
        if is_value:
            is_value = False
        elif key.startswith("\0"):
            if not found or not _OPERAND_FIRST.match(key, 1):
                return 0
        elif key.startswith("-"):
            match = option.fullmatch(key)
            if match is None or key == "-":
                return 0
            is_value = not key.startswith("--") and key[-1] in "ABCmgt" and match[1] is not None
        elif not found:
            found = at
    return found
