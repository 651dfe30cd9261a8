"""Prompts that wait in a session for its turn to end, and those that it knows already."""

from collections.abc import Sequence
from secrets import token_hex

from kova_ls.engine.machine import State
from kova_ls.errors import RequestFailed
from kova_ls.journal import records as r
from kova_ls.values import InputPart
from kova_ls.vocabulary import StartStatus

_MAX_PROMPTS = 64
_MAX_CHARS = 1_000_000
"""The whole queue is written with each change of it."""


def known(state: State, prompt_id: str | None) -> tuple[str, StartStatus] | None:
    """Return the turn of a prompt that came before, so that it changes nothing again."""
    if prompt_id is not None and prompt_id in state.prompts:
        return state.prompts[prompt_id], StartStatus.STARTED
    for queued in state.queue:
        if queued.prompt_id == prompt_id:
            return queued.turn_id, StartStatus.QUEUED
    return None


def enqueue(
    waiting: Sequence[r.QueuedPrompt],
    input: tuple[InputPart, ...],
    prompt_id: str,
    client: str | None,
    automation: str | None = None,
) -> tuple[r.QueuedPrompt, ...]:
    """Return the queue with one more prompt. Raises: RequestFailed when there is no room."""
    size = sum(_size(queued.input) for queued in waiting) + _size(input)
    if len(waiting) >= _MAX_PROMPTS or (waiting and size > _MAX_CHARS):
        raise RequestFailed(
            "limitExceeded",
            f"{len(waiting)} prompts wait in this session already. Let some be answered, "
            "interrupt the turn, or steer it.",
        )
    prompt = r.QueuedPrompt(
        prompt_id=prompt_id,
        turn_id=token_hex(8),
        input=input,
        client=client,
        automation=automation,
    )
    return (*waiting, prompt)


def without(
    waiting: Sequence[r.QueuedPrompt], prompt_id: str
) -> tuple[r.QueuedPrompt, tuple[r.QueuedPrompt, ...]]:
    """Return a prompt that waits, and the queue without it. Raises: RequestFailed (`staleTurn`)."""
    for queued in waiting:
        if queued.prompt_id == prompt_id:
            return queued, tuple(other for other in waiting if other is not queued)
    raise RequestFailed(
        "staleTurn",
        "This prompt does not wait any more: its turn has begun, or it was taken back already. "
        "Attach again to see where the session stands.",
    )


def _size(input: Sequence[InputPart]) -> int:
    return sum(
        len(getattr(part, "text", None) or getattr(part, "data", None) or "") for part in input
    )
