"""What the person confirmed of the permission files, kept with the user's data.

`<data_dir>/adopted/<hash of workspace>.json` lists the entries of a workspace's local file that
were written by the rule writer or confirmed; `user.json` there lists what the user's own file said
before a command of the agent changed it; `running-*.json` says the same while commands run.
Invariant: entries are only ever compared as wholes; a root counts with the folder it led to.
"""

import hashlib
import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from kova_ls.engine import grant_disk, grant_file

_NAME_CHARS = 32
_MAX_BYTES = 4 * grant_file.MAX_BYTES


@dataclass(frozen=True, slots=True)
class Confirmed:
    """Entries that stand behind a permission file."""

    allow: frozenset[str] = frozenset()
    """Rules as written."""
    deny: frozenset[str] = frozenset()
    """Rules as written; they hold even when the file lost them."""
    roots: frozenset[tuple[str, str]] = frozenset()
    """As written, and resolved."""
    strict_redirects: bool = False
    """Of the user's file."""
    digest: str = ""
    """Of the file that these were read from; empty when there was none."""

    def add(self, other: "Confirmed") -> "Confirmed":
        """Return the union; digest and strictness stay."""
        return replace(
            self,
            allow=self.allow | other.allow,
            deny=self.deny | other.deny,
            roots=self.roots | other.roots,
        )

    def drop(self, other: "Confirmed") -> "Confirmed":
        """Return what is left without `other`; a root goes by its text."""
        gone = {text for text, _ in other.roots}
        return replace(
            self,
            allow=self.allow - other.allow,
            deny=self.deny - other.deny,
            roots=frozenset(root for root in self.roots if root[0] not in gone),
        )

    def beyond(self, other: "Confirmed") -> "Confirmed | None":
        """Return what this one grants and `other` does not."""
        allow, roots = self.allow - other.allow, self.roots - other.roots
        return Confirmed(allow=allow, roots=roots) if allow or roots else None

    def common(self, other: "Confirmed") -> "Confirmed":
        """Return what both grant and either denies."""
        return replace(
            self,
            allow=self.allow & other.allow,
            deny=self.deny | other.deny,
            roots=self.roots & other.roots,
            strict_redirects=self.strict_redirects or other.strict_redirects,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the form on disk."""
        return {
            "allow": sorted(self.allow),
            "deny": sorted(self.deny),
            "roots": [{"text": text, "path": path} for text, path in sorted(self.roots)],
            "strictRedirects": self.strict_redirects,
            "digest": self.digest,
        }


def workspace_path(folder: Path, workspace: str) -> Path:
    """Return the file that keeps what was confirmed for a workspace."""
    return folder / f"{hashlib.sha256(os.fsencode(workspace)).hexdigest()[:_NAME_CHARS]}.json"


def is_of_workspace(path: Path) -> bool:
    """Tell the file of a workspace from what else lies beside it."""
    return len(path.stem) == _NAME_CHARS and not set(path.stem) - set("0123456789abcdef")


def label(path: Path) -> str:
    """Return the workspace that a file says it is for; for people only."""
    try:
        return str(json.loads(grant_disk.read_raw(path, _MAX_BYTES))["workspace"])
    except (OSError, ValueError, RecursionError, TypeError, KeyError):
        return ""


def load(path: Path) -> Confirmed | None:
    """Read a file of this module; one that is missing or broken confirms nothing."""
    try:
        return from_json(json.loads(grant_disk.read_raw(path, _MAX_BYTES)))
    except (OSError, ValueError, RecursionError, TypeError, KeyError, AttributeError):
        return None


def from_json(data: Any) -> Confirmed:
    """Read the form on disk.

    Raises: KeyError, TypeError or AttributeError for anything else.
    """
    found = cast("dict[str, Any]", data)
    return Confirmed(
        allow=frozenset(str(entry) for entry in found["allow"]),
        deny=frozenset(str(entry) for entry in found["deny"]),
        roots=frozenset((str(root["text"]), str(root["path"])) for root in found["roots"]),
        strict_redirects=found.get("strictRedirects") is True,
        digest=str(found.get("digest", "")),
    )


def save(path: Path, confirmed: Confirmed, **labels: str) -> None:
    """Write a file of this module; `labels` are for people who look at it."""
    body = {"version": 1, **labels, **confirmed.to_json()}
    grant_disk.write(str(path), (json.dumps(body, indent=2) + "\n").encode())
