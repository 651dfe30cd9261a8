"""The facts a session's journal holds, and that editors are told.

Each record is one event: `type` is the event's type, the fields are its payload. `private_fields`
stay on disk (what the model was told, provider data) and never travel.
Invariant: records are only ever added to; a field is added optional, never renamed or retyped.
"""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from kova_ls.values import (
    Answer,
    Approval,
    Failure,
    ImagePart,
    InputPart,
    Item,
    QuestionRequest,
    Usage,
    Value,
)
from kova_ls.vocabulary import (
    ApprovalLevel,
    GoalStatus,
    ItemStatus,
    Mode,
    RootSource,
    StopReason,
)

VERSION = 1
"""Of the record shapes; `upgrade.py` lifts older ones."""


class Record(Value):
    """Base of all records; the store adds `seq` and `at` to each line."""

    private_fields: ClassVar[frozenset[str]] = frozenset()
    tag: ClassVar[str] = ""
    """The event type."""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        cls.tag = str(cls.model_fields["type"].default)


class SessionCreated(Record):
    """First record of every journal."""

    type: Literal["session.created"] = "session.created"
    """Tag."""
    version: int = VERSION
    """Of the record shapes."""
    session_id: str
    """Opaque id."""
    epoch: str
    """Changes only when a journal is rewritten."""
    workspace: str | None
    """`file:` URI of the permission workspace; null when the session has none."""
    title: str
    """Shown in lists."""
    mode: Mode
    """May it change things?"""
    level: ApprovalLevel
    """Must it ask?"""
    model: str
    """Name in the configuration."""
    trusted: bool = False
    """The creating editor trusted the folder."""
    parent_id: str | None = None
    """Session that started this one."""


class SessionConfigured(Record):
    """Mode, level or model changed; absent fields did not."""

    type: Literal["session.configured"] = "session.configured"
    """Tag."""
    mode: Mode
    """Now in force."""
    level: ApprovalLevel
    """Now in force."""
    model: str
    """Now in force."""
    by: str
    """Client name, `plan_exit` or `goal`."""


class SessionRenamed(Record):
    """The title changed."""

    type: Literal["session.renamed"] = "session.renamed"
    """Tag."""
    title: str
    """The new title."""
    by: str
    """Client name, or `engine` for a title made from the first prompt."""


class SessionArchived(Record):
    """The session left or re-entered the usual list."""

    type: Literal["session.archived"] = "session.archived"
    """Tag."""
    archived: bool
    """False when it was taken back."""


class QueuedPrompt(Value):
    """A prompt that waits for the running turn to end."""

    prompt_id: str
    """Given by the client or made here."""
    turn_id: str
    """The turn it will become."""
    input: tuple[InputPart, ...]
    """As given."""
    client: str | None = None
    """Name of the editor it came from."""
    automation: str | None = None
    """Name of the run that nobody watches."""


class QueueUpdated(Record):
    """The prompts that wait, all of them, in order."""

    type: Literal["queue.updated"] = "queue.updated"
    """Tag."""
    queue: tuple[QueuedPrompt, ...]
    """Empty when none waits."""


class TurnStarted(Record):
    """A prompt began to be worked on."""

    type: Literal["turn.started"] = "turn.started"
    """Tag."""
    turn_id: str
    """Opaque id."""
    prompt_id: str
    """The same id again returns the same turn."""
    input: tuple[InputPart, ...] = ()
    """As given."""
    client: str | None = None
    """Name of the editor it came from."""
    client_id: str | None = None
    """Id of the editor's window."""
    automation: str | None = None
    """Name of a run that nobody watches: what would ask is denied in it."""
    level: ApprovalLevel | None = None
    """Of such a run, in place of the session's."""
    goal_id: str | None = None
    """The goal for which the engine began the turn by itself; absent when somebody asked."""


class TurnSuspended(Record):
    """The turn waits for a person."""

    type: Literal["turn.suspended"] = "turn.suspended"
    """Tag."""
    turn_id: str
    """Which turn."""
    waiting_for: str
    """Approval id or question id."""


class TurnResumed(Record):
    """The turn goes on."""

    type: Literal["turn.resumed"] = "turn.resumed"
    """Tag."""
    turn_id: str
    """Which turn."""
    recovered: bool = False
    """True when the engine was restarted in between."""


class TurnCompleted(Record):
    """The turn ended. Always after every item and step of it ended."""

    type: Literal["turn.completed"] = "turn.completed"
    """Tag."""
    turn_id: str
    """Which turn."""
    stop_reason: StopReason
    """Why it ended."""
    usage: Usage = Usage()
    """Of the session so far."""
    error: Failure | None = None
    """When it failed."""
    stopped: tuple[str, ...] = ()
    """What an interrupt stopped."""


class StepStarted(Record):
    """A model call began."""

    type: Literal["step.started"] = "step.started"
    """Tag."""
    turn_id: str
    """Which turn."""
    step_id: str
    """Opaque id."""
    number: int
    """Counts from 1 within the turn."""
    model: str
    """Name in the configuration."""


class CallRequest(Value):
    """A tool call as the model asked for it."""

    call_id: str
    """Ours, unique in the session."""
    provider_id: str
    """The provider's id, sent back with the result."""
    tool: str
    """Name as the model wrote it."""
    arguments: str
    """JSON text as the model wrote it."""
    opaque: dict[str, Any] | None = None
    """What the provider wants back with the call, such as a thought signature."""
    was_cut_off: bool = False
    """Its arguments are no whole JSON object: it is never run, and the model is told."""


class ModelReplied(Record):
    """The model's answer is complete; its calls are judged next."""

    private_fields: ClassVar[frozenset[str]] = frozenset({"calls", "opaque", "api"})
    type: Literal["model.replied"] = "model.replied"
    """Tag."""
    turn_id: str
    """Which turn."""
    step_id: str
    """Which step."""
    opaque: tuple[dict[str, Any], ...] = ()
    """Provider data that must be sent back: signed or encrypted reasoning."""
    api: str = ""
    """Which adapter `opaque` belongs to."""
    calls: tuple[CallRequest, ...] = ()
    """In order."""
    finish_reason: str | None = None
    """In the provider's words."""
    usage: Usage = Usage()
    """Of this call."""
    total: Usage | None = None
    """Of the session, this call included; absent in what older versions wrote."""
    first_token_ms: float | None = None
    """From the request to the first piece of the answer."""


class StepCompleted(Record):
    """A step ended: the answer came and every call in it ended, or it was cut short."""

    type: Literal["step.completed"] = "step.completed"
    """Tag."""
    turn_id: str
    """Which turn."""
    step_id: str
    """Which step."""
    usage: Usage = Usage()
    """Of this step's model call."""
    finish_reason: str | None = None
    """In the provider's words; `interrupted` or `failed` when cut short by us."""
    first_token_ms: float | None = None
    """From the request to the first piece of the answer."""
    error: Failure | None = None
    """When the model call failed."""


class ItemStarted(Record):
    """A transcript entry appeared."""

    type: Literal["item.started"] = "item.started"
    """Tag."""
    turn_id: str | None = None
    """Which turn."""
    step_id: str | None = None
    """Which step."""
    item: Item
    """As far as it is known."""


class ItemUpdated(Record):
    """A waiting call began to run."""

    type: Literal["item.updated"] = "item.updated"
    """Tag."""
    turn_id: str | None = None
    """Which turn."""
    item_id: str
    """Which item."""
    status: ItemStatus
    """How far it is."""


class ItemCompleted(Record):
    """A transcript entry ended; `item` is the whole of it."""

    private_fields: ClassVar[frozenset[str]] = frozenset({"result", "context", "images"})
    type: Literal["item.completed"] = "item.completed"
    """Tag."""
    turn_id: str | None = None
    """Which turn."""
    step_id: str | None = None
    """Which step."""
    item: Item
    """The whole entry."""
    result: str | None = None
    """A tool call: what the model is told."""
    context: tuple[str, ...] = ()
    """A user message: what was put into the context for its mentions."""
    images: tuple[ImagePart, ...] = ()
    """A user message: the pictures that it named by their files, as they were then."""


class ApprovalRequested(Record):
    """A call waits for a person's yes."""

    type: Literal["approval.requested"] = "approval.requested"
    """Tag."""
    approval: Approval
    """The card."""


class ApprovalResolved(Record):
    """A card was answered, withdrawn or replaced."""

    type: Literal["approval.resolved"] = "approval.resolved"
    """Tag."""
    approval_id: str
    """Which card."""
    turn_id: str
    """Which turn."""
    decision: str
    """One of the card's decisions, or `cancelled`, `superseded`, `allowed`, `blocked`."""
    resolved_by: str
    """Client name, `level`, `mode`, `interrupt` or `engine`."""
    feedback: str | None = None
    """What the person said with it; goes to the model."""
    option: str | None = None
    """Plan cards: the chosen approach."""


class QuestionRequested(Record):
    """The turn waits for answers."""

    type: Literal["question.requested"] = "question.requested"
    """Tag."""
    request: QuestionRequest
    """The questions."""


class QuestionResolved(Record):
    """Questions were answered, declined or withdrawn."""

    type: Literal["question.resolved"] = "question.resolved"
    """Tag."""
    question_id: str
    """Which request."""
    turn_id: str
    """Which turn."""
    answers: tuple[Answer, ...] = ()
    """Empty when declined."""
    outcome: Literal["answered", "declined", "cancelled"]
    """What became of it."""
    resolved_by: str
    """Client name, `interrupt` or `engine`."""


class RootsChanged(Record):
    """The writable roots changed."""

    type: Literal["roots.changed"] = "roots.changed"
    """Tag."""
    roots: tuple["RootEntry", ...]
    """All that count now."""


class RootEntry(Value):
    """A folder outside the workspace that counts as inside."""

    uri: str
    """`file:` URI."""
    source: RootSource
    """Where it comes from."""


class ChangesUpdated(Record):
    """What the agent did to a file, as far as no person has reviewed it."""

    private_fields: ClassVar[frozenset[str]] = frozenset({"base", "written", "permissions"})
    type: Literal["changes.updated"] = "changes.updated"
    """Tag."""
    change_id: str
    """Opaque id; one per file until all of it is reviewed."""
    uri: str
    """`file:` URI."""
    change: Literal["create", "modify", "delete"]
    """What happened to the file."""
    turn_id: str | None = None
    """The turn that wrote; null for a decision."""
    turn_ids: tuple[str, ...] = ()
    """All turns that took part, in order."""
    base: str | None = None
    """SHA-256 of the text before, kept beside the journal; null when there was no file."""
    written: str | None = None
    """SHA-256 of the text as the agent left it; null when the file is gone."""
    added_lines: int = 0
    """Of what is not reviewed."""
    removed_lines: int = 0
    """Of what is not reviewed."""
    decision: Literal["keep", "revert"] | None = None
    """What a person decided, of a part or of all."""
    by: str | None = None
    """Client name of that person's editor."""
    is_open: bool = True
    """Something of it is not reviewed yet."""
    permissions: int | None = None
    """Of a file that is gone, to come back with."""


class GoalBudget(Value):
    """How much a goal may use before it waits for the person; what is absent has no limit."""

    turns: int | None = None
    """Turns that the engine begins by itself."""
    tokens: int | None = None
    """Tokens of these turns and of the person's while it was active, read and written."""


class Goal(Value):
    """What a session works towards over several turns."""

    goal_id: str
    """Opaque id."""
    objective: str
    """What is to be reached, in the model's words."""
    completion_criterion: str | None = None
    """How it can be told that it is reached."""
    status: GoalStatus
    """Where it stands."""
    reason: str | None = None
    """Why it stands there, in a sentence."""
    by: str
    """Who brought it there: client name, `goal` (the tool) or `engine`."""
    turns: int = 0
    """Turns that the engine began for it by itself."""
    tokens: int = 0
    """What it has used."""
    budget: GoalBudget | None = None
    """Set by the person only; absent means no limit."""


class GoalTally(Value):
    """What is counted over the turns of a goal to tell work from standing still."""

    blocked_turns: int = 0
    """Turns in a row in which the model found itself blocked."""
    blocked_in: str | None = None
    """The last of them."""
    idle_turns: int = 0
    """Turns in a row that brought nothing new."""
    trace: str = ""
    """Digest of what the calls of the last turn were and gave."""
    closed_in: str | None = None
    """The turn in which the model ended a goal that was paused or had a budget."""


class GoalUpdated(Record):
    """The session's goal as it stands now."""

    private_fields: ClassVar[frozenset[str]] = frozenset({"tally"})
    type: Literal["goal.updated"] = "goal.updated"
    """Tag."""
    goal: Goal
    """The whole of it."""
    tally: GoalTally = GoalTally()
    """What is counted beside it."""


AnyRecord = Annotated[
    SessionCreated
    | SessionConfigured
    | SessionRenamed
    | SessionArchived
    | QueueUpdated
    | TurnStarted
    | TurnSuspended
    | TurnResumed
    | TurnCompleted
    | StepStarted
    | ModelReplied
    | StepCompleted
    | ItemStarted
    | ItemUpdated
    | ItemCompleted
    | ApprovalRequested
    | ApprovalResolved
    | QuestionRequested
    | QuestionResolved
    | RootsChanged
    | ChangesUpdated
    | GoalUpdated,
    Field(discriminator="type"),
]

EVERY_TURN = (
    SessionRenamed,
    TurnStarted,
    StepStarted,
    ItemStarted,
    ItemCompleted,
    ModelReplied,
    StepCompleted,
    TurnCompleted,
)
"""What even the shortest turn writes."""
