"""Look into JSON values whose shape is not known."""

import json
from typing import Any, cast

import orjson


def as_object(value: Any) -> dict[str, Any]:
    """Return the object itself, or an empty one for anything else."""
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """Return the list itself, or an empty one for anything else."""
    return cast(list[Any], value) if isinstance(value, list) else []


def parse_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object in `text`, or None."""
    try:
        value: Any = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return cast(dict[str, Any], value) if isinstance(value, dict) else None


def mended_object(text: str) -> str | None:
    """Return JSON text of the object that a model wrote, or None where its meaning is not plain.

    Mended are line ends within strings, halves of surrogate pairs, an object written as a string,
    and the other ways to write that there are no arguments.
    """
    if parse_object(text) is not None:
        return text
    try:
        value: Any = json.loads(text, strict=False, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    if value in (None, "", []):
        return "{}"
    if isinstance(value, str):
        return mended_object(value)
    if not isinstance(value, dict):
        return None
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode()


def _refuse(name: str) -> None:
    raise ValueError(name)


def count(usage: dict[str, Any], *path: str) -> int:
    """Return a number somewhere in a usage object, 0 when it is not there."""
    found: Any = usage
    for key in path:
        found = as_object(found).get(key)
    return int(found) if isinstance(found, int | float) and not isinstance(found, bool) else 0
