"""One append-only file per session: append, read back, repair a torn tail.

A line is the record's JSON with `seq` and `at` in front; `seq` counts from 1 without holes.
Invariant: one writer per file (an advisory lock holds others off); a line is whole or is cut away
at the next open; nothing is kept in memory but where each line begins.
"""

import asyncio
import contextlib
import os
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast, get_args

import orjson
from pydantic import ValidationError

from kova_ls.errors import JournalCorrupt, RequestFailed
from kova_ls.journal.records import AnyRecord, Record
from kova_ls.journal.upgrade import upgrade

_KINDS: dict[str, type[Record]] = {
    member.model_fields["type"].default: member for member in get_args(get_args(AnyRecord)[0])
}
"""By the types that `upgrade` and this version's records know."""


class Stored:
    """A record with its place; one read from a file is validated when it is first looked at."""

    __slots__ = ("_record", "_source", "at", "item_id", "item_kind", "item_tool", "seq", "tag")

    def __init__(
        self,
        seq: int,
        at: float,
        record: Record | None,
        raw: dict[str, Any] | None = None,
        line: bytes = b"",
    ) -> None:
        """`raw` is a record as read, `line` what it was read from, where that is kept instead."""
        self.seq = seq
        self.at = at
        """Unix seconds."""
        self._record = record
        self._source = line or raw
        item: dict[str, Any] = {}
        if record is not None:
            self.tag = record.tag
            """The record's `type`."""
            found: Any = vars(record).get("item")
            if found is not None:
                item = cast(dict[str, Any], vars(found))
        else:
            raw = raw or {}
            self.tag = str(raw["type"])
            found = raw.get("item")
            if isinstance(found, dict):
                item = cast(dict[str, Any], found)
        self.item_id = _text(item, "item_id") if item else None
        self.item_kind = _text(item, "kind") if item else None
        self.item_tool = _text(item, "tool") if item else None

    @property
    def record(self) -> Record:
        """The record. Raises: JournalCorrupt when this version cannot read it."""
        if self._record is None:
            source = self._source
            raw = orjson.loads(source) if isinstance(source, bytes) else source
            self._record = _validated(self.seq, raw or {})
            self._source = None
        return self._record

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stored):
            return NotImplemented
        return (self.seq, self.at, self.record) == (other.seq, other.at, other.record)

    __hash__ = None  # type: ignore[assignment] - compared by content

    def __repr__(self) -> str:
        return f"Stored({self.seq}, {self.at}, {self.record!r})"


class Journal:
    """A session's file, open for appending."""

    def __init__(self, path: Path, fd: int) -> None:
        self.path = path
        self._fd = fd
        self._starts = array("Q")
        """Byte offset of each line; line of `seq` n is at index n - 1."""
        self._end = 0
        self._synced_seq = 0
        self._sync: asyncio.Future[None] | None = None

    @property
    def seq(self) -> int:
        """Number of the last record; 0 when there is none."""
        return len(self._starts)

    @classmethod
    def create(cls, path: Path) -> "Journal":
        """Begin an empty journal. Raises: FileExistsError; RequestFailed when it cannot."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        except FileExistsError:
            raise
        except OSError as error:
            raise _disk_failure(path, error) from error
        try:
            _lock(fd, path)
        except BaseException:
            os.close(fd)
            raise
        return cls(path, fd)

    @classmethod
    def open(cls, path: Path) -> "tuple[Journal, list[Stored]]":
        """Open an existing journal, cutting away a torn last line, and return all its records.

        Raises: JournalCorrupt for damage before the last line, naming the line; RequestFailed.
        """
        try:
            fd = os.open(path, os.O_RDWR | os.O_APPEND)
        except OSError as error:
            raise _disk_failure(path, error) from error
        try:
            _lock(fd, path)
            journal = cls(path, fd)
            stored = list(journal._scan())
        except BaseException:
            os.close(fd)
            raise
        return journal, stored

    @classmethod
    def peek(cls, path: Path) -> list[Stored]:
        """Return all whole records of a journal, which another engine may be writing.

        Raises: JournalCorrupt for damage before the last line; OSError.
        """
        fd = os.open(path, os.O_RDONLY)
        journal = cls(path, fd)
        try:
            return list(journal._scan(mends=False))
        finally:
            journal.close()

    def _scan(self, *, mends: bool = True) -> Iterator[Stored]:
        with os.fdopen(os.dup(self._fd), "rb") as file:
            data = file.read()
        start = 0
        total = len(data)
        while start < total:
            stop = data.find(b"\n", start)
            line = data[start : stop if stop >= 0 else total]
            stored = _parse(line, self.seq + 1, keeps_line=True)
            if stored is None or stop < 0:
                if stop >= 0 and stop + 1 < total:
                    raise JournalCorrupt(
                        f"{self.path}: line {self.seq + 1} is damaged and others follow it. "
                        "Move the file away to go on without this session."
                    )
                if mends:
                    os.ftruncate(self._fd, start)
                break
            self._starts.append(start)
            start = stop + 1
            yield stored
        self._end = min(start, total)
        self._synced_seq = self.seq

    def append(self, record: Record, at: float) -> Stored:
        """Write one record; it outlives a killed process, not a power cut before `sync`.

        Raises: RequestFailed (`diskFailed`); the file is then as it was.
        """
        seq = self.seq + 1
        body = record.model_dump_json(exclude_none=True).encode()
        line = b'{"seq":%d,"at":%.6f,%s\n' % (seq, at, body[1:])
        try:
            written = os.write(self._fd, line)
            if written < len(line):
                raise OSError(28, os.strerror(28))
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, self._end)
            raise _disk_failure(self.path, error) from error
        self._starts.append(self._end)
        self._end += written
        return Stored(seq, at, record)

    async def sync(self) -> None:
        """Put everything appended so far on the disk; concurrent callers share one commit.

        Raises: RequestFailed (`diskFailed`).
        """
        target = self.seq
        while self._synced_seq < target:
            if self._sync is None:
                self._sync = asyncio.ensure_future(self._commit())
            await asyncio.shield(self._sync)

    async def _commit(self) -> None:
        covered = self.seq
        try:
            await asyncio.get_running_loop().run_in_executor(None, os.fdatasync, self._fd)
            self._synced_seq = max(self._synced_seq, covered)
        except OSError as error:
            raise _disk_failure(self.path, error) from error
        finally:
            self._sync = None

    def read(self, first: int, last: int) -> list[Stored]:
        """Return the records from `first` to `last`, both included and clamped."""
        first = max(first, 1)
        last = min(last, self.seq)
        if first > last:
            return []
        begin = self._starts[first - 1]
        end = self._starts[last] if last < self.seq else self._end
        data = os.pread(self._fd, end - begin, begin)
        records: list[Stored] = []
        for number, line in enumerate(data.split(b"\n")[:-1]):
            stored = _parse(line, first + number)
            if stored is not None:
                records.append(stored)
        return records

    def size_bytes(self, first: int, last: int) -> int:
        """Return how many bytes `read` of the same range goes through."""
        last = min(last, self.seq)
        if first > last:
            return 0
        end = self._starts[last] if last < self.seq else self._end
        return end - self._starts[max(first, 1) - 1]

    def close(self) -> None:
        """Give the file back; what comes late fails and reaches no other file."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


def _parse(line: bytes, expected_seq: int, *, keeps_line: bool = False) -> Stored | None:
    """Return the record of a line, or None when the line is not whole.

    `keeps_line`: most will never be looked at, and a line takes a fifth of what its parts do.
    """
    try:
        raw = orjson.loads(line)
        seq, at = raw.pop("seq"), raw.pop("at")
    except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError):
        return None
    kind = raw.get("type")
    if type(seq) is not int or seq != expected_seq or not isinstance(at, int | float):
        return None
    if not isinstance(kind, str):
        return None
    if kind not in _KINDS:
        raise _newer(seq, raw, "the type is unknown")
    return Stored(seq, at, None, raw, line if keeps_line else b"")


def _text(item: dict[str, Any], name: str) -> str | None:
    found = item.get(name)
    return found if isinstance(found, str) else None


def _validated(seq: int, raw: dict[str, Any]) -> Record:
    try:
        # By its own class: a validator of the union of all would be built at every start.
        return _KINDS[raw["type"]].model_validate(upgrade(raw))
    except ValidationError as error:
        where = error.errors(include_url=False, include_input=False)[0]
        raise _newer(seq, raw, where["msg"]) from error


def _newer(seq: int, raw: dict[str, Any], why: str) -> JournalCorrupt:
    return JournalCorrupt(
        f"record {seq} ({raw.get('type')!r}) is not known to this version: {why}. "
        "It was written by a newer version; update to read it."
    )


def _lock(fd: int, path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # Windows: the daemon's own lock is the only guard
        return
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        holder = _holder(fd)
        named = f" (process {holder})" if holder is not None else ""
        raise RequestFailed(
            "sessionInUse",
            f"The session {path.parent.name} is open in another engine{named}, of another version "
            "or another installation. Close the editors that use that one, wait for the end of its "
            "turn, or end it with `kova-ls stop --all`; nothing is lost.",
            holder=holder,
        ) from error


def _holder(fd: int) -> int | None:
    """Return the process that has a file's lock, where Linux tells."""
    info = os.fstat(fd)
    place = f"{os.major(info.st_dev):02x}:{os.minor(info.st_dev):02x}:{info.st_ino}"
    try:
        with open("/proc/locks", encoding="ascii") as file:
            entries = [line.split() for line in file]
    except OSError:
        return None
    for entry in entries:
        if "FLOCK" in entry and place in entry:
            pid = int(entry[entry.index(place) - 1])
            return pid if pid > 1 else None
    return None


def _disk_failure(path: Path, error: OSError) -> RequestFailed:
    return RequestFailed(
        "diskFailed",
        f"{path} cannot be written: {error.strerror}. "
        "Free some space or mend its rights; nothing announced is lost.",
    )
