"""Read the words of clients of databases and of programs for pictures.

Invariant: what is not known to be harmless is taken for an escape.
"""

import re
from collections.abc import Callable, Sequence

_REDIS = frozenset(
    "config module slaveof replicaof debug function eval evalsha eval_ro script migrate shutdown"
    " save bgsave fcall acl".split()
)


def _check_redis(values: Sequence[str]) -> str | None:
    for value in values:
        if value.lower() in _REDIS:
            return f"`redis-cli {value}` changes where the server writes or what it runs."
    return None


_IMAGE = re.compile(
    r"\||^@|^-(write|script|process|authenticate|define)$|^(msl|mvg|ephemeral|show|win|x|script|text|url"
    r"|https?|ftp|pango|label|caption|inline|tmp|fd|vid|plasma):",
    re.IGNORECASE,
)


def _check_image(values: Sequence[str]) -> str | None:
    for value in values:
        if _IMAGE.search(value):
            return f"{value!r} makes the program run or write something else."
    return None


_SQLITE_FLAGS = frozenset(
    "-header -noheader -csv -json -column -line -list -html -markdown -table -box -readonly -bail"
    " -batch -quote -tabs -ascii -version -nullvalue -separator -safe".split()
)
_SQLITE_DOT = re.compile(
    r"\.(tables?|schema|indexes|indices|databases|dbinfo|headers?|mode|show|stats|timer|width)\b[\w \t]*"
)
_SQLITE_WORDS = re.compile(
    r"(^|[\n;])\s*\.|writefile|load_extension|\bedit\s*\(|\battach\b|\bvacuum\b.*\binto\b|fts\d_tokenizer"
    r"|[\s'\";(].*\x01",
    re.IGNORECASE | re.DOTALL,
)


def _check_sqlite(values: Sequence[str]) -> str | None:
    for value in values:
        if value.startswith("-"):
            if "-" + value.lstrip("-") not in _SQLITE_FLAGS:
                return f"`sqlite3 {value}` is not a plain option."
        elif _SQLITE_WORDS.search(value) and not _SQLITE_DOT.fullmatch(value):
            return "The statement of `sqlite3` may write a file or run a program."
    return None


def _check_duckdb(values: Sequence[str]) -> str | None:
    if any(
        re.search(r"\bcopy\b|\bexport\b|\binstall\b|\bload\b", value, re.IGNORECASE)
        for value in values
    ):
        return "The statement of `duckdb` may write a file or load code."
    return _check_sqlite(values)


_PSQL_LISTS = re.compile(r"\\(d[a-zA-Z]{0,3}\+?|l\+?|x|timing|conninfo)(?=\s|$)")
_CLIENT_WORDS = re.compile(
    r"\\|\bprogram\b|\bsystem\b|\btee\b|\bpager\b|outfile|dumpfile|executable\s*\(|into\s+function|\bsource\b|^\s*edit\b"
    r"|[\s'\";(].*\x01",
    re.IGNORECASE | re.DOTALL,
)


def _check_client(values: Sequence[str]) -> str | None:
    for value in values:
        if _CLIENT_WORDS.search(_PSQL_LISTS.sub("", value)):
            return "The statement may write a file or run a program."
    return None


_EXIFTOOL = re.compile(
    r"-(if\d*|p|printformat|w[!+]*|textout|tagout.*|config|tagsfromfile|o|out|@|execute\d*|stay_open|api"
    r"|geotag|csv|j\+|overwrite_original.*|restore_original|delete_original)|-.*=.*",
    re.IGNORECASE | re.DOTALL,
)


def _check_exiftool(values: Sequence[str]) -> str | None:
    for value in values:
        if _EXIFTOOL.fullmatch(value):
            return f"`exiftool {value}` writes files or runs program text."
    return None


DATA_CHECKS: dict[str, Callable[[Sequence[str]], str | None]] = {
    "redis-cli": _check_redis,
    **dict.fromkeys(("convert", "magick", "identify", "mogrify", "composite"), _check_image),
    "sqlite3": _check_sqlite,
    "sqlite": _check_sqlite,
    "duckdb": _check_duckdb,
    "psql": _check_client,
    "clickhouse": _check_client,
    "clickhouse-client": _check_client,
    "exiftool": _check_exiftool,
    "mysql": _check_client,
    "mariadb": _check_client,
}
