"""Follows one turn to its end: shows it, has its cards answered, stops it on Ctrl-C.

Invariant: without a person only cards of the turn that was started here are answered.
"""

import json
import shlex
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter

from kova_ls.cli import arguments
from kova_ls.cli.ask import Answering, Card, HungUp, Nobody
from kova_ls.cli.client import Client, Message, Refused
from kova_ls.cli.console import Console, Interrupts, Keys
from kova_ls.cli.terminal import shown, shown_prose
from kova_ls.cli.transcript import Feed
from kova_ls.errors import DaemonUnavailable
from kova_ls.values import Approval, Item, QuestionRequest, ToolCallItem

_ITEM: TypeAdapter[Item] = TypeAdapter(Item)
_RECONNECTS = 3


class Left(Exception):
    """The person pressed Ctrl-C twice."""


@dataclass(slots=True)
class Turn:
    """One turn as the terminal sees it."""

    client: Client
    console: Console
    session_id: str
    turn_id: str
    answering: Answering
    keys: Keys | None
    interrupts: Interrupts
    reconnect: Callable[[], Client]
    epoch: str
    seq: int
    prints_json: bool = False
    waits: bool = False
    """It is queued; somebody may still take it back."""
    goal: Message = field(default_factory=dict[str, Any])
    """As it stands; while it is active the next turn is followed too."""
    feed: Feed = field(init=False)
    _held: deque[Message] = field(default_factory=deque[Message])
    """Told while a card was up; handled after it."""
    _cards: list[Card] = field(default_factory=list[Card])
    _interrupts_seen: int = 0
    _interrupt_id: int | None = None
    _stopped: list[str] = field(default_factory=list[str])
    _denied: list[Message] = field(default_factory=list[Message])
    """Calls that were denied since nobody watches."""
    _end: Message | None = None
    _between: Message | None = None
    """How the last turn of an active goal ended, until the next one begins."""
    _had_active_goal: bool = False
    _reconnects: int = 0

    def __post_init__(self) -> None:
        """Prepare the screen."""
        self.feed = Feed(self.console)
        self._had_active_goal = self.goal.get("status") == "active"

    def follow(self) -> int:
        """Show the turn until it ends and return the exit code.

        Raises: Left when the person leaves before; DaemonUnavailable when the engine stays away.
        """
        while self._end is None:
            try:
                self._advance()
            except HungUp as gone:
                raise Left from gone
            except DaemonUnavailable:
                if self._reconnects == _RECONNECTS:
                    raise
                self._reconnects += 1
                self.client.close()
                self.client = self.reconnect()
                self._attach_again()
        return self._conclude(self._end)

    def offer(self, cards: Iterable[Card]) -> None:
        """Take up cards; without a person those of other turns are left to other editors."""
        has_person = self.keys is not None
        self._cards += [card for card in cards if has_person or card.turn_id == self.turn_id]

    def _advance(self) -> None:
        while self._held or self.client.inbox:
            source = self._held or self.client.inbox
            self._handle(source.popleft())
            if self._end is not None:
                return
        if self._cards:
            self._ask(self._cards[0])
            return
        self.client.wait([self.interrupts.fd])
        self._notice_interrupts()

    # -- what the engine tells ----------------------------------------------------------------

    def _handle(self, message: Message) -> None:
        params: Message = message.get("params") or {}
        match message["method"]:
            case "kova/event" if params.get("sessionId") == self.session_id:
                self._event(params)
            case "kova/resyncRequired" if params.get("sessionId") == self.session_id:
                self._attach_again()
            case "kova/panel/open" if not self.prints_json:
                self._panel(params)
            case "window/showMessage" if not self.prints_json:
                self.feed.line(shown_prose(str(params.get("message", ""))))
            case _:
                pass

    def _event(self, event: Message) -> None:
        seq = event.get("seq")
        if seq is not None:
            if seq <= self.seq and event.get("epoch") == self.epoch:
                return
            self.seq, self.epoch = seq, event["epoch"]
        if self.prints_json:
            self.console.print(json.dumps(event, separators=(",", ":")))
        payload: Message = event.get("payload") or {}
        if event["type"] == "item.completed":
            self._note_denied(payload["item"])
        match event["type"]:
            case "approval.requested":
                self.offer([Approval.model_validate(payload["approval"])])
            case "question.requested":
                self.offer([QuestionRequest.model_validate(payload["request"])])
            case "approval.resolved":
                self._drop(payload["approvalId"])
            case "question.resolved":
                self._drop(payload["questionId"])
            case "turn.started" if event.get("turnId") == self.turn_id:
                self.waits = False
            case "turn.started" if self._between is not None and payload.get("goalId"):
                self.turn_id, self._between = str(event["turnId"]), None
            case "turn.completed" if event.get("turnId") == self.turn_id:
                if self.goal.get("status") == "active":
                    self._between = payload
                else:
                    self._end = payload
            case "goal.updated":
                self._take_goal(payload["goal"])
            case "queue.updated" if self.waits and not self._is_queued(payload):
                message = "Your prompt was taken back by an editor before its turn began."
                self._end = {"error": {"message": message}}
            case _ if not self.prints_json:
                self._show(event, payload)
            case _:
                pass

    def _take_goal(self, goal: Message) -> None:
        before, self.goal = self.goal, goal
        status = goal["status"]
        self._had_active_goal = self._had_active_goal or status == "active"
        if status != before.get("status") and not self.prints_json:
            text = shown(str(goal.get("reason") or goal["objective"]))
            style = self.feed.style
            self.feed.line(style.bold(style.say(f"goal {status}: {text}")))
        if self._between is not None and status != "active":
            self._end = self._between

    def _is_queued(self, payload: Message) -> bool:
        return any(queued["turnId"] == self.turn_id for queued in payload["queue"])

    def _note_denied(self, item: Message) -> None:
        verdict: Message = item.get("verdict") or {}
        reasons: list[Message] = verdict.get("reasons") or []
        if reasons and reasons[0]["code"] == "unattended":
            self._denied.append(item)

    def _show(self, event: Message, payload: Message) -> None:
        match event["type"]:
            case "item.delta":
                self.feed.delta(
                    payload["kind"], event.get("itemId") or "", payload["offset"], payload["text"]
                )
            case "item.started":
                item = _ITEM.validate_python(payload["item"])
                if isinstance(item, ToolCallItem) and not item.status.is_end:
                    self.feed.running(item.title)
            case "item.completed":
                self.feed.completed(_ITEM.validate_python(payload["item"]))
            case "step.started":
                self.feed.running("waiting for the model")
            case "session.configured":
                self.feed.line(
                    self.feed.style.dim(
                        self.feed.style.say(f"now mode {payload['mode']}, level {payload['level']}")
                    )
                )
            case "turn.resumed" if payload.get("recovered"):
                style = self.feed.style
                self.feed.line(style.dim(style.say("the engine was restarted; the turn goes on")))
            case _:
                pass

    def _panel(self, params: Message) -> None:
        style = self.feed.style
        if params.get("kind") == "file":
            line = params.get("line")
            place = f"{params.get('uri')}" + (f":{line + 1}" if line is not None else "")
            self.feed.line(style.cyan(f"open {shown(place)}"))
        else:
            self.feed.line(style.bold(shown(str(params.get("title", "")))))
            self.feed.line(shown_prose(str(params.get("markdown") or "")))

    def _attach_again(self) -> None:
        while True:
            cursor = {"epoch": self.epoch, "seq": self.seq}
            result = self.client.request(
                "kova/session/attach", {"sessionId": self.session_id, "cursor": cursor}
            )
            for event in result["events"]:
                self._event(event)
            self.epoch, self.seq = result["watermark"]["epoch"], result["watermark"]["seq"]
            if not result.get("more"):
                break
        snapshot = result["snapshot"]
        self._cards.clear()
        self.offer(open_cards(snapshot))
        if result.get("reset") and snapshot.get("turnId") != self.turn_id:
            self._end = {"stopReason": "done"}

    def _drop(self, card_id: str) -> None:
        self._cards = [card for card in self._cards if _id_of(card) != card_id]

    def _ask(self, card: Card) -> None:
        self._cards.remove(card)
        card_id, keys = _id_of(card), self.keys
        params = self.answering.answer(card, self.feed, lambda: self._wait_typed(card_id, keys))
        if params is None:
            return
        is_approval = isinstance(card, Approval)
        method = "kova/approval/respond" if is_approval else "kova/question/respond"
        try:
            self.client.request(method, params)
        except Refused as refused:
            self.feed.line(self.feed.style.red(shown(refused.message)))

    def _wait_typed(self, card_id: str, keys: Keys | None) -> bool:
        others = [self.interrupts.fd] + ([keys.fd] if keys else [])
        while True:
            ready = self.client.wait(others)
            self._notice_interrupts()
            if self._take_resolution(card_id):
                return False
            if keys is not None and keys.fd in ready:
                return True

    def _take_resolution(self, card_id: str) -> bool:
        while self.client.inbox:
            message = self.client.inbox.popleft()
            self._held.append(message)
            params: Message = message.get("params") or {}
            payload: Message = params.get("payload") or {}
            if card_id in (payload.get("approvalId"), payload.get("questionId")):
                by = shown(str(payload.get("resolvedBy", "")))
                word = shown(str(payload.get("decision") or payload.get("outcome") or "resolved"))
                self.console.say(self.feed.style.dim(self.feed.style.say(f"\n{word} by {by}")))
                return True
        return False

    # -- Ctrl-C, and the end ------------------------------------------------------------------

    def _notice_interrupts(self) -> None:
        if self._interrupt_id is not None:
            try:
                answer = self.client.answer(self._interrupt_id)
            except Refused:
                self._interrupt_id = None
            else:
                if answer is not None:
                    self._stopped += answer.get("stopped", ())
                    self._interrupt_id = None
        if self.interrupts.count == self._interrupts_seen:
            return
        self.interrupts.drain()
        self._interrupts_seen = self.interrupts.count
        if self._interrupts_seen > 1:
            raise Left
        self.console.complain("\nstopping; Ctrl-C again leaves at once")
        self._interrupt_id = self.client.send(
            "kova/turn/interrupt", {"sessionId": self.session_id, "expectedTurnId": self.turn_id}
        )

    def _report(self) -> None:
        """List what was denied since nobody watches, with what would allow it."""
        for item in self._denied:
            self.console.complain(f"denied, as nobody watches this run: {shown(item['title'])}")
            for reason in item["verdict"]["reasons"][1:]:
                self.console.complain(f"  {shown(reason['text'])}")
            for rule in item["verdict"].get("rules") or ():
                command = f"kova-ls permission add {shlex.quote(rule)}"
                self.console.complain(f"  `{shown(command)}` would allow it beforehand")

    def _conclude(self, payload: Message) -> int:
        self.feed.end_line()
        self._report()
        error: Any = payload.get("error")
        match payload.get("stopReason"):
            case "done":
                if self._had_active_goal and self.goal["status"] in ("paused", "blocked"):
                    return arguments.INTERRUPTED if self._interrupts_seen else arguments.FAILED
                denied = isinstance(self.answering, Nobody) and self.answering.denied_count
                return arguments.DENIED if denied or self._denied else arguments.DONE
            case "interrupted":
                stopped = list(payload.get("stopped") or ()) or self._stopped
                what = ", ".join(shown(text) for text in stopped) or "nothing was running"
                self.console.complain(f"interrupted; stopped: {what}")
                return arguments.INTERRUPTED
            case "limit":
                self.console.complain(
                    'The turn reached its limit of steps. `kova-ls run --continue "go on"` goes on.'
                )
            case reason:
                message = error.get("message") if error else f"The turn ended: {reason}."
                self.console.complain(shown_prose(str(message)))
        return arguments.FAILED


def open_cards(snapshot: Message) -> list[Card]:
    """Return what a session's snapshot waits for."""
    cards: list[Card] = [Approval.model_validate(card) for card in snapshot["approvals"]]
    return cards + [QuestionRequest.model_validate(card) for card in snapshot["questions"]]


def _id_of(card: Card) -> str:
    return card.approval_id if isinstance(card, Approval) else card.question_id
