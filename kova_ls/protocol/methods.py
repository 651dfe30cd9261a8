"""The method table: everything beside LSP's own methods that crosses the wire."""

from dataclasses import dataclass
from typing import Literal

from kova_ls.protocol import (
    approval,
    catalog,
    engine,
    event,
    panel,
    permission,
    session,
    turn,
)
from kova_ls.protocol._base import Empty, WireModel


@dataclass(frozen=True, slots=True)
class Method:
    """One row; `result` is None for notifications."""

    name: str
    sender: Literal["client", "server"]
    params: type[WireModel]
    result: type[WireModel] | None
    summary: str


def _ask(name: str, params: type[WireModel], result: type[WireModel], summary: str) -> Method:
    return Method(name, "client", params, result, summary)


def _tell(name: str, params: type[WireModel], summary: str) -> Method:
    return Method(name, "server", params, None, summary)


METHODS: dict[str, Method] = {
    row.name: row
    for row in (
        _ask(
            "kova/session/create",
            session.SessionCreateParams,
            session.SessionSnapshot,
            "Begin a conversation and follow it.",
        ),
        _ask(
            "kova/session/list",
            session.SessionListParams,
            session.SessionListResult,
            "List conversations, the latest used first.",
        ),
        _ask(
            "kova/session/attach",
            session.SessionAttachParams,
            session.SessionAttachResult,
            "Follow a conversation from a cursor.",
        ),
        _ask("kova/session/detach", session.SessionRef, Empty, "Follow a conversation no longer."),
        _ask(
            "kova/session/read",
            session.SessionReadParams,
            session.SessionReadResult,
            "Read older parts of the transcript.",
        ),
        _ask(
            "kova/session/configure",
            session.SessionConfigureParams,
            session.SessionSettings,
            "Change mode, level or model.",
        ),
        _ask(
            "kova/session/cycleLevel",
            session.SessionRef,
            session.SessionSettings,
            "Go to the next approval level.",
        ),
        _ask("kova/session/rename", session.SessionRenameParams, Empty, "Give a new title."),
        _ask(
            "kova/session/archive",
            session.SessionArchiveParams,
            Empty,
            "Take out of the usual list, or back into it.",
        ),
        _ask("kova/session/delete", session.SessionRef, Empty, "Remove a conversation for good."),
        _ask("kova/turn/start", turn.TurnStartParams, turn.TurnStartResult, "Give it a prompt."),
        _ask("kova/turn/steer", turn.TurnSteerParams, Empty, "Say something into the turn."),
        _ask(
            "kova/turn/interrupt",
            turn.TurnInterruptParams,
            turn.TurnInterruptResult,
            "Stop the turn, and say what was stopped.",
        ),
        _ask(
            "kova/approval/list",
            approval.ApprovalListParams,
            approval.ApprovalListResult,
            "List open approvals.",
        ),
        _ask(
            "kova/approval/respond",
            approval.ApprovalRespondParams,
            approval.ApprovalRespondResult,
            "Answer a card; the first answer wins.",
        ),
        _ask(
            "kova/question/list",
            approval.QuestionListParams,
            approval.QuestionListResult,
            "List open questions.",
        ),
        _ask(
            "kova/question/respond",
            approval.QuestionRespondParams,
            approval.QuestionRespondResult,
            "Answer or decline questions; the first answer wins.",
        ),
        _ask(
            "kova/output/read",
            turn.OutputReadParams,
            turn.OutputReadResult,
            "Read a range of a large output.",
        ),
        _ask(
            "kova/loop/read",
            turn.LoopReadParams,
            turn.LoopReadResult,
            "Look inside a turn: every step, every call, every verdict.",
        ),
        _ask(
            "kova/permission/explain",
            permission.PermissionExplainParams,
            permission.PermissionExplainResult,
            "Say what verdict a call would get now; nothing runs.",
        ),
        _ask(
            "kova/permission/list",
            permission.PermissionListParams,
            permission.PermissionListResult,
            "List rules and roots with the file each comes from.",
        ),
        _ask("kova/model/list", catalog.CatalogParams, catalog.ModelListResult, "List models."),
        _ask("kova/tool/list", catalog.CatalogParams, catalog.ToolListResult, "List tools."),
        _ask(
            "kova/engine/status",
            Empty,
            engine.EngineStatusResult,
            "Say what the engine is doing, and for whom.",
        ),
        _ask(
            "kova/engine/stop",
            engine.EngineStopParams,
            engine.EngineStopResult,
            "End the engine; with running turns only when forced.",
        ),
        _tell("kova/event", event.Event, "A fact or a delta of a followed session."),
        _tell(
            "kova/resyncRequired",
            event.ResyncRequired,
            "The editor fell behind: attach again from its cursor.",
        ),
        _tell("kova/panel/open", panel.PanelOpen, "Show a panel."),
    )
}
