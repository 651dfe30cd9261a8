"""Write, check or print what is generated from the models."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from kova_ls.codegen import outputs


def main(argv: Sequence[str], root: Path) -> int:
    """Run one command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m kova_ls.codegen", description=__doc__)
    one = parser.add_mutually_exclusive_group(required=True)
    one.add_argument("--write", action="store_true", help="bring the files up to date")
    one.add_argument("--check", action="store_true", help="print a diff and fail when any is stale")
    one.add_argument("--print", choices=sorted(outputs.PLACES), help="print one document")
    asked = parser.parse_args(argv)
    if asked.print:
        sys.stdout.write(outputs.documents()[asked.print])
        return 0
    if not (root / "pyproject.toml").is_file():
        print(
            f"{root} is not a checkout of the project: use --print, or run this in a checkout.",
            file=sys.stderr,
        )
        return 2
    texts = outputs.wanted(root)
    if asked.write:
        for path in outputs.write(texts):
            print(f"wrote {path.relative_to(root).as_posix()}")
        return 0
    if stale := outputs.differences(root, texts):
        sys.stdout.write(stale)
        print(f"\nGenerated files are stale. Run: {outputs.COMMAND}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], Path(__file__).resolve().parents[2]))
