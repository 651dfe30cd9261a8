"""Real bash as the judge of allowed commands.

A command runs in an empty folder, with every builtin switched off and no program on the path: the
shell does its whole work (quotes, expansions, operators, redirects) and hands each command's final
words to a recorder. Nothing else can run. Only ever give it commands that were allowed.
"""

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

BASH = shutil.which("bash") or "/bin/bash"

_SETUP = """\
command_not_found_handle() {{
  /usr/bin/printf '%s\\0' "$#" "$@" >>{log}
}}
readonly -f command_not_found_handle
enable -n {builtins}
enable -n enable
"""


@dataclass(frozen=True)
class Deed:
    """What bash did with a command."""

    ran: tuple[tuple[str, ...], ...]
    """The words of every command, in the order they were recorded."""
    wrote: tuple[str, ...]
    """Files that were not there before."""


class BashOracle:
    """Runs allowed commands below one folder."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "log"
        self._home = folder / "home"
        self._home.mkdir()
        self._work = folder / "work"
        listing = subprocess.run(
            [BASH, "-c", "enable -a"], check=True, capture_output=True, text=True, env={}
        ).stdout
        names = [line.split()[-1] for line in listing.splitlines()]
        builtins = " ".join(f"'{name}'" for name in names if name != "enable")
        self._setup = folder / "setup.sh"
        self._setup.write_text(_SETUP.format(log=self._log, builtins=builtins))

    def watch(self, command: str, *, files: Sequence[str] = ()) -> Deed:
        """Run one allowed command; `files` stand in its folder beforehand."""
        shutil.rmtree(self._work, ignore_errors=True)
        self._work.mkdir()
        for name in files:
            (self._work / name).write_text("")
        self._log.write_bytes(b"")
        before = self._files()
        subprocess.run(
            [BASH, "--noprofile", "--norc", "-c", command],
            cwd=self._work,
            env={
                "PATH": "/nonexistent",
                "HOME": str(self._home),
                "BASH_ENV": str(self._setup),
                "LANG": "C.UTF-8",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=30,
            check=False,
        )
        return Deed(self._ran(), tuple(sorted(self._files() - before)))

    def _files(self) -> set[str]:
        return {
            os.path.join(folder, name)
            for top in (self._work, self._home)
            for folder, folders, names in os.walk(top)
            for name in (*folders, *names)
        }

    def _ran(self) -> tuple[tuple[str, ...], ...]:
        fields = self._log.read_bytes().decode("utf-8", "replace").split("\0")
        found: list[tuple[str, ...]] = []
        at = 0
        while at < len(fields) - 1:
            length = int(fields[at])
            found.append(tuple(fields[at + 1 : at + 1 + length]))
            at += 1 + length
        return tuple(found)


def _before_paths(words: tuple[str, ...]) -> tuple[str, ...]:
    """Leave out what follows git's `--`, unless that is likely an option's value."""
    if words[0] != "git" or "--" not in words:
        return words
    at = words.index("--")
    before = words[at - 1]
    is_end = not before.startswith("-") or before in ("--stat", "--oneline")
    return words[:at] if is_end else words


def breach(deed: Deed, rules: Sequence[str]) -> str | None:
    """Say what bash did beyond plain rules (`git log *`, `npm test`), or None."""
    if deed.wrote:
        return f"wrote {deed.wrote}"
    for words in deed.ran:
        if not any(_covers(rule, words) for rule in rules):
            return f"ran {words}"
        for word in _before_paths(words)[1:]:
            option = word.split("=", 1)[0]
            dangerous = _DANGEROUS.get(words[0], ())
            if option in dangerous or word.startswith(
                tuple(short for short in dangerous if not short.startswith("--")) or ("\0",)
            ):
                return f"ran {words} with {word!r}"
    return None


_DANGEROUS: dict[str, tuple[str, ...]] = {
    "git": ("--output", "--ext-diff", "--upload-pack", "-O"),
    "sort": ("-o", "--output", "--compress"),
    "rg": ("--pre",),
    "printf": ("-v", "%n"),
    "python": ("-c", "-p", "-o", "--pdbcls"),
    "uv": ("--python", "--log"),
}


def _covers(rule: str, words: tuple[str, ...]) -> bool:
    wanted = tuple(shlex.split(rule.removesuffix(" *")))
    return words[: len(wanted)] == wanted if rule.endswith(" *") else words == wanted
