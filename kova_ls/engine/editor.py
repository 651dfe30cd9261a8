"""What the engine knows of an attached editor; the endpoint is one, the tests have their own.

Invariant: nothing here names a wire.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from kova_ls.engine.workspace import Overlays
from kova_ls.tools._base import Diagnosed


class Editor(Protocol):
    """An attached editor."""

    id: str
    """Stable per window."""
    name: str
    trusted: bool
    """It said that its workspace is trusted."""
    env: Mapping[str, str]
    """The environment it was started in."""
    folders: tuple[str, ...]
    """Resolved; the first is the permission workspace, the others are writable roots."""
    panel_kinds: frozenset[str]

    @property
    def overlays(self) -> Overlays | None:
        """Its open documents."""
        ...

    async def show_document(self, uri: str, line_no: int | None) -> bool:
        """Show a file without taking the focus; True when it is shown."""
        ...

    def open_panel(self, panel: Mapping[str, Any]) -> None:
        """Show a panel; fields as in `kova/panel/open`, in snake_case."""
        ...

    @property
    def tells_diagnostics(self) -> bool:
        """It announced that it can."""
        ...

    async def diagnostics(self, paths: Sequence[str], settle_ms: int) -> Diagnosed | None:
        """Return what its tools say of files (resolved), or of all open documents.

        None when it did not say.
        """
        ...
