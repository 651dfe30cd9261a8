"""What an editor says of its open documents, as LSP's text synchronisation has it."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kova_ls.endpoint.documents import Documents


def take(documents: "Documents", method: str, params: dict[str, Any]) -> None:
    """Take a notification; unknown ones are passed over.

    Raises: LookupError, TypeError, ValueError, AttributeError for one that is malformed.
    """
    match method:
        case "textDocument/didOpen":
            documents.opened(params["textDocument"])
        case "textDocument/didChange":
            document = params["textDocument"]
            documents.changed(document["uri"], document.get("version"), params["contentChanges"])
        case "textDocument/didSave":
            documents.saved(params["textDocument"]["uri"], params.get("text"))
        case "textDocument/didClose":
            documents.closed(params["textDocument"]["uri"])
        case "kova/editor/documentChanged":
            documents.dirtied(params["uri"], is_dirty=params["dirty"] is True)
        case _:
            pass
