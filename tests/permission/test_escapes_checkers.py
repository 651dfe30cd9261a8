import pytest

from kova_ls.permission.escapes import Escape
from kova_ls.permission.escapes_checkers import CHECKER_ESCAPES
from tests.support.escape_examples import check


@pytest.mark.parametrize("entry", CHECKER_ESCAPES, ids=lambda entry: entry.programs)
def test_every_entry_keeps_what_its_examples_say(entry: Escape) -> None:
    check(entry)
