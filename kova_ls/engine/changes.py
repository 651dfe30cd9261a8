"""Review: what the agent did to files, kept or put back by hunk, file or turn.

Three texts make a change: before it, as the agent left it, and at present. What a person did
afterwards is theirs and is never offered.
Invariant: putting back goes through the same write path as the agent's edits and never undoes
what someone else wrote: it merges, or refuses with a sentence.
"""

import asyncio
import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote, urlsplit

from kova_ls.engine.blobs import keep, load
from kova_ls.engine.disk import decode, is_same_text, remove_text, replace_text
from kova_ls.engine.merge import Region, carried, joined, regions
from kova_ls.engine.places import workspace_path
from kova_ls.engine.workspace import Files, Overlays, file_uri
from kova_ls.journal import records as r
from kova_ls.permission.effects import ReadPath, WritePath
from kova_ls.tools._base import Moved, ToolError
from kova_ls.tools._diff import line_changes, split_lines
from kova_ls.tools._text import line_ends

if TYPE_CHECKING:
    from kova_ls.engine.session import Session

_ATTEMPTS = 3
_CONTEXT_LINES = 3


@dataclass(frozen=True, slots=True)
class ReviewHunk:
    """A stretch that the agent changed and nobody reviewed."""

    id: str
    region: Region
    """`base` is as the agent left it, `ours` before, `theirs` at present."""
    diff: str
    is_tangled: bool
    """Someone changed it too: it can be kept, not put back."""


@dataclass(frozen=True, slots=True)
class FileReview:
    """A file's change as it stands at present."""

    record: r.ChangesUpdated
    hunks: tuple[ReviewHunk, ...]
    conflict: str | None
    """Why it cannot be put back."""
    before: tuple[str, ...] = ()
    """Lines."""
    written: tuple[str, ...] = ()
    present: tuple[str, ...] = ()


# -- what was written ------------------------------------------------------------------------------


async def wrote(
    session: "Session",
    path: str,
    before: str | None,
    now: str | None,
    permissions: int | None = None,
) -> None:
    """Record that the agent wrote a file; `before` is None for a new one, `now` for a deleted one.

    `permissions` are those that a deleted one had.
    """
    if path == session.plan_path:
        return
    uri = file_uri(path)
    async with session.review_lock:
        known = change_of(session, path)
        turn_id = session.state.turn_id
        base, kind, turns = before, "modify" if before is not None else "create", ()
        if known is not None:
            base, kind, turns = (
                _rebased(session.folder, known, before or ""),
                "modify" if known.change == "delete" else known.change,
                known.turn_ids,
            )
        if turn_id is not None and turn_id not in turns:
            turns = (*turns, turn_id)
        if known is None and base == now:
            return
        if now is None:
            kind = "delete"
        await _record(
            session,
            r.ChangesUpdated(
                change_id=known.change_id if known is not None else token_hex(8),
                uri=uri,
                change=kind,
                turn_id=turn_id,
                turn_ids=turns,
                is_open=base != now,
                permissions=permissions if now is None else None,
            ),
            base,
            now,
        )


def _rebased(folder: Path, known: r.ChangesUpdated, before: str) -> str | None:
    """Return the text before the agent's changes, with what a person did since."""
    base, written = load(folder, known.base), load(folder, known.written) or ""
    if base is None and is_same_text(written, before):
        return None
    return carried(_ends_like(base or "", before), _ends_like(written, before), before)


async def _record(
    session: "Session", record: r.ChangesUpdated, base: str | None, written: str | None
) -> None:
    names = await asyncio.to_thread(keep, session.folder, (base, written))
    added, removed = _counts(base or "", written or "") if record.is_open else (0, 0)
    session.record(
        record.model_copy(
            update={
                "base": names[0],
                "written": names[1],
                "added_lines": added,
                "removed_lines": removed,
            }
        )
    )


# -- what is there at present ----------------------------------------------------------------------


async def look(
    session: "Session", overlays: Overlays, turn_id: str | None = None
) -> list[FileReview]:
    """Return what is not reviewed, by file; of one turn when it is named."""
    return [
        await _look(session, overlays, record)
        for record in session.state.changes.values()
        if turn_id is None or turn_id in record.turn_ids
    ]


async def _look(session: "Session", overlays: Overlays, record: r.ChangesUpdated) -> FileReview:
    path = path_of(record)
    files = _files(session, overlays, path)
    if record.change == "delete":
        return _look_deleted(session, record, path, files.display(path))
    try:
        present = (await files.read_text(path)).text
    except ToolError as error:
        return FileReview(record, (), str(error))
    base, written = load(session.folder, record.base), load(session.folder, record.written)
    if written is None:
        return FileReview(record, (), f"{files.display(path)}: the text before is no longer kept.")
    if base is None:
        lines = tuple(split_lines(present))
        count = len(lines)
        is_same = is_same_text(present, written)
        region = Region("ours" if is_same else "conflict", (0, count), (0, 0), (0, count))
        hunk = _hunk(record, region, (), lines, lines, (0, 0))
        return FileReview(
            record,
            (hunk,),
            None
            if is_same
            else f"{files.display(path)} was created by the agent and changed since: delete it "
            "yourself if it should go.",
            (),
            tuple(split_lines(written)),
            lines,
        )
    parts = tuple(
        tuple(split_lines(text))
        for text in (_ends_like(written, present), _ends_like(base, present), present)
    )
    seen: dict[str, int] = {}
    hunks: list[ReviewHunk] = []
    found = regions(*parts)
    for at, region in enumerate(found):
        if region.kind in ("ours", "conflict"):
            room = (_same_lines(found, at - 1), _same_lines(found, at + 1))
            hunk = _hunk(record, region, parts[1], parts[0], parts[2], room)
            number = seen[hunk.id] = seen.get(hunk.id, -1) + 1
            hunks.append(replace(hunk, id=f"{hunk.id}-{number}") if number else hunk)
    return FileReview(record, tuple(hunks), None, parts[1], parts[0], parts[2])


def _look_deleted(session: "Session", record: r.ChangesUpdated, path: str, name: str) -> FileReview:
    before = load(session.folder, record.base)
    if os.path.lexists(path):
        return FileReview(record, (), f"{name} was deleted by the agent and is there again.")
    if before is None:
        return FileReview(record, (), f"{name}: the text before is no longer kept.")
    lines = tuple(split_lines(before))
    region = Region("ours", (0, 0), (0, len(lines)), (0, 0))
    return FileReview(record, (_hunk(record, region, lines, (), (), (0, 0)),), None, lines)


def _same_lines(found: list[Region], at: int) -> int:
    """Return how many lines around a change all three texts have in common."""
    if not 0 <= at < len(found) or found[at].kind != "same":
        return 0
    return min(found[at].base[1] - found[at].base[0], _CONTEXT_LINES)


def _hunk(
    record: r.ChangesUpdated,
    region: Region,
    before: Sequence[str],
    written: Sequence[str],
    present: Sequence[str],
    room: tuple[int, int],
) -> ReviewHunk:
    old, new = before[slice(*region.ours)], present[slice(*region.theirs)]
    # By what the agent did and not by its place: the id stays while lines move.
    said = "\0".join((record.change_id, *old, "\0", *written[slice(*region.base)]))
    start, stop = region.theirs
    above, below = present[start - room[0] : start], present[stop : stop + room[1]]
    more = len(above) + len(below)
    head = (
        f"@@ -{_span(region.ours[0] - len(above), len(old) + more)} "
        f"+{_span(start - len(above), len(new) + more)} @@\n"
    )
    marked = [*_marked(" ", above), *_marked("-", old), *_marked("+", new), *_marked(" ", below)]
    return ReviewHunk(
        hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16],
        region,
        head + "".join(marked),
        region.kind == "conflict",
    )


# -- what a person decides -------------------------------------------------------------------------


async def decide(
    session: "Session",
    overlays: Overlays,
    decision: Literal["keep", "revert"],
    by: str,
    is_meant: Callable[[FileReview, ReviewHunk | None], bool],
) -> list[str]:
    """Keep or put back the hunks that are meant; returns why some could not be.

    `is_meant` is asked of each hunk, and with None of a change that shows none.
    """
    refused: list[str] = []
    async with session.review_lock:
        for record in list(session.state.changes.values()):
            for attempt in range(_ATTEMPTS):
                review = await _look(session, overlays, record)
                try:
                    refused += await _decide(session, overlays, review, decision, by, is_meant)
                except Moved as error:
                    if attempt == _ATTEMPTS - 1:
                        refused.append(str(error))
                    continue
                except ToolError as error:
                    refused.append(str(error))
                break
    return refused


async def _decide(
    session: "Session",
    overlays: Overlays,
    review: FileReview,
    decision: Literal["keep", "revert"],
    by: str,
    is_meant: Callable[[FileReview, ReviewHunk | None], bool],
) -> list[str]:
    record = review.record
    meant = [hunk for hunk in review.hunks if is_meant(review, hunk)]
    decided = record.model_copy(update={"turn_id": None, "decision": decision, "by": by})
    if not review.hunks:
        if not is_meant(review, None):
            return []
        if review.conflict is not None and decision == "revert":
            return [review.conflict]
        await _record(session, decided.model_copy(update={"is_open": False}), None, None)
        return []
    if not meant:
        return []
    path = path_of(record)
    files = _files(session, overlays, path)
    if record.change == "delete":
        if decision == "revert":
            await _bring_back(files, overlays, path, joined(review.before), record.permissions)
            decided = decided.model_copy(update={"change": "create"})
        await _record(session, decided.model_copy(update={"is_open": False}), None, None)
        return []
    if record.base is None:
        if decision == "revert":
            if review.conflict is not None:
                return [review.conflict]
            await _remove(files, overlays, path, joined(review.present))
            decided = decided.model_copy(update={"change": "delete"})
        await _record(session, decided.model_copy(update={"is_open": False}), None, None)
        return []
    tangled = [hunk for hunk in meant if hunk.is_tangled] if decision == "revert" else []
    chosen = [hunk for hunk in meant if hunk not in tangled]
    refused = [_sentence(files.display(path), hunk) for hunk in tangled]
    if chosen:
        base, written = joined(review.before), joined(review.written)
        if decision == "keep":
            base = _replaced(
                review.before, [(h.region.ours, review.written, h.region.base) for h in chosen]
            )
        else:
            swaps = [(h.region.theirs, review.before, h.region.ours) for h in chosen]
            present = await files.read_text(path)
            if present.text != joined(review.present):
                raise Moved(
                    f"{files.display(path)} is being changed; nothing was put back. Try again."
                )
            await files.write_text(path, _replaced(review.present, swaps), like=present)
            written = _replaced(
                review.written, [(h.region.base, review.before, h.region.ours) for h in chosen]
            )
        rest = len(review.hunks) > len(chosen)
        await _record(session, decided.model_copy(update={"is_open": rest}), base, written)
    return refused


async def _remove(files: Files, overlays: Overlays, path: str, text: str) -> None:
    _refuse_unsaved(files, overlays, path)
    await asyncio.to_thread(remove_text, path, text, files.display(path))


async def _bring_back(
    files: Files, overlays: Overlays, path: str, text: str, permissions: int | None
) -> None:
    _refuse_unsaved(files, overlays, path)
    name = files.display(path)
    # Like an empty file: what came to the place meanwhile stays.
    await asyncio.to_thread(replace_text, path, text, decode(b"", name), name, permissions)
    await overlays.reload([path])


def _refuse_unsaved(files: Files, overlays: Overlays, path: str) -> None:
    document = overlays.get(path)
    if document is not None and document.is_dirty:
        raise ToolError(
            f"{files.display(path)} has unsaved changes in the editor: save or close it, then "
            "revert again."
        )


def _replaced(
    lines: Sequence[str], swaps: Sequence[tuple[tuple[int, int], Sequence[str], tuple[int, int]]]
) -> str:
    """Return the lines with stretches of them replaced by stretches of others."""
    parts: list[str] = []
    at = 0
    for (start, stop), others, span in swaps:
        parts += [*lines[at:start], *others[slice(*span)]]
        at = stop
    return joined([*parts, *lines[at:]])


def _sentence(name: str, hunk: ReviewHunk) -> str:
    start, stop = hunk.region.theirs
    where = f"lines {start + 1}-{stop}" if stop > start else f"line {start + 1}"
    return f"{name}, {where}: changed since by someone else, so it was left as it is."


# -- texts -----------------------------------------------------------------------------------------


def _ends_like(text: str, present: str) -> str:
    """Return a text with the line ends of the present one, where both are of one kind."""
    ends = line_ends(present)
    if ends == line_ends(text) or "mixed" in (ends, line_ends(text)) or "\n" not in present:
        return text
    text = text.replace("\r\n", "\n")
    return text.replace("\n", "\r\n") if ends == "CRLF" else text


def is_same_but_ends(one: str, other: str) -> bool:
    """Say whether texts differ in nothing but the kind of their line ends."""
    return _ends_like(one, other) == other


def _counts(before: str, now: str) -> tuple[int, int]:
    added = removed = 0
    for tag, i, j, k, m in line_changes(split_lines(before), split_lines(now)):
        if tag != "equal":
            removed += j - i
            added += m - k
    return added, removed


def change_of(session: "Session", path: str) -> r.ChangesUpdated | None:
    """Return what is not reviewed of a file."""
    uri = file_uri(path)
    return next((c for c in session.state.changes.values() if c.uri == uri), None)


def path_of(record: r.ChangesUpdated) -> str:
    """Return the path as it was resolved then: a link that came since is not followed."""
    return unquote(urlsplit(record.uri).path)


def _files(session: "Session", overlays: Overlays, path: str) -> Files:
    effects = [ReadPath(path, path), WritePath(path, path)]
    return Files(effects, root=workspace_path(session), overlays=overlays)


def _marked(sign: str, lines: Sequence[str]) -> list[str]:
    return [
        f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"
        for line in lines
    ]


def _span(start: int, length: int) -> str:
    return f"{start + 1 if length else start},{length}"
