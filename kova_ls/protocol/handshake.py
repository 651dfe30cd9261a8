"""The `kova` part of LSP `initialize`."""

from typing import Any

from pydantic import Field

from kova_ls.protocol._base import WireModel
from kova_ls.vocabulary import ApprovalLevel, Mode

VERSION = 1
"""Of the protocol."""


class ClientIdentity(WireModel):
    """Who is speaking."""

    id: str = ""
    """Stable per editor window."""
    name: str = "editor"
    """Such as `kova.nvim`."""
    version: str = ""
    """Of the client."""


class EventsCapability(WireModel):
    """The editor follows `kova/event`."""

    max_latency_ms: int = 0
    """Deltas may be merged up to this time; 0 = only what is already waiting."""


class PanelsCapability(WireModel):
    """The editor can show panels."""

    kinds: tuple[str, ...] = ()
    """Such as `loop`, `plan`, `markdown`, `diff`, `file`."""


class ClientCapabilities(WireModel):
    """What the editor can do; an absent object means it cannot."""

    events: EventsCapability | None = None
    """Follows events."""
    approvals: dict[str, Any] | None = None
    """Shows approval cards."""
    questions: dict[str, Any] | None = None
    """Shows questions."""
    panels: PanelsCapability | None = None
    """Shows panels."""
    documents: dict[str, Any] | None = None
    """Answers `kova/editor/*` about documents."""
    diagnostics: dict[str, Any] | None = None
    """Answers `kova/editor/diagnostics`."""


class InitializationOptions(WireModel):
    """`initializationOptions.kova`."""

    versions: tuple[int, ...]
    """Protocol versions the client speaks."""
    client: ClientIdentity = Field(default_factory=ClientIdentity)
    """Who is speaking."""
    trusted: bool = False
    """The editor's workspace trust."""
    capabilities: ClientCapabilities = Field(default_factory=ClientCapabilities)
    """What the editor can do."""


class ServerIdentity(WireModel):
    """`capabilities.experimental.kova` of the answer."""

    version: int = VERSION
    """The chosen protocol version."""
    schema_hash: str
    """Of schemas/openrpc.json: equal hashes mean equal schemas."""
    server_id: str
    """Of this engine process."""
    epoch: str
    """Of this engine process; sessions have their own."""
    modes: tuple[Mode, ...]
    """All modes."""
    levels: tuple[ApprovalLevel, ...]
    """All levels, in the order of cycling."""
    features: dict[str, Any]
    """Optional features by name; absent = not there."""
