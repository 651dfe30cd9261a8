"""Command lines: argparse with our own manners.

Invariant: a wrong command line is a `UsageFault`, never an exit from the depths.
"""

import argparse
from collections.abc import Callable
from typing import NoReturn

from kova_ls.cli.console import Console
from kova_ls.errors import KovaError
from kova_ls.l10n import say

DONE, FAILED, USAGE, DENIED, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 3, 130, 141
"""Exit codes of all commands."""


class UsageFault(KovaError):
    """The command line cannot be understood."""

    def __init__(self, message: str) -> None:
        super().__init__("usage", message)


class Plain(argparse.ArgumentParser):
    """Raises instead of ending the process; for the filters, which need no console."""

    def error(self, message: str) -> NoReturn:
        """Raise `UsageFault` with what to do."""
        raise UsageFault(f"{self.prog}: {message}. Run `{self.prog} --help`.")


class Parser(Plain):
    """Writes to the console it is given."""

    def __init__(self, console: Console, command: str, description: str, epilog: str = "") -> None:
        self._language = console.language
        super().__init__(
            prog=f"kova-ls {command}",
            description=say(description, console.language),
            epilog=say(epilog, console.language) or None,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self._print: Callable[[str], object] = console.stdout.write

    def _add_action(self, action: argparse.Action) -> argparse.Action:
        if isinstance(action.help, str):
            action.help = say(action.help, self._language)
        return super()._add_action(action)

    def _print_message(self, message: str, file: object = None) -> None:
        self._print(message)
