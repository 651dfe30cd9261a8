"""Requests about the engine itself."""

from typing import TYPE_CHECKING

from kova_ls.endpoint.handlers._table import handles
from kova_ls.protocol import engine as pe
from kova_ls.protocol._base import Empty, WireModel
from kova_ls.vocabulary import SessionState

if TYPE_CHECKING:
    from kova_ls.endpoint.server import EditorEndpoint


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
