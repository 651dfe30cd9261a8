"""One short function per client method: check who asks, call the engine, return the answer.

Handlers that change state are plain functions and run in the order the messages came.
Invariant: an untrusted editor raises no session, answers no card of another editor's session, and
does not follow a trusted session for more than reading.
"""

import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from kova_ls.endpoint.loop import loop_of
from kova_ls.endpoint.paging import events_page, snapshot
from kova_ls.engine import Session
from kova_ls.engine.engine import not_trusted
from kova_ls.engine.judge import facts, judge, workspace_path
from kova_ls.engine.workspace import file_uri
from kova_ls.errors import RequestFailed
from kova_ls.journal import records as r
from kova_ls.permission.mode import offered
from kova_ls.protocol import approval as pa
from kova_ls.protocol import catalog as pc
from kova_ls.protocol import engine as pe
from kova_ls.protocol import permission as pp
from kova_ls.protocol import session as ps
from kova_ls.protocol import turn as pt
from kova_ls.protocol._base import Empty, WireModel
from kova_ls.tools import by_name, discover
from kova_ls.tools._base import ToolError
from kova_ls.vocabulary import ApprovalLevel, Mode, RootSource, SessionState, ToolKind

if TYPE_CHECKING:
    from kova_ls.endpoint.server import EditorEndpoint

Handler = Callable[["EditorEndpoint", Any], WireModel | Awaitable[WireModel]]
HANDLERS: dict[str, Handler] = {}


def handles(method: str) -> Callable[[Handler], Handler]:
    """Put a handler into the table."""

    def put(handler: Handler) -> Handler:
        HANDLERS[method] = handler
        return handler

    return put


# -- who may ------------------------------------------------------------------------------------


def _session(endpoint: "EditorEndpoint", session_id: str) -> Session:
    return endpoint.engine.get(session_id)


def _may_act(endpoint: "EditorEndpoint", session: Session) -> None:
    """Refuse an untrusted editor in a session of a trusted workspace."""
    if session.state.trusted and not endpoint.trusted:
        raise RequestFailed(
            "notTrusted",
            "This session belongs to a trusted folder and this editor did not trust it: it may "
            "read along, not act. Trust the folder in this editor.",
        )


def _acting(endpoint: "EditorEndpoint", session_id: str) -> Session:
    session = _session(endpoint, session_id)
    _may_act(endpoint, session)
    return session


# -- sessions -------------------------------------------------------------------------------------


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
    workspace = engine.path_of(params.workspace)
    query = (params.query or "").casefold()
    found = [
        summary
        for summary in engine.summaries()
        if summary.archived == params.archived
        and (workspace is None or engine.path_of(summary.workspace) == workspace)
        and query in summary.title.casefold()
    ]
    start = int(params.cursor) if params.cursor and params.cursor.isdigit() else 0
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
    session = _session(endpoint, params.session_id)
    page = events_page(session, params.cursor, params.detail)
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
    session = _session(endpoint, params.session_id)
    items, before = session.items(params.before, params.limit)
    return ps.SessionReadResult(items=tuple(reversed(items)), before=before)


@handles("kova/session/configure")
def session_configure(endpoint: "EditorEndpoint", params: ps.SessionConfigureParams) -> WireModel:
    """Change mode, level or model."""
    session = _acting(endpoint, params.session_id)
    if params.level is not None:
        _may_raise(endpoint, session, params.level)
    if params.model is not None:
        endpoint.engine.check_model(params.model, endpoint)
    session.configure(endpoint.name, mode=params.mode, level=params.level, model=params.model)
    return _settings(session)


@handles("kova/session/cycleLevel")
def session_cycle_level(endpoint: "EditorEndpoint", params: ps.SessionRef) -> WireModel:
    """Go to the next level."""
    session = _acting(endpoint, params.session_id)
    level = session.state.level.next()
    _may_raise(endpoint, session, level)
    session.configure(endpoint.name, level=level)
    return _settings(session)


def _may_raise(endpoint: "EditorEndpoint", session: Session, level: ApprovalLevel) -> None:
    workspace = workspace_path(session)
    trusted = endpoint.trusted and workspace is not None and endpoint.engine.may_trust(workspace)
    if level is not ApprovalLevel.ASK and not trusted:
        raise not_trusted(level)


def _settings(session: Session) -> ps.SessionSettings:
    state = session.state
    return ps.SessionSettings(mode=state.mode, level=state.level, model=state.model)


@handles("kova/session/rename")
def session_rename(endpoint: "EditorEndpoint", params: ps.SessionRenameParams) -> WireModel:
    """Give a new title."""
    session = _acting(endpoint, params.session_id)
    title = " ".join(params.title.split())
    session.record(r.SessionRenamed(title=title, by=endpoint.name))
    endpoint.engine.touched(session)
    return Empty()


@handles("kova/session/archive")
def session_archive(endpoint: "EditorEndpoint", params: ps.SessionArchiveParams) -> WireModel:
    """Take out of the usual list, or back."""
    session = _acting(endpoint, params.session_id)
    if session.state.archived != params.archived:
        session.record(r.SessionArchived(archived=params.archived))
        endpoint.engine.touched(session)
    return Empty()


@handles("kova/session/delete")
async def session_delete(endpoint: "EditorEndpoint", params: ps.SessionRef) -> WireModel:
    """Remove a session, stopping it first."""
    _acting(endpoint, params.session_id)
    await endpoint.engine.delete(params.session_id)
    return Empty()


# -- turns ----------------------------------------------------------------------------------------


@handles("kova/turn/start")
def turn_start(endpoint: "EditorEndpoint", params: pt.TurnStartParams) -> WireModel:
    """Give the session a prompt."""
    session = _acting(endpoint, params.session_id)
    turn_id, status = session.start(
        params.input, prompt_id=params.prompt_id, when_busy=params.when_busy, editor=endpoint
    )
    return pt.TurnStartResult(turn_id=turn_id, status=status)


@handles("kova/turn/steer")
def turn_steer(endpoint: "EditorEndpoint", params: pt.TurnSteerParams) -> WireModel:
    """Say something into the running turn."""
    session = _acting(endpoint, params.session_id)
    session.steer(params.expected_turn_id, params.input, endpoint)
    return Empty()


@handles("kova/turn/interrupt")
async def turn_interrupt(endpoint: "EditorEndpoint", params: pt.TurnInterruptParams) -> WireModel:
    """Stop the turn; answered when all has stopped."""
    session = _acting(endpoint, params.session_id)
    return pt.TurnInterruptResult(stopped=await session.interrupt(params.expected_turn_id))


@handles("kova/loop/read")
def loop_read(endpoint: "EditorEndpoint", params: pt.LoopReadParams) -> WireModel:
    """Look inside a turn."""
    return loop_of(_session(endpoint, params.session_id), params.turn_id)


@handles("kova/output/read")
def output_read(endpoint: "EditorEndpoint", params: pt.OutputReadParams) -> WireModel:
    """Read a range of a large output."""
    session_id, _, name = params.output_ref.partition("/")
    session = _session(endpoint, session_id)
    path = session.folder / "outputs" / name
    try:
        if not name or os.path.basename(name) != name or name.startswith("."):
            raise FileNotFoundError(name)
        with open(path, "rb") as file:
            total = file.seek(0, os.SEEK_END)
            start = min(params.offset, total)
            file.seek(max(0, start - 3))
            before = file.read(start - max(0, start - 3))
            data = file.read(params.limit)
    except OSError as error:
        raise RequestFailed(
            "outputGone", f"The output {params.output_ref!r} is not there (any more)."
        ) from error
    back = _character_start(before, data)
    data = (before[len(before) - back :] if back else b"") + data
    if start - back + len(data) < total:
        data = data[: len(data) - _cut_tail(data)] or data
    return pt.OutputReadResult(
        text=data.decode("utf-8", "replace"),
        offset=start - back,
        next_offset=start - back + len(data),
        total_bytes=total,
    )


def _character_start(before: bytes, data: bytes) -> int:
    """Return how many bytes before `data` belong to its first character."""
    if not data or data[0] & 0xC0 != 0x80:
        return 0
    for back in range(1, len(before) + 1):
        if before[-back] & 0xC0 == 0xC0:
            return back
    return 0


def _cut_tail(data: bytes) -> int:
    """Return how many bytes at the end begin a character that is not whole."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue
        size = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
        return back if size > back else 0
    return 0


# -- approvals and questions ------------------------------------------------------------------------


def _waiting(endpoint: "EditorEndpoint", session_id: str | None) -> list[Session]:
    if session_id is not None:
        return [_session(endpoint, session_id)]
    return [session for session in endpoint.engine.running if session.state.is_waiting]


@handles("kova/approval/list")
def approval_list(endpoint: "EditorEndpoint", params: pa.ApprovalListParams) -> WireModel:
    """List open cards."""
    found = [a for s in _waiting(endpoint, params.session_id) for a in s.state.approvals]
    return pa.ApprovalListResult(approvals=tuple(sorted(found, key=lambda a: a.requested_at)))


@handles("kova/approval/respond")
def approval_respond(endpoint: "EditorEndpoint", params: pa.ApprovalRespondParams) -> WireModel:
    """Answer a card."""
    session = _asked_by(endpoint, params.approval_id, "approval")
    if any(a.approval_id == params.approval_id for a in session.state.approvals):
        _may_act(endpoint, session)
        session.respond(
            params.approval_id,
            params.decision,
            endpoint.name,
            feedback=params.feedback,
            option=params.option,
        )
        return pa.ApprovalRespondResult(
            status="resolved", decision=params.decision, resolved_by=endpoint.name
        )
    decision, by = _resolution(session, params.approval_id, "approval")
    return pa.ApprovalRespondResult(status="alreadyResolved", decision=decision, resolved_by=by)


def _asked_by(endpoint: "EditorEndpoint", ask_id: str, what: str) -> Session:
    """Return the session whose id leads the id of an approval or question."""
    session_id = ask_id.partition(".")[0]
    try:
        return _session(endpoint, session_id)
    except RequestFailed as error:
        raise _not_asked(ask_id, what) from error


def _resolution(session: Session, ask_id: str, what: str) -> tuple[str, str]:
    found = session.resolution(ask_id)
    if found is None:
        raise _not_asked(ask_id, what)
    return found


def _not_asked(ask_id: str, what: str) -> RequestFailed:
    return RequestFailed(
        f"{what}NotFound", f"There is no {what} {ask_id!r}. List the open {what}s again."
    )


@handles("kova/question/list")
def question_list(endpoint: "EditorEndpoint", params: pa.QuestionListParams) -> WireModel:
    """List open questions."""
    found = [q for s in _waiting(endpoint, params.session_id) for q in s.state.questions]
    return pa.QuestionListResult(questions=tuple(sorted(found, key=lambda q: q.requested_at)))


@handles("kova/question/respond")
def question_respond(endpoint: "EditorEndpoint", params: pa.QuestionRespondParams) -> WireModel:
    """Answer or decline questions."""
    if params.answers is None and not params.declined:
        raise RequestFailed("invalidParams", "answers: give `answers`, or `declined: true`.")
    session = _asked_by(endpoint, params.question_id, "question")
    if any(q.question_id == params.question_id for q in session.state.questions):
        _may_act(endpoint, session)
        answers = None if params.declined else params.answers
        session.answer(params.question_id, answers, endpoint.name)
        return pa.QuestionRespondResult(
            status="resolved",
            outcome="declined" if params.declined else "answered",
            resolved_by=endpoint.name,
        )
    outcome, by = _resolution(session, params.question_id, "question")
    return pa.QuestionRespondResult(status="alreadyResolved", outcome=outcome, resolved_by=by)


# -- permissions ------------------------------------------------------------------------------------


@handles("kova/permission/explain")
def permission_explain(endpoint: "EditorEndpoint", params: pp.PermissionExplainParams) -> WireModel:
    """Say what verdict a call would get; nothing runs."""
    session = _session(endpoint, params.session_id)
    tool = by_name(params.tool)
    if tool is None:
        raise RequestFailed("invalidParams", f"tool: there is no tool {params.tool!r}.")
    try:
        _, ruling = judge(session, tool, tool.args.model_validate(params.input))
    except (ValueError, ToolError) as error:
        raise RequestFailed("invalidParams", f"input: {error}") from error
    return pp.PermissionExplainResult(
        decision=ruling.decision,
        reasons=ruling.reasons,
        segments=ruling.segments,
        rules=ruling.rules,
        notices=ruling.notices,
    )


@handles("kova/permission/list")
def permission_list(endpoint: "EditorEndpoint", params: pp.PermissionListParams) -> WireModel:
    """List rules and roots with their files."""
    session = _session(endpoint, params.session_id)
    workspace = workspace_path(session)
    grants = endpoint.engine.grants
    granted = grants.load(workspace)
    files = {RootSource.USER: file_uri(str(grants.user_path()))}
    if workspace is not None:
        files[RootSource.LOCAL] = file_uri(str(grants.local_path(workspace)))

    def entries(rules: tuple[Any, ...]) -> tuple[pp.RuleEntry, ...]:
        return tuple(
            pp.RuleEntry(rule=rule.text, source=rule.source, path=files.get(rule.source, ""))
            for rule in rules
        )

    return pp.PermissionListResult(
        allow=entries(granted.allow),
        deny=entries(granted.deny),
        roots=tuple(
            r.RootEntry(uri=file_uri(root.path), source=root.source)
            for root in facts(session).roots
        ),
        proposed=tuple(proposal.sentence for proposal in granted.proposals),
        problems=granted.problems,
    )


# -- catalogs -----------------------------------------------------------------------------------------


@handles("kova/model/list")
def model_list(endpoint: "EditorEndpoint", params: pc.CatalogParams) -> WireModel:
    """List models and say which can be used."""
    del params
    settings = endpoint.engine.read_settings(endpoint.env)
    entries: list[pc.ModelEntry] = []
    for name, model in settings.models.items():
        try:
            endpoint.engine.check_model(name, endpoint)
            problem = None
        except RequestFailed as error:
            problem = error.message
        entries.append(
            pc.ModelEntry(
                name=name,
                api=model.api,
                model=model.model,
                context_window=model.context_window,
                ready=problem is None,
                problem=problem,
            )
        )
    return pc.ModelListResult(models=tuple(entries), default=settings.default_model)


@handles("kova/tool/list")
def tool_list(endpoint: "EditorEndpoint", params: pc.CatalogParams) -> WireModel:
    """List tools, and which the session's mode offers."""
    mode = Mode.AGENT
    if params.session_id is not None:
        mode = _session(endpoint, params.session_id).state.mode
    asks = (ToolKind.SHELL, ToolKind.OTHER)
    return pc.ToolListResult(
        tools=tuple(
            pc.ToolEntry(
                name=tool.name,
                kind=tool.kind,
                description=tool.description,
                input_schema=tool.schema(),
                offered=offered(tool.kind, mode),
                default_approval="ask" if tool.kind in asks else "allow",
            )
            for tool in sorted(discover().values(), key=lambda tool: tool.name)
        )
    )


# -- the engine itself ----------------------------------------------------------------------------------


@handles("kova/engine/status")
def engine_status(endpoint: "EditorEndpoint", params: Empty) -> WireModel:
    """Say who is attached and what runs."""
    del params
    return endpoint.hub.status()


@handles("kova/engine/stop")
def engine_stop(endpoint: "EditorEndpoint", params: pe.EngineStopParams) -> WireModel:
    """End the engine, unless turns run and the caller does not insist."""
    running = [s for s in endpoint.engine.running if s.state.status is SessionState.RUNNING]
    stopping = params.force or not running
    if stopping:
        endpoint.hub.stop_soon()
    return pe.EngineStopResult(
        stopping=stopping, running=tuple(session.state.title for session in running)
    )
