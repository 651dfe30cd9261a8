"""What there is to choose from: models and tools."""

from typing import Any

from kova_ls.protocol._base import WireModel
from kova_ls.vocabulary import ToolKind


class CatalogParams(WireModel):
    """For which session."""

    session_id: str | None = None
    """Absent = in general."""


class ModelEntry(WireModel):
    """A configured or discovered model."""

    name: str
    """For `configure`."""
    api: str
    """How it is spoken to."""
    model: str
    """The provider's name."""
    context_window: int = 0
    """In tokens; 0 = unknown."""
    ready: bool
    """False when its key is missing."""
    problem: str | None = None
    """What is missing, and what to do."""


class ModelListResult(WireModel):
    """All models."""

    models: tuple[ModelEntry, ...]
    """In the order of the configuration."""
    default: str | None = None
    """Name of the default."""


class ToolEntry(WireModel):
    """A tool."""

    name: str
    """As the model calls it."""
    kind: ToolKind
    """What sort of tool it is."""
    description: str
    """What the model reads."""
    input_schema: dict[str, Any]
    """JSON Schema of the arguments."""
    offered: bool
    """The session's mode offers it to the model."""
    default_approval: str
    """`allow` or `ask`, at level workspace-write inside the workspace."""


class ToolListResult(WireModel):
    """All tools."""

    tools: tuple[ToolEntry, ...]
    """By name."""
