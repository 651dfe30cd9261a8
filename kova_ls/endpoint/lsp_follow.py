"""What an editor without a Kova client sees of a session: progress, the page, what waits.

Invariant: nothing here takes the keyboard: a card is announced and never put to anyone unasked.
"""

from collections.abc import Sequence
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from kova_ls.endpoint.lsp_text import goal_line, one_line
from kova_ls.endpoint.transcript import summary, transcript_of
from kova_ls.engine import Session
from kova_ls.journal import records as r
from kova_ls.journal.store import Stored
from kova_ls.journal.stream import Delta
from kova_ls.values import InputPart, Item, ReplyItem, TextPart, ToolCallItem
from kova_ls.vocabulary import StopReason

if TYPE_CHECKING:
    from kova_ls.endpoint.lsp_server import LspServer

_HOW = "Run the command kova.pending to answer."


class Bar:
    """One turn's progress; says nothing before the editor has made a place for it."""

    def __init__(self, lsp: "LspServer", title: str) -> None:
        self.token = f"kova-{token_hex(6)}"
        self._progress: Any = lsp.server.work_done_progress
        self._title = title
        self._latest = lsp.say("thinking")
        self._is_shown = False
        self._creating = lsp.spawn(self._create(), f"progress {self.token}")

    async def _create(self) -> None:
        try:
            await self._progress.create_async(self.token)
        except JsonRpcException:
            return  # an editor that does not want to show it
        self._is_shown = True
        begin = types.WorkDoneProgressBegin(
            title=self._title, message=self._latest, cancellable=True
        )
        self._progress.begin(self.token, begin)

    def report(self, text: str) -> None:
        """Say what goes on."""
        self._latest = text
        if self._is_shown:
            self._progress.report(self.token, types.WorkDoneProgressReport(message=text))

    def end(self, text: str) -> None:
        """Take it away."""
        self._creating.cancel()
        if self._is_shown:
            self._is_shown = False
            self._progress.end(self.token, types.WorkDoneProgressEnd(message=text))
        self._progress.tokens.pop(self.token, None)


class Watch:
    """Follows one session for one editor."""

    def __init__(self, lsp: "LspServer", session: Session) -> None:
        self.session = session
        self.transcript = transcript_of(session)
        self._lsp = lsp
        self._bar: Bar | None = None
        self._is_opened = False
        self._last_reply = ""
        goal = session.state.goal
        self._goal_stands = (goal.goal_id, goal.status) if goal is not None else None
        self._leave = session.stream.subscribe(self._hear)
        if session.state.turn_id is not None:
            self._begin(session.state.input)
        for card in session.state.approvals:
            self._announce(lsp.say(card.title))
        for request in session.state.questions:
            self._announce(request.questions[0].question)

    @property
    def token(self) -> str | None:
        """The token of the progress that is shown."""
        return self._bar.token if self._bar is not None else None

    def close(self) -> None:
        """Follow no longer."""
        self._leave()

    def _hear(self, fact: Stored | Delta) -> None:
        if isinstance(fact, Delta):
            return
        record = fact.record
        match record:
            case r.TurnStarted():
                self._last_reply = ""
                self._begin(record.input)
            case r.ItemStarted(item=ToolCallItem(title=title)):
                self._report(one_line(self._lsp.say(title)))
            case r.ItemCompleted():
                self._completed(record.item)
            case r.ApprovalRequested():
                self._announce(self._lsp.say(record.approval.title))
            case r.QuestionRequested():
                self._announce(record.request.questions[0].question)
            case r.ApprovalResolved() | r.QuestionResolved():
                self._lsp.refresh_lenses()
                self._report(self._lsp.say("goes on"))
            case r.ChangesUpdated():
                self._lsp.refresh_lenses()
            case r.GoalUpdated():
                self._goal(record.goal)
            case r.TurnCompleted():
                self._end(record)
            case _:
                pass

    def _begin(self, parts: Sequence[InputPart]) -> None:
        if self._lsp.endpoint.said.shows_progress and self._bar is None:
            words = next((part.text for part in parts if isinstance(part, TextPart)), "")
            self._bar = Bar(self._lsp, f"Kova: {one_line(words.strip(), 60)}")

    def _report(self, text: str) -> None:
        if self._bar is not None:
            self._bar.report(text)

    def _completed(self, item: Item) -> None:
        if isinstance(item, ReplyItem) and item.text.strip():
            self._last_reply = item.text
            self.open_once()

    def _announce(self, title: str) -> None:
        self._lsp.tell(f"Kova waits: {one_line(title)}. {_HOW}", types.MessageType.Warning)
        self._lsp.refresh_lenses()
        self._report(self._lsp.say("waits for your answer"))

    def _goal(self, goal: r.Goal) -> None:
        now = (goal.goal_id, goal.status)
        if now != self._goal_stands:
            self._goal_stands = now
            self._lsp.tell(goal_line(goal))

    def _end(self, record: r.TurnCompleted) -> None:
        if self._bar is not None:
            self._bar.end(self._lsp.say(record.stop_reason.value))
            self._bar = None
        if record.stop_reason is not StopReason.DONE:
            say = self._lsp.say
            why = say(record.error.message) if record.error else ", ".join(map(say, record.stopped))
            text = f"Kova: {say(record.stop_reason.value)}" + (f": {why}" if why else ".")
            is_failed = record.stop_reason is StopReason.FAILED
            self._lsp.tell(text, types.MessageType.Error if is_failed else types.MessageType.Info)
        elif not self._lsp.endpoint.said.shows_documents:
            self._lsp.tell(f"Kova: {summary(self._last_reply) or self._lsp.say('done')}")

    def open_once(self) -> None:
        """Show the page at the first answer; later it grows where the person put it."""
        if not self._is_opened:
            self._is_opened = True
            self._lsp.spawn(self._lsp.show(self.transcript.path), f"show {self.session.id}")
