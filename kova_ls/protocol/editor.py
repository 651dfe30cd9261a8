"""What the engine asks of an editor about its documents; only of those that announced it.

Positions are LSP's, zero-based, in UTF-16 code units.
"""

from typing import Literal

from kova_ls.protocol._base import WireModel
from kova_ls.values import Range


class DocumentsParams(WireModel):
    """Which documents."""

    uris: tuple[str, ...]
    """`file:` URIs."""


class DocumentState(WireModel):
    """What LSP does not say of an open document."""

    uri: str
    """`file:` URI."""
    version: int
    """Of the text that `text_hash` is of."""
    dirty: bool
    """It holds changes that are not on the disk."""
    encoding: str = "utf-8"
    """Of the file."""
    eol: Literal["\n", "\r\n", "\r"] = "\n"
    """Line end of the file."""
    bom: bool = False
    """The file begins with a byte order mark."""
    readonly: bool = False
    """The editor would not change it."""
    text_hash: str
    """SHA-256, in hex, of the text as text sync gives it, in UTF-8."""
    is_typing: bool = False
    """The person typed in it in the last 300 ms."""


class EditorStateResult(WireModel):
    """The open ones among those asked for."""

    documents: tuple[DocumentState, ...]
    """Those not open are left out."""


class SaveResult(WireModel):
    """What became of saving."""

    saved: tuple[str, ...]
    """URIs that are no longer dirty."""
    failed: tuple[str, ...] = ()
    """URIs that could not be saved: conflict, read-only, encoding."""


class ReloadResult(WireModel):
    """What became of reading documents anew from the disk."""

    reloaded: tuple[str, ...]
    """URIs whose text is now the disk's."""
    dirty: tuple[str, ...] = ()
    """URIs with unsaved text, which was kept."""


class DiagnosticsParams(WireModel):
    """Whose diagnostics, and for how long to wait."""

    uris: tuple[str, ...] = ()
    """Empty = of all open documents."""
    settle_ms: int = 1_000
    """Wait until none changed for so long, at most five times as long."""


class DocumentDiagnostic(WireModel):
    """One diagnostic of the editor."""

    range: Range
    """Where."""
    severity: int = 1
    """LSP: 1 error, 2 warning, 3 information, 4 hint."""
    message: str
    """What it says."""
    source: str | None = None
    """Who says it."""
    code: str | None = None
    """Its code."""


class DocumentDiagnostics(WireModel):
    """A document's diagnostics."""

    uri: str
    """`file:` URI."""
    version: int | None = None
    """Of the document they belong to, where known."""
    diagnostics: tuple[DocumentDiagnostic, ...]
    """In order of place."""


class DiagnosticsResult(WireModel):
    """What the editor knows."""

    documents: tuple[DocumentDiagnostics, ...]
    """Only those that have some, or were asked for."""
    settled: bool
    """False when they still changed at the end of the wait."""


class DocumentChanged(WireModel):
    """A document became dirty or clean."""

    uri: str
    """`file:` URI."""
    version: int
    """Its version."""
    dirty: bool
    """Now."""


class EditGuard(WireModel):
    """The `kova` part of our `workspace/applyEdit`: our clients refuse an edit of another text."""

    text_hash: str
    """SHA-256 of the text that the edits were computed from."""
    new_text_hash: str
    """SHA-256 of the text they lead to."""


class EditOutcome(WireModel):
    """The `kova` part of the answer to our `workspace/applyEdit`."""

    version: int
    """Of the document after the edit."""
    text_hash: str
    """Of its text after the edit."""
    reason: str | None = None
    """Why nothing was applied: `stale`, `readonly`, `typing`, `closed`."""
