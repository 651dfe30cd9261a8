"""Who answers cards and questions: the person, nobody, or a script.

Invariant: a card is answered by a key typed after it appeared, or not at all.
Invariant: where nobody can be asked the answer is no, and both sides are told why.
"""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from kova_ls.cli.card import (
    WHY_KEY,
    answer_of,
    approval_lines,
    decision_of,
    decision_prompt,
    question_lines,
    question_prompt,
    refusal,
)
from kova_ls.cli.client import Message
from kova_ls.cli.console import ARMING_S, Console, Keys
from kova_ls.cli.terminal import shown
from kova_ls.cli.transcript import Feed
from kova_ls.cli.whole import ALLOWING, VIEW_KEY, ReadWhole, is_shown_in_part, whole_lines
from kova_ls.errors import KovaError
from kova_ls.l10n import say
from kova_ls.values import Answer, Approval, PlanSubject, Question, QuestionRequest

Card = Approval | QuestionRequest
Wait = Callable[[], bool]
"""Waits for the keyboard; False when the card was resolved elsewhere meanwhile."""
NO_TERMINAL = (
    "Nobody could be asked: the program runs without a terminal, so this was denied. "
    "Go on without it, or say what should be allowed beforehand."
)


class HungUp(Exception):
    """The person's keyboard is gone."""


class Answering(Protocol):
    """Answers cards; None when the card was resolved elsewhere."""

    def answer(self, card: Card, feed: Feed, wait: Wait) -> Message | None:
        """Return the params of the response."""
        ...


@dataclass(slots=True)
class Nobody:
    """Without a terminal an ask is a deny."""

    console: Console
    denied_count: int = 0

    def answer(self, card: Card, feed: Feed, wait: Wait) -> Message | None:
        """Deny, and say so on stderr and to the model."""
        self.denied_count += 1
        is_approval = isinstance(card, Approval)
        what = card.title if is_approval else card.questions[0].question
        feed.end_line()
        self.console.complain(f"denied, as there is no terminal to ask at: {shown(what)}")
        if is_approval:
            for rule in card.rules if "remember" in card.decisions else ():
                command = f"kova-ls permission add {shlex.quote(rule)}"
                self.console.complain(f"  `{shown(command)}` would allow it beforehand")
            return {
                "approvalId": card.approval_id,
                "decision": refusal(card),
                "feedback": NO_TERMINAL,
            }
        return {"questionId": card.question_id, "declined": True}


@dataclass(slots=True)
class Script:
    """Answers by functions, and says so; the demo's when nobody is there."""

    decide: Callable[[Approval], str]
    reply: Callable[[Question], Answer]
    folder: str

    def answer(self, card: Card, feed: Feed, wait: Wait) -> Message | None:
        """Draw the card, then answer it."""
        dim = feed.style.dim
        if isinstance(card, Approval):
            for line in approval_lines(card, feed.style, self.folder):
                feed.line(line)
            decision = self.decide(card)
            feed.line(dim(feed.style.say(f"  answered by itself: {decision}")))
            return {"approvalId": card.approval_id, "decision": decision}
        answers: list[Answer] = []
        for question in card.questions:
            for line in question_lines(card, question, feed.style):
                feed.line(line)
            answers.append(self.reply(question))
            text = ", ".join(answers[-1].selected) or answers[-1].other or ""
            feed.line(dim(feed.style.say(f"  answered by itself: {shown(text)}")))
        return {"questionId": card.question_id, "answers": [_wire(answer) for answer in answers]}


@dataclass(slots=True)
class Person:
    """Asks at the terminal."""

    console: Console
    keys: Keys
    folder: str
    read_whole: ReadWhole

    def answer(self, card: Card, feed: Feed, wait: Wait) -> Message | None:
        """Draw the card and read its answer.

        Raises: HungUp when the keyboard is gone.
        """
        if isinstance(card, Approval):
            return self._approval(card, feed, wait)
        return self._questions(card, feed, wait)

    def _approval(self, card: Approval, feed: Feed, wait: Wait) -> Message | None:
        for line in approval_lines(card, feed.style, self.folder):
            feed.line(line)
        is_unseen = is_shown_in_part(card)
        view = feed.style.say(f"  [{VIEW_KEY}]iew it whole") if is_unseen else ""
        self._prompt(feed.style.bold(decision_prompt(card, feed.style.language) + view))
        with self.keys.by_key():
            armed_at = self.console.clock() + ARMING_S
            decision, key = None, ""
            while decision is None:
                if not wait():
                    return None
                key = self.keys.key()
                if not key:
                    raise HungUp
                meant = decision_of(card, key)
                now = self.console.clock()
                if is_unseen and (key.lower() == VIEW_KEY or meant in ALLOWING):
                    if key.lower() == VIEW_KEY:
                        is_unseen = not self._show_whole(card, feed)
                    else:
                        feed.line(f"first [{VIEW_KEY}]iew it whole")
                    self._prompt(feed.style.bold(decision_prompt(card, feed.style.language)))
                    armed_at = self.console.clock() + ARMING_S
                elif meant is None:
                    # Who types "no" has not allowed it by the "o".
                    armed_at = now + ARMING_S
                elif now >= armed_at:
                    decision = meant
        self.console.say(decision)
        params: Message = {"approvalId": card.approval_id, "decision": decision}
        asks_for = {"revise": "What should change?"}.get(decision)
        if key.lower() == WHY_KEY:
            asks_for = "Why not? It is told to the agent:"
        if asks_for:
            feedback = self._line(asks_for, wait)
            if feedback is None:
                return None
            params["feedback"] = feedback
        if decision == "approve" and isinstance(card.subject, PlanSubject) and card.subject.options:
            line = self._line("Which approach? A number, or an empty line for none:", wait)
            if line is None:
                return None
            number = int(line) if line.isascii() and line.isdecimal() else 0
            if 1 <= number <= len(card.subject.options):
                params["option"] = card.subject.options[number - 1].label
        return params

    def _show_whole(self, card: Approval, feed: Feed) -> bool:
        """Print all of what the card would allow; False when it cannot be had."""
        feed.end_line()
        try:
            lines = whole_lines(card, self.read_whole, feed.style, self.folder)
        except KovaError as error:
            feed.line(shown(error.message))
            return False
        for line in lines:
            feed.line(line)
        return True

    def _questions(self, card: QuestionRequest, feed: Feed, wait: Wait) -> Message | None:
        answers: list[Answer] = []
        for question in card.questions:
            for line in question_lines(card, question, feed.style):
                feed.line(line)
            answer = None
            while answer is None:
                feed.line(feed.style.dim(f"  {question_prompt(question, feed.style.language)}"))
                line = self._line(">", wait)
                if line is None:
                    return None
                if not line.strip():
                    return {"questionId": card.question_id, "declined": True}
                answer = answer_of(question, line)
                if answer is None:
                    feed.line(feed.style.yellow(feed.style.say("  That is none of the choices.")))
            answers.append(answer)
        return {"questionId": card.question_id, "answers": [_wire(answer) for answer in answers]}

    def _line(self, prompt: str, wait: Wait) -> str | None:
        self.keys.forget_typed()
        self._prompt(say(prompt, self.console.language))
        armed_at = self.console.clock() + ARMING_S
        while True:
            if not wait():
                return None
            line = self.keys.line()
            if line is None:
                raise HungUp
            if self.console.clock() >= armed_at:
                return line

    def _prompt(self, text: str) -> None:
        self.console.talk.write(f"{text} ")
        self.console.talk.flush()


def _wire(answer: Answer) -> Message:
    return answer.model_dump(mode="json", by_alias=True, exclude_none=True)
