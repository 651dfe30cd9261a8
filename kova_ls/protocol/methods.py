"""The method table: everything beside LSP's own methods that crosses the wire."""

from dataclasses import dataclass
from typing import Literal

from kova_ls.protocol import (
    approval,
    catalog,
    changes,
    editor,
    engine,
    event,
    goal,
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


def _asked(name: str, params: type[WireModel], result: type[WireModel], summary: str) -> Method:
    return Method(name, "server", params, result, summary)


_CHANGED = permission.PermissionChangeResult

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
            "kova/turn/withdraw",
            turn.TurnWithdrawParams,
            turn.TurnWithdrawResult,
            "Take back a prompt that still waits.",
        ),
        _ask(
            "kova/turn/interrupt",
            turn.TurnInterruptParams,
            turn.TurnInterruptResult,
            "Stop the turn, and say what was stopped.",
        ),
        _ask("kova/goal/get", session.SessionRef, goal.GoalResult, "Say where the goal stands."),
        _ask(
            "kova/goal/pause",
            session.SessionRef,
            goal.GoalResult,
            "Let no further turn begin by itself.",
        ),
        _ask(
            "kova/goal/resume",
            session.SessionRef,
            goal.GoalResult,
            "Make the goal active again; its next turn begins.",
        ),
        _ask(
            "kova/goal/cancel",
            session.SessionRef,
            goal.GoalResult,
            "End the goal, and the turn that began for it by itself.",
        ),
        _ask(
            "kova/goal/setBudget",
            goal.GoalSetBudgetParams,
            goal.GoalResult,
            "Limit the turns or tokens of the goal, or take the limits away.",
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
        _ask("kova/permission/addRule", permission.RuleParams, _CHANGED, "Add a rule."),
        _ask("kova/permission/removeRule", permission.RuleParams, _CHANGED, "Take a rule out."),
        _ask("kova/permission/addRoot", permission.RootParams, _CHANGED, "Add a writable folder."),
        _ask(
            "kova/permission/removeRoot",
            permission.RootParams,
            _CHANGED,
            "Take a writable folder out.",
        ),
        _ask(
            "kova/permission/accept",
            permission.AcceptParams,
            _CHANGED,
            "Accept one proposed item into the file of this machine.",
        ),
        _ask(
            "kova/permission/adopt",
            permission.AdoptParams,
            _CHANGED,
            "Confirm what a permission file holds.",
        ),
        _ask(
            "kova/changes/list",
            changes.ChangesListParams,
            changes.ChangesListResult,
            "List what is not reviewed yet, by file and hunk.",
        ),
        _ask(
            "kova/changes/decide",
            changes.ChangesDecideParams,
            changes.ChangesDecideResult,
            "Keep or revert hunks, files, a turn, or all.",
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
        _asked(
            "kova/editor/state",
            editor.DocumentsParams,
            editor.EditorStateResult,
            "Say what LSP does not say of open documents.",
        ),
        _asked("kova/editor/save", editor.DocumentsParams, editor.SaveResult, "Save documents."),
        _asked(
            "kova/editor/reload",
            editor.DocumentsParams,
            editor.ReloadResult,
            "Read clean documents anew from the disk.",
        ),
        _asked(
            "kova/editor/diagnostics",
            editor.DiagnosticsParams,
            editor.DiagnosticsResult,
            "Tell the diagnostics, once they have settled.",
        ),
        Method(
            "kova/editor/documentChanged",
            "client",
            editor.DocumentChanged,
            None,
            "A document became dirty or clean.",
        ),
        _tell("kova/panel/open", panel.PanelOpen, "Show a panel."),
    )
}
