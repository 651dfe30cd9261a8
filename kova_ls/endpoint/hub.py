"""All editors of one engine process, and the engine behind them.

Invariant: light to import; the engine itself is loaded when `load` is called.
"""

import os
import time
from collections.abc import Callable
from secrets import token_hex
from typing import TYPE_CHECKING

from kova_ls import __version__

if TYPE_CHECKING:
    from kova_ls.endpoint.server import EditorEndpoint
    from kova_ls.engine import Engine
    from kova_ls.protocol.engine import EngineStatusResult


class Hub:
    """What the endpoints share."""

    def __init__(
        self,
        load: Callable[[], "Engine"],
        *,
        stop: Callable[[], None],
        on_change: Callable[[], None],
        kova_home: str,
    ) -> None:
        self._load = load
        self._engine: Engine | None = None
        self.stop_soon = stop
        self.on_change = on_change
        """Called when an editor came or went, or a session began or ended work."""
        self.endpoints: list[EditorEndpoint] = []
        self.server_id = token_hex(8)
        self.started_at = time.time()
        self._kova_home = kova_home

    @property
    def is_loaded(self) -> bool:
        """True once the engine can be asked."""
        return self._engine is not None

    @property
    def engine(self) -> "Engine":
        """The engine, loaded at first use."""
        if self._engine is None:
            self._engine = self._load()
            self._engine.on_change = self.on_change
            self._engine.on_warning = self._warn
        return self._engine

    def _warn(self, text: str) -> None:
        for endpoint in self.endpoints:
            endpoint.show_message(text)

    def joined(self, endpoint: "EditorEndpoint") -> None:
        """Note a connection."""
        self.endpoints.append(endpoint)
        self.on_change()

    def left(self, endpoint: "EditorEndpoint") -> None:
        """Forget a connection."""
        if endpoint in self.endpoints:
            self.endpoints.remove(endpoint)
        if self._engine is not None:
            self._engine.detached(endpoint)
        self.on_change()

    def status(self) -> "EngineStatusResult":
        """Say who is attached and what runs."""
        from kova_ls.protocol.engine import AttachedEditor, EngineStatusResult, LoadedSession

        return EngineStatusResult(
            pid=os.getpid(),
            version=__version__,
            started_at=self.started_at,
            uptime_s=time.time() - self.started_at,
            editors=tuple(
                AttachedEditor(
                    name=endpoint.name,
                    version=endpoint.version,
                    id=endpoint.id,
                    trusted=endpoint.trusted,
                    sessions=tuple(endpoint.followed),
                )
                for endpoint in self.endpoints
                if endpoint.is_initialized
            ),
            sessions=tuple(
                LoadedSession(
                    session_id=session.id,
                    title=session.state.title,
                    state=session.state.status,
                    workspace=session.state.workspace,
                )
                for session in self.engine.loaded_sessions
            ),
            home_path=self._kova_home,
        )
