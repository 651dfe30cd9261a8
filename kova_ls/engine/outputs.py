"""Large outputs of a session, kept beside its journal.

Invariant: a reference leads to a file of its session's folder and nowhere else.
"""

import hashlib
import os
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from kova_ls.paths import private_opener

if TYPE_CHECKING:
    from kova_ls.engine.session import Session

_FOLDER = "outputs"


def reserve(session: "Session", name: str) -> tuple[str, str]:
    """Reserve a place for a large output; returns its `outputRef` and its path."""
    return _place(session, f"{name}-{token_hex(6)}.txt")


def keep(session: "Session", name: str, data: bytes) -> tuple[str, str]:
    """Keep a large output; returns its `outputRef` and its path.

    The same data has the same reference, so that two looks at one change are equal.
    """
    ref, path = _place(session, f"{name}-{hashlib.sha256(data).hexdigest()[:32]}.txt")
    if not os.path.isfile(path) or os.path.getsize(path) != len(data):
        with open(path, "wb", opener=private_opener) as file:
            file.write(data)
    return ref, path


def find(session: "Session", name: str) -> Path:
    """Return the place of an output. Raises: FileNotFoundError for a name that can be none."""
    if not name or os.path.basename(name) != name or name.startswith("."):
        raise FileNotFoundError(name)
    return session.folder / _FOLDER / name


def read_whole(session: "Session", ref: str) -> str:
    """Return what stands behind an `outputRef`. Raises: OSError."""
    return find(session, ref.rpartition("/")[2]).read_bytes().decode("utf-8", "replace")


def _place(session: "Session", file: str) -> tuple[str, str]:
    folder = session.folder / _FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    return f"{session.id}/{file}", str(folder / file)
