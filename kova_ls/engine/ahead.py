"""Load what a first turn needs before somebody waits for it.

Models' clients, tools and the reading of commands take a quarter of a second to import: too long
before a session's first page, and too long after the first prompt.
"""

import asyncio
import contextlib
from importlib import import_module
from typing import TYPE_CHECKING

from kova_ls.errors import KovaError
from kova_ls.journal import records as r
from kova_ls.llm import load
from kova_ls.tools import discover
from kova_ls.vocabulary import Mode

if TYPE_CHECKING:
    from kova_ls.engine.engine import Engine

_FIRST_PAGE_S = 0.2
_ROOMS = ("kova_ls.engine.turn", "kova_ls.permission.adjudicate")


async def load_ahead(engine: "Engine") -> None:
    """Import in a thread, so that who asks something meanwhile is answered."""
    await asyncio.sleep(_FIRST_PAGE_S)
    for room in _ROOMS:
        await asyncio.to_thread(import_module, room)
    await asyncio.to_thread(discover)
    await asyncio.to_thread(engine.tool_specs, Mode.AGENT)
    for kind in r.EVERY_TURN:
        await asyncio.to_thread(kind.model_rebuild)
    with contextlib.suppress(KovaError):
        settings = engine.models.read()
        model = settings.models.get(settings.default_model or "")
        if model is not None:
            await asyncio.to_thread(load, model.api)
