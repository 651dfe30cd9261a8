"""Requests about models and tools."""

from typing import TYPE_CHECKING

from kova_ls.endpoint.handlers._table import handles, session_of
from kova_ls.errors import RequestFailed
from kova_ls.protocol import catalog as pc
from kova_ls.protocol._base import WireModel
from kova_ls.tools import discover
from kova_ls.vocabulary import Mode, ToolKind

if TYPE_CHECKING:
    from kova_ls.endpoint.server import EditorEndpoint


@handles("kova/model/list")
def model_list(endpoint: "EditorEndpoint", params: pc.CatalogParams) -> WireModel:
    """List models and say which can be used."""
    del params
    settings = endpoint.engine.models.read(endpoint.env)
    entries: list[pc.ModelEntry] = []
    for name, model in settings.models.items():
        try:
            endpoint.engine.models.check(name, endpoint)
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
        mode = session_of(endpoint, params.session_id).state.mode
    offered = endpoint.engine.offered(mode)
    asks = (ToolKind.SHELL, ToolKind.OTHER)
    return pc.ToolListResult(
        tools=tuple(
            pc.ToolEntry(
                name=tool.name,
                kind=tool.kind,
                description=tool.description,
                input_schema=tool.schema(),
                offered=tool in offered,
                default_approval="ask" if tool.kind in asks else "allow",
            )
            for tool in sorted(discover().values(), key=lambda tool: tool.name)
        )
    )
