"""In which folders the modules and the git of a command line run, as far as its text tells.

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
from kova_ls.permission.shell import Analysis, Part, analyse
from kova_ls.values import Reason

_MAX_FOLDERS = 16
_HOME = re.compile(r"(~|\$HOME|\$\{HOME\})(/[A-Za-z0-9_./@%+,-]*)?\Z")
_BRINGS_FILES = frozenset(
    "git hg svn jj fossil gh glab csplit gcc cc g++ c++ clang clang++ ld cython swig protoc pandoc"
    " iconv".split()
)
"""They put files of any name and text into folders before the module looks there."""
_UNPACKS = frozenset(
    "gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma zstd unzstd lz4 unlz4 uncompress brotli lzip".split()
)
"""So do these, unless they print."""
_PRINTS = re.compile(r"-[a-z]*[clt][a-z0-9]*|--(to-)?stdout|--list|--test|--version")


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
            if module[0] == "venv":
                # The new environment's pip starts in the environment's folder.
                for word in part.values:
                    found[absolute(word, home, folder)] = None
            if module[1] and workspace is not None and is_inside(folder, workspace):
                # A wrapper may start it in the project's own folder, further up.
                while folder != workspace and folder != "/":
                    folder = folder.rsplit("/", 1)[0] or "/"
                    found[folder] = None
    return tuple(found)


def module_reason(
    analysis: Analysis, at: int, cwd: str, home: str, local: frozenset[str]
) -> Reason | None:
    """Return why the module that a segment runs may not be the one it names, or None."""
    parts = analysis.parts
    module = own_module(parts[at])
    if module is None:
        return None
    name = module[0]
    beside = _beside(analysis, at)
    if _folders(parts[:at], cwd, home) is None or any(map(_brings_files, beside)):
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


def _beside(analysis: Analysis, at: int) -> Sequence[Part]:
    """Return the segments behind this one that the shell starts before it has ended."""
    in_pipe = True
    found: list[Part] = []
    for behind, operator in enumerate(analysis.operators[at:], start=at + 1):
        if operator == "&":
            return analysis.parts[at + 1 :]
        if operator not in ("|", "|&", "&&", "||"):
            break
        in_pipe = in_pipe and operator in ("|", "|&")
        found += analysis.parts[behind : behind + 1] if in_pipe else ()
    return found


def _brings_files(part: Part) -> bool:
    if part.name in _UNPACKS:
        return "--" in part.values or not any(map(_PRINTS.fullmatch, part.values))
    return (
        part.name in _BRINGS_FILES
        and not looks_only(part)
        and part.values[1:] not in ((), ("--version",))
    )


def git_folders(command: str, cwd: str, home: str) -> tuple[str, ...] | None:
    """Return the folders in which git would run; None when that is uncertain."""
    if "git" not in command:
        return ()
    parts = analyse(command).parts
    found: dict[str, None] = {}
    for at, part in enumerate(parts):
        if part.name == "git":
            folders = _places(parts[:at], cwd, home)
            if folders is None:
                return None
            found.update(dict.fromkeys(folders))
    return tuple(found)


def _folders(before: Sequence[Part], cwd: str, home: str) -> list[str] | None:
    """Return where what follows these segments may run; None when what is there is uncertain."""
    return None if any(map(_brings_files, before)) else _places(before, cwd, home)


def _places(before: Sequence[Part], cwd: str, home: str) -> list[str] | None:
    found = [cwd]
    has_moved = False
    for part in before:
        if part.name not in FOLDER_CHANGERS:
            continue
        if not has_moved or part.values not in (("cd", "-"), ("popd",)):
            target = _target(part, home)
            if target is None:
                return None
            found += [absolute(target, home, folder) for folder in found]
            found = list(dict.fromkeys(found))
            if len(found) > _MAX_FOLDERS:
                return None
        has_moved = True
    return found


def _target(part: Part, home: str) -> str | None:
    """Return where a `cd` goes, when its word says so."""
    match part.values, part.keys:
        case ("cd",), _:
            return home
        case ("cd" | "pushd", word), (_, key) if key.startswith("\0"):
            return word if _HOME.match(word) and key.strip('\0"') == word else None
        case ("cd" | "pushd", word), _:
            return None if word.startswith(("-", "+", "$", "~")) else word
        case _:
            return None
