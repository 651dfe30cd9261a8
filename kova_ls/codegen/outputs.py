"""Everything that is generated: where it stands and what it should say.

Invariant: the same source gives the same bytes, whatever stands in the files now.
"""

import difflib
from collections.abc import Callable, Mapping
from pathlib import Path

from kova_ls.codegen import diagram, jsonschema, lua, openrpc, table, typescript
from kova_ls.engine.transitions import TRANSITIONS
from kova_ls.protocol.handshake import VERSION
from kova_ls.protocol.methods import METHODS
from kova_ls.tools import discover
from kova_ls.vocabulary import SessionState

COMMAND = "python -m kova_ls.codegen --write"
"""What renews all of it."""


def documents() -> dict[str, str]:
    """Return name -> text of what needs no other file, for `--print`."""
    described = openrpc.text(openrpc.document())
    definitions = jsonschema.wire_definitions()
    payloads = jsonschema.event_payloads()
    errors = openrpc.errors()
    schema_hash = openrpc.digest(described)
    emitted = {
        name: emit(definitions, METHODS, payloads, errors, version=VERSION, schema_hash=schema_hash)
        for name, emit in (("typescript", typescript.module), ("lua", lua.module))
    }
    return {
        "openrpc": described,
        "kova": openrpc.text(jsonschema.wire_schema()),
        "journal": openrpc.text(jsonschema.journal_schema()),
        "config": openrpc.text(jsonschema.config_schema()),
        **emitted,
        "hash": openrpc.hash_module(described),
    }


PLACES: dict[str, str] = {
    "openrpc": "schemas/openrpc.json",
    "kova": "schemas/kova.schema.json",
    "journal": "schemas/journal.schema.json",
    "config": "schemas/config.schema.json",
    "typescript": "editors/vscode/src/protocol.gen.ts",
    "lua": "editors/nvim/lua/kova/types.lua",
    "hash": "kova_ls/protocol/schema_hash.py",
}
"""Name of a document -> its file."""

PAGES = ("README.md", "kova_ls/ARCHITECTURE.md")
"""Pages whose marked stretches are filled, where the page exists."""


def wanted(root: Path) -> dict[Path, str]:
    """Return file -> text as it should be; pages are read for what surrounds the markers."""
    texts = documents()
    found = {root / place: texts[name] for name, place in PLACES.items()}
    bodies: dict[str, Callable[[], str]] = {
        "methods": lambda: table.methods(METHODS),
        "settings": lambda: table.settings(jsonschema.config_schema()),
        "tools": lambda: table.tools(discover().values()),
        "machine": lambda: diagram.draw(TRANSITIONS, SessionState.IDLE),
    }
    for page in PAGES:
        path = root / page
        if path.is_file():
            found[path] = table.fill(path.read_text("utf-8"), bodies)
    return found


def differences(root: Path, texts: Mapping[Path, str]) -> str:
    """Return a diff from the files to what they should say; empty when all is fresh."""
    parts: list[str] = []
    for path, text in texts.items():
        present = path.read_text("utf-8") if path.is_file() else ""
        name = path.relative_to(root).as_posix()
        parts += difflib.unified_diff(
            present.splitlines(keepends=True),
            text.splitlines(keepends=True),
            f"a/{name}",
            f"b/{name}",
        )
    return "".join(parts)


def write(texts: Mapping[Path, str]) -> list[Path]:
    """Bring the files up to date; returns those that changed."""
    changed: list[Path] = []
    for path, text in texts.items():
        if not path.is_file() or path.read_text("utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
            changed.append(path)
    return changed
