"""What every model adapter gives and takes.

Order: a reply's deltas reach the sink before `run` returns the whole `ModelReply`.
Invariant: an adapter never runs a tool and never retries after a call was accepted.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from kova_ls.config import ModelSettings
from kova_ls.errors import AdapterFailure
from kova_ls.values import Usage
from kova_ls.vocabulary import Outcome


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is told of it."""

    name: str
    description: str
    schema: dict[str, Any]
    """JSON Schema of the arguments, `type: object`, closed."""


@dataclass(frozen=True, slots=True)
class TextContent:
    """Text in a message."""

    text: str


@dataclass(frozen=True, slots=True)
class ImageContent:
    """A picture in a message."""

    data: str
    """Base64."""
    mime_type: str


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What the person (or the engine for them) says."""

    content: tuple[TextContent | ImageContent, ...]


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A tool call in a reply."""

    id: str
    """The provider's; made up by the adapter where the provider gives none."""
    name: str
    arguments: str
    """JSON text, checked to parse to an object (an empty text counts as `{}`)."""
    opaque: dict[str, Any] | None = None
    """What the provider wants back with this call (Gemini's thought signature)."""


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """What the model said in an earlier step."""

    text: str
    calls: tuple[ModelCall, ...] = ()
    opaque: tuple[dict[str, Any], ...] = ()
    """Reasoning items to send back, in order; meaningful to the adapter named by `api` only."""
    api: str = ""


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """The result of one call."""

    call_id: str
    """The provider's id of the call."""
    name: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class ToolOutputs:
    """The results of all calls of one step, in the order of the calls."""

    outputs: tuple[ToolOutput, ...]


Message = UserMessage | AssistantMessage | ToolOutputs


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One model call."""

    system: str
    messages: Sequence[bytes]
    """Each neutral message as this adapter's `encode` gave it, in order."""
    tools: tuple[ToolSpec, ...]
    session_id: str = ""
    """For the provider's cache routing, where it has one."""


@dataclass(frozen=True, slots=True)
class IncompleteCall:
    """A call that was cut off in its arguments; never run."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A whole answer."""

    text: str = ""
    reasoning: str = ""
    """All that was shown as reasoning, a summary included."""
    reasoning_summary: str = ""
    """The end of `reasoning` that is the provider's summary and not the reasoning itself."""
    calls: tuple[ModelCall, ...] = ()
    incomplete_calls: tuple[IncompleteCall, ...] = ()
    opaque: tuple[dict[str, Any], ...] = ()
    finish_reason: str | None = None
    """In the provider's own word."""
    raw_usage: dict[str, Any] | None = None
    """In the provider's own words."""
    usage: Usage = field(default_factory=Usage)
    error: AdapterFailure | None = None
    raw_error: Any = None
    """In the provider's own words."""
    outcome: Outcome = Outcome.COMPLETE


Sink = Callable[[Literal["text", "reasoning"], str], None]
"""Called for each piece of the answer, on the loop's thread; must not block."""

OnRetry = Callable[[int, float, AdapterFailure], None]
"""Called before waiting: attempt number from 1, seconds to wait, what happened."""


class Adapter(Protocol):
    """One way of talking to models."""

    api: str

    def encode(self, message: Message) -> bytes:
        """Return the JSON of one message: array elements joined by commas, without brackets.

        Pure and stable: the caller keeps the bytes and sends them with every later request.
        Opaque data of another `api` is left out.
        """
        ...

    async def run(self, request: ModelRequest, sink: Sink, on_retry: OnRetry) -> ModelReply:
        """Call the model once and return its whole answer.

        Raises: AdapterFailure when no usable answer came (retries are spent or make no sense).
        Cancelling closes the connection at once.
        """
        ...

    async def close(self) -> None:
        """Give back connections."""
        ...


class Decoder(Protocol):
    """Reads one streamed answer; no IO."""

    def feed(self, data: bytes) -> list[tuple[Literal["text", "reasoning"], str]]:
        """Take any number of bytes and return the deltas that became complete, in order."""
        ...

    def finish(self) -> ModelReply:
        """Say what the stream amounted to; to be called once, after the last byte."""
        ...


class AdapterFactory(Protocol):
    """Every adapter module has `open_adapter` of this shape; the module's API names are `APIS`."""

    def __call__(self, settings: ModelSettings, api_key: str | None) -> Adapter: ...
