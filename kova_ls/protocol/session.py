"""Sessions: create, list, attach from a cursor, configure, end."""

from pydantic import Field

from kova_ls.journal.records import Goal, QueuedPrompt, RootEntry
from kova_ls.protocol._base import WireModel
from kova_ls.protocol.event import Event
from kova_ls.values import Approval, Failure, Item, QuestionRequest, Usage
from kova_ls.vocabulary import ApprovalLevel, Detail, Mode, SessionState, StopReason


class Cursor(WireModel):
    """A place in a session's events."""

    epoch: str
    """Of the session."""
    seq: int
    """Last event seen."""


class SessionRef(WireModel):
    """Names a session."""

    session_id: str
    """Opaque id."""


class SessionCreateParams(WireModel):
    """A new conversation; the caller is attached to it."""

    workspace: str | None = None
    """`file:` URI; absent = the editor's first folder."""
    title: str | None = None
    """Absent = made from the first prompt."""
    mode: Mode | None = None
    """Absent = `agent`."""
    level: ApprovalLevel | None = None
    """Absent = `workspace-write` where the folder is trusted, else `ask`."""
    model: str | None = None
    """Name in the configuration; absent = the default."""
    detail: Detail | None = None
    """How much of the events; absent = `deltas`."""
    max_latency_ms: int | None = None
    """Overrides the handshake's."""


class SessionSummary(WireModel):
    """A session in a list."""

    session_id: str
    """Opaque id."""
    title: str
    """Shown in lists."""
    workspace: str | None = None
    """`file:` URI."""
    mode: Mode
    """May it change things?"""
    level: ApprovalLevel
    """Must it ask?"""
    model: str
    """Name in the configuration."""
    state: SessionState
    """What it is doing."""
    archived: bool = False
    """Left the usual list."""
    created_at: float
    """Unix seconds."""
    updated_at: float
    """Unix seconds."""
    parent_id: str | None = None
    """Session that started this one."""


class SessionListParams(WireModel):
    """Which sessions."""

    workspace: str | None = None
    """Only of this folder."""
    query: str | None = None
    """Only titles that hold this text."""
    archived: bool = False
    """Only archived ones."""
    limit: int = Field(default=50, ge=1, le=500)
    """At most so many."""
    cursor: str | None = None
    """`nextCursor` of the page before."""


class SessionListResult(WireModel):
    """A page of sessions, the latest used first."""

    sessions: tuple[SessionSummary, ...]
    """The page."""
    next_cursor: str | None = None
    """Absent on the last page."""


class TurnEnd(WireModel):
    """How a turn ended."""

    turn_id: str
    """Which turn."""
    stop_reason: StopReason
    """Why."""
    error: Failure | None = None
    """When it failed."""
    stopped: tuple[str, ...] = ()
    """What was stopped, in words."""


class SessionSnapshot(WireModel):
    """A session as it stands at the watermark."""

    session_id: str
    """Opaque id."""
    title: str
    """Shown in lists."""
    workspace: str | None = None
    """`file:` URI."""
    roots: tuple[RootEntry, ...] = ()
    """Writable roots that count now."""
    mode: Mode
    """May it change things?"""
    level: ApprovalLevel
    """Must it ask?"""
    model: str
    """Name in the configuration."""
    parent_id: str | None = None
    """Session that started this one."""
    state: SessionState
    """What it is doing."""
    turn_id: str | None = None
    """The running turn."""
    ended: TurnEnd | None = None
    """How the last turn ended; absent while one runs and before the first."""
    queue: tuple[QueuedPrompt, ...] = ()
    """Prompts that wait."""
    items: tuple[Item, ...]
    """The last page of the transcript, oldest first."""
    items_before: int | None = None
    """`before` for `kova/session/read` when there are older items."""
    approvals: tuple[Approval, ...]
    """Still open."""
    questions: tuple[QuestionRequest, ...]
    """Still open."""
    usage: Usage
    """Of the session."""
    goal: Goal | None = None
    """What it works towards; the last one, also when it has ended."""
    watermark: Cursor
    """Last event that the snapshot includes."""
    notices: tuple[str, ...] = ()
    """Things the person should know, such as a broken permission file."""


class SessionAttachParams(WireModel):
    """Follow a session."""

    session_id: str
    """Opaque id."""
    cursor: Cursor | None = None
    """Last event seen; absent = a whole snapshot is enough."""
    detail: Detail = Detail.DELTAS
    """Less detail leaves out deltas, then item bodies, never an event."""
    max_latency_ms: int | None = None
    """Overrides the handshake's."""


class SessionAttachResult(WireModel):
    """Where the session stands; events after the watermark follow."""

    snapshot: SessionSnapshot
    """As of the watermark."""
    events: tuple[Event, ...]
    """Those after the cursor, oldest first; the first page."""
    watermark: Cursor
    """Last event sent here. When `more` is true, attach again from it."""
    more: bool = False
    """There are further events before those that will be sent."""
    reset: bool = False
    """The cursor was of another epoch: drop what you had and take the snapshot."""


class SessionReadParams(WireModel):
    """A page of the transcript."""

    session_id: str
    """Opaque id."""
    before: int | None = None
    """Only items that began before this seq."""
    limit: int = Field(default=50, ge=1, le=500)
    """At most so many."""


class SessionReadResult(WireModel):
    """Items, newest first."""

    items: tuple[Item, ...]
    """The page."""
    before: int | None = None
    """For the next page; absent on the last."""


class SessionConfigureParams(WireModel):
    """Change settings; absent fields stay."""

    session_id: str
    """Opaque id."""
    mode: Mode | None = None
    """May it change things?"""
    level: ApprovalLevel | None = None
    """Must it ask?"""
    model: str | None = None
    """Name in the configuration."""


class SessionSettings(WireModel):
    """The settings now in force."""

    mode: Mode
    """May it change things?"""
    level: ApprovalLevel
    """Must it ask?"""
    model: str
    """Name in the configuration."""


class SessionRenameParams(WireModel):
    """A new title."""

    session_id: str
    """Opaque id."""
    title: str = Field(min_length=1, max_length=200)
    """One line."""


class SessionArchiveParams(WireModel):
    """Leave or re-enter the usual list."""

    session_id: str
    """Opaque id."""
    archived: bool = True
    """False takes it back."""
