"""What one call asks of a person: put, waited for, found again after a restart, withdrawn.

Order: ApprovalRequested or QuestionRequested, TurnSuspended, its resolution, TurnResumed.
Invariant: the turn waits only for what is on the disk.
"""

import asyncio
from collections.abc import Callable
from secrets import token_hex
from typing import TYPE_CHECKING

from kova_ls.engine import machine
from kova_ls.engine.approvals import plan_card
from kova_ls.engine.card_watch import CardWatch
from kova_ls.engine.waiters import Waiter
from kova_ls.journal import records as r
from kova_ls.tools._base import AskPlan, AskQuestions
from kova_ls.values import Approval, QuestionRequest

if TYPE_CHECKING:
    from kova_ls.engine.session import Session


class Asking:
    """The cards and questions of a call."""

    def __init__(self, session: "Session", turn_id: str, call_id: str) -> None:
        self.session = session
        self.turn_id = turn_id
        self.call_id = call_id

    def said(self) -> machine.Reply | None:
        """Return the person's answer to this call's last card."""
        said = self.session.state.answers.get(self.call_id)
        if said is None or said.decision in ("superseded", "blocked"):
            return None
        is_adoption = said.card is not None and said.card.kind == "adopt"
        return None if is_adoption and said.decision != "cancelled" else said

    def why_again(self) -> str | None:
        """Return what a person should know of a card that takes another's place."""
        if self.said() is not None:
            return "What this call would change is not what was approved: review again."
        last = self.session.state.answers.get(self.call_id)
        if last is None or last.decision != "superseded":
            return None
        if last.card is None or last.card.kind != "tool":
            return None
        return "What this call would change is not what was shown before: review again."

    def open_card(self, kind: str) -> Approval | None:
        """Return the call's card of a kind that waits for an answer."""
        for card in self.session.state.approvals:
            if card.call_id == self.call_id and card.kind == kind:
                return card
        return None

    def open_id(self) -> str | None:
        """Return the id of the question or card that waits for an answer."""
        state = self.session.state
        for question in state.questions:
            if question.call_id == self.call_id:
                return question.question_id
        for approval in state.approvals:
            if approval.call_id == self.call_id:
                return approval.approval_id
        return None

    async def put_card(self, card: Approval) -> None:
        """Show a card."""
        async with self.session.stream.synced():
            self.session.record(r.ApprovalRequested(approval=card))

    async def put(self, tool: str, ask: AskPlan | AskQuestions) -> str:
        """Put what a tool itself asks; returns the id to wait for."""
        async with self.session.stream.synced():
            return self._request(tool, ask)

    def _request(self, tool: str, ask: AskPlan | AskQuestions) -> str:
        session = self.session
        now = session.engine.now()
        if isinstance(ask, AskPlan):
            card = plan_card(
                session_id=session.id,
                turn_id=self.turn_id,
                call_id=self.call_id,
                tool=tool,
                ask=ask,
                now=now,
            )
            session.record(r.ApprovalRequested(approval=card))
            return card.approval_id
        request = QuestionRequest(
            question_id=f"{session.id}.{token_hex(6)}",
            session_id=session.id,
            turn_id=self.turn_id,
            call_id=self.call_id,
            questions=ask.questions,
            requested_at=now,
        )
        session.record(r.QuestionRequested(request=request))
        return request.question_id

    def supersede(self, card: Approval) -> None:
        """Take a card back, for another one or because nothing is left to ask."""
        self._resolve(card.approval_id, "superseded", "engine")

    def withdraw(self, decision: str) -> None:
        """Close what was asked before a restart, when the call goes on without its answer."""
        session = self.session
        for card in session.state.approvals:
            if card.call_id == self.call_id:
                self._resolve(card.approval_id, decision, "engine")
        for request in session.state.questions:
            if request.call_id == self.call_id:
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

    def _resolve(self, approval_id: str, decision: str, by: str) -> None:
        self.session.record(
            r.ApprovalResolved(
                approval_id=approval_id, turn_id=self.turn_id, decision=decision, resolved_by=by
            )
        )

    async def wait(
        self,
        waiting_for: str,
        settled: Callable[[], str | None] = lambda: None,
        watch: CardWatch | None = None,
    ) -> None:
        """Suspend the turn until the approval or question is resolved.

        `settled` says, when something changed, by what decision it has become needless; `watch`
        takes it back when the documents below it moved.
        """
        session = self.session
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def settle(decision: str | None, by: str) -> None:
            if decision is None or future.done():
                return
            session.waiters.pop(waiting_for, None)
            self._resolve(waiting_for, decision, by)
            future.set_result(None)

        def rejudge(by: str) -> None:
            settle(settled() if not future.done() else None, by)

        def look() -> None:
            if watch is not None:
                watch.look(lambda: settle("superseded", "engine"))

        if not self._is_open(waiting_for):
            return  # answered while the card was being put on the disk
        session.waiters[waiting_for] = Waiter(future, rejudge, look)
        if not session.state.is_waiting:
            session.record(r.TurnSuspended(turn_id=self.turn_id, waiting_for=waiting_for))
            session.engine.touched(session)
        rejudge("level")  # what was changed before the turn could hear of it
        look()
        try:
            await session.journal.sync()
            await future
        finally:
            if watch is not None:
                watch.close()
        session.record(r.TurnResumed(turn_id=self.turn_id))
        session.engine.touched(session)

    def _is_open(self, waiting_for: str) -> bool:
        state = self.session.state
        return any(a.approval_id == waiting_for for a in state.approvals) or any(
            q.question_id == waiting_for for q in state.questions
        )
