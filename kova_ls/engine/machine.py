"""What a session's records mean: the state they lead to. Pure.

Everything that changes session state is here; nothing here knows who asked.
Invariant: `fold` raises before anything is written, so a journal never holds an illegal record:
at most one running turn, every started item and step ended once, every approval resolved once.
Invariant: a turn that nobody asked for begins only for an active goal, in mode `goal`, while no
prompt waits; a goal that is active when its turn was stopped or failed is none.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from kova_ls.engine.goals import traced
from kova_ls.engine.transitions import TRANSITIONS
from kova_ls.engine.usage import total
from kova_ls.errors import IllegalTransition
from kova_ls.journal import records as r
from kova_ls.values import (
    Answer,
    Approval,
    InputPart,
    Item,
    QuestionRequest,
    ToolCallItem,
    Usage,
    UserMessageItem,
)
from kova_ls.vocabulary import (
    ApprovalLevel,
    GoalStatus,
    ItemStatus,
    Mode,
    SessionState,
    StopReason,
)


@dataclass(frozen=True, slots=True)
class Reply:
    """What was said to a card or to questions."""

    decision: str
    """A card's decision, `allowed`, `blocked`, `superseded`, `cancelled`, `answered`, `declined`."""
    resolved_by: str
    answers: tuple[Answer, ...] = ()
    option: str | None = None
    feedback: str | None = None
    card: Approval | None = None
    """The card that was answered."""


_NONE: Mapping[str, Any] = MappingProxyType({})


class State(NamedTuple):
    """A session as its records make it.

    A tuple, since five times a step a new one is made of it: a dataclass takes five times as long.
    """

    session_id: str = ""
    epoch: str = ""
    workspace: str | None = None
    """`file:` URI."""
    title: str = ""
    mode: Mode = Mode.AGENT
    level: ApprovalLevel = ApprovalLevel.ASK
    model: str = ""
    trusted: bool = False
    parent_id: str | None = None
    archived: bool = False
    status: SessionState = SessionState.IDLE
    turn_id: str | None = None
    step_id: str | None = None
    step_number: int = 0
    """Of the running turn."""
    has_replied: bool = False
    """The open step's model answer is complete."""
    calls: tuple[r.CallRequest, ...] = ()
    """The open step's calls that have not ended, in order."""
    open_items: tuple[Item, ...] = ()
    """Started and not ended."""
    approvals: tuple[Approval, ...] = ()
    questions: tuple[QuestionRequest, ...] = ()
    queue: tuple[r.QueuedPrompt, ...] = ()
    prompts: Mapping[str, str] = _NONE
    """Prompt id -> turn id, of every turn."""
    usage: Usage = Usage()
    roots: tuple[r.RootEntry, ...] = ()
    changes: Mapping[str, r.ChangesUpdated] = _NONE
    """What is not reviewed, in the order of the first change."""
    reverted: tuple[str, ...] = ()
    """Files in which a person put changes back, of which the model was not told yet."""
    input: tuple[InputPart, ...] = ()
    """Of the running turn, until it stands in the transcript."""
    client: str | None = None
    """Name of the editor that the running turn came from."""
    client_id: str | None = None
    """Window of that editor."""
    unattended: ApprovalLevel | None = None
    """Level of the running turn when nobody watches it."""
    ended: r.TurnCompleted | None = None
    """How the last turn ended; absent while one runs."""
    resumed_steps: int = 0
    """Recoveries since the last completed step."""
    answers: Mapping[str, Reply] = _NONE
    """Call id -> what the person said of it, until the call ends."""
    goal: r.Goal | None = None
    """The last one that was set, also when it has ended."""
    tally: r.GoalTally = r.GoalTally()
    turn_goal_id: str | None = None
    """The running turn began by itself, for this goal, and nobody said anything in it yet."""
    trace: str = ""
    """Digest of what the running turn's calls were and gave, while there is an active goal."""
    tokens_before: int = 0
    """What the session had used when the last turn began."""
    held: frozenset[str] | None = None
    """Someone said stop: the prompts that waited then. Until a later one is worked on, the model
    sets no goal and makes none active again."""

    @property
    def has_active_goal(self) -> bool:
        """True while turns may begin by themselves."""
        return self.goal is not None and self.goal.status is GoalStatus.ACTIVE

    @property
    def is_waiting(self) -> bool:
        """True while the turn waits for a person."""
        return self.status is SessionState.WAITING


def fold(state: State | None, record: r.Record) -> State:
    """Return the state after the record.

    Raises: IllegalTransition; the caller then writes nothing.
    """
    if isinstance(record, r.SessionCreated):
        if state is not None:
            raise _illegal(state, record, "a session is created once")
        return State(
            session_id=record.session_id,
            epoch=record.epoch,
            workspace=record.workspace,
            title=record.title,
            mode=record.mode,
            level=record.level,
            model=record.model,
            trusted=record.trusted,
            parent_id=record.parent_id,
        )
    if state is None:
        raise IllegalTransition(f"{record!r} before the session was created")
    status = TRANSITIONS[state.status].get(type(record))
    if status is None:
        raise _illegal(state, record, f"not while {state.status}")
    return _apply(state, record, status)


def _apply(state: State, record: r.Record, status: SessionState) -> State:
    match record:
        case r.SessionConfigured():
            stays = record.mode is Mode.GOAL or not state.has_active_goal
            _require(stays, state, record, "a goal is active")
            return state._replace(mode=record.mode, level=record.level, model=record.model)
        case r.SessionRenamed():
            return state._replace(title=record.title)
        case r.SessionArchived():
            return state._replace(archived=record.archived)
        case r.QueueUpdated():
            return state._replace(queue=record.queue)
        case r.RootsChanged():
            return state._replace(roots=record.roots)
        case r.ChangesUpdated():
            changes = {**state.changes, record.change_id: record}
            if not record.is_open:
                del changes[record.change_id]
            reverted = state.reverted
            if record.decision == "revert" and record.uri not in reverted:
                reverted = (*reverted, record.uri)
            return state._replace(changes=changes, reverted=reverted)
        case r.GoalUpdated():
            is_active = record.goal.status is GoalStatus.ACTIVE
            _require(not is_active or state.mode is Mode.GOAL, state, record, "not in this mode")
            held = None if is_active else state.held
            if record.goal.status in (GoalStatus.PAUSED, GoalStatus.CANCELLED):
                held = _waiting_prompts(state)
            return state._replace(goal=record.goal, tally=record.tally, held=held)
        case r.TurnStarted():
            if record.goal_id is not None:
                is_due = state.has_active_goal and not state.queue
                _require(is_due, state, record, "no goal is active, or a prompt waits")
            is_new = record.goal_id is None and record.prompt_id not in (state.held or ())
            return state._replace(
                status=status,
                turn_id=record.turn_id,
                ended=None,
                step_number=0,
                resumed_steps=0,
                input=record.input,
                client=record.client,
                client_id=record.client_id,
                unattended=record.level,
                turn_goal_id=record.goal_id,
                tokens_before=state.usage.input_tokens + state.usage.output_tokens,
                held=None if is_new else state.held,
                queue=tuple(q for q in state.queue if q.prompt_id != record.prompt_id),
                prompts={**state.prompts, record.prompt_id: record.turn_id},
            )
        case r.TurnSuspended():
            _require(state.approvals or state.questions, state, record, "nothing is asked")
            return state._replace(status=status)
        case r.TurnResumed():
            return state._replace(
                status=SessionState.WAITING if state.approvals or state.questions else status,
                resumed_steps=state.resumed_steps + record.recovered,
            )
        case r.TurnCompleted():
            idle = not (state.step_id or state.open_items or state.approvals or state.questions)
            _require(idle, state, record, "something of the turn is still open")
            is_done = record.stop_reason is StopReason.DONE
            _require(is_done or not state.has_active_goal, state, record, "the goal is active")
            is_stopped = record.stop_reason is StopReason.INTERRUPTED
            return state._replace(
                status=status,
                turn_id=None,
                ended=record,
                step_number=0,
                resumed_steps=0,
                usage=record.usage,
                input=(),
                client=None,
                client_id=None,
                turn_goal_id=None,
                trace="",
                held=_waiting_prompts(state) if is_stopped else state.held,
            )
        case r.StepStarted():
            _require(state.step_id is None, state, record, "a step is open")
            return state._replace(
                step_id=record.step_id, step_number=record.number, has_replied=False
            )
        case r.ModelReplied():
            open_step = state.step_id == record.step_id and not state.has_replied
            _require(open_step, state, record, "no such step waits for the model")
            usage = total(state.usage, record.usage)
            return state._replace(has_replied=True, calls=record.calls, usage=usage)
        case r.StepCompleted():
            _require(state.step_id == record.step_id, state, record, "no such step is open")
            _require(not state.open_items, state, record, "an item is open")
            usage = state.usage if state.has_replied else total(state.usage, record.usage)
            return state._replace(
                step_id=None, calls=(), has_replied=False, resumed_steps=0, usage=usage
            )
        case r.ItemStarted():
            item_id = record.item.item_id
            _require(_item(state, item_id) is None, state, record, "the item is open already")
            prompts, turn_goal_id = state.prompts, state.turn_goal_id
            if isinstance(record.item, UserMessageItem):
                if record.item.prompt_id:
                    prompts = {**prompts, record.item.prompt_id: state.turn_id or ""}
                if record.item.steered:
                    turn_goal_id = None
            return state._replace(
                open_items=(*state.open_items, record.item),
                prompts=prompts,
                turn_goal_id=turn_goal_id,
            )
        case r.ItemUpdated():
            item = _item(state, record.item_id)
            _require(isinstance(item, ToolCallItem), state, record, "no such call is open")
            return state._replace(
                open_items=tuple(
                    known.model_copy(update={"status": record.status})
                    if known.item_id == record.item_id
                    else known
                    for known in state.open_items
                ),
            )
        case r.ItemCompleted():
            item_id = record.item.item_id
            _require(_item(state, item_id) is not None, state, record, "no such item is open")
            said = isinstance(record.item, UserMessageItem)
            return state._replace(
                input=() if said else state.input,
                reverted=() if said else state.reverted,
                open_items=tuple(i for i in state.open_items if i.item_id != item_id),
                calls=tuple(c for c in state.calls if c.call_id != item_id),
                trace=traced(state.trace, record) if state.has_active_goal else state.trace,
                answers={key: said for key, said in state.answers.items() if key != item_id},
            )
        case r.ApprovalRequested():
            known = any(a.approval_id == record.approval.approval_id for a in state.approvals)
            _require(not known, state, record, "the approval is open already")
            call_id = record.approval.call_id
            return state._replace(
                approvals=(*state.approvals, record.approval),
                answers={key: said for key, said in state.answers.items() if key != call_id},
            )
        case r.ApprovalResolved():
            found = [a for a in state.approvals if a.approval_id == record.approval_id]
            _require(found, state, record, "no such approval is open")
            said = Reply(
                record.decision, record.resolved_by, (), record.option, record.feedback, found[0]
            )
            return state._replace(
                approvals=tuple(a for a in state.approvals if a not in found),
                answers={**state.answers, found[0].call_id: said},
            )
        case r.QuestionRequested():
            return state._replace(questions=(*state.questions, record.request))
        case r.QuestionResolved():
            asked = [q for q in state.questions if q.question_id == record.question_id]
            _require(asked, state, record, "no such question is open")
            said = Reply(record.outcome, record.resolved_by, record.answers)
            return state._replace(
                questions=tuple(q for q in state.questions if q not in asked),
                answers={**state.answers, asked[0].call_id: said},
            )
        case _:
            raise _illegal(state, record, "unknown record")


def _item(state: State, item_id: str) -> Item | None:
    for item in state.open_items:
        if item.item_id == item_id:
            return item
    return None


def _waiting_prompts(state: State) -> frozenset[str]:
    return frozenset(queued.prompt_id for queued in state.queue)


def _require(condition: object, state: State, record: r.Record, why: str) -> None:
    if not condition:
        raise _illegal(state, record, why)


def _illegal(state: State, record: r.Record, why: str) -> IllegalTransition:
    return IllegalTransition(
        f"{type(record).__name__} in session {state.session_id!r}: {why}",
        status=state.status,
        turn=state.turn_id,
        step=state.step_id,
        open_items=[item.item_id for item in state.open_items],
    )


def end_of(item: Item, status: ItemStatus, error: str | None = None) -> Item:
    """Return the item as ended without a result of its own."""
    match item:
        case ToolCallItem():
            return item.model_copy(update={"status": status, "error": error})
        case _ if "status" in type(item).model_fields:
            return item.model_copy(update={"status": status})
        case _:
            return item
