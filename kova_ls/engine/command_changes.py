"""Review of what commands do to files whose text before them is known.

Those are the files that the agent read or wrote while the engine ran, that are not reviewed yet, or
that are open in an editor. Of others nobody has the text any more when a command has ended.
Invariant: a file with unsaved text in an editor, or with secrets, is left out; so is one that
somebody typed into while the command ran.
"""

import asyncio
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from kova_ls.engine.blobs import load
from kova_ls.engine.changes import change_of, is_same_but_ends, path_of, wrote
from kova_ls.engine.disk import decode, read
from kova_ls.engine.overlays import Stamp, stamp_of
from kova_ls.engine.workspace import Overlays
from kova_ls.journal import records as r
from kova_ls.permission.effects import Effect, ReadPath, WritePath
from kova_ls.permission.protected import secret_test
from kova_ls.tools._base import TextFile, ToolError

if TYPE_CHECKING:
    from kova_ls.engine.session import Session

_MAX_FILES = 300
_MAX_BYTES = 1_000_000
_MAX_ALL_BYTES = 20_000_000
_MAX_BYTES_AFTER = 5_000_000


@dataclass(frozen=True, slots=True)
class _Known:
    """A file before a command."""

    stamp: Stamp
    file: TextFile | None
    """None when the agent had deleted it."""
    record: r.ChangesUpdated | None
    """What was to be reviewed of it."""
    permissions: int | None
    typed: int
    """See `Document`."""


Known = dict[str, _Known]
"""By resolved path."""


def saw(session: "Session", effects: Iterable[Effect]) -> None:
    """Note which files a call read or wrote, the latest last."""
    for effect in effects:
        if isinstance(effect, WritePath) or (isinstance(effect, ReadPath) and not effect.is_tree):
            session.seen_paths.pop(effect.path, None)
            session.seen_paths[effect.path] = None


async def known_before(session: "Session", overlays: Overlays) -> Known:
    """Return the known files as a command will find them."""
    records = {path_of(record): record for record in session.state.changes.values()}
    documents = {document.path: document for document in overlays.below(os.sep)}
    has_secrets = secret_test(session.engine.places.home)
    wanted = (
        path
        for path in dict.fromkeys((*records, *documents, *reversed(session.seen_paths)))
        if path != session.plan_path
        and not (path in documents and documents[path].is_dirty)
        and not has_secrets(path)
    )
    paths = list(islice(wanted, _MAX_FILES))
    if not paths:
        return {}
    typed = {path: document.typed for path, document in documents.items()}
    return await asyncio.to_thread(_read, paths, records, typed)


async def record_after(session: "Session", overlays: Overlays, known: Known) -> None:
    """Record what a command changed of the known files."""
    for path, was in known.items():
        if stamp_of(path) == was.stamp:
            continue
        document = overlays.get(path)
        if document is not None and (document.is_dirty or document.typed != was.typed):
            continue
        now = None
        if os.path.lexists(path):
            try:
                now = decode(read(path, _MAX_BYTES_AFTER, path), path).text
            except ToolError:
                continue
        elif was.file is None or was.file.encoding != "utf-8" or was.file.has_bom:
            continue  # putting back could not write the same bytes
        record = change_of(session, path)
        # What a person put back while it ran has its own record already.
        before = (
            was.file and was.file.text
            if record is was.record
            else load(session.folder, record and record.written)
        )
        if before is None:
            is_back = record is not None and record.change == "delete" and now is not None
            if not is_back:
                continue
        elif now is not None and is_same_but_ends(before, now):
            continue
        await wrote(session, path, before, now, was.permissions)


def _read(paths: list[str], records: dict[str, r.ChangesUpdated], typed: dict[str, int]) -> Known:
    known: Known = {}
    room = _MAX_ALL_BYTES
    for path in paths:
        stamp, record = stamp_of(path), records.get(path)
        if stamp is None and record is not None and record.change == "delete":
            known[path] = _Known(None, None, record, record.permissions, typed.get(path, 0))
        if stamp is None or stamp[1] > min(_MAX_BYTES, room):
            continue
        with suppress(ToolError, OSError):
            file = decode(read(path, _MAX_BYTES, path), path)
            permissions = stat.S_IMODE(os.stat(path, follow_symlinks=False).st_mode)
            known[path] = _Known(stamp, file, record, permissions, typed.get(path, 0))
            room -= stamp[1]
    return known
