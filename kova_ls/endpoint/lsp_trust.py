"""Which folders config.toml trusts for editors that cannot say it themselves.

Invariant: read narrowly, as a permission must be: with case, whole, and never more than is named.
"""

import os
import re
from collections.abc import Iterable


def is_trusted(folder: str, patterns: Iterable[str], home: str) -> bool:
    """Say whether a resolved folder is named: `~/src` itself, `~/src/*` or `~/src/**` below.

    The home folder and `/` are never trusted; a pattern that is not absolute names nothing.
    """
    if folder in ("/", home):
        return False
    return any(
        pattern.fullmatch(folder) for pattern in (_compiled(p, home) for p in patterns) if pattern
    )


def _compiled(pattern: str, home: str) -> re.Pattern[str] | None:
    if pattern == "~" or pattern.startswith("~/"):
        pattern = home + pattern[1:]
    if not pattern.startswith("/"):
        return None
    names = [name for name in pattern.split("/") if name]
    wild = next((i for i, name in enumerate(names) if "*" in name), len(names))
    # What stands before the first star is a place, and is resolved as the folder was.
    parts = [re.escape(os.path.realpath("/" + "/".join(names[:wild])).rstrip("/"))]
    for name in names[wild:]:
        if name == "**":
            parts.append("(?:/[^/]+)*")
        else:
            parts.append("/" + re.escape(name).replace(r"\*", "[^/]*"))
    return re.compile("".join(parts), re.DOTALL)
