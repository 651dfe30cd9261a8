"""How many prompts may wait in a session for its turn to end."""

from collections.abc import Sequence

from kova_ls.errors import RequestFailed
from kova_ls.journal import records as r
from kova_ls.values import InputPart

_MAX_PROMPTS = 64
_MAX_CHARS = 1_000_000
"""The whole queue is written with each change of it."""


def check_room(waiting: Sequence[r.QueuedPrompt], input: Sequence[InputPart]) -> None:
    """Refuse a prompt for which there is no room. Raises: RequestFailed."""
    size = sum(_size(queued.input) for queued in waiting) + _size(input)
    if len(waiting) >= _MAX_PROMPTS or (waiting and size > _MAX_CHARS):
        raise RequestFailed(
            "limitExceeded",
            f"{len(waiting)} prompts wait in this session already. Let some be answered, "
            "interrupt the turn, or steer it.",
        )


def _size(input: Sequence[InputPart]) -> int:
    return sum(
        len(getattr(part, "text", None) or getattr(part, "data", None) or "") for part in input
    )
