"""Who wrote an entry: told to engines by locks, which nobody can forge.

A file does not say which program wrote it, but the system says which process holds a lock. So a
process that puts an entry into force holds, as long as it lives, the byte of `adopted/vouched`
whose place is the digest of that entry. An engine whose command runs believes what is new in the
files only where such a holder lives that no engine started: another engine, or `kova-ls permission`
in a terminal of the person.
Invariant: a holder that an engine started, or of which that cannot be said, vouches for nothing.
Invariant: where the system does not tell holders (all but Linux), nobody vouches for anybody else.
"""

import hashlib
import os
import struct
import sys
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path

from kova_ls.ancestry import descends
from kova_ls.engine.ledger import Confirmed

_NAME = "vouched"
# struct flock of 64-bit Linux: type, whence, start, length, pid.
_FLOCK = "hhqqi0q"


class Vouching:
    """The entries that this process vouches for, and a look at those of others.

    Shape: a scope is a workspace, or empty for the user's file; `folder` is private to the user.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _NAME
        self._handle = -1
        self._own: set[int] = set()

    def give(self, scope: str, entries: Confirmed) -> None:
        """Vouch for entries that the person put into force."""
        self._lock(_places(scope, entries), is_taken=True)

    def take_back(self, scope: str, entries: Confirmed) -> None:
        """Vouch no longer for entries that were taken out."""
        self._lock(_places(scope, entries), is_taken=False)

    def among(self, scope: str, wanted: Confirmed, engines: Iterable[int]) -> Confirmed:
        """Return which of the entries somebody vouches for.

        `engines` are the processes whose descendants do not count.
        """
        if not self._open():
            return Confirmed()
        known = frozenset(engines)

        def is_vouched(kind: str, value: str, path: str = "") -> bool:
            place = _place(scope, kind, value, path)
            if place in self._own:
                return True
            holder = self._holder(place)
            # An engine itself may vouch, unless another one started it.
            return holder > 0 and descends(holder, known) is False

        return Confirmed(
            allow=frozenset(rule for rule in wanted.allow if is_vouched("allow", rule)),
            roots=frozenset(root for root in wanted.roots if is_vouched("root", *root)),
        )

    def _lock(self, places: Iterable[int], *, is_taken: bool) -> None:
        if sys.platform == "win32":
            return
        import fcntl

        for place in places:
            if is_taken and self._open():
                self._own.add(place)
            elif place in self._own:
                self._own.discard(place)
            else:
                continue
            try:
                how = fcntl.LOCK_EX | fcntl.LOCK_NB if is_taken else fcntl.LOCK_UN
                fcntl.lockf(self._handle, how, 1, place)
            except OSError:
                continue  # another one vouches for it already, or the file system knows no locks

    def _open(self) -> bool:
        if self._handle < 0:
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
            try:
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._handle = os.open(self._path, flags | getattr(os, "O_NONBLOCK", 0), 0o600)
            except OSError:
                return False
            # Closing any handle of the file lets go of all locks on it: one is kept for good.
            weakref.finalize(self, os.close, self._handle)
        return True

    def _holder(self, place: int) -> int:
        """Return the other process that holds a place; 0 when there is none."""
        if sys.platform != "linux" or sys.maxsize < 1 << 32:
            return 0
        import fcntl

        asked = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, place, 1, 0)
        try:
            kind, _, _, _, pid = struct.unpack(
                _FLOCK, fcntl.fcntl(self._handle, fcntl.F_GETLK, asked)
            )
        except OSError:
            return 0
        return 0 if kind == fcntl.F_UNLCK else pid


def _places(scope: str, entries: Confirmed) -> Iterator[int]:
    for rule in entries.allow:
        yield _place(scope, "allow", rule)
    for text, path in entries.roots:
        yield _place(scope, "root", text, path)


def _place(scope: str, kind: str, value: str, path: str = "") -> int:
    text = f"{scope}\0{kind}\0{value}\0{path}"
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") >> 2
