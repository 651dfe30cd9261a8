"""Texts of a session, kept beside its journal under their SHA-256.

Invariant: what is there is whole, and is on the disk before its name is returned.
"""

import hashlib
import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from kova_ls.paths import private_opener


def keep(folder: Path, texts: Collection[str | None]) -> list[str | None]:
    """Keep texts and return their names, None for None; what is there is not written again."""
    names: list[str | None] = []
    for text in texts:
        if text is None:
            names.append(None)
            continue
        data = text.encode("utf-8", "surrogatepass")
        name = hashlib.sha256(data).hexdigest()
        place = folder / "blobs" / name
        names.append(name)
        if not place.exists():
            place.parent.mkdir(mode=0o700, exist_ok=True)
            temporary = place.with_name(f".{token_hex(6)}")
            with open(temporary, "xb", opener=private_opener) as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, place)
    return names


def load(folder: Path, name: str | None) -> str | None:
    """Return a text that was kept; None when there was none, or it is gone."""
    if name is not None:
        with suppress(OSError):
            return (folder / "blobs" / name).read_bytes().decode("utf-8", "surrogatepass")
    return None
