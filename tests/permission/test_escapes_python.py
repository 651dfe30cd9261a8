import pytest

from kova_ls.permission.escapes import Escape
from kova_ls.permission.escapes_python import PYTHON_ESCAPES
from kova_ls.permission.shell import analyse


def asks(command: str) -> bool:
    analysis = analyse(command)
    assert analysis.refusal is None, command
    return any(part.guard is not None and part.guard.code == "escape" for part in analysis.parts)


@pytest.mark.parametrize("entry", PYTHON_ESCAPES, ids=lambda entry: entry.programs)
def test_every_entry_keeps_what_its_examples_say(entry: Escape) -> None:
    assert entry.reason
    assert entry.asks
    for command in entry.asks:
        assert asks(command), command
    for command in entry.fine:
        assert not asks(command), command
