"""The ledgers of all workspaces, of which nothing new is believed while commands of the agent run.

A command runs with the person's rights and may write a ledger as well as a permission file. So what
the ledgers say when commands begin is kept in memory; what they say more counts only when this
engine wrote it, or when another process of the person vouches for it (`vouch.py`).
Invariant: what a ledger lost is lost at once.
Invariant: what came in from elsewhere while commands ran is out of the ledgers when they ended.
"""

from collections.abc import Iterable
from pathlib import Path

from kova_ls.engine import ledger
from kova_ls.engine.ledger import Confirmed
from kova_ls.engine.vouch import Vouching

_NOBODY = Confirmed()
_Stamp = tuple[int, int, int, int]


class Ledgers:
    """Reads and writes the ledgers in one folder."""

    def __init__(self, folder: Path, vouching: Vouching) -> None:
        self._folder = folder
        self._vouching = vouching
        self._kept: dict[str, Confirmed] | None = None
        """What stood in each file when commands began; None while none runs."""
        self._read: dict[str, tuple[_Stamp, Confirmed]] = {}

    def path(self, workspace: str) -> Path:
        """Return the file of a workspace."""
        return ledger.workspace_path(self._folder, workspace)

    def load(self, workspace: str, engines: Iterable[int]) -> Confirmed | None:
        """Return what is confirmed; None when there is no file that can be read.

        `engines` are the processes whose descendants cannot vouch.
        """
        path = self.path(workspace)
        found = ledger.load(path)
        return found if found is None else self._believed(path, workspace, found, engines)

    def _believed(
        self, path: Path, workspace: str, found: Confirmed, engines: Iterable[int]
    ) -> Confirmed:
        if self._kept is None:
            return found
        kept = self._kept.get(path.name, _NOBODY)
        news = found.beyond(kept)
        if news:
            kept = kept.add(self._vouching.among(workspace, news, engines))
        kept = self._kept[path.name] = kept.common(found)
        return kept

    def save(self, workspace: str, confirmed: Confirmed) -> None:
        """Write what is confirmed now, decided by this process."""
        path = self.path(workspace)
        ledger.save(path, confirmed, workspace=workspace)
        if self._kept is not None:
            self._kept[path.name] = confirmed

    def keep(self) -> None:
        """Note what the ledgers say, before the first of the commands that run."""
        if self._kept is None:
            self._kept = {path.name: found for path, found in self._all()}

    def settle(self, engines: Iterable[int]) -> None:
        """Take out what came in from elsewhere, after the last of them.

        Raises: OSError when it cannot be written; then nothing is forgotten.
        """
        for path, found in self._all() if self._kept is not None else ():
            workspace = ledger.label(path)
            if self.path(workspace) != path:
                workspace = ""  # nobody vouches for a ledger here
            believed = self._believed(path, workspace, found, engines)
            if found.beyond(believed):
                ledger.save(path, believed, workspace=workspace)
        self._kept = None

    def _all(self) -> Iterable[tuple[Path, Confirmed]]:
        known, self._read = self._read, {}
        for path in sorted(self._folder.glob("*.json")):
            if not ledger.is_of_workspace(path):
                continue
            try:
                info = path.stat()
            except OSError:
                continue
            stamp = (info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino)
            seen = known.get(path.name)
            found = seen[1] if seen is not None and seen[0] == stamp else ledger.load(path)
            if found is not None:
                self._read[path.name] = stamp, found
                yield path, found
