"""The loop view: a turn from inside, read from the journal."""

from dataclasses import dataclass, field

from kova_ls.engine import Session
from kova_ls.errors import RequestFailed
from kova_ls.journal import records as r
from kova_ls.journal.store import Stored
from kova_ls.protocol.turn import LoopCall, LoopReadResult, LoopStep
from kova_ls.values import ReplyItem, ToolCallItem, Usage
from kova_ls.vocabulary import ItemStatus, StopReason

_MAX_BYTES = 200_000
_BECAUSE = {
    StopReason.DONE: "The model asked for no more tools.",
    StopReason.INTERRUPTED: "The person stopped it.",
    StopReason.LIMIT: "A limit was reached.",
    StopReason.FAILED: "It failed.",
}


@dataclass(slots=True)
class _Step:
    started: Stored
    record: r.StepStarted
    text: str = ""
    calls: dict[str, ToolCallItem] = field(default_factory=dict[str, ToolCallItem])
    began: dict[str, float] = field(default_factory=dict[str, float])
    ended: dict[str, float] = field(default_factory=dict[str, float])
    end: Stored | None = None


def loop_of(session: Session, turn_id: str | None) -> LoopReadResult:
    """Return a turn's steps; the last turn's when none is named. Raises: RequestFailed."""
    records = session.journal.read(1, session.journal.seq)
    turns = [s.record.turn_id for s in records if isinstance(s.record, r.TurnStarted)]
    if turn_id is None:
        if not turns:
            raise RequestFailed("staleTurn", "No turn has run in this session yet.")
        turn_id = turns[-1]
    elif turn_id not in turns:
        raise RequestFailed("staleTurn", f"There is no turn {turn_id!r} in this session.")
    steps: list[_Step] = []
    finished: r.TurnCompleted | None = None
    for stored in records:
        record = stored.record
        if getattr(record, "turn_id", None) != turn_id:
            continue
        match record:
            case r.StepStarted():
                steps.append(_Step(stored, record))
            case r.StepCompleted() if steps:
                steps[-1].end = stored
            case r.ItemStarted(item=ToolCallItem() as item) if steps:
                steps[-1].calls[item.item_id] = item
                if item.status is ItemStatus.RUNNING:
                    steps[-1].began[item.item_id] = stored.at
            case r.ItemUpdated() if steps:
                steps[-1].began[record.item_id] = stored.at
            case r.ItemCompleted(item=ToolCallItem() as item) if steps:
                steps[-1].calls[item.item_id] = item
                steps[-1].ended[item.item_id] = stored.at
            case r.ItemCompleted(item=ReplyItem() as item) if steps:
                steps[-1].text = item.text
            case r.TurnCompleted():
                finished = record
            case _:
                pass
    return LoopReadResult(
        turn_id=turn_id,
        steps=_latest(tuple(map(_loop_step, steps))),
        stop_reason=finished.stop_reason if finished else None,
        stopped_because=_because(session, finished),
        error=finished.error if finished else None,
    )


def _latest(steps: tuple[LoopStep, ...]) -> tuple[LoopStep, ...]:
    """Return the last steps that fit into one message; their numbers say what is left out."""
    room = _MAX_BYTES
    for index in range(len(steps) - 1, -1, -1):
        room -= len(steps[index].model_dump_json(by_alias=True).encode())
        if room < 0 and index < len(steps) - 1:
            return steps[index + 1 :]
    return steps


def _because(session: Session, finished: r.TurnCompleted | None) -> str:
    if finished is None:
        waits = session.state.is_waiting
        return "It waits for a person." if waits else "It has not stopped."
    because = _BECAUSE[finished.stop_reason]
    if finished.error is not None:
        return f"{because} {finished.error.message}"
    if finished.stopped:
        return f"{because} Stopped: {'; '.join(finished.stopped)}."
    return because


def _loop_step(step: _Step) -> LoopStep:
    end = step.end.record if step.end is not None else None
    done = end if isinstance(end, r.StepCompleted) else None
    titles = ", ".join(call.title for call in step.calls.values())
    first_line = step.text.strip().split("\n", 1)[0]
    return LoopStep(
        step_id=step.record.step_id,
        number=step.record.number,
        model=step.record.model,
        intent=first_line or titles or "Answer",
        started_at=step.started.at,
        duration_ms=(step.end.at - step.started.at) * 1000 if step.end else None,
        first_token_ms=done.first_token_ms if done else None,
        usage=done.usage if done else Usage(),
        finish_reason=done.finish_reason if done else None,
        error=done.error if done else None,
        calls=tuple(_loop_call(step, call) for call in step.calls.values()),
    )


def _loop_call(step: _Step, call: ToolCallItem) -> LoopCall:
    began, ended = step.began.get(call.item_id), step.ended.get(call.item_id)
    return LoopCall(
        call_id=call.call_id,
        tool=call.tool,
        title=call.title,
        verdict=call.verdict,
        status=call.status,
        duration_ms=(ended - began) * 1000 if began is not None and ended is not None else None,
    )
