"""What an editor says of itself in `initialize`, and what it is told.

Read by hand, since the models would have to be loaded before the answer.
Invariant: light to import; whatever the params hold, reading them does not fail.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from kova_ls import __version__
from kova_ls.l10n import Language, language_of, say
from kova_ls.protocol.schema_hash import SCHEMA_HASH
from kova_ls.vocabulary import ApprovalLevel, Mode

VERSIONS = (1,)
_LONGEST_LATENCY_S = 1.0


@dataclass(frozen=True, slots=True)
class Introduction:
    """An editor, as it introduced itself."""

    id: str = ""
    name: str = "editor"
    version: str = ""
    language: Language = Language.ENGLISH
    """For what is said to its person; from LSP's `locale`."""
    trusted: bool = False
    panel_kinds: frozenset[str] = frozenset()
    max_latency_s: float = 0.0
    shows_documents: bool = False
    applies_edits: bool = False
    knows_documents: bool = False
    """It answers `kova/editor/*` about its documents and checks our edits."""
    tells_diagnostics: bool = False
    is_plain: bool = False
    """It knows nothing of Kova: LSP's own words are all there is."""
    shows_progress: bool = False
    refreshes_lenses: bool = False
    takes_action_literals: bool = False
    folder_uris: tuple[str, ...] = ()
    refusal: str | None = None
    """Why no version of the protocol is common to both."""


def introduction(params: Any) -> Introduction:
    """Read `initialize`'s params; a plain LSP client has no `kova` part and is welcome."""
    info = dig(params, "clientInfo")
    kova = dig(params, "initializationOptions", "kova")
    client = dig(kova, "client")
    versions = dig(kova, "versions")
    refusal = None
    if kova is not None and not set(_strings_or_numbers(versions)) & set(VERSIONS):
        refusal = (
            f"No common protocol version: this engine ({__version__}) speaks {list(VERSIONS)}, "
            f"the editor offers {versions!r} in initializationOptions.kova.versions. "
            "Update the older side."
        )
    language = language_of(dig(params, "locale"))
    latency = dig(kova, "capabilities", "events", "maxLatencyMs")
    latency_s = latency / 1_000 if isinstance(latency, int | float) else 0.0
    return Introduction(
        id=_text(dig(client, "id")),
        name=_text(dig(client, "name")) or _text(dig(info, "name")) or "editor",
        version=_text(dig(client, "version")) or _text(dig(info, "version")),
        language=language,
        trusted=dig(kova, "trusted") is True,
        panel_kinds=frozenset(map(str, _list(dig(kova, "capabilities", "panels", "kinds")))),
        max_latency_s=min(max(latency_s, 0.0), _LONGEST_LATENCY_S),
        shows_documents=dig(params, "capabilities", "window", "showDocument", "support") is True,
        applies_edits=dig(params, "capabilities", "workspace", "applyEdit") is True,
        knows_documents=isinstance(dig(kova, "capabilities", "documents"), dict),
        tells_diagnostics=isinstance(dig(kova, "capabilities", "diagnostics"), dict),
        is_plain=kova is None,
        shows_progress=dig(params, "capabilities", "window", "workDoneProgress") is True,
        refreshes_lenses=dig(params, "capabilities", "workspace", "codeLens", "refreshSupport")
        is True,
        takes_action_literals=isinstance(
            dig(params, "capabilities", "textDocument", "codeAction", "codeActionLiteralSupport"),
            dict,
        ),
        folder_uris=_folder_uris(params),
        refusal=None if refusal is None else say(refusal, language),
    )


def answer(server_id: str, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the result of `initialize`, with `more` capabilities."""
    return {
        "capabilities": {
            **(more or {}),
            "positionEncoding": "utf-16",
            "textDocumentSync": {"openClose": True, "change": 2, "save": {"includeText": False}},
            "workspace": {"workspaceFolders": {"supported": True, "changeNotifications": True}},
            "experimental": {
                "kova": {
                    "version": VERSIONS[-1],
                    "schemaHash": SCHEMA_HASH,
                    "serverId": server_id,
                    "epoch": server_id,
                    "modes": [mode.value for mode in Mode],
                    "levels": [level.value for level in ApprovalLevel],
                    "features": {},
                }
            },
        },
        "serverInfo": {"name": "kova-ls", "version": __version__},
    }


def local_path(uri: str) -> str | None:
    """Return the resolved path of a `file:` URI; None for any other."""
    try:
        parts = urlsplit(uri)
        return os.path.realpath(unquote(parts.path)) if parts.scheme == "file" else None
    except ValueError:  # no URI at all, or a NUL in it
        return None


def _folder_uris(params: Any) -> tuple[str, ...]:
    listed = [dig(folder, "uri") for folder in _list(dig(params, "workspaceFolders"))]
    uris = [uri for uri in listed if isinstance(uri, str)]
    root = dig(params, "rootUri")
    if not uris and isinstance(root, str):
        uris = [root]
    return tuple(uri for uri in uris if local_path(uri) is not None)


def dig(value: Any, *names: str) -> Any:
    """Return a nested field; None as soon as something on the way is no object."""
    for name in names:
        if not isinstance(value, dict):
            return None
        value = cast(dict[str, Any], value).get(name)
    return value


def _list(value: Any) -> list[Any]:
    return cast(list[Any], value) if isinstance(value, list) else []


def _strings_or_numbers(value: Any) -> list[Any]:
    return [entry for entry in _list(value) if isinstance(entry, str | int | float)]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
