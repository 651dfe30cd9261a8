"""What the engine asks an editor to show."""

from typing import Any

from kova_ls.protocol._base import WireModel


class PanelOpen(WireModel):
    """Sent to the editor that started the turn, when it announced the kind."""

    panel_id: str
    """Opaque id; the same id again replaces the content."""
    kind: str
    """Such as `markdown`, `plan`, `loop`, `diff`, `file`."""
    title: str
    """Heading."""
    uri: str | None = None
    """`file:` URI for kind `file`."""
    line: int | None = None
    """Zero-based line for kind `file`."""
    markdown: str | None = None
    """Content; others wrote it: no raw HTML, no remote images."""
    data: Any = None
    """Content of other kinds."""
    preserve_focus: bool = True
    """The person's focus stays where it is."""
