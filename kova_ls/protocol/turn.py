"""Turns: start, steer, interrupt; the loop view; large outputs."""

from pydantic import Field

from kova_ls.protocol._base import WireModel
from kova_ls.values import Failure, InputPart, Usage, Verdict
from kova_ls.vocabulary import InterruptScope, ItemStatus, StartStatus, StopReason, WhenBusy


class TurnStartParams(WireModel):
    """Give the session something to do."""

    session_id: str
    """Opaque id."""
    input: tuple[InputPart, ...] = Field(min_length=1)
    """What the person says and attaches."""
    prompt_id: str | None = Field(default=None, min_length=1, max_length=200)
    """The same id again returns the same turn."""
    when_busy: WhenBusy = WhenBusy.REJECT
    """What to do when a turn runs."""
    automation: str | None = Field(default=None, min_length=1, max_length=200)
    """Nobody watches: what would ask is denied at once, and the level is the one that the user's
    settings give to runs of this name."""


class TurnStartResult(WireModel):
    """Answered at once; the turn's end is an event."""

    turn_id: str
    """The turn it became, will become, or went into."""
    status: StartStatus
    """What became of it."""


class TurnSteerParams(WireModel):
    """Say something into the running turn; the model reads it before its next step."""

    session_id: str
    """Opaque id."""
    expected_turn_id: str
    """Refused when another turn runs."""
    input: tuple[InputPart, ...] = Field(min_length=1)
    """What the person says."""


class TurnWithdrawParams(WireModel):
    """Take back a prompt that still waits for its turn."""

    session_id: str
    """Opaque id."""
    prompt_id: str
    """From the queue."""


class TurnWithdrawResult(WireModel):
    """The prompt waits no longer; nothing of it reached the model."""

    input: tuple[InputPart, ...]
    """As given, to be changed and sent again."""


class TurnInterruptParams(WireModel):
    """Stop the running turn."""

    session_id: str
    """Opaque id."""
    expected_turn_id: str | None = None
    """Refused when another turn runs."""
    scope: InterruptScope = InterruptScope.TURN
    """`turnAndTasks` stops background tasks too."""


class TurnInterruptResult(WireModel):
    """Answered when everything named has stopped."""

    stopped: tuple[str, ...]
    """What was stopped, in words."""
    still_running: tuple[str, ...] = ()
    """Background tasks that go on."""


class OutputReadParams(WireModel):
    """A range of a large output."""

    output_ref: str
    """From an item."""
    offset: int = Field(default=0, ge=0)
    """In bytes; moved back to a character's start."""
    limit: int = Field(default=65_536, ge=1, le=200_000)
    """In bytes."""


class OutputReadResult(WireModel):
    """The range."""

    text: str
    """Decoded as UTF-8."""
    offset: int
    """Where the range begins, in bytes."""
    next_offset: int
    """Where the next one begins."""
    total_bytes: int
    """Size of the whole output so far."""


class LoopReadParams(WireModel):
    """Look inside a turn."""

    session_id: str
    """Opaque id."""
    turn_id: str | None = None
    """Absent = the last turn."""


class LoopCall(WireModel):
    """A tool call of a step."""

    call_id: str
    """Opaque id."""
    tool: str
    """Name."""
    title: str
    """One line that says what it does."""
    verdict: Verdict
    """With every reason."""
    status: ItemStatus
    """How it ended."""
    duration_ms: float | None = None
    """From its start to its end; waiting for a person not counted."""


class LoopStep(WireModel):
    """A model call and the calls it asked for."""

    step_id: str
    """Opaque id."""
    number: int
    """Counts from 1."""
    model: str
    """Name in the configuration."""
    intent: str
    """What the step was trying to do: the first line the model said, or its calls' titles."""
    started_at: float
    """Unix seconds."""
    duration_ms: float | None = None
    """Of the whole step; absent while it runs."""
    first_token_ms: float | None = None
    """From the request to the first piece of the answer."""
    usage: Usage
    """Of the model call."""
    finish_reason: str | None = None
    """In the provider's words."""
    calls: tuple[LoopCall, ...]
    """In order."""
    error: Failure | None = None
    """When the model call failed."""


class LoopReadResult(WireModel):
    """A turn from inside."""

    turn_id: str
    """Which turn."""
    steps: tuple[LoopStep, ...]
    """In order."""
    stop_reason: StopReason | None = None
    """Absent while it runs."""
    stopped_because: str
    """Why the turn stopped, in a sentence."""
    error: Failure | None = None
    """When it failed."""
