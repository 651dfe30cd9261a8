"""One short function per client method: check who asks, call the engine, return the answer.

Handlers that change state are plain functions and run in the order the messages came. One file
per noun; importing the room fills the table.
"""

from kova_ls.endpoint.handlers import (
    approval,
    catalog,
    changes,
    engine,
    goal,
    permission,
    session,
    turn,
)
from kova_ls.endpoint.handlers._table import HANDLERS

__all__ = [
    "HANDLERS",
    "approval",
    "catalog",
    "changes",
    "engine",
    "goal",
    "permission",
    "session",
    "turn",
]
