"""Facts about a text that several tools need: its digest, its line ends.

Invariant: lines end at `\\n` alone; form feeds and Unicode separators are ordinary characters.
"""

from hashlib import blake2b
from typing import Literal

from kova_ls.tools._base import TextFile


def digest(text: str) -> str:
    """Return the digest by which a text is recognised."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def no_file() -> TextFile:
    """Return what a file that is not there reads as; a write `like` it only creates."""
    return TextFile("", "utf-8", has_bom=False, source="disk", digest=digest(""))


def line_ends(text: str) -> Literal["LF", "CRLF", "mixed"]:
    """Return how lines end; `CRLF` only when every one does, `mixed` as soon as a CR is stray."""
    returns = text.count("\r")
    if not returns:
        return "LF"
    pairs = text.count("\r\n")
    return "CRLF" if returns == pairs == text.count("\n") else "mixed"
