"""From a request's params to its answer or its error: the one place that names codes."""

import asyncio
import logging
from collections.abc import Coroutine
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from kova_ls.endpoint import framing
from kova_ls.endpoint.handlers import HANDLERS
from kova_ls.endpoint.handlers._table import Handler
from kova_ls.endpoint.localize import localized
from kova_ls.endpoint.project import bounded
from kova_ls.errors import KovaError, RequestFailed
from kova_ls.l10n import Language, say
from kova_ls.protocol._base import WireModel
from kova_ls.protocol.failures import CODES, ErrorCode
from kova_ls.protocol.methods import METHODS

if TYPE_CHECKING:
    from kova_ls.endpoint.server import EditorEndpoint

_log = logging.getLogger(__name__)
_MAX_RESULT_BYTES = 240_000
_WAITS_S = (0.1, 0.2, 0.4, 0.8)


def answer(
    endpoint: "EditorEndpoint", method: str, params: Any
) -> bytes | Coroutine[Any, Any, WireModel]:
    """Return the result's JSON, or the work that leads to the result.

    Raises: whatever `failed` can translate.
    """
    handler = HANDLERS.get(method)
    if handler is None:
        raise RequestFailed(
            "methodNotFound",
            f"There is no method {method!r} in this version; see kova-ls schema openrpc.",
        )
    model = METHODS[method].params
    wanted = model.model_validate({} if params is None else params)
    try:
        outcome = handler(endpoint, wanted)
    except RequestFailed as error:
        if error.code != "sessionInUse":
            raise
        return _once_more(endpoint, handler, wanted)
    if isinstance(outcome, WireModel):
        return encoded(outcome, endpoint.language)
    return outcome


async def _once_more(endpoint: "EditorEndpoint", handler: Handler, params: Any) -> WireModel:
    """Ask again for a while: another engine gives back at once what it does not use."""
    held: RequestFailed | None = None
    for wait_s in _WAITS_S:
        await asyncio.sleep(wait_s)
        try:
            outcome = handler(endpoint, params)
        except RequestFailed as error:
            if error.code != "sessionInUse":
                raise
            held = error
        else:
            return outcome if isinstance(outcome, WireModel) else await outcome
    assert held is not None
    raise held


def encoded(outcome: WireModel, language: Language) -> bytes:
    """Return a result's JSON in an editor's language, cut to what fits into one message."""
    return bounded(localized(outcome, language), limit=_MAX_RESULT_BYTES)


def failed(request_id: Any, error: Exception, language: Language) -> bytes:
    """Return the frame of an error."""
    return framing.error(request_id, *failure(error, language))


def failure(error: Exception, language: Language) -> tuple[int, str, dict[str, Any]]:
    """Return code, message and data: ours with an id to find in the log, theirs with the field."""
    code, message, data = _failure(error)
    return code, say(message, language), data


def _failure(error: Exception) -> tuple[int, str, dict[str, Any]]:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "params"
        text = f"{where}: {first['msg']}."
        return ErrorCode.INVALID_PARAMS, text, {"code": "invalidParams", "field": where}
    if isinstance(error, KovaError) and error.code in CODES:
        data = {"code": error.code, **{k: v for k, v in error.data.items() if v is not None}}
        return CODES[error.code], error.message, data
    incident = token_hex(4)
    _log.error("incident %s", incident, exc_info=error)
    text = f"A fault of the engine (incident {incident} in its log); it goes on."
    return ErrorCode.INTERNAL_ERROR, text, {"code": "internalError", "incident": incident}
