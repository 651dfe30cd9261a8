"""The table of handlers, and who may do what.

Invariant: an untrusted editor raises no session, answers no card of another editor's session, and
does not act in a session of a trusted workspace.
"""

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from kova_ls.engine import Session
from kova_ls.errors import RequestFailed
from kova_ls.protocol._base import WireModel

if TYPE_CHECKING:
    from kova_ls.endpoint.server import EditorEndpoint

Handler = Callable[["EditorEndpoint", Any], WireModel | Coroutine[Any, Any, WireModel]]
HANDLERS: dict[str, Handler] = {}


def handles(method: str) -> Callable[[Handler], Handler]:
    """Put a handler into the table."""

    def put(handler: Handler) -> Handler:
        HANDLERS[method] = handler
        return handler

    return put


def session_of(endpoint: "EditorEndpoint", session_id: str) -> Session:
    """Return a session for reading. Raises: RequestFailed."""
    return endpoint.engine.get(session_id)


def may_act(endpoint: "EditorEndpoint", session: Session) -> None:
    """Refuse an untrusted editor in a session of a trusted workspace."""
    if session.state.trusted and not endpoint.trusted:
        raise RequestFailed(
            "notTrusted",
            "This session belongs to a trusted folder and this editor did not trust it: it may "
            "read along, not act. Trust the folder in this editor.",
        )


def acting(endpoint: "EditorEndpoint", session_id: str) -> Session:
    """Return a session for acting in it. Raises: RequestFailed."""
    session = session_of(endpoint, session_id)
    may_act(endpoint, session)
    return session
