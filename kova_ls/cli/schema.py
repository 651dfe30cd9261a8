"""`kova-ls schema`: print the documents that describe the protocol.

Invariant: made from the models at hand, so they fit this very build.
"""

from collections.abc import Sequence

from kova_ls.cli.arguments import DONE, Parser
from kova_ls.cli.console import Console

NAMES = ("openrpc", "kova", "journal", "config")


def main(argv: Sequence[str], console: Console) -> int:
    """Print one of the schemas."""
    parser = Parser(
        console,
        "schema",
        "Print a schema: the methods (openrpc), all wire types (kova), the events and records\n"
        "(journal), or config.toml (config).",
    )
    parser.add_argument("which", nargs="?", choices=NAMES, default="openrpc")
    options = parser.parse_args(argv)
    from kova_ls.codegen.outputs import documents

    console.stdout.write(documents()[options.which])
    console.stdout.flush()
    return DONE
