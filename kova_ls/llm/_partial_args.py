"""Put together arguments that come in pieces, each with the JSON path of its value.

Source: Vertex AI documentation, "Streaming function call arguments".
"""

import re
from itertools import pairwise
from typing import Any

import orjson

from kova_ls.llm._json import as_list

_STEP = re.compile(r"""\.([^.\[\]]+)|\[(\d+)\]|\[['"](.*?)['"]\]""")
_LONGEST_LIST = 10_000


class PartialArgs:
    """The arguments of one call while they arrive."""

    def __init__(self) -> None:
        self._value: dict[str, Any] = {}
        self._growing = ""
        """Path of the text that goes on in the next piece."""

    @property
    def text(self) -> str:
        """What arrived so far, as JSON."""
        return orjson.dumps(self._value).decode()

    def take(self, pieces: Any) -> None:
        """Take the `partialArgs` of one chunk.

        Raises: what a path that leads nowhere does: ValueError, TypeError, AttributeError.
        """
        for piece in as_list(pieces):
            path: str = piece.get("jsonPath") or ""
            steps = [
                int(number) if number else name or quoted
                for name, number, quoted in _STEP.findall(path)
            ]
            if not steps or any(isinstance(at, int) and at > _LONGEST_LIST for at in steps):
                raise ValueError(path)
            kinds = ("stringValue", "numberValue", "boolValue")
            given = next((piece[kind] for kind in kinds if kind in piece), None)
            _put(self._value, steps, given, goes_on=path == self._growing)
            self._growing = path if piece.get("willContinue") else ""


def _put(value: dict[str, Any], steps: list[Any], given: Any, *, goes_on: bool) -> None:
    target: Any = value
    for step, following in pairwise(steps):
        if _at(target, step) is None:
            _set(target, step, [] if isinstance(following, int) else {})
        target = _at(target, step)
    said = _at(target, steps[-1])
    if goes_on and isinstance(said, str) and isinstance(given, str):
        given = said + given
    _set(target, steps[-1], given)


def _at(target: Any, step: Any) -> Any:
    if isinstance(target, list):
        place = as_list(target)
        return place[step] if step < len(place) else None
    return target.get(step)


def _set(target: Any, step: Any, given: Any) -> None:
    if isinstance(target, list):
        place = as_list(target)
        place.extend([None] * (step + 1 - len(place)))
    target[step] = given
