"""Which folders an editor's trust covers.

Invariant: the home folder and `/` are never trusted, whatever the editor says.
"""

from kova_ls.engine.editor import Editor
from kova_ls.engine.places import Places
from kova_ls.engine.workspace import is_below
from kova_ls.errors import RequestFailed
from kova_ls.vocabulary import ApprovalLevel


def may_trust(places: Places, workspace: str) -> bool:
    """Say whether a folder can be trusted at all."""
    return workspace not in ("/", places.home)


def trusts(places: Places, editor: Editor, workspace: str) -> bool:
    """Say whether an editor's trust covers a folder: only what it has open, and below."""
    is_open = any(is_below(workspace, folder) for folder in editor.folders)
    return editor.trusted and is_open and may_trust(places, workspace)


def not_trusted(level: ApprovalLevel) -> RequestFailed:
    """Return the refusal to raise an untrusted session."""
    return RequestFailed(
        "notTrusted",
        f"Level {level.value!r} needs a trusted folder. Trust the folder in the editor, or stay "
        "at level 'ask'. The home folder and / cannot be trusted.",
    )
