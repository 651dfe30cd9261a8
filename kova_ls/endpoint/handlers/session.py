"""Requests about sessions."""

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from kova_ls.endpoint.handlers._table import acting, handles, session_of
from kova_ls.endpoint.paging import events_page, items_page, snapshot
from kova_ls.engine import Session, autonomy
from kova_ls.engine.places import path_of, workspace_path
from kova_ls.engine.title import one_line
from kova_ls.engine.trust import may_trust, not_trusted, trusts
from kova_ls.errors import RequestFailed
from kova_ls.journal import records as r
from kova_ls.protocol import session as ps
from kova_ls.protocol._base import Empty, WireModel
from kova_ls.vocabulary import ApprovalLevel

if TYPE_CHECKING:
    from kova_ls.endpoint.server import EditorEndpoint


@handles("kova/session/create")
def session_create(endpoint: "EditorEndpoint", params: ps.SessionCreateParams) -> WireModel:
    """Begin a conversation in the editor's first folder, or in the one named."""
    workspace = params.workspace or endpoint.workspace_uri
    session = endpoint.engine.create(
        workspace_uri=workspace,
        title=params.title,
        mode=params.mode,
        level=params.level,
        model=params.model,
        editor=endpoint,
    )
    endpoint.follow(session, params.detail, params.max_latency_ms)
    return snapshot(session)


@handles("kova/session/list")
def session_list(endpoint: "EditorEndpoint", params: ps.SessionListParams) -> WireModel:
    """List sessions; the cursor is the number of entries already given."""
    engine = endpoint.engine
    workspace = path_of(params.workspace)
    query = (params.query or "").casefold()
    found = [
        summary
        for summary in engine.summaries()
        if summary.archived == params.archived
        and (workspace is None or path_of(summary.workspace) == workspace)
        and query in summary.title.casefold()
    ]
    start = int(params.cursor) if params.cursor and params.cursor.isdecimal() else 0
    page = found[start : start + params.limit]
    more = start + params.limit < len(found)
    return ps.SessionListResult(
        sessions=tuple(
            ps.SessionSummary(
                session_id=entry.session_id,
                title=entry.title,
                workspace=entry.workspace,
                mode=entry.mode,
                level=entry.level,
                model=entry.model,
                state=entry.state,
                archived=entry.archived,
                created_at=entry.created_at,
                updated_at=entry.updated_at,
                parent_id=entry.parent_id,
            )
            for entry in page
        ),
        next_cursor=str(start + params.limit) if more else None,
    )


@handles("kova/session/attach")
def session_attach(endpoint: "EditorEndpoint", params: ps.SessionAttachParams) -> WireModel:
    """Follow a session from a cursor, or from now."""
    session = session_of(endpoint, params.session_id)
    page = events_page(session, params.cursor, params.detail, endpoint.language)
    if not page.more:
        endpoint.follow(session, params.detail, params.max_latency_ms)
    return ps.SessionAttachResult(
        snapshot=snapshot(session, with_items=params.cursor is None or page.reset),
        events=page.events,
        watermark=ps.Cursor(epoch=session.state.epoch, seq=page.last_seq),
        more=page.more,
        reset=page.reset,
    )


@handles("kova/session/detach")
def session_detach(endpoint: "EditorEndpoint", params: ps.SessionRef) -> WireModel:
    """Stop following."""
    endpoint.unfollow(params.session_id)
    return Empty()


@handles("kova/session/read")
def session_read(endpoint: "EditorEndpoint", params: ps.SessionReadParams) -> WireModel:
    """Return older items, newest first."""
    session = session_of(endpoint, params.session_id)
    items, before = items_page(session, params.before, params.limit)
    return ps.SessionReadResult(items=tuple(reversed(items)), before=before)


@handles("kova/session/configure")
def session_configure(endpoint: "EditorEndpoint", params: ps.SessionConfigureParams) -> WireModel:
    """Change mode, level or model."""
    session = acting(endpoint, params.session_id)
    if params.level is not None:
        _may_raise(endpoint, session, params.level)
    if params.model is not None:
        endpoint.engine.models.check(params.model, endpoint)
    session.configure(endpoint.name, mode=params.mode, level=params.level, model=params.model)
    return _settings(session)


@handles("kova/session/cycleLevel")
def session_cycle_level(endpoint: "EditorEndpoint", params: ps.SessionRef) -> WireModel:
    """Go to the next level."""
    session = acting(endpoint, params.session_id)
    level = session.state.level.next()
    _may_raise(endpoint, session, level)
    session.configure(endpoint.name, level=level)
    return _settings(session)


def _may_raise(endpoint: "EditorEndpoint", session: Session, level: ApprovalLevel) -> None:
    workspace = workspace_path(session)
    if workspace is None or not may_trust(endpoint.engine.places, workspace):
        trusted = False
    else:
        # Who trusts folders of another window's session may raise it where that window did.
        trusted = endpoint.trusted and (
            session.state.trusted or trusts(endpoint.engine.places, endpoint, workspace)
        )
    if level is not ApprovalLevel.ASK and not trusted:
        raise not_trusted(level)


def _settings(session: Session) -> ps.SessionSettings:
    state = session.state
    return ps.SessionSettings(mode=state.mode, level=state.level, model=state.model)


@handles("kova/session/rename")
def session_rename(endpoint: "EditorEndpoint", params: ps.SessionRenameParams) -> WireModel:
    """Give a new title."""
    session = acting(endpoint, params.session_id)
    title = one_line(params.title)
    if not title:
        raise RequestFailed("invalidParams", "title: nothing of it can be shown; give another.")
    session.record(r.SessionRenamed(title=title, by=endpoint.name))
    endpoint.engine.touched(session)
    return Empty()


@handles("kova/session/archive")
def session_archive(endpoint: "EditorEndpoint", params: ps.SessionArchiveParams) -> WireModel:
    """Take out of the usual list, or back."""
    session = acting(endpoint, params.session_id)
    if session.state.archived != params.archived:
        if params.archived:
            autonomy.rest(session, endpoint.name, "The conversation was archived.")
        session.record(r.SessionArchived(archived=params.archived))
        endpoint.engine.touched(session)
    return Empty()


@handles("kova/session/delete")
def session_delete(
    endpoint: "EditorEndpoint", params: ps.SessionRef
) -> Coroutine[Any, Any, WireModel]:
    """Remove a session, stopping it first."""
    acting(endpoint, params.session_id)
    endpoint.unfollow(params.session_id)
    removal = endpoint.engine.delete(params.session_id)
    return _removed(endpoint, params.session_id, removal)


async def _removed(
    endpoint: "EditorEndpoint", session_id: str, removal: "asyncio.Task[None]"
) -> WireModel:
    # Whoever asked may vanish or change their mind; what was begun is done.
    await asyncio.shield(removal)
    for other in endpoint.hub.endpoints:
        if session_id in other.followed:
            other.lose(session_id)
    return Empty()
