"""Which Python modules lie in the folders where a command would run modules.

Invariant: looks at names alone and imports nothing.
"""

import os
from collections.abc import Iterable
from dataclasses import replace

from kova_ls.permission.effects import RunCommand
from kova_ls.permission.module_folders import module_folders
from kova_ls.permission.python_modules import could_replace, may_be_missing

_ENDINGS = frozenset({"py", "pyc", "pyw", "so", "pyd"})


def with_local_modules(effect: RunCommand, home: str, workspace: str | None) -> RunCommand:
    """Return the effect with what the disk holds now."""
    folders = module_folders(effect.command, effect.cwd, home, workspace)
    return replace(effect, local_modules=_local_modules(folders)) if folders else effect


def _local_modules(folders: Iterable[str]) -> frozenset[str]:
    found: set[str] = set()
    for folder in folders:
        try:
            with os.scandir(folder) as entries:
                found.update(
                    name
                    for entry in entries
                    if could_replace(name := entry.name.split(".", 1)[0])
                    and _is_module(entry, may_be_missing(name))
                )
        except (FileNotFoundError, NotADirectoryError):
            continue  # Nothing is there to be run.
        except OSError:
            return _ANYTHING
    return frozenset(found)


_ANYTHING = frozenset({"os"})
"""What a folder is taken to hold that cannot be read."""


def _is_module(entry: "os.DirEntry[str]", may_be_missing: bool) -> bool:
    if _is_file(entry.name):
        return True
    if "." in entry.name or not entry.is_dir():
        return False
    with os.scandir(entry.path) as inside:
        return any(
            found.name.startswith(("__init__.", "__main__."))
            or (may_be_missing and (_is_file(found.name) or found.is_dir()))
            for found in inside
        )


def _is_file(name: str) -> bool:
    return name.rsplit(".", 1)[-1] in _ENDINGS
