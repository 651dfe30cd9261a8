"""JSON-RPC error codes, and what an editor should do for each."""

from enum import IntEnum


class ErrorCode(IntEnum):
    """Codes on the wire; `data.code` carries the word."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    NOT_INITIALIZED = -32002
    SESSION_NOT_FOUND = -32021
    TURN_BUSY = -32022
    STALE_TURN = -32023
    APPROVAL_NOT_FOUND = -32024
    NO_WORKSPACE = -32025
    NOT_TRUSTED = -32026
    MODEL_NOT_CONFIGURED = -32027
    MODEL_FAILED = -32028
    OUTPUT_GONE = -32029
    JOURNAL_DAMAGED = -32030
    LIMIT_EXCEEDED = -32031
    DISK_FAILED = -32032
    SESSION_IN_USE = -32033
    GOAL_STATE = -32034


CODES: dict[str, ErrorCode] = {
    "invalidParams": ErrorCode.INVALID_PARAMS,
    "methodNotFound": ErrorCode.METHOD_NOT_FOUND,
    "sessionNotFound": ErrorCode.SESSION_NOT_FOUND,
    "turnBusy": ErrorCode.TURN_BUSY,
    "staleTurn": ErrorCode.STALE_TURN,
    "approvalNotFound": ErrorCode.APPROVAL_NOT_FOUND,
    "questionNotFound": ErrorCode.APPROVAL_NOT_FOUND,
    "noWorkspace": ErrorCode.NO_WORKSPACE,
    "notTrusted": ErrorCode.NOT_TRUSTED,
    "modelNotConfigured": ErrorCode.MODEL_NOT_CONFIGURED,
    "modelFailed": ErrorCode.MODEL_FAILED,
    "outputGone": ErrorCode.OUTPUT_GONE,
    "journalDamaged": ErrorCode.JOURNAL_DAMAGED,
    "limitExceeded": ErrorCode.LIMIT_EXCEEDED,
    "diskFailed": ErrorCode.DISK_FAILED,
    "sessionInUse": ErrorCode.SESSION_IN_USE,
    "goalState": ErrorCode.GOAL_STATE,
    "badSettings": ErrorCode.MODEL_NOT_CONFIGURED,
}
"""Word of a KovaError -> code; any other word is an internal error."""

ADVICE: dict[ErrorCode, str] = {
    ErrorCode.PARSE_ERROR: "Send one JSON object per frame.",
    ErrorCode.INVALID_REQUEST: "Send a JSON-RPC 2.0 request; batches are not part of LSP.",
    ErrorCode.METHOD_NOT_FOUND: "Compare the version and features of the handshake.",
    ErrorCode.INVALID_PARAMS: "Mend the field that the message names.",
    ErrorCode.INTERNAL_ERROR: "Report it with the id in the message; the engine goes on.",
    ErrorCode.NOT_INITIALIZED: "Send initialize first.",
    ErrorCode.SESSION_NOT_FOUND: "List the sessions again.",
    ErrorCode.TURN_BUSY: "Queue, steer, or wait for turn.completed.",
    ErrorCode.STALE_TURN: "Attach again: the turn has ended or another one runs.",
    ErrorCode.APPROVAL_NOT_FOUND: "List the open approvals again.",
    ErrorCode.NO_WORKSPACE: "Open a folder, or name a workspace.",
    ErrorCode.NOT_TRUSTED: "Trust the folder in the editor.",
    ErrorCode.MODEL_NOT_CONFIGURED: "Run `kova-ls doctor`.",
    ErrorCode.MODEL_FAILED: "Read the message; try again or choose another model.",
    ErrorCode.OUTPUT_GONE: "The output was removed with its session.",
    ErrorCode.JOURNAL_DAMAGED: "The message names the file and the line.",
    ErrorCode.LIMIT_EXCEEDED: "Ask for less at once.",
    ErrorCode.DISK_FAILED: "Free some space or mend the rights; nothing announced is lost.",
    ErrorCode.SESSION_IN_USE: "Close the editors of the other engine, then attach again.",
    ErrorCode.GOAL_STATE: "Look at the goal: it stands where this cannot be done.",
}
"""What an editor should do."""
