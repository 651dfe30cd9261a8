"""One tool call, from the model's words to its result: judge, ask, run.

Order: ItemStarted, then for an ask the records of `asking.py` and ItemUpdated; always
ItemCompleted last.
Invariant: the gates run again right before the call runs; an answer covers only the effects and
the texts that its card showed.
"""

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from kova_ls.engine import adoption, machine, orphans, unattended
from kova_ls.engine.answers import remember
from kova_ls.engine.approvals import is_same_preview, is_same_subject, tool_card
from kova_ls.engine.arguments import parse
from kova_ls.engine.asking import Asking
from kova_ls.engine.call_item import CallItem
from kova_ls.engine.card_watch import CardWatch
from kova_ls.engine.command_changes import saw
from kova_ls.engine.context import CallContext
from kova_ls.engine.judge import judge, resolver
from kova_ls.engine.notices import tell_notices
from kova_ls.engine.places import workspace_path
from kova_ls.engine.workspace import file_uri
from kova_ls.journal import records as r
from kova_ls.permission.effects import Effect, WritePath
from kova_ls.permission.facts import Call, Ruling
from kova_ls.tools._base import Preview, Reply, Tool, ToolError, ToolResult
from kova_ls.values import Reason, ToolCallItem
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
        self._asking = Asking(session, turn_id, call.call_id)
        self._item = CallItem(session, turn_id, step_id, call)
        self._asked: _Asked | None = None

    async def run(self) -> None:
        """Take the call to its end; always leaves it ended unless cancelled."""
        found = self._item.find()
        if found is not None and found.status is ItemStatus.RUNNING:
            await self._end_interrupted(found)
            return
        try:
            tool, args = parse(self.session, self.call)
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
        self._item.complete(item, ItemStatus.INTERRUPTED, result, error=error)

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
            said = self._asking.said()
            if said is not None and said.decision not in _YES and tool.asks is None:
                self._refuse_answer(tool, args, ruling, said)
                return
            if ruling.decision is Decision.ALLOW or await self._still_covers(
                tool, args, call, ruling
            ):
                break
            if self._is_unattended(tool, args, ruling):
                return
            if await self._offer_adoption(tool, args, ruling):
                continue
            if not await self._ask(tool, args, call, ruling):
                return
        answer = None
        if tool.asks is not None:
            if self._is_unattended(tool, args, ruling):
                return
            answer = await self._ask_person(tool, args, call, ruling)
            if answer is None:
                return
        await self._execute(tool, args, call, ruling, answer)

    def _is_unattended(self, tool: Tool, args: Any, ruling: Ruling) -> bool:
        """End a call that needs a person when nobody watches; True when so."""
        if self.session.state.unattended is None:
            return False
        denied = unattended.denied(self.session, ruling)
        self._refuse(denied.reasons[0].text, ItemStatus.BLOCKED, tool, args, denied)
        return True

    async def _offer_adoption(self, tool: Tool, args: Any, ruling: Ruling) -> bool:
        """Show what waits in a permission file, once, before the call's own card; True when so."""
        session = self.session
        pending = adoption.offered(session)
        if self._asking.open_card("tool") is not None or self._asking.said() is not None:
            return False
        shown = self._asking.open_card("adopt")
        if pending is None:
            if shown is not None:
                self._asking.supersede(shown)
            return False
        card = adoption.card(session, pending, turn_id=self.turn_id, call_id=self.call.call_id)
        if shown is not None and (shown.title, shown.subject) != (card.title, card.subject):
            self._asking.supersede(shown)
            shown = None
        self._item.start(tool, args, ruling, ItemStatus.WAITING)
        if shown is None:
            await self._asking.put_card(card)
            shown = card

        def moved_on() -> str | None:
            is_same = adoption.offered(session) == pending
            return None if is_same and self._verdict(tool, args) is None else "superseded"

        await self._asking.wait(shown.approval_id, moved_on)
        said = session.state.answers.get(self.call.call_id)
        if said is not None and said.decision in adoption.DECISIONS:
            adoption.settle(session, pending, said.decision)
        return True

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
        said = self._asking.said()
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
        before = self._asking.said()

        async def is_outdated() -> bool:
            with suppress(ToolError):
                return not is_same_preview(preview, await self._preview(tool, args, call))
            return False

        watch = CardWatch(session, call.effects, is_outdated)
        try:
            preview = await self._preview(tool, args, call)
        except ToolError as error:
            self._refuse(str(error), ItemStatus.ERROR, tool, args, ruling)
            return False
        if self._asking.said() is not before:
            return True  # a card of before a restart was answered meanwhile
        open_card = self._asking.open_card("tool")
        self._item.start(tool, args, ruling, ItemStatus.WAITING)
        card = self._card(tool, args, call, ruling, preview)
        if open_card is not None and not is_same_subject(open_card.subject, card.subject):
            self._asking.supersede(open_card)
            open_card = None
        self._asked = _Asked(call.effects, preview)
        if open_card is None:
            if (changed := self._asking.why_again()) is not None:
                card = card.model_copy(update={"notices": (changed, *card.notices)})
            await self._asking.put_card(card)
            open_card = card
        await self._asking.wait(open_card.approval_id, lambda: self._verdict(tool, args), watch)
        said = session.state.answers.get(self.call.call_id)
        if said is not None and said.decision == "remember" and open_card.rules:
            remember(session, open_card.rules)
            session.engine.programs.approve(call.effects)
        return True

    def _card(
        self, tool: Tool, args: Any, call: Call, ruling: Ruling, preview: Preview | None
    ) -> r.Approval:
        session = self.session
        workspace = workspace_path(session)
        path = session.engine.grants.local_path(workspace) if workspace is not None else None

        context = self._context(call, None)

        def keep(text: str) -> str:
            return context.save_output(text.encode("utf-8", "surrogatepass"), name="card")[0]

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
            notices=context.unsaved_notices(),
        )

    # -- tools whose purpose is to ask ----------------------------------------------------------

    async def _ask_person(self, tool: Tool, args: Any, call: Call, ruling: Ruling) -> Reply | None:
        """Put the tool's own question; None when the call has ended with it."""
        assert tool.asks is not None
        said = self._asking.said()
        if said is None or said.decision in _YES:
            try:
                ask = await tool.asks(args, self._context(call, None))
            except ToolError as error:
                self._refuse(str(error), ItemStatus.ERROR, tool, args, ruling)
                return None
            self._item.start(tool, args, ruling, ItemStatus.WAITING)
            if self._asking.said() is said:
                waiting_for = self._asking.open_id()
                if waiting_for is None:
                    waiting_for = await self._asking.put(tool.name, ask)
                await self._asking.wait(waiting_for)
            said = self._asking.said()
        assert said is not None
        if said.decision == "cancelled":
            self._refuse("Cancelled.", ItemStatus.CANCELLED, tool, args, ruling)
            return None
        return Reply(said.decision, said.answers, said.option, said.feedback)

    # -- running --------------------------------------------------------------------------------

    async def _execute(
        self, tool: Tool, args: Any, call: Call, ruling: Ruling, answer: Reply | None
    ) -> None:
        session = self.session
        self._asking.withdraw("allowed")
        found = self._item.find()
        if found is None:
            self._item.start(tool, args, ruling, ItemStatus.RUNNING)
        else:
            self._item.running(found)
        if tool.kind not in (ToolKind.READ, ToolKind.INTERACT):
            await session.journal.sync()
        context = self._context(call, answer)
        try:
            result = await tool.run(args, context)
            until = asyncio.get_running_loop().time() + _MOVED_S
            # What nobody had to read may be computed anew; what a card showed may not.
            while result.has_moved and self._asking.said() is None:
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
        saw(session, call.effects)
        if any(isinstance(effect, WritePath) for effect in call.effects):
            allow = session.engine.grants.load(workspace_path(session)).allow
            session.engine.programs.wrote(call.effects, allow)
        item = self._item.find()
        assert item is not None
        status = ItemStatus.ERROR if result.is_error else ItemStatus.OK
        said = self._asking.said()
        text = result.text
        if said is not None and said.feedback and tool.asks is None:
            text += f"\n\nThe person said: {said.feedback}"
        text += "".join(f"\n[{note}]" for note in context.workspace.notes)
        tell_notices(session)
        self._item.complete(
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
            emit=self._item.tell,
            answer=answer,
        )

    # -- refusing ---------------------------------------------------------------------------------

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
        self._asking.withdraw("blocked")
        self._item.start(tool, args, ruling, ItemStatus.WAITING)
        item = self._item.find()
        assert item is not None
        text = f"Blocked: {why}" if status is ItemStatus.BLOCKED else why
        verdict = unattended.verdict(ruling)
        self._item.complete(item.model_copy(update={"verdict": verdict}), status, text, error=why)

    def _refuse_answer(self, tool: Tool, args: Any, ruling: Ruling, said: machine.Reply) -> None:
        if said.decision == "cancelled":
            self._refuse("Cancelled.", ItemStatus.CANCELLED, tool, args, ruling)
            return
        why = "The person said no to this call"
        why += f": {said.feedback}" if said.feedback else ". Take another way, or ask them."
        denied = Ruling(Decision.DENY, (Reason(code="denied", text=why), *ruling.reasons))
        self._refuse(why, ItemStatus.BLOCKED, tool, args, denied)


def _why(ruling: Ruling) -> str:
    return " ".join(reason.text for reason in ruling.reasons)
