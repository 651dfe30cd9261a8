"""Check an entry of the tables of escapes by its own examples."""

from kova_ls.permission.escapes import Escape
from kova_ls.permission.shell import analyse


def check(entry: Escape) -> None:
    """See that it has a reason, asks where it says so, and is silent where it says so."""
    assert entry.reason
    assert entry.asks
    for command in entry.asks:
        assert _asks(command), command
    for command in entry.fine:
        assert not _asks(command), command


def _asks(command: str) -> bool:
    analysis = analyse(command)
    assert analysis.refusal is None, command
    return any(part.guard is not None and part.guard.code == "escape" for part in analysis.parts)
