"""Requests about review: what the agent changed, and what becomes of it."""

from typing import TYPE_CHECKING

from kova_ls.endpoint.handlers._table import acting, handles, session_of
from kova_ls.engine import Session
from kova_ls.engine.changes import FileReview, ReviewHunk, decide, look
from kova_ls.engine.overlays import SharedOverlays
from kova_ls.protocol import changes as pc
from kova_ls.protocol._base import WireModel
from kova_ls.tools._diff import shorten

if TYPE_CHECKING:
    from kova_ls.endpoint.server import EditorEndpoint

_MAX_LINES = 400
_MAX_CHARS = 20_000
"""Of a hunk's diff; the whole stands in the file."""


@handles("kova/changes/list")
async def changes_list(endpoint: "EditorEndpoint", params: pc.ChangesListParams) -> WireModel:
    """List what is not reviewed, by file and hunk."""
    session = session_of(endpoint, params.session_id)
    return pc.ChangesListResult(changes=await _open(endpoint, session, params.turn_id))


@handles("kova/changes/decide")
async def changes_decide(endpoint: "EditorEndpoint", params: pc.ChangesDecideParams) -> WireModel:
    """Keep, or put back in the editor of the one who asks where the file is open there."""
    session = acting(endpoint, params.session_id)
    missing = {*params.change_ids, *params.hunk_ids}
    is_narrow = bool(missing)

    def is_meant(review: FileReview, hunk: ReviewHunk | None) -> bool:
        record = review.record
        if params.turn_id is not None and params.turn_id not in record.turn_ids:
            return False
        ids = {record.change_id} if hunk is None else {record.change_id, hunk.id}
        missing.difference_update(ids)
        wanted = {*params.change_ids, *params.hunk_ids}
        return not is_narrow or bool(ids & wanted)

    overlays = SharedOverlays(endpoint, endpoint.engine.editors)
    refused = await decide(session, overlays, params.decision, endpoint.name, is_meant)
    if missing:
        refused.append("Some of it is no longer there; list the changes again.")
    return pc.ChangesDecideResult(
        changes=await _open(endpoint, session, None), refused=tuple(refused)
    )


async def _open(
    endpoint: "EditorEndpoint", session: Session, turn_id: str | None
) -> tuple[pc.Change, ...]:
    overlays = SharedOverlays(endpoint, endpoint.engine.editors)
    found = await look(session, overlays, turn_id)
    return tuple(_change(review) for review in found if review.hunks or review.conflict)


def _change(review: FileReview) -> pc.Change:
    record = review.record
    return pc.Change(
        change_id=record.change_id,
        uri=record.uri,
        change=record.change,
        turn_ids=record.turn_ids,
        hunks=tuple(map(_hunk, review.hunks)),
        conflict=review.conflict,
        added_lines=sum(hunk.region.theirs[1] - hunk.region.theirs[0] for hunk in review.hunks),
        removed_lines=sum(hunk.region.ours[1] - hunk.region.ours[0] for hunk in review.hunks),
    )


def _hunk(hunk: ReviewHunk) -> pc.Hunk:
    old, new = hunk.region.ours, hunk.region.theirs
    diff, hidden_lines = shorten(hunk.diff, max_lines=_MAX_LINES, max_chars=_MAX_CHARS)
    if hidden_lines:
        diff += f"\\ {hidden_lines:,} lines more\n"
    return pc.Hunk(
        hunk_id=hunk.id,
        start_line=new[0],
        line_count=new[1] - new[0],
        old_start_line=old[0],
        old_line_count=old[1] - old[0],
        diff=diff,
    )
