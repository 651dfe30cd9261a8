"""Fill the generated tables of Markdown pages between their markers.

Shape: `<!-- gen:NAME -->` … `<!-- /gen -->`, each alone on its line.
Invariant: what stands outside the markers is not touched; a page without markers stays as it is.
"""

import re
from collections.abc import Callable, Iterable, Mapping

from kova_ls.codegen.shape import Schema
from kova_ls.protocol.methods import Method
from kova_ls.tools._base import Tool

_MARKED = re.compile(r"(?ms)^<!-- gen:(\w+) -->\n.*?^<!-- /gen -->$")


class UnknownMarker(ValueError):
    """A page asks for a table that nobody makes."""


def fill(page: str, bodies: Mapping[str, Callable[[], str]]) -> str:
    """Return the page with every marked stretch renewed; only the tables in use are made.

    Raises: UnknownMarker naming the marker and the known ones.
    """

    def renewed(found: re.Match[str]) -> str:
        name = found[1]
        if name not in bodies:
            known = ", ".join(sorted(bodies))
            raise UnknownMarker(f"no table is called {name!r}; use one of: {known}.")
        return f"<!-- gen:{name} -->\n{bodies[name]()}\n<!-- /gen -->"

    return _MARKED.sub(renewed, page)


def methods(rows: Mapping[str, Method]) -> str:
    """Return the table of methods."""
    sender = {"client": "editor", "server": "engine"}
    return _table(
        ("method", "sent by", "what it does"),
        ((f"`{name}`", sender[row.sender], row.summary) for name, row in rows.items()),
    )


def settings(schema: Schema) -> str:
    """Return the table of settings, tables of tables as `[models.NAME]`."""
    tables = ("models", "automation")
    rows = [(key, part) for key, part in schema["properties"].items() if key not in tables]
    unwatched = schema["$defs"]["AutomationSettings"]
    rows += [(f"automation.{key}", part) for key, part in unwatched["properties"].items()]
    model = schema["$defs"]["ModelSettings"]
    rows += [
        (f"models.NAME.{key}", part) for key, part in model["properties"].items() if key != "price"
    ]
    price = schema["$defs"]["ModelPrice"]
    rows += [(f"models.NAME.price.{key}", part) for key, part in price["properties"].items()]
    return _table(
        ("key", "default", "meaning"),
        ((f"`{key}`", _default(part), part["description"]) for key, part in rows),
    )


def tools(found: Iterable[Tool]) -> str:
    """Return the table of tools: name, kind, first sentence of what the model reads."""
    return _table(
        ("tool", "kind", "what it does"),
        (
            (f"`{tool.name}`", str(tool.kind), re.split(r"(?<=[.!?])\s", tool.description)[0])
            for tool in found
        ),
    )


def _default(part: Schema) -> str:
    value = part.get("default")
    if value in (None, "", []):
        return ""
    shown = ", ".join(value) if isinstance(value, list) else value  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return f"`{shown}`"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
