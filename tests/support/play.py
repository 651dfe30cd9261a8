"""The one driver of behaviour tests: files, a script and answers in, a transcript out.

The transcript has a line for each record; ids, times and folders are replaced.
"""

import asyncio
import inspect
import itertools
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kova_ls.engine import Session
from kova_ls.engine.workspace import file_uri
from kova_ls.journal import records as r
from kova_ls.journal.store import Stored
from kova_ls.values import (
    Approval,
    CommandSubject,
    EditSubject,
    InputPart,
    Item,
    NoticeItem,
    PlanSubject,
    ReasoningItem,
    ReplyItem,
    TextPart,
    ToolCallItem,
    UserMessageItem,
)
from kova_ls.vocabulary import WhenBusy
from tests.support.stage import Action, Stage, Step

Said = str | tuple[str, str] | Action | None
"""A decision, a decision with feedback, an action, or None for declined questions."""


def play(
    model: Sequence[Step],
    *,
    files: Mapping[str, str] | None = None,
    prompts: Sequence[str | tuple[InputPart, ...]] = ("Go.",),
    answers: Sequence[Said] = (),
    on: Mapping[str, Action] | None = None,
    mode: str = "agent",
    level: str | None = "workspace-write",
    trusted: bool = True,
    settings: str = "",
    models: Mapping[str, Sequence[Step]] | None = None,
    before: Action | None = None,
    after: Action | None = None,
    only: Sequence[str] = (),
) -> str:
    """Run the prompts one after the other and return what was recorded.

    `on` maps the beginning of a transcript line to what is done, once, when it appears. When a
    card opens and no answer is left, the play ends there. `only` keeps lines that begin so.
    `{ws}` in the URI of a prompt's part is the workspace.
    """
    with tempfile.TemporaryDirectory(prefix="kova-play-") as root:
        stage_of = {"files": files, "trusted": trusted, "settings": settings}
        lines = asyncio.run(
            _play(
                Path(root),
                model,
                stage_of,
                {"mode": mode, "level": level if trusted else None},
                prompts,
                list(answers),
                dict(on or {}),
                models or {},
                before,
                after,
            )
        )
    kept = [line for line in lines if not only or line.strip().startswith(tuple(only))]
    return "\n".join(kept) + "\n"


async def _play(
    root: Path,
    model: Sequence[Step],
    stage_of: dict[str, Any],
    settings: dict[str, Any],
    prompts: Sequence[str | tuple[InputPart, ...]],
    answers: list[Said],
    on: dict[str, Action],
    models: Mapping[str, Sequence[Step]],
    before: Action | None,
    after: Action | None,
) -> list[str]:
    stage = Stage(root, model, **stage_of)
    for name, steps in models.items():
        stage.script(name, steps)
    session = stage.create(**settings)
    teller = Teller(stage, session)
    doing: set[asyncio.Task[None]] = set()

    def hear(fact: Any) -> None:
        if not isinstance(fact, Stored):
            return
        for line in teller.tell(fact.record):
            for beginning in [key for key in on if line.strip().startswith(key)]:
                doing.add(asyncio.ensure_future(_do(on.pop(beginning), stage, session)))

    session.stream.subscribe(hear)
    try:
        if before is not None:
            await _do(before, stage, session)
        for prompt in prompts:
            parts = (TextPart(text=prompt),) if isinstance(prompt, str) else prompt
            parts = tuple(_placed(part, stage) for part in parts)
            session.start(parts, prompt_id=None, when_busy=WhenBusy.REJECT, editor=stage.editor)
            if not await _turn(stage, session, answers, doing):
                teller.lines.append("(waits)")
                break
        if after is not None:
            await _do(after, stage, session)
            await _turn(stage, session, answers, doing)
    finally:
        await stage.close()
    return teller.lines


def _placed(part: InputPart, stage: Stage) -> InputPart:
    uri = getattr(part, "uri", None)
    if uri is None:
        return part
    return part.model_copy(update={"uri": uri.replace("{ws}", stage.editor.folders[0])})


async def _turn(
    stage: Stage, session: Session, answers: list[Said], doing: set[asyncio.Task[None]]
) -> bool:
    """Go on until nothing works any more; False when a card stays open."""
    while session.turn is not None or any(not task.done() for task in doing):
        pending = [a.approval_id for a in session.state.approvals]
        pending += [q.question_id for q in session.state.questions]
        pending = [ask for ask in pending if ask in session.waiters]
        if pending and not any(not task.done() for task in doing):
            if not answers:
                return False
            await _answer(stage, session, pending[0], answers.pop(0))
            continue
        stage.told.clear()
        tasks = [task for task in (session.turn, *doing) if task is not None and not task.done()]
        told = asyncio.ensure_future(stage.told.wait())
        await asyncio.wait([told, *tasks], return_when=asyncio.FIRST_COMPLETED)
        told.cancel()
        await asyncio.sleep(0)
    for task in doing:
        task.result()
    return True


async def _answer(stage: Stage, session: Session, ask_id: str, said: Said) -> None:
    if callable(said):
        await _do(said, stage, session)
    elif any(q.question_id == ask_id for q in session.state.questions):
        stage.answer(session, ask_id, said if isinstance(said, str) else None)
    else:
        decision, feedback = said if isinstance(said, tuple) else (str(said), None)
        decision, _, option = decision.partition(" / ")
        stage.respond(session, ask_id, decision, feedback, option or None)


async def _do(action: Action, stage: Stage, session: Session) -> None:
    outcome = action(stage, session)
    if inspect.isawaitable(outcome):
        await outcome


class Teller:
    """Writes records as lines of a transcript."""

    def __init__(self, stage: Stage, session: Session) -> None:
        self.lines: list[str] = []
        self._session = session
        workspace = stage.editor.folders[0]
        self._replaced = {
            file_uri(workspace): "<ws>",
            workspace: "<ws>",
            str(stage.root): "<root>",
            session.id: "<session>",
        }
        self._turns: dict[str, str] = {}
        self._count = itertools.count(1)

    def tell(self, record: r.Record) -> list[str]:
        """Add a record; returns its lines."""
        lines = [self._plain(line) for line in self._lines(record)]
        self.lines.extend(lines)
        return lines

    def _plain(self, line: str) -> str:
        for text, mark in self._replaced.items():
            line = line.replace(text, mark)
        return line.replace("\n", "⏎")

    def _turn(self, turn_id: str) -> str:
        if turn_id not in self._turns:
            self._turns[turn_id] = f"t{next(self._count)}"
        return self._turns[turn_id]

    def _lines(self, record: r.Record) -> list[str]:
        match record:
            case r.SessionConfigured():
                now = f"{record.mode} {record.level} {record.model}"
                return [f"configured {now} by {record.by}"]
            case r.SessionRenamed():
                return [f"renamed {record.title!r} by {record.by}"]
            case r.QueueUpdated():
                waiting = [f"{self._turn(q.turn_id)} {_said(q.input)!r}" for q in record.queue]
                return [f"queue {', '.join(waiting) or 'empty'}"]
            case r.TurnStarted():
                return [f"turn {self._turn(record.turn_id)} from {record.client}"]
            case r.TurnSuspended():
                return ["  suspended"]
            case r.TurnResumed():
                return ["  resumed" + (" after a restart" if record.recovered else "")]
            case r.TurnCompleted():
                why = f": {record.error.code}: {record.error.message}" if record.error else ""
                what = f" stopped {list(record.stopped)}" if record.stopped else ""
                return [f"turn {self._turn(record.turn_id)} {record.stop_reason}{why}{what}"]
            case r.StepStarted():
                return [f"  step {record.number} {record.model}"]
            case r.StepCompleted():
                why = f": {record.error.code}" if record.error else ""
                return [f"  step end {record.finish_reason}{why}"]
            case r.ItemStarted():
                return _started(record.item)
            case r.ItemUpdated():
                return [f"  call {record.status}"]
            case r.ItemCompleted():
                return _completed(record)
            case r.ApprovalRequested():
                return _card(record.approval)
            case r.ApprovalResolved():
                more = f" feedback {record.feedback!r}" if record.feedback else ""
                more += f" option {record.option!r}" if record.option else ""
                return [f"  answer {record.decision} by {record.resolved_by}{more}"]
            case r.QuestionRequested():
                asked = [question.question for question in record.request.questions]
                return [f"  asks {asked}"]
            case r.QuestionResolved():
                given = [(answer.id, *answer.selected) for answer in record.answers]
                return [f"  answer {record.outcome} {given} by {record.resolved_by}"]
            case _:
                return []


def _said(input: tuple[InputPart, ...]) -> str:
    return " ".join(part.text if isinstance(part, TextPart) else part.type for part in input)


def _started(item: Item) -> list[str]:
    if isinstance(item, ToolCallItem):
        codes = [reason.code for reason in item.verdict.reasons]
        return [f"  call {item.title!r} {item.verdict.decision} {codes} {item.status}"]
    return []


def _completed(record: r.ItemCompleted) -> list[str]:
    item = record.item
    match item:
        case UserMessageItem():
            how = " steered" if item.steered else ""
            lines = [f"  user{how} {_said(item.input)!r}"]
            return [*lines, *(f"  context {text!r}" for text in record.context)]
        case ReplyItem() | ReasoningItem():
            return [f"  {item.kind} {item.status} {item.text!r}"]
        case ToolCallItem():
            return [f"  call {item.status}: {_short(record.result or '')!r}"]
        case NoticeItem():
            return [f"  notice {item.level} {item.text!r}"]
        case _:
            return [f"  {item.kind}"]


def _short(result: str) -> str:
    return result if len(result) <= 300 else f"{result[:300]}…"


def _card(card: Approval) -> list[str]:
    codes = [reason.code for reason in card.reasons]
    lines = [f"  card {card.kind} {card.title!r} {'/'.join(card.decisions)} {codes}"]
    subject = card.subject
    if isinstance(subject, CommandSubject):
        lines.append(f"    command {subject.command!r}")
    elif isinstance(subject, EditSubject):
        lines.extend(f"    {file.change} {file.uri} {file.diff!r}" for file in subject.files)
    elif isinstance(subject, PlanSubject):
        options = [option.label for option in subject.options]
        lines.append(f"    plan {subject.markdown!r} {options}")
    else:
        lines.append(f"    {subject.type}")
    if card.rules:
        lines.append(f"    rules {list(card.rules)}")
    lines.extend(f"    notice {notice!r}" for notice in card.notices)
    return lines
