"""Find the tools by listing this folder; every file without underscore is one tool.

Invariant: a tool's name in snake case is its file's name; no name or alias is used twice.
"""

import pkgutil
import re
from functools import cache
from importlib import import_module

from kova_ls.tools._base import Tool


def discover() -> dict[str, Tool]:
    """Return every tool by name, ordered by file name.

    Raises: ValueError for a misnamed tool or a name used twice.
    """
    return dict(_tools())


def by_name(name: str) -> Tool | None:
    """Return the tool that is called so, by its name or an alias, whatever the case."""
    exact = _tools().get(name)
    return exact or _calls().get(name.casefold())


def file_name(tool_name: str) -> str:
    """Return the module a tool must live in: `TodoList` -> `todo_list`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", tool_name).lower()


def check(found: dict[str, Tool]) -> dict[str, Tool]:
    """Return module -> tool as name -> tool. Raises: ValueError, naming the file."""
    taken: dict[str, str] = {}
    for module, tool in found.items():
        if file_name(tool.name) != module:
            raise ValueError(
                f"tools/{module}.py holds a tool named {tool.name!r}; "
                f"rename the file to {file_name(tool.name)}.py."
            )
        for call in {tool.name.casefold(), *(alias.casefold() for alias in tool.aliases)}:
            if call in taken:
                raise ValueError(f"tools/{module}.py: {call!r} is taken by tools/{taken[call]}.py.")
            taken[call] = module
    return {tool.name: tool for tool in found.values()}


@cache
def _tools() -> dict[str, Tool]:
    modules = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    return check({name: import_module(f"{__name__}.{name}").TOOL for name in modules})


@cache
def _calls() -> dict[str, Tool]:
    calls: dict[str, Tool] = {}
    for tool in _tools().values():
        for call in (tool.name, *tool.aliases):
            calls[call.casefold()] = tool
    return calls
