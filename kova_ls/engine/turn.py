"""From one prompt to its end: steps until the model stops, a limit is met or a person stops it.

Invariant: on every path, errors and crashes included, each item, step and card of the turn is
ended before the turn is.
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from secrets import token_hex
from typing import TYPE_CHECKING

from kova_ls.engine import autonomy
from kova_ls.engine.judge import may_read_unasked
from kova_ls.engine.machine import end_of
from kova_ls.engine.notices import tell_notices
from kova_ls.engine.places import workspace_path
from kova_ls.engine.prompt import system_prompt
from kova_ls.engine.said import say, say_to_its_end
from kova_ls.engine.step import StepEnd, run_calls, run_step
from kova_ls.errors import KovaError
from kova_ls.journal import records as r
from kova_ls.llm._base import Adapter
from kova_ls.values import (
    Failure,
    Item,
    NoticeItem,
    ToolCallItem,
    UserMessageItem,
)
from kova_ls.vocabulary import ItemStatus, Mode, StopReason

if TYPE_CHECKING:
    from kova_ls.engine.session import Session

_MAX_RECOVERIES = 3
_MAX_INSTRUCTION_BYTES = 64 * 1024


@dataclass(slots=True)
class TurnContext:
    """What stays the same over a turn."""

    turn_id: str
    instructions: tuple[tuple[str, str], ...] = ()
    _systems: dict[Mode, str] = field(default_factory=dict[Mode, str])
    _adapters: dict[str, Adapter] = field(default_factory=dict[str, Adapter])

    def adapter(self, session: "Session") -> Adapter:
        """Return the adapter of the session's model. Raises: RequestFailed."""
        name = session.state.model
        if name not in self._adapters:
            self._adapters[name] = session.engine.models.adapter(name, session.env)
        return self._adapters[name]

    def system(self, session: "Session") -> str:
        """Return the system prompt of the mode in force."""
        mode = session.state.mode
        if mode not in self._systems:
            self._systems[mode] = system_prompt(
                workspace=workspace_path(session),
                platform=sys.platform,
                mode=mode,
                plan_path=session.plan_path,
                instructions=self.instructions,
            )
        return self._systems[mode]


async def run_turn(session: "Session") -> None:
    """Work on the turn that was just started."""
    await _guard(session, _from_start)


async def resume_turn(session: "Session") -> None:
    """Go on with a turn that a stopped engine left open."""
    await _guard(session, _from_journal)


async def _from_start(session: "Session", turn: TurnContext) -> StepEnd:
    say(session, session.state.input, client=session.state.client)
    return await _steps(session, turn)


async def _from_journal(session: "Session", turn: TurnContext) -> StepEnd:
    session.record(r.TurnResumed(turn_id=turn.turn_id, recovered=True))
    if session.state.resumed_steps > _MAX_RECOVERIES:
        message = "The engine stopped again and again during this step. Send a new prompt to go on."
        _close(session, ItemStatus.INTERRUPTED, message)
        return StepEnd(False, StopReason.FAILED, Failure(code="internal", message=message))
    for item in session.state.open_items:
        if isinstance(item, UserMessageItem | NoticeItem):
            say_to_its_end(session, item)
    if session.state.input:
        say(session, session.state.input, client=session.state.client)
    state = session.state
    if state.step_id is not None:
        step_id = state.step_id
        if state.has_replied:
            await run_calls(session, turn.turn_id, step_id, state.calls)
        else:
            for item in state.open_items:
                _end_item(session, item, ItemStatus.INTERRUPTED, "The engine stopped.")
        session.record(
            r.StepCompleted(turn_id=turn.turn_id, step_id=step_id, finish_reason="interrupted")
        )
    return await _steps(session, turn)


async def _steps(session: "Session", turn: TurnContext) -> StepEnd:
    if session.state.trusted:
        turn.instructions = await asyncio.to_thread(_instructions, session)
    limit = session.engine.settings.max_steps
    while session.state.step_number < limit:
        end = await run_step(session, turn)
        if not end.goes_on and not (end.error is None and session.was_steered()):
            return end
    message = f"The turn reached {limit} steps. Send a prompt to go on, or raise max_steps."
    return StepEnd(False, StopReason.LIMIT, Failure(code="limitExceeded", message=message))


async def _guard(
    session: "Session", work: Callable[["Session", TurnContext], Awaitable[StepEnd]]
) -> None:
    turn_id = session.state.turn_id
    assert turn_id is not None
    turn = TurnContext(turn_id)
    try:
        end = await work(session, turn)
    except asyncio.CancelledError:
        if session.leaving:
            raise
        end = StepEnd(False, StopReason.INTERRUPTED)
        _finish(session, turn, end, ItemStatus.CANCELLED, "Stopped by the person.")
    except KovaError as error:
        failure = Failure(code=error.code, message=error.message)
        end = StepEnd(False, StopReason.FAILED, failure)
        _finish(session, turn, end, ItemStatus.ERROR, error.message)
    except Exception as error:  # noqa: BLE001 - the turn ends, the engine goes on
        incident = token_hex(4)
        session.engine.log_incident(incident, error)
        failure = Failure(
            code="internal",
            message=f"A fault of the engine ended the turn (incident {incident} in its log).",
        )
        end = StepEnd(False, StopReason.FAILED, failure)
        _finish(session, turn, end, ItemStatus.ERROR, failure.message)
    else:
        _finish(session, turn, end, ItemStatus.ERROR, "")
    await session.journal.sync()


def end_left(session: "Session") -> tuple[str, ...]:
    """End a turn that no task works on any more; returns what it left open, in words."""
    turn = TurnContext(session.state.turn_id or "")
    end = StepEnd(False, StopReason.INTERRUPTED)
    return _finish(session, turn, end, ItemStatus.INTERRUPTED, "The engine could not finish this.")


def _finish(
    session: "Session", turn: TurnContext, end: StepEnd, status: ItemStatus, why: str
) -> tuple[str, ...]:
    """End what is open, then the turn; a full disk has room kept for that."""

    def write() -> tuple[str, ...]:
        stopped = _close(session, status, why)
        is_stopped = end.stop_reason is StopReason.INTERRUPTED
        _complete(session, turn, end, stopped if is_stopped else ())
        return stopped

    try:
        return write()
    except KovaError as error:
        if error.code != "diskFailed":
            raise
        session.engine.reserve.give_up()
        return write()


def _complete(
    session: "Session", turn: TurnContext, end: StepEnd, stopped: tuple[str, ...]
) -> None:
    autonomy.turn_ends(session, end.stop_reason, end.error)
    session.record(
        r.TurnCompleted(
            turn_id=turn.turn_id,
            stop_reason=end.stop_reason,
            usage=session.state.usage,
            error=end.error,
            stopped=stopped,
        )
    )
    session.engine.touched(session)


def _close(session: "Session", status: ItemStatus, why: str) -> tuple[str, ...]:
    """End everything that the turn left open; returns what that was, in words."""
    state = session.state
    turn_id = state.turn_id or ""
    stopped: list[str] = []
    for approval in state.approvals:
        stopped.append(f"approval of {approval.title}")
        session.record(
            r.ApprovalResolved(
                approval_id=approval.approval_id,
                turn_id=turn_id,
                decision="cancelled",
                resolved_by="interrupt" if status is ItemStatus.CANCELLED else "engine",
            )
        )
    for request in state.questions:
        stopped.append(f"question: {request.questions[0].question}")
        session.record(
            r.QuestionResolved(
                question_id=request.question_id,
                turn_id=turn_id,
                outcome="cancelled",
                resolved_by="interrupt" if status is ItemStatus.CANCELLED else "engine",
            )
        )
    waiting = {approval.call_id for approval in state.approvals}
    waiting |= {request.call_id for request in state.questions}
    if session.state.is_waiting:
        session.record(r.TurnResumed(turn_id=turn_id))
    notes = session.stopped_notes
    stopped.extend(notes)
    for item in session.state.open_items:
        if isinstance(item, ToolCallItem) and item.item_id not in waiting and not notes:
            stopped.append(item.title)
        _end_item(session, item, status, why)
    tell_notices(session)
    if state.step_id is not None:
        if not state.has_replied:
            stopped.append("the model's answer")
        session.record(
            r.StepCompleted(turn_id=turn_id, step_id=state.step_id, finish_reason="interrupted")
        )
    session.stopped_notes = []
    return tuple(stopped)


def _end_item(session: "Session", item: Item, status: ItemStatus, why: str) -> None:
    result = None
    if isinstance(item, ToolCallItem):
        output = session.partial_output
        result = f"{why} Output so far:\n{output}" if output else why
    session.record(
        r.ItemCompleted(
            turn_id=session.state.turn_id,
            step_id=session.state.step_id,
            item=end_of(item, status, why),
            result=result,
        )
    )
    # Not before: what could not be written is written again.
    if isinstance(item, ToolCallItem):
        session.partial_output = ""


# -- what the workspace says ---------------------------------------------------------------------


def _instructions(session: "Session") -> tuple[tuple[str, str], ...]:
    """Read the workspace's instruction files; only called where the editor trusts the folder."""
    workspace = workspace_path(session)
    found: list[tuple[str, str]] = []
    for name in session.engine.settings.instruction_files if workspace else ():
        path = os.path.join(workspace or "", name)
        # Nothing that a link leads to, and nothing that the agent would have to ask for.
        is_plain = os.path.realpath(path) == path and os.path.isfile(path)
        if not is_plain or not may_read_unasked(session, path, path):
            continue
        try:
            with open(path, "rb") as file:
                data = file.read(_MAX_INSTRUCTION_BYTES)
        except OSError:
            continue
        found.append((name, data.decode("utf-8", "replace")))
    return tuple(found)
