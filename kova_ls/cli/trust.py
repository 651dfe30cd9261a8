"""Which folders the person at the terminal trusts, remembered in the data folder.

Invariant: only a person's answer is ever written; the home folder and `/` are never trusted.
Invariant: a file that others can write counts as absent.
"""

import json
import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kova_ls import paths


def may_be_trusted(folder: str, env: Mapping[str, str]) -> bool:
    """False for folders that hold everything: nobody trusts all of that at once."""
    home = os.path.realpath(paths.user_home(env))
    return folder not in (home, os.path.dirname(folder))


def remembered(data_dir: Path, folder: str) -> bool | None:
    """Return the person's earlier answer for exactly this folder, None when never asked."""
    answer = _load(data_dir / "trust.json").get(folder)
    return answer if isinstance(answer, bool) else None


def remember(data_dir: Path, folder: str, is_trusted: bool) -> None:
    """Write the person's answer down.

    Raises: OSError when the data folder cannot be written.
    """
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = data_dir / "trust.json"
    answers = {**_load(path), folder: is_trusted}
    handle, fresh = tempfile.mkstemp(prefix=".trust-", dir=data_dir)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump({"version": 1, "folders": answers}, file, indent=1, sort_keys=True)
        file.write("\n")
    os.replace(fresh, path)


def _load(path: Path) -> dict[str, Any]:
    try:
        found = path.lstat()
        text = path.read_text("utf-8")
        content: Any = json.loads(text)
    except (OSError, ValueError):
        return {}
    foreign = os.name != "nt" and (found.st_uid != os.getuid() or bool(found.st_mode & 0o022))
    if foreign or not stat.S_ISREG(found.st_mode) or not isinstance(content, dict):
        return {}
    folders: Any = content.get("folders")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return dict(folders) if isinstance(folders, dict) else {}  # pyright: ignore[reportUnknownArgumentType]
