"""Room on the disk for the end of a turn: a file that is given up when nothing else fits.

Invariant: never stands in the way: what cannot be kept is done without.
"""

import os
from contextlib import suppress
from pathlib import Path

from kova_ls.paths import private_opener

_SIZE_BYTES = 64 * 1024


class Reserve:
    """One file for all sessions, and for all engines that share them."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def keep(self) -> None:
        """Have the file, if there is room for it."""
        with suppress(OSError):
            # A full disk left less of it, or nothing but its name.
            if os.stat(self._path).st_size >= _SIZE_BYTES:
                return
        with suppress(OSError), open(self._path, "wb", opener=private_opener) as file:
            # Zeros would take no room where files are compressed.
            file.write(os.urandom(_SIZE_BYTES))

    def give_up(self) -> None:
        """Make room for what must be written now."""
        with suppress(OSError):
            os.unlink(self._path)
