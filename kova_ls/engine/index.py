"""What lists of sessions show, without reading journals.

Each session folder has a `meta.json`, a cache that is made anew from the journal when missing.
Invariant: losing every `meta.json` loses nothing.
"""

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from kova_ls.engine import machine
from kova_ls.errors import KovaError
from kova_ls.journal.store import Journal
from kova_ls.paths import private_opener
from kova_ls.vocabulary import ApprovalLevel, Mode, SessionState


@dataclass(frozen=True, slots=True)
class Summary:
    """A session in a list."""

    session_id: str
    title: str
    workspace: str | None
    mode: Mode
    level: ApprovalLevel
    model: str
    state: SessionState
    archived: bool
    trusted: bool
    created_at: float
    updated_at: float
    parent_id: str | None = None
    has_queue: bool = False
    journal_bytes: int = -1
    """Size of the journal that this was made from; -1 where an older version did not say."""


def summary_of(
    state: machine.State, created_at: float, updated_at: float, journal_bytes: int
) -> Summary:
    """Return the list entry of a session's state."""
    return Summary(
        session_id=state.session_id,
        title=state.title,
        workspace=state.workspace,
        mode=state.mode,
        level=state.level,
        model=state.model,
        state=state.status,
        archived=state.archived,
        trusted=state.trusted,
        created_at=created_at,
        updated_at=updated_at,
        parent_id=state.parent_id,
        has_queue=bool(state.queue),
        journal_bytes=journal_bytes,
    )


def write(folder: Path, summary: Summary) -> None:
    """Keep the entry; a failure only makes the next listing slower."""
    temporary = folder / "meta.json.new"
    with contextlib.suppress(OSError):
        with open(temporary, "wb", opener=private_opener) as file:
            file.write(orjson.dumps(summary))
        os.replace(temporary, folder / "meta.json")


def read(folder: Path) -> Summary | None:
    """Return the entry of a session folder; None when there is no readable session."""
    try:
        raw: dict[str, Any] = orjson.loads((folder / "meta.json").read_bytes())
        raw["mode"] = Mode(raw["mode"])
        raw["level"] = ApprovalLevel(raw["level"])
        raw["state"] = SessionState(raw["state"])
        if not isinstance(raw["updated_at"], int | float) or raw["session_id"] != folder.name:
            raise ValueError
        found = Summary(**raw)
    except (OSError, ValueError, TypeError, KeyError):
        return _from_journal(folder)
    return _from_journal(folder) or found if _is_outdated(folder, found) else found


def _is_outdated(folder: Path, summary: Summary) -> bool:
    """Say whether a session at rest went on after this was written: its turn must be found."""
    if summary.state is not SessionState.IDLE or summary.has_queue or summary.journal_bytes < 0:
        return False
    try:
        return os.stat(folder / "journal.jsonl").st_size != summary.journal_bytes
    except OSError:
        return False


def _from_journal(folder: Path) -> Summary | None:
    path = folder / "journal.jsonl"
    state: machine.State | None = None
    try:
        size = os.stat(path).st_size
        stored = Journal.peek(path)
        for entry in stored:
            state = machine.fold(state, entry.record)
    except (OSError, KovaError):
        return None
    if state is None or state.session_id != folder.name:
        return None
    summary = summary_of(state, stored[0].at, stored[-1].at, size)
    write(folder, summary)
    return summary
