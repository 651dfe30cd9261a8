"""One model reply and the tool calls in it.

Order: StepStarted; the reply's items; ModelReplied; each call in turn; StepCompleted.
Invariant: a call that was cut off in its arguments is never run.
"""

import asyncio
from dataclasses import dataclass, replace
from secrets import token_hex
from typing import TYPE_CHECKING, Literal

from kova_ls.engine.call import CallRun
from kova_ls.engine.notices import notice
from kova_ls.engine.usage import total
from kova_ls.errors import AdapterFailure
from kova_ls.journal import records as r
from kova_ls.journal.stream import Delta
from kova_ls.llm._base import Adapter, ModelReply, ModelRequest
from kova_ls.values import Failure, ReasoningItem, ReplyItem, Usage
from kova_ls.vocabulary import ItemStatus, Outcome, StopReason

if TYPE_CHECKING:
    from kova_ls.engine.session import Session
    from kova_ls.engine.turn import TurnContext


@dataclass(frozen=True, slots=True)
class StepEnd:
    """Whether the turn goes on after a step, and if not, why."""

    goes_on: bool
    stop_reason: StopReason = StopReason.DONE
    error: Failure | None = None


class _Writing:
    """The items of a reply while it streams."""

    def __init__(self, session: "Session", turn_id: str, step_id: str) -> None:
        self._session = session
        self._turn_id = turn_id
        self._step_id = step_id
        self._items: dict[str, str] = {}
        self._texts: dict[str, list[str]] = {"reply": [], "reasoning": []}
        self._told: dict[str, int] = {"reply": 0, "reasoning": 0}
        self._started_at = session.engine.now()
        self.first_token_ms: float | None = None

    def sink(self, kind: Literal["text", "reasoning"], text: str) -> None:
        """Tell a piece; the adapter joined what arrived together."""
        self._tell("reply" if kind == "text" else kind, text)

    def _tell(self, kind: str, text: str) -> None:
        session = self._session
        if not text or session.state.step_id != self._step_id:
            return
        item_id = self._items.get(kind)
        if item_id is None:
            item_id = self._items[kind] = token_hex(8)
            if self.first_token_ms is None:
                self.first_token_ms = (session.engine.now() - self._started_at) * 1000
            make = ReplyItem if kind == "reply" else ReasoningItem
            session.record(
                r.ItemStarted(
                    turn_id=self._turn_id,
                    step_id=self._step_id,
                    item=make(item_id=item_id, status=ItemStatus.RUNNING),
                )
            )
        self._texts[kind].append(text)
        session.stream.tell(
            Delta(
                session.engine.now(),
                self._turn_id,
                self._step_id,
                item_id,
                kind,
                self._told[kind],
                text,
            )
        )
        self._told[kind] += len(text)

    def end(self, status: ItemStatus, reply: ModelReply | None = None) -> None:
        """End the items; a whole reply's text stands, else what was told."""
        whole = {
            "reasoning": reply.reasoning if reply else "",
            "reply": reply.text if reply else "",
        }
        for kind, text in whole.items():
            if text and kind not in self._items:
                self._tell(kind, text)
        for kind in ("reasoning", "reply"):
            item_id = self._items.get(kind)
            if item_id is None or not self._is_open(item_id):
                continue
            make = ReplyItem if kind == "reply" else ReasoningItem
            text = whole[kind] or "".join(self._texts[kind])
            self._session.record(
                r.ItemCompleted(
                    turn_id=self._turn_id,
                    step_id=self._step_id,
                    item=make(item_id=item_id, status=status, text=text),
                )
            )

    def _is_open(self, item_id: str) -> bool:
        return any(item.item_id == item_id for item in self._session.state.open_items)


async def run_step(session: "Session", turn: "TurnContext") -> StepEnd:
    """Call the model once and run what it asks for."""
    step_id = token_hex(8)
    adapter = turn.adapter(session)
    session.record(
        r.StepStarted(
            turn_id=turn.turn_id,
            step_id=step_id,
            number=session.state.step_number + 1,
            model=session.state.model,
        )
    )
    writing = _Writing(session, turn.turn_id, step_id)
    try:
        reply = await _call_model(session, turn, adapter, writing)
    except AdapterFailure as error:
        writing.end(ItemStatus.ERROR)
        return _cut_short(session, turn.turn_id, step_id, error)
    except asyncio.CancelledError:
        if not session.leaving:
            writing.end(ItemStatus.CANCELLED)
        raise
    model = session.state.model
    reply = replace(reply, usage=session.engine.models.account(model, session.env, reply.usage))
    is_whole = reply.outcome in (Outcome.COMPLETE, Outcome.LENGTH)
    writing.end(ItemStatus.OK if is_whole else ItemStatus.ERROR, reply)
    if not is_whole:
        error = reply.error or AdapterFailure(
            "refused" if reply.outcome is Outcome.REFUSED else "brokenStream",
            "The model refused to answer; say it in another way or choose another model."
            if reply.outcome is Outcome.REFUSED
            else "The model's answer broke off. Send the prompt again.",
        )
        return _cut_short(session, turn.turn_id, step_id, error, reply)
    calls = _requests(reply)
    session.record(
        r.ModelReplied(
            turn_id=turn.turn_id,
            step_id=step_id,
            opaque=reply.opaque,
            api=adapter.api,
            calls=calls,
            finish_reason=reply.finish_reason,
            usage=reply.usage,
            total=total(session.state.usage, reply.usage),
            first_token_ms=writing.first_token_ms,
        )
    )
    await run_calls(session, turn.turn_id, step_id, calls)
    _complete(session, turn.turn_id, step_id, reply, writing.first_token_ms)
    if reply.outcome is Outcome.LENGTH:
        what = "in the middle of a tool call, which was not run" if reply.incomplete_calls else ""
        return StepEnd(
            False,
            StopReason.LIMIT,
            Failure(
                code="limitExceeded",
                message=f"The answer reached the model's output limit{' ' + what if what else ''}."
                " Ask it to go on, or raise max_output_tokens.",
            ),
        )
    return StepEnd(bool(calls))


def _requests(reply: ModelReply) -> tuple[r.CallRequest, ...]:
    """Return the calls to work on; of one without whole arguments the model is only told."""
    whole = [
        r.CallRequest(
            call_id=token_hex(8),
            provider_id=call.id,
            tool=call.name,
            arguments=call.arguments,
            opaque=call.opaque,
        )
        for call in reply.calls
    ]
    cut_off = [
        r.CallRequest(
            call_id=token_hex(8),
            provider_id=call.id or f"cut_{token_hex(4)}",
            tool=call.name,
            arguments="{}",
            was_cut_off=True,
        )
        for call in reply.incomplete_calls
    ]
    return (*whole, *cut_off)


async def _call_model(
    session: "Session", turn: "TurnContext", adapter: Adapter, writing: _Writing
) -> ModelReply:
    request = ModelRequest(
        system=turn.system(session),
        messages=session.messages(adapter),
        tools=session.engine.tool_specs(session.state.mode),
        session_id=session.id,
    )

    def on_retry(attempt: int, wait_s: float, error: AdapterFailure) -> None:
        notice(session, "warning", f"{error.message} Trying again in {wait_s:.0f} s ({attempt}).")

    return await adapter.run(request, writing.sink, on_retry)


async def run_calls(
    session: "Session", turn_id: str, step_id: str, calls: tuple[r.CallRequest, ...]
) -> None:
    """Run the calls of a step, in order."""
    for call in calls:
        await CallRun(session, turn_id, step_id, call).run()


def _complete(
    session: "Session",
    turn_id: str,
    step_id: str,
    reply: ModelReply,
    first_token_ms: float | None,
) -> None:
    session.record(
        r.StepCompleted(
            turn_id=turn_id,
            step_id=step_id,
            usage=reply.usage,
            finish_reason=reply.finish_reason,
            first_token_ms=first_token_ms,
        )
    )
    session.commit_soon()


def _cut_short(
    session: "Session",
    turn_id: str,
    step_id: str,
    error: AdapterFailure,
    reply: ModelReply | None = None,
) -> StepEnd:
    failure = Failure(code=error.code, message=error.message)
    session.record(
        r.StepCompleted(
            turn_id=turn_id,
            step_id=step_id,
            usage=reply.usage if reply else Usage(),
            finish_reason=(reply.finish_reason if reply else None) or "failed",
            error=failure,
        )
    )
    return StepEnd(False, StopReason.FAILED, failure)
