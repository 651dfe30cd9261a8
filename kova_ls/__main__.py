"""Reads the command line and hands it to the chosen room; the relay is the default.

Invariant: nothing but `os` and `sys` is imported before the room is known.
"""

import os
import sys


def main() -> int:
    """Run what the command line asks for and return the exit code."""
    argv = sys.argv[1:]
    if not argv or argv == ["--stdio"]:
        from kova_ls.relay import main as relay

        return relay()
    wants_help = argv[-1] in ("--help", "-h")
    if argv[0] == "engine" and not wants_help:
        from kova_ls.daemon import main as engine

        return engine(argv[1:])
    if argv[0] == "--attached" and not wants_help:
        from kova_ls.daemon import main_attached

        return main_attached(argv[1:])
    from kova_ls.cli import main as command
    from kova_ls.cli.console import Console

    # A person stands in a folder; a daemon does not.
    return command(argv, Console.of_process(os.getcwd(), os.environ))  # noqa: TID251


if __name__ == "__main__":
    sys.exit(main())
