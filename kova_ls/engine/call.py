"""One tool call, from the model's words to its result: judge, ask, run.

Order: ItemStarted, then for an ask ApprovalRequested, TurnSuspended, ApprovalResolved,
TurnResumed, ItemUpdated; always ItemCompleted last.
Invariant: the gates run again right before the call runs; an answer covers only the effects and
the texts that its card showed.
"""

import asyncio
import hashlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from secrets import token_hex
from typing import TYPE_CHECKING, Any, cast

import orjson
from pydantic import ValidationError

from kova_ls.engine import adoption, machine, orphans
from kova_ls.engine.approvals import (
    Waiter,
    brief,
    is_same_preview,
    is_same_subject,
    plan_card,
    tool_card,
)
from kova_ls.engine.context import CallContext
from kova_ls.engine.judge import judge, resolver
from kova_ls.engine.places import workspace_path
from kova_ls.engine.workspace import file_uri
from kova_ls.errors import KovaError
from kova_ls.journal import records as r
from kova_ls.journal.stream import Delta
from kova_ls.permission.effects import Effect
from kova_ls.permission.facts import Call, Ruling
from kova_ls.tools import by_name
from kova_ls.tools._base import AskPlan, Preview, Reply, Tool, ToolError, ToolResult
from kova_ls.values import QuestionRequest, Reason, ToolCallItem, Verdict
from kova_ls.vocabulary import Decision, ItemStatus, ToolKind

if TYPE_CHECKING:
    from kova_ls.engine.session import Session

_log = logging.getLogger(__name__)

_YES = frozenset({"once", "remember", "allowed"})
_MOVED_S = 8.0
"""How long a call is made anew while someone types in its file."""
_UNKNOWN_OUTCOME = (
    "The engine stopped while this call ran; whether it took effect is unknown, and it was not "
    "run again. Look at what is there before you go on."
)


@dataclass(slots=True)
class _Asked:
    """What a card showed: an answer is good for exactly this."""

    effects: tuple[Effect, ...]
    preview: Preview | None


class CallRun:
    """A tool call under way."""

    def __init__(self, session: "Session", turn_id: str, step_id: str, call: r.CallRequest) -> None:
        self.session = session
        self.turn_id = turn_id
        self.step_id = step_id
        self.call = call
        self._offset = 0
        self._asked: _Asked | None = None

    async def run(self) -> None:
        """Take the call to its end; always leaves it ended unless cancelled."""
        found = self._open_item()
        if found is not None and found.status is ItemStatus.RUNNING:
            await self._end_interrupted(found)
            return
        try:
            tool, args = self._parse()
        except ToolError as error:
            self._refuse(str(error), ItemStatus.ERROR)
            return
        await self._judge_and_run(tool, args)

    async def _end_interrupted(self, item: ToolCallItem) -> None:
        result, error = _UNKNOWN_OUTCOME, "outcome unknown"
        if groups := await orphans.end(self.call.call_id):
            names = ", ".join(map(str, groups))
            result += f" What still ran of it (process {names}) was stopped."
            error += f"; process {names} still ran and was stopped"
        self._complete(item, ItemStatus.INTERRUPTED, result, error=error)

    def _open_item(self) -> ToolCallItem | None:
        for item in self.session.state.open_items:
            if isinstance(item, ToolCallItem) and item.call_id == self.call.call_id:
                return item
        return None

    # -- what the model wrote -----------------------------------------------------------------

    def _parse(self) -> tuple[Tool, Any]:
        tool = by_name(self.call.tool)
        if tool is None:
            offered = ", ".join(tool.name for tool in self.session.engine.offered(self.session))
            raise ToolError(f"There is no tool {self.call.tool!r}. Available: {offered}.")
        if self.call.was_cut_off:
            raise ToolError(
                f"The call of {tool.name} broke off within its arguments and was not run. "
                "Send it again, whole."
            )
        try:
            return tool, tool.args.model_validate_json(self.call.arguments or "{}")
        except ValidationError as error:
            wrong = "; ".join(
                f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}"
                for e in error.errors(include_url=False, include_input=False)[:5]
            )
            raise ToolError(f"The arguments of {tool.name} do not fit: {wrong}.") from None

    def _args(self) -> dict[str, Any]:
        try:
            value: Any = orjson.loads(self.call.arguments or "{}")
        except orjson.JSONDecodeError:
            return {"arguments": self.call.arguments}
        return cast(dict[str, Any], value) if isinstance(value, dict) else {"arguments": value}

    # -- the gates ----------------------------------------------------------------------------

    async def _judge_and_run(self, tool: Tool, args: Any) -> None:
        while True:
            try:
                call, ruling = judge(self.session, tool, args)
            except ToolError as error:
                self._refuse(str(error), ItemStatus.ERROR, tool, args)
                return
            if ruling.decision in (Decision.BLOCKED, Decision.DENY):
                self._refuse(_why(ruling), ItemStatus.BLOCKED, tool, args, ruling)
                return
            said = self._said()
            if said is not None and said.decision not in _YES and tool.asks is None:
                self._refuse_answer(tool, args, ruling, said)
                return
            if ruling.decision is Decision.ALLOW or await self._still_covers(
                tool, args, call, ruling
            ):
                break
            if await self._offer_adoption(tool, args, ruling):
                continue
            if not await self._ask(tool, args, call, ruling):
                return
        answer = None
        if tool.asks is not None:
            answer = await self._ask_person(tool, args, call, ruling)
            if answer is None:
                return
        await self._execute(tool, args, call, ruling, answer)

    def _said(self) -> machine.Reply | None:
        """Return the person's answer to this call's last card."""
        said = self.session.state.answers.get(self.call.call_id)
        if said is None or said.decision in ("superseded", "blocked"):
            return None
        is_adoption = said.card is not None and said.card.kind == "adopt"
        return None if is_adoption and said.decision != "cancelled" else said

    async def _offer_adoption(self, tool: Tool, args: Any, ruling: Ruling) -> bool:
        """Show what waits in a permission file, once, before the call's own card; True when so."""
        session = self.session
        pending = adoption.offered(session)
        if self._open_card("tool") is not None or self._said() is not None:
            return False
        shown = self._open_card("adopt")
        if pending is None:
            if shown is not None:
                session.record(self._resolved(shown.approval_id, "superseded", "engine"))
            return False
        card = adoption.card(session, pending, turn_id=self.turn_id, call_id=self.call.call_id)
        if shown is not None and (shown.title, shown.subject) != (card.title, card.subject):
            session.record(self._resolved(shown.approval_id, "superseded", "engine"))
            shown = None
        self._start(tool, args, ruling, ItemStatus.WAITING)
        if shown is None:
            async with session.stream.synced():
                session.record(r.ApprovalRequested(approval=card))
            shown = card

        def moved_on() -> str | None:
            is_same = adoption.offered(session) == pending
            return None if is_same and self._verdict(tool, args) is None else "superseded"

        await self._wait(shown.approval_id, moved_on)
        said = session.state.answers.get(self.call.call_id)
        if said is not None and said.decision in adoption.DECISIONS:
            adoption.settle(session, pending, said.decision)
        return True

    def _open_card(self, kind: str) -> r.Approval | None:
        for card in self.session.state.approvals:
            if card.call_id == self.call.call_id and card.kind == kind:
                return card
        return None

    def _verdict(self, tool: Tool, args: Any) -> str | None:
        """Return how an open card of the call is settled by what holds now, if it is."""
        try:
            _, ruling = judge(self.session, tool, args)
        except ToolError:
            return None
        if ruling.decision is Decision.ASK:
            return None
        return "allowed" if ruling.decision is Decision.ALLOW else "blocked"

    async def _still_covers(self, tool: Tool, args: Any, call: Call, ruling: Ruling) -> bool:
        """Say whether a yes was given, for what is there now."""
        said = self._said()
        if said is None or said.decision not in _YES or said.decision == "allowed":
            return False
        try:
            preview = await self._preview(tool, args, call)
        except ToolError:
            return False
        if self._asked is not None:
            return self._asked.effects == call.effects and is_same_preview(
                self._asked.preview, preview
            )
        # Answered before the engine was restarted: the card itself says what was approved.
        card = self._card(tool, args, call, ruling, preview)
        return said.card is not None and is_same_subject(said.card.subject, card.subject)

    async def _preview(self, tool: Tool, args: Any, call: Call) -> Preview | None:
        if tool.preview is None:
            return None
        return await tool.preview(args, self._context(call, None))

    async def _ask(self, tool: Tool, args: Any, call: Call, ruling: Ruling) -> bool:
        """Show a card and wait; False when the call has ended with it."""
        session = self.session
        before = self._said()
        try:
            preview = await self._preview(tool, args, call)
        except ToolError as error:
            self._refuse(str(error), ItemStatus.ERROR, tool, args, ruling)
            return False
        if self._said() is not before:
            return True  # a card of before a restart was answered meanwhile
        open_card = self._open_card("tool")
        self._start(tool, args, ruling, ItemStatus.WAITING)
        card = self._card(tool, args, call, ruling, preview)
        if open_card is not None and not is_same_subject(open_card.subject, card.subject):
            session.record(self._resolved(open_card.approval_id, "superseded", "engine"))
            open_card = None
        self._asked = _Asked(call.effects, preview)
        if open_card is None:
            notice = self._said() is not None
            if notice:
                extra = ("What this call would change is not what was approved: review again.",)
                card = card.model_copy(update={"notices": (*extra, *card.notices)})
            async with session.stream.synced():
                session.record(r.ApprovalRequested(approval=card))
            open_card = card
        await self._wait(open_card.approval_id, lambda: self._verdict(tool, args))
        said = session.state.answers.get(self.call.call_id)
        if said is not None and said.decision == "remember" and open_card.rules:
            self._remember(open_card.rules)
            session.engine.programs.approve(call.effects)
        return True

    def _remember(self, rules: tuple[str, ...]) -> None:
        workspace = workspace_path(self.session)
        assert workspace is not None
        try:
            self.session.engine.grants.remember(workspace, rules)
        except (KovaError, OSError) as error:
            message = error.message if isinstance(error, KovaError) else str(error)
            self.session.notice("warning", f"Allowed once, but not remembered: {message}")

    def _card(
        self, tool: Tool, args: Any, call: Call, ruling: Ruling, preview: Preview | None
    ) -> r.Approval:
        session = self.session
        workspace = workspace_path(session)
        path = session.engine.grants.local_path(workspace) if workspace is not None else None

        def keep(text: str) -> str:
            # Named by what it holds: two cards are the same when what they hide is.
            data = text.encode("utf-8", "surrogatepass")
            name = f"card-{hashlib.sha256(data).hexdigest()[:32]}"
            return session.keep_output(name, data)

        return tool_card(
            session_id=session.id,
            turn_id=self.turn_id,
            call_id=self.call.call_id,
            tool=tool,
            title=tool.title(args),
            call=call,
            ruling=ruling,
            preview=preview,
            level=session.state.level,
            rules_path=str(path) if path is not None else None,
            uri=file_uri,
            keep=keep,
            now=session.engine.now(),
            notices=self._context(call, None).unsaved_notices(),
        )

    def _withdraw(self, decision: str) -> None:
        """Close what was asked before a restart, when the call goes on without its answer."""
        session = self.session
        for card in session.state.approvals:
            if card.call_id == self.call.call_id:
                session.record(self._resolved(card.approval_id, decision, "engine"))
        for request in session.state.questions:
            if request.call_id == self.call.call_id:
                session.record(
                    r.QuestionResolved(
                        question_id=request.question_id,
                        turn_id=self.turn_id,
                        outcome="cancelled",
                        resolved_by="engine",
                    )
                )
        if session.state.is_waiting:
            session.record(r.TurnResumed(turn_id=self.turn_id))

    def _resolved(self, approval_id: str, decision: str, by: str) -> r.ApprovalResolved:
        return r.ApprovalResolved(
            approval_id=approval_id, turn_id=self.turn_id, decision=decision, resolved_by=by
        )

    async def _wait(
        self, waiting_for: str, settled: Callable[[], str | None] = lambda: None
    ) -> None:
        """Suspend the turn until the approval or question is resolved.

        `settled` says, when something changed, by what decision it has become needless.
        """
        session = self.session
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def rejudge(by: str) -> None:
            decision = settled() if not future.done() else None
            if decision is None:
                return
            session.waiters.pop(waiting_for, None)
            session.record(self._resolved(waiting_for, decision, by))
            future.set_result(None)

        if not self._is_open(waiting_for):
            return  # answered while the card was being put on the disk
        session.waiters[waiting_for] = Waiter(future, rejudge)
        if not session.state.is_waiting:
            session.record(r.TurnSuspended(turn_id=self.turn_id, waiting_for=waiting_for))
            session.engine.touched(session)
        rejudge("level")  # what was changed before the turn could hear of it
        await session.journal.sync()
        await future
        session.record(r.TurnResumed(turn_id=self.turn_id))
        session.engine.touched(session)

    def _is_open(self, waiting_for: str) -> bool:
        state = self.session.state
        return any(a.approval_id == waiting_for for a in state.approvals) or any(
            q.question_id == waiting_for for q in state.questions
        )

    # -- tools whose purpose is to ask ----------------------------------------------------------

    async def _ask_person(self, tool: Tool, args: Any, call: Call, ruling: Ruling) -> Reply | None:
        """Put the tool's own question; None when the call has ended with it."""
        assert tool.asks is not None
        session = self.session
        said = self._said()
        if said is None or said.decision in _YES:
            try:
                ask = await tool.asks(args, self._context(call, None))
            except ToolError as error:
                self._refuse(str(error), ItemStatus.ERROR, tool, args, ruling)
                return None
            self._start(tool, args, ruling, ItemStatus.WAITING)
            if self._said() is said:
                waiting_for = self._open_ask()
                if waiting_for is None:
                    async with session.stream.synced():
                        waiting_for = self._request(tool, ask)
                await self._wait(waiting_for)
            said = self._said()
        assert said is not None
        if said.decision == "cancelled":
            self._refuse("Cancelled.", ItemStatus.CANCELLED, tool, args, ruling)
            return None
        return Reply(said.decision, said.answers, said.option, said.feedback)

    def _open_ask(self) -> str | None:
        state = self.session.state
        for question in state.questions:
            if question.call_id == self.call.call_id:
                return question.question_id
        for approval in state.approvals:
            if approval.call_id == self.call.call_id:
                return approval.approval_id
        return None

    def _request(self, tool: Tool, ask: Any) -> str:
        session = self.session
        now = session.engine.now()
        if isinstance(ask, AskPlan):
            card = plan_card(
                session_id=session.id,
                turn_id=self.turn_id,
                call_id=self.call.call_id,
                tool=tool.name,
                ask=ask,
                now=now,
            )
            session.record(r.ApprovalRequested(approval=card))
            return card.approval_id
        request = QuestionRequest(
            question_id=f"{session.id}.{token_hex(6)}",
            session_id=session.id,
            turn_id=self.turn_id,
            call_id=self.call.call_id,
            questions=ask.questions,
            requested_at=now,
        )
        session.record(r.QuestionRequested(request=request))
        return request.question_id

    # -- running --------------------------------------------------------------------------------

    async def _execute(
        self, tool: Tool, args: Any, call: Call, ruling: Ruling, answer: Reply | None
    ) -> None:
        session = self.session
        self._withdraw("allowed")
        found = self._open_item()
        if found is None:
            self._start(tool, args, ruling, ItemStatus.RUNNING)
        else:
            session.record(
                r.ItemUpdated(
                    turn_id=self.turn_id, item_id=found.item_id, status=ItemStatus.RUNNING
                )
            )
        if tool.kind not in (ToolKind.READ, ToolKind.INTERACT):
            await session.journal.sync()
        context = self._context(call, answer)
        try:
            result = await tool.run(args, context)
            until = asyncio.get_running_loop().time() + _MOVED_S
            # What nobody had to read may be computed anew; what a card showed may not.
            while result.has_moved and self._said() is None:
                if asyncio.get_running_loop().time() >= until:
                    break
                context = self._context(call, answer)
                result = await tool.run(args, context)
        except ToolError as error:
            result = ToolResult(str(error), is_error=True)
        except Exception:  # noqa: BLE001 - a tool's fault is a result
            incident = token_hex(4)
            _log.exception("tool %s failed (incident %s)", tool.name, incident)
            result = ToolResult(
                f"The tool failed by a fault of its own (incident {incident} in the engine's "
                "log). Do not simply repeat the call.",
                is_error=True,
            )
        engine = session.engine
        engine.programs.wrote(call.effects, engine.grants.load(workspace_path(session)).allow)
        item = self._open_item()
        assert item is not None
        status = ItemStatus.ERROR if result.is_error else ItemStatus.OK
        said = self._said()
        text = result.text
        if said is not None and said.feedback and tool.asks is None:
            text += f"\n\nThe person said: {said.feedback}"
        text += "".join(f"\n[{note}]" for note in context.workspace.notes)
        session.tell_notices()
        self._complete(
            item.model_copy(
                update={
                    "display": result.display,
                    "output_ref": result.output_ref,
                    "error": result.text[:2_000] if result.is_error else None,
                }
            ),
            status,
            text,
        )

    def _context(self, call: Call, answer: Reply | None) -> CallContext:
        return CallContext(
            self.session,
            self.call.call_id,
            call.effects,
            resolve=resolver(self.session),
            emit=self._emit,
            answer=answer,
        )

    def _emit(self, text: str) -> None:
        session = self.session
        session.stream.tell(
            Delta(
                at=session.engine.now(),
                turn_id=self.turn_id,
                step_id=self.step_id,
                item_id=self.call.call_id,
                kind="toolCall",
                offset=self._offset,
                text=text,
            )
        )
        self._offset += len(text)

    # -- records ----------------------------------------------------------------------------------

    def _start(
        self, tool: Tool | None, args: Any, ruling: Ruling | None, status: ItemStatus
    ) -> None:
        if self._open_item() is not None:
            return
        verdict = Verdict(
            decision=ruling.decision if ruling else Decision.BLOCKED,
            reasons=ruling.reasons if ruling else (),
        )
        self.session.record(
            r.ItemStarted(
                turn_id=self.turn_id,
                step_id=self.step_id,
                item=ToolCallItem(
                    item_id=self.call.call_id,
                    call_id=self.call.call_id,
                    tool=tool.name if tool else self.call.tool,
                    args=self._args(),
                    title=brief(tool.title(args), 200)
                    if tool and args is not None
                    else self.call.tool,
                    verdict=verdict,
                    status=status,
                ),
            )
        )

    def _refuse(
        self,
        why: str,
        status: ItemStatus,
        tool: Tool | None = None,
        args: Any = None,
        ruling: Ruling | None = None,
    ) -> None:
        """End the call without running it; `why` goes to the model."""
        if ruling is None:
            ruling = Ruling(Decision.BLOCKED, (Reason(code="notRun", text=why),))
        self._withdraw("blocked")
        self._start(tool, args, ruling, ItemStatus.WAITING)
        item = self._open_item()
        assert item is not None
        text = f"Blocked: {why}" if status is ItemStatus.BLOCKED else why
        verdict = Verdict(decision=ruling.decision, reasons=ruling.reasons)
        self._complete(item.model_copy(update={"verdict": verdict}), status, text, error=why)

    def _refuse_answer(self, tool: Tool, args: Any, ruling: Ruling, said: machine.Reply) -> None:
        if said.decision == "cancelled":
            self._refuse("Cancelled.", ItemStatus.CANCELLED, tool, args, ruling)
            return
        why = "The person said no to this call"
        why += f": {said.feedback}" if said.feedback else ". Take another way, or ask them."
        denied = Ruling(Decision.DENY, (Reason(code="denied", text=why), *ruling.reasons))
        self._refuse(why, ItemStatus.BLOCKED, tool, args, denied)

    def _complete(
        self, item: ToolCallItem, status: ItemStatus, result: str, error: str | None = None
    ) -> None:
        update: dict[str, Any] = {"status": status}
        if error is not None:
            update["error"] = error
        self.session.record(
            r.ItemCompleted(
                turn_id=self.turn_id,
                step_id=self.step_id,
                item=item.model_copy(update=update),
                result=result,
            )
        )


def _why(ruling: Ruling) -> str:
    return " ".join(reason.text for reason in ruling.reasons)
