"""The commands people type; each is a client of the protocol, or looks at the disk only.

Invariant: a command's module is imported only when it is asked for.
"""

import os
from collections.abc import Sequence
from importlib import import_module

from kova_ls import __version__
from kova_ls.cli.arguments import FAILED, INTERRUPTED, PIPE_CLOSED, USAGE, UsageFault
from kova_ls.cli.console import Console
from kova_ls.cli.terminal import shown, shown_prose
from kova_ls.errors import KovaError
from kova_ls.l10n import Language, say

COMMANDS = {
    "run": "run one turn in this folder and show it",
    "demo": "see a turn with every kind of card, without a model",
    "doctor": "say what was found, what is wrong, and what to do",
    "session": "list this folder's sessions, or print one",
    "status": "say whether the engine runs, for whom, and what it does",
    "stop": "end the engine",
    "permission": "test calls; list, add, remove and adopt rules; import other agents'",
    "model": "decode a recorded model stream",
    "schema": "print the protocol's schemas",
}
"""Name -> what it does; the module of the name holds `main(argv, console)`."""
_PLAIN = ("model", "permission")
"""Filters: their `main(argv)` needs no console."""
_OTHERS = {
    "(nothing)": "connect stdin and stdout to the engine; what an editor starts",
    "engine": "be the engine; started by itself when needed",
    "--attached": "be engine and relay in one process, on stdin and stdout",
    "--version": "print the version",
}


def main(argv: Sequence[str], console: Console) -> int:
    """Run a command and return its exit code; no traceback reaches the person."""
    try:
        return _dispatch(argv, console)
    except UsageFault as fault:
        console.complain(fault.message)
        return USAGE
    except KovaError as error:
        console.complain(shown_prose(error.message))
        return FAILED
    except BrokenPipeError:
        _close_quietly(console)
        return PIPE_CLOSED
    except KeyboardInterrupt:
        return INTERRUPTED


def usage(language: Language = Language.ENGLISH) -> str:
    """Return the overview of all commands."""
    width = max(map(len, (*COMMANDS, *_OTHERS)))
    lines = [say("usage: kova-ls [COMMAND] [OPTIONS]", language), ""]
    for table in (COMMANDS, _OTHERS):
        lines += [f"  {name:<{width}}  {say(summary, language)}" for name, summary in table.items()]
        lines.append("")
    lines.append(
        say("`kova-ls COMMAND --help` tells more. New here? Start with `kova-ls demo`.", language)
    )
    return "\n".join(lines)


def _dispatch(argv: Sequence[str], console: Console) -> int:
    name, rest = (argv[0], argv[1:]) if argv else ("--help", ())
    if name in ("--version", "-V"):
        console.print(f"kova-ls {__version__}")
        return 0
    if name in ("--help", "-h", "help", *_OTHERS):
        console.print(usage(console.language))
        return 0
    if name not in COMMANDS:
        raise UsageFault(f"There is no command {shown(name)!r}. `kova-ls --help` lists them.")
    try:
        command = import_module(f"kova_ls.cli.{name}").main
        code: int = command(list(rest)) if name in _PLAIN else command(rest, console)
    except SystemExit as end:  # argparse's way out of --help
        return end.code if isinstance(end.code, int) else 0
    return code


def _close_quietly(console: Console) -> None:
    # The interpreter flushes stdout at exit and would complain about the closed pipe once more.
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, console.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        pass
