"""In which folders the modules of a command line run, as far as its text tells.

Only modules that run none of the folder's code by their purpose are asked about.
Invariant: no folder in which such a module could run is left out, or the answer is that it is
uncertain.
"""

import re
from collections.abc import Sequence

from kova_ls.permission.globs import absolute
from kova_ls.permission.programs import FOLDER_CHANGERS, development_program
from kova_ls.permission.python_modules import replaced, runs_own_code
from kova_ls.permission.readonly import looks_only
from kova_ls.permission.roots import is_inside
from kova_ls.permission.shell import Part, analyse
from kova_ls.values import Reason

_MAX_FOLDERS = 16
_HOME = re.compile(r"(~|\$HOME|\$\{HOME\})(/[A-Za-z0-9_./@%+,-]*)?\Z")
_BRINGS_FILES = frozenset({"git", "hg", "svn", "jj", "fossil", "gh", "glab"})
"""Version control puts files into folders before the module looks there."""


def own_module(part: Part) -> tuple[str, bool] | None:
    """Return the module that a segment runs, if it runs its own code only.

    Shape: its name, and whether a wrapper starts it.
    """
    if "-m" not in part.values:
        return None
    inner = development_program(part.values)
    if inner is None or not inner.is_module or not runs_own_code(part.values[inner.at]):
        return None
    return part.values[inner.at], inner.at > 2


def module_folders(command: str, cwd: str, home: str, workspace: str | None) -> tuple[str, ...]:
    """Return the folders whose files could run in place of a module of the command."""
    if "-m" not in command:
        return ()
    parts = analyse(command).parts
    found: dict[str, None] = {}
    for at, part in enumerate(parts):
        module = own_module(part)
        if module is None:
            continue
        for folder in _folders(parts[:at], cwd, home) or ():
            found[folder] = None
            if module[1] and workspace is not None and is_inside(folder, workspace):
                # A wrapper may start it in the project's own folder, further up.
                while folder != workspace and folder != "/":
                    folder = folder.rsplit("/", 1)[0] or "/"
                    found[folder] = None
    return tuple(found)


def module_reason(
    parts: Sequence[Part], at: int, cwd: str, home: str, local: frozenset[str]
) -> Reason | None:
    """Return why the module that a segment runs may not be the one it names, or None."""
    module = own_module(parts[at])
    if module is None:
        return None
    name = module[0]
    if _folders(parts[:at], cwd, home) is None:
        return Reason(
            code="local_module",
            text=f"Python takes modules of the folder before `{name}`'s own, and which folder that"
            " is, or what is in it by then, cannot be told from the line.",
        )
    other = replaced(name, local)
    if other is None:
        return None
    return Reason(
        code="local_module",
        text=f"A module {other!r} of the folder would run in place of what `{name}` uses.",
    )


def _folders(before: Sequence[Part], cwd: str, home: str) -> list[str] | None:
    """Return where what follows these segments may run; None when it is uncertain."""
    found = [cwd]
    for part in before:
        if part.name in FOLDER_CHANGERS:
            target = _target(part, home)
            if target is None:
                return None
            found += [absolute(target, home, folder) for folder in found]
            found = list(dict.fromkeys(found))
            if len(found) > _MAX_FOLDERS:
                return None
        elif part.name in _BRINGS_FILES and not looks_only(part):
            return None
    return found


def _target(part: Part, home: str) -> str | None:
    """Return where a `cd` goes, when its word says so."""
    match part.values, part.keys:
        case ("cd",), _:
            return home
        case ("cd", word), (_, key) if key.startswith("\0"):
            return word if _HOME.match(word) and key.strip('\0"') == word else None
        case ("cd", word), _:
            return None if word.startswith(("-", "$", "~")) else word
        case _:
            return None
