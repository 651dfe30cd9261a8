"""The person's side of a command: streams, keys, Ctrl-C; the only place that touches the tty.

Invariant: a key typed before a question was shown is never its answer.
"""

import os
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TextIO

from kova_ls.cli.terminal import Style
from kova_ls.l10n import Language, language_of_env, say

ARMING_S = 0.3
"""Keys in this time after a question appeared are ignored."""


@dataclass(frozen=True, slots=True)
class Console:
    """What a command is given of the world."""

    env: Mapping[str, str]
    cwd: str
    """The folder the person stands in."""
    stdin: TextIO
    stdout: TextIO
    stderr: TextIO
    clock: Callable[[], float] = time.monotonic

    @classmethod
    def of_process(cls, cwd: str, env: Mapping[str, str]) -> "Console":
        """Return the console of this process; what cannot be encoded is spelled out."""
        for stream in (sys.stdout, sys.stderr):
            reconfigure = getattr(stream, "reconfigure", None)
            if reconfigure is not None:
                reconfigure(errors="backslashreplace")
        return cls(env, cwd, sys.stdin, sys.stdout, sys.stderr)

    @property
    def language(self) -> Language:
        """The person's, as the environment says for messages."""
        return language_of_env(self.env)

    @property
    def talk(self) -> TextIO:
        """Where everything but the answer goes: the terminal, whichever stream that is."""
        return self.stdout if is_terminal(self.stdout) else self.stderr

    def style(self, stream: TextIO) -> Style:
        """Return how to dress text for a stream."""
        on_terminal = is_terminal(stream)
        encoding = (getattr(stream, "encoding", None) or "ascii").lower().replace("-", "")
        return Style(
            colour=on_terminal and not self.env.get("NO_COLOR") and self.env.get("TERM") != "dumb",
            signs=encoding.startswith("utf"),
            width_columns=_width_columns(self.env, stream) if on_terminal else 100,
            language=self.language,
        )

    def say(self, text: str = "") -> None:
        """Write a line where the person looks, in their language if it is one of ours."""
        self.talk.write(say(text, self.language) + "\n")
        self.talk.flush()

    def complain(self, text: str) -> None:
        """Write a line to stderr."""
        self.stderr.write(say(text, self.language) + "\n")
        self.stderr.flush()

    def print(self, text: str) -> None:
        """Write a line of the command's own output."""
        self.stdout.write(say(text, self.language) + "\n")
        self.stdout.flush()


def is_terminal(stream: TextIO) -> bool:
    """True when a person may be at the other end."""
    try:
        return stream.isatty()
    except ValueError:
        return False


def _width_columns(env: Mapping[str, str], stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        columns = env.get("COLUMNS", "")
        return (
            int(columns)
            if columns.isdecimal() and int(columns)
            else shutil.get_terminal_size().columns
        )


@dataclass(slots=True)
class Keys:
    """Reads what the person types, by key or by line, without losing sight of other inputs."""

    fd: int

    def key(self) -> str:
        """Return the next key once the fd is readable; empty at the end of input."""
        data = self._read(64)
        if data.startswith(b"\x1b") and len(data) > 1:
            return "\x1b["
        return data[:1].decode("ascii", "replace")

    def line(self) -> str | None:
        """Return the next line once the fd is readable; None at the end of input."""
        data = self._read(4096)
        return data.decode("utf-8", "replace").rstrip("\r\n") if data else None

    def _read(self, limit_bytes: int) -> bytes:
        try:
            return os.read(self.fd, limit_bytes)
        except OSError:  # EIO: the terminal was closed
            return b""

    @contextmanager
    def by_key(self) -> Generator[None]:
        """Hand over each key as it is typed, without echo."""
        import termios
        import tty

        before = termios.tcgetattr(self.fd)
        tty.setcbreak(self.fd, termios.TCSAFLUSH)
        try:
            yield
        finally:
            with suppress(termios.error):  # the terminal may be gone
                termios.tcsetattr(self.fd, termios.TCSAFLUSH, before)

    def forget_typed(self) -> None:
        """Drop what was typed before a question."""
        import termios

        termios.tcflush(self.fd, termios.TCIFLUSH)


@contextmanager
def keys_of(console: Console) -> Generator[Keys | None]:
    """Yield the person's keyboard, or None when nobody can be asked.

    With a piped stdin the keyboard is the controlling terminal, when what is shown goes to it.
    """
    if os.name == "nt" or not is_terminal(console.talk):
        yield None
        return
    if is_terminal(console.stdin):
        yield Keys(console.stdin.fileno())
        return
    try:
        fd = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        yield None
        return
    try:
        yield Keys(fd)
    finally:
        os.close(fd)


@dataclass(slots=True)
class Interrupts:
    """Counts Ctrl-C; `fd` becomes readable at each, so that a wait ends."""

    fd: int
    count: int = 0

    def drain(self) -> None:
        """Make `fd` quiet again."""
        while select.select([self.fd], [], [], 0)[0]:
            os.read(self.fd, 64)


@contextmanager
def interrupts() -> Generator[Interrupts]:
    """Take over Ctrl-C for a while."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    counted = Interrupts(reading)

    def note(_signal: int, _frame: object) -> None:
        counted.count += 1
        try:
            os.write(writing, b"!")
        except BlockingIOError:
            pass

    before = signal.signal(signal.SIGINT, note)
    try:
        yield counted
    finally:
        signal.signal(signal.SIGINT, before)
        os.close(reading)
        os.close(writing)
