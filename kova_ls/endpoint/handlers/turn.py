"""Requests about turns, the loop view and large outputs."""

import os
from typing import TYPE_CHECKING

from kova_ls.endpoint.handlers._table import acting, handles, session_of
from kova_ls.endpoint.loop import loop_of
from kova_ls.engine import outputs
from kova_ls.errors import RequestFailed
from kova_ls.protocol import turn as pt
from kova_ls.protocol._base import Empty, WireModel

if TYPE_CHECKING:
    from kova_ls.endpoint.server import EditorEndpoint


@handles("kova/turn/start")
def turn_start(endpoint: "EditorEndpoint", params: pt.TurnStartParams) -> WireModel:
    """Give the session a prompt."""
    session = acting(endpoint, params.session_id)
    turn_id, status = session.start(
        params.input,
        prompt_id=params.prompt_id,
        when_busy=params.when_busy,
        editor=endpoint,
        automation=params.automation,
    )
    return pt.TurnStartResult(turn_id=turn_id, status=status)


@handles("kova/turn/steer")
def turn_steer(endpoint: "EditorEndpoint", params: pt.TurnSteerParams) -> WireModel:
    """Say something into the running turn."""
    session = acting(endpoint, params.session_id)
    session.steer(params.expected_turn_id, params.input, endpoint)
    return Empty()


@handles("kova/turn/withdraw")
def turn_withdraw(endpoint: "EditorEndpoint", params: pt.TurnWithdrawParams) -> WireModel:
    """Take back a prompt that still waits."""
    session = acting(endpoint, params.session_id)
    return pt.TurnWithdrawResult(input=session.withdraw(params.prompt_id))


@handles("kova/turn/interrupt")
async def turn_interrupt(endpoint: "EditorEndpoint", params: pt.TurnInterruptParams) -> WireModel:
    """Stop the turn; answered when all has stopped."""
    session = acting(endpoint, params.session_id)
    return pt.TurnInterruptResult(
        stopped=await session.interrupt(params.expected_turn_id, endpoint.name)
    )


@handles("kova/loop/read")
def loop_read(endpoint: "EditorEndpoint", params: pt.LoopReadParams) -> WireModel:
    """Look inside a turn."""
    return loop_of(session_of(endpoint, params.session_id), params.turn_id)


@handles("kova/output/read")
def output_read(endpoint: "EditorEndpoint", params: pt.OutputReadParams) -> WireModel:
    """Read a range of a large output."""
    session_id, _, name = params.output_ref.partition("/")
    session = session_of(endpoint, session_id)
    try:
        with open(outputs.find(session, name), "rb") as file:
            total = file.seek(0, os.SEEK_END)
            start = min(params.offset, total)
            file.seek(max(0, start - 3))
            before = file.read(start - max(0, start - 3))
            data = file.read(params.limit)
    except (OSError, ValueError) as error:
        raise RequestFailed(
            "outputGone", f"The output {params.output_ref!r} is not there (any more)."
        ) from error
    back = _character_start(before, data)
    data = (before[len(before) - back :] if back else b"") + data
    if start - back + len(data) < total:
        data = data[: len(data) - _cut_tail(data)] or data
    return pt.OutputReadResult(
        text=data.decode("utf-8", "replace"),
        offset=start - back,
        next_offset=start - back + len(data),
        total_bytes=total,
    )


def _character_start(before: bytes, data: bytes) -> int:
    """Return how many bytes before `data` belong to its first character."""
    if not data or data[0] & 0xC0 != 0x80:
        return 0
    for back in range(1, len(before) + 1):
        if before[-back] & 0xC0 == 0xC0:
            return back
    return 0


def _cut_tail(data: bytes) -> int:
    """Return how many bytes at the end begin a character that is not whole."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue
        size = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
        return back if size > back else 0
    return 0
