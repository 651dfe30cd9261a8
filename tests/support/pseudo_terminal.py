"""Runs a program in a pseudo terminal and types what a person would."""

import fcntl
import os
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

_TAKE_TERMINAL = (
    "import fcntl, os, sys, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)


class PseudoTerminal:
    """One program and its screen."""

    def __init__(
        self, command: Sequence[str], env: Mapping[str, str], cwd: Path, *, columns: int = 90
    ) -> None:
        self._fd, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", 40, columns, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-c", _TAKE_TERMINAL, *command],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=dict(env),
            cwd=cwd,
        )
        os.close(slave)
        self.seen = ""
        self._from = 0

    def type(self, text: str) -> None:
        """Type, at once."""
        os.write(self._fd, text.encode())

    def wait_for(self, pattern: str, *, typing: str = "", limit_s: float = 30.0) -> str:
        """Read until a pattern is seen after the last one found; type again until it is.

        A question takes no answer in its first moments, and a person types again, too.
        """
        end = time.monotonic() + limit_s
        while (found := re.search(pattern, self.seen[self._from :])) is None:
            if time.monotonic() > end:
                raise AssertionError(f"{pattern!r} did not appear in:\n{self.seen}")
            if select.select([self._fd], [], [], 0.2)[0]:
                if not self._read():
                    raise AssertionError(f"ended before {pattern!r}:\n{self.seen}")
            elif typing:
                self.type(typing)
        self._from += found.end()
        return found[0]

    def wait_for_end(self, limit_s: float = 30.0) -> int:
        """Read to the end and return the exit code."""
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            if select.select([self._fd], [], [], 0.2)[0] and not self._read():
                return self.process.wait(limit_s)
        raise AssertionError(f"it did not end:\n{self.seen}")

    def close(self) -> None:
        """End the program if it still runs."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._fd)

    def _read(self) -> bool:
        try:
            data = os.read(self._fd, 65_536)
        except OSError:
            return False
        self.seen += data.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(data)
