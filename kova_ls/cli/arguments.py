"""Command lines: argparse with our own manners.

Invariant: a wrong command line is a `UsageFault`, never an exit from the depths.
"""

import argparse
from collections.abc import Callable
from typing import Any, NoReturn

from kova_ls.cli.console import Console
from kova_ls.errors import KovaError
from kova_ls.l10n import Language, say

DONE, FAILED, USAGE, DENIED, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 3, 130, 141
"""Exit codes of all commands."""


class UsageFault(KovaError):
    """The command line cannot be understood."""

    def __init__(self, message: str) -> None:
        super().__init__("usage", message)


class Plain(argparse.ArgumentParser):
    """Raises instead of ending the process; for the filters, which need no console."""

    def __init__(
        self,
        prog: str,
        description: str = "",
        epilog: str = "",
        *,
        language: Language = Language.ENGLISH,
        **rest: Any,
    ) -> None:
        self._language = language
        super().__init__(
            prog=prog,
            description=say(description, language) or None,
            epilog=say(epilog, language) or None,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
            add_help=False,
            **rest,
        )
        self.add_argument("-h", "--help", action="help", help="show this help and end")

    def add_argument_group(self, title: str = "", *args: Any, **rest: Any) -> Any:
        """Add a group with a title in the person's language."""
        return super().add_argument_group(say(title, self._language), *args, **rest)

    def format_help(self) -> str:
        """Return the help, from its first word in the person's language."""
        return super().format_help().replace("usage: ", say("usage: ", self._language), 1)

    def _add_action(self, action: argparse.Action) -> argparse.Action:
        if isinstance(action.help, str):
            action.help = say(action.help, self._language)
        return super()._add_action(action)

    def error(self, message: str) -> NoReturn:
        """Raise `UsageFault` with what to do."""
        raise UsageFault(f"{self.prog}: {message}. Run `{self.prog} --help`.")


class Parser(Plain):
    """Writes to the console it is given."""

    def __init__(self, console: Console, command: str, description: str, epilog: str = "") -> None:
        super().__init__(f"kova-ls {command}", description, epilog, language=console.language)
        self._print: Callable[[str], object] = console.stdout.write

    def _print_message(self, message: str, file: object = None) -> None:
        self._print(message)


def sentence(summary: str, language: Language) -> str:
    """Return the summary of a command as the first sentence of its help."""
    said = say(summary, language)
    return f"{said}。" if language is Language.CHINESE else f"{said.capitalize()}."
