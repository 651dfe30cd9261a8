"""Where things are on this machine, as resolved paths."""

import os
import sys
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from kova_ls.errors import RequestFailed

if TYPE_CHECKING:
    from kova_ls.engine.session import Session

CASE_FOLDS = sys.platform in ("darwin", "win32")
"""File systems here take names that differ in case for the same."""


@dataclass(frozen=True, slots=True)
class Places:
    """The folders that the gates guard; resolved once."""

    home: str
    kova_home: str
    data_dir: str
    runtime_dir: str


def workspace_path(session: "Session") -> str | None:
    """Return the session's workspace. Raises: RequestFailed (`noWorkspace`)."""
    return path_of(session.state.workspace)


@lru_cache(maxsize=256)
def path_of(uri: str | None) -> str | None:
    """Return the path of a `file:` URI. Raises: RequestFailed (`noWorkspace`)."""
    if uri is None:
        return None
    try:
        parts = urlsplit(uri)
        path = unquote(parts.path, errors="strict") if parts.scheme else uri
        if parts.scheme in ("", "file"):
            return os.path.realpath(path)
    except UnicodeError:
        raise RequestFailed(
            "noWorkspace", f"The name of {uri!r} is not UTF-8; rename the folder."
        ) from None
    except ValueError:
        pass
    raise RequestFailed("noWorkspace", f"{uri!r} is no file: URI; open a local folder.")


@lru_cache(maxsize=16)
def path_dirs(path: str) -> tuple[str, ...]:
    """Return the folders of a PATH; a relative one lies nowhere, and `/` would hold everything."""
    found = {os.path.realpath(part) for part in path.split(os.pathsep) if os.path.isabs(part)}
    return tuple(found - {"/"})
