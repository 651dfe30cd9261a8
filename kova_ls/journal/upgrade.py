"""Lift old record shapes to the present ones; pure.

Invariant: every shape that was ever written can be read for ever.
"""

from typing import Any


def upgrade(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the record in its present shape; version 1 is the first, so nothing changes yet."""
    return raw
