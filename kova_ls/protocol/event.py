"""The one stream of facts that editors are told."""

from typing import Any

from kova_ls.protocol._base import WireModel

ENVELOPE_FIELDS = frozenset({"type", "turn_id", "step_id", "item_id"})
"""Fields of a record that the event itself carries, and its payload therefore does not."""


class Event(WireModel):
    """One `kova/event`.

    Order: durable events rise by one in `seq`; a delta comes between its item's start and end.
    """

    session_id: str
    """Which session."""
    epoch: str
    """Of the session."""
    seq: int | None = None
    """Durable events only: strictly rising, no holes, across restarts."""
    volatile: bool | None = None
    """True for deltas: never replayed; the item's end carries the whole."""
    at: float
    """Unix seconds."""
    turn_id: str | None = None
    """Which turn."""
    step_id: str | None = None
    """Which step."""
    item_id: str | None = None
    """Which item."""
    agent_id: str | None = None
    """Which subagent."""
    type: str
    """A past fact, such as `turn.started`; unknown ones are ignored."""
    payload: dict[str, Any]
    """By type: see `x-events` in openrpc.json."""


class DeltaPayload(WireModel):
    """Payload of `item.delta`."""

    kind: str
    """`reply`, `reasoning` or `toolCall` (its output)."""
    offset: int
    """Characters of this item sent before."""
    text: str
    """What follows."""


class ResyncRequired(WireModel):
    """The editor fell behind: attach again from its cursor."""

    session_id: str
    """Which session."""
