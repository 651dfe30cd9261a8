"""A session read back from its journal.

Invariant: a journal that is refused is closed again.
"""

from typing import TYPE_CHECKING

from kova_ls.engine.session import Session
from kova_ls.errors import IllegalTransition, JournalCorrupt, RequestFailed
from kova_ls.journal.store import Journal, Stored

if TYPE_CHECKING:
    from kova_ls.engine.engine import Engine


def reopen(engine: "Engine", journal: Journal, stored: list[Stored]) -> Session:
    """Return the session that the records tell of, at rest.

    Raises: RequestFailed (`sessionNotFound`), JournalCorrupt.
    """
    folder = journal.path.parent
    try:
        if not stored:
            raise RequestFailed("sessionNotFound", f"Session {folder.name!r} is empty.")
        session = Session(engine, journal, stored, stored[0].at)
        if session.id != folder.name:
            raise JournalCorrupt(
                f"The folder {folder} holds the session {session.id}. Give it that name, "
                "or remove it if it is a copy."
            )
    except IllegalTransition as error:
        journal.close()
        raise JournalCorrupt(
            f"{journal.path} tells what cannot have happened: {error.message}. "
            "Move the file away to go on without this session."
        ) from error
    except BaseException:
        journal.close()
        raise
    return session
