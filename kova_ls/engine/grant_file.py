"""The text of a permission file: read with positions, changed without losing what it holds.

Invariant: no IO; `grant_disk.py` brings the bytes and takes them back.
Invariant: a file that cannot be read with certainty yields a `Fault`, never a part of its rules.
"""

import hashlib
import json
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

Field = Literal["allow", "deny", "writableRoots"]
FIELDS: tuple[Field, ...] = ("allow", "deny", "writableRoots")
MAX_BYTES = 1_000_000
MAX_ENTRIES = 4_000
"""Of one list; each is read as a command would be."""
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Entry:
    """One string of a list, with the place where it stands."""

    value: str
    """The text."""
    line_no: int
    """One-based."""
    column_no: int
    """One-based, in code points."""


@dataclass(frozen=True, slots=True)
class Content:
    """A permission file that could be read."""

    digest: str
    """Of the bytes."""
    raw: bytes
    """The file as it stands."""
    allow: tuple[Entry, ...] = ()
    """Rules, not yet judged."""
    deny: tuple[Entry, ...] = ()
    """Rules, not yet judged."""
    roots: tuple[Entry, ...] = ()
    """Folders, not yet resolved."""
    strict_redirects: bool = False
    """`strictRedirects` of the file."""
    problems: tuple[str, ...] = ()
    """Entries that are no strings."""

    def entries(self, field: Field) -> tuple[Entry, ...]:
        """Return the list that stands under `field`."""
        return {"allow": self.allow, "deny": self.deny, "writableRoots": self.roots}[field]


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a file counts for nothing."""

    message: str
    """With file, place and what to do."""
    digest: str = "unread"
    """Of the bytes, when they could be had."""


# -- reading ----------------------------------------------------------------------------------


def parse(raw: bytes, path: str) -> Content | Fault:
    """Read the bytes of a permission file; `path` is for messages only."""
    digest = hashlib.sha256(raw).hexdigest()
    if len(raw) > MAX_BYTES:
        return fault(path, f"is larger than {MAX_BYTES:,} bytes", "Make it smaller.", digest)
    body = raw.removeprefix(_BOM)
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        before = body[: error.start].decode("utf-8")
        where = _place(before, len(before))
        return fault(f"{path}:{where}", "is not UTF-8", "Save it as UTF-8.", digest)
    try:
        data = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        where = f"{path}:{error.lineno}:{error.colno}"
        return fault(where, f"is broken: {error.msg}", "Mend or remove it.", digest)
    except _Twice as error:
        second = [found.start() for found in re.finditer(re.escape(json.dumps(error.key)), text)]
        where = f"{path}:{_place(text, second[1] if len(second) > 1 else 0)}"
        return fault(where, f"has {error.key!r} twice", "Remove one of them.", digest)
    except (ValueError, RecursionError):
        return fault(f"{path}:1:1", "holds a value that is no JSON or nests too deep", "", digest)
    if not isinstance(data, dict):
        return fault(f"{path}:1:1", "is no JSON object", 'Write {"version": 1, …}.', digest)
    return _checked(cast("dict[str, Any]", data), text, raw, path, digest)


def _checked(
    data: dict[str, Any], text: str, raw: bytes, path: str, digest: str
) -> Content | Fault:
    places = _places(text)

    def at(*key: str | int) -> str:
        return f"{path}:{_place(text, places.get(key, 0))}"

    version = data.get("version", 1)
    if type(version) is not int or version != 1:
        return fault(
            at("version"), "has a version that is not 1", "Set it to 1, or update.", digest
        )
    strict = data.get("strictRedirects", False)
    if not isinstance(strict, bool):
        return fault(at("strictRedirects"), "is neither true nor false", "Mend it.", digest)
    lists: dict[str, tuple[Entry, ...]] = {}
    problems: list[str] = []
    line_starts = _line_starts(text)
    for field in FIELDS:
        values = data.get(field, [])
        if not isinstance(values, list):
            return fault(at(field), f"{field!r} is no list", 'Write ["…"].', digest)
        if len(cast("list[Any]", values)) > MAX_ENTRIES:
            what = f"{field!r} has more than {MAX_ENTRIES:,} entries"
            return fault(at(field), what, "Remove some.", digest)
        entries: list[Entry] = []
        for index, value in enumerate(cast("list[Any]", values)):
            if isinstance(value, str):
                line, column = _line_column(line_starts, places.get((field, index), 0))
                entries.append(Entry(value, line, column))
            else:
                problems.append(
                    f"{at(field, index)}: an entry of {field!r} is no string and counts for "
                    "nothing. Put it in quotes or remove it."
                )
        lists[field] = tuple(entries)
    return Content(
        digest=digest,
        raw=raw,
        allow=lists["allow"],
        deny=lists["deny"],
        roots=lists["writableRoots"],
        strict_redirects=strict,
        problems=tuple(problems),
    )


def fault(where: str, what: str, advice: str, digest: str = "unread") -> Fault:
    """Say where a file is wrong and what to do."""
    return Fault(f"{where}: {what}; nothing in it is in force. {advice}".rstrip(), digest)


class _Twice(Exception):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and key in (*FIELDS, "version", "strictRedirects"):
            raise _Twice(key)
        found[key] = value
    return found


def _no_number(name: str) -> float:
    raise ValueError(name)


_SPACE = re.compile(r"[ \t\n\r]*")


def _places(text: str) -> dict[tuple[str | int, ...], int]:
    """Return the offset of every field and list item of valid JSON's top level."""
    decode = json.JSONDecoder().raw_decode

    def skip(offset: int) -> int:
        found = _SPACE.match(text, offset)
        return found.end() if found else offset

    places: dict[tuple[str | int, ...], int] = {}
    at = skip(skip(0) + 1)
    while text[at] != "}":
        key, at = decode(text, at)
        at = skip(skip(at) + 1)
        places[(key,)] = at
        if text[at] == "[" and key in FIELDS:
            at, index = skip(at + 1), 0
            while text[at] != "]":
                places[(key, index)] = at
                at, index = skip(decode(text, at)[1]), index + 1
                if text[at] == ",":
                    at = skip(at + 1)
            at += 1
        else:
            at = decode(text, at)[1]
        at = skip(at)
        if text[at] == ",":
            at = skip(at + 1)
    return places


def _line_starts(text: str) -> list[int]:
    return [0, *(found.end() for found in re.finditer("\n", text))]


def _line_column(line_starts: Sequence[int], offset: int) -> tuple[int, int]:
    line_no = bisect_right(line_starts, offset)
    return line_no, offset - line_starts[line_no - 1] + 1


def _place(text: str, offset: int) -> str:
    line, column = _line_column(_line_starts(text), offset)
    return f"{line}:{column}"


# -- writing ----------------------------------------------------------------------------------


def edited(
    content: Content | None,
    add: Mapping[Field, Sequence[str]],
    remove: Mapping[Field, Sequence[str]],
) -> bytes:
    """Return the file with entries added and removed.

    Unknown fields, their order, the byte order mark, the line ends and the indentation stay.
    """
    data: dict[str, Any] = {"version": 1}
    text = ""
    if content is not None:
        text = content.raw.removeprefix(_BOM).decode("utf-8")
        data = json.loads(text)
    for field, values in add.items():
        if not values:
            continue
        present = data.setdefault(field, [])
        present.extend(value for value in dict.fromkeys(values) if value not in present)
    for field, values in remove.items():
        if field in data:
            data[field] = [value for value in data[field] if value not in values]
    found = re.search(r"\n([ \t]+)\S", text)
    indent = found.group(1) if found else "  "
    out = json.dumps(data, indent=indent, ensure_ascii=False) + "\n"
    try:
        raw = out.encode("utf-8")
    except UnicodeEncodeError:
        raw = (json.dumps(data, indent=indent) + "\n").encode("ascii")
    if "\r\n" in text:
        raw = raw.replace(b"\n", b"\r\n")
    return (_BOM if content is not None and content.raw.startswith(_BOM) else b"") + raw
