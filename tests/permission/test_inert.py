import pytest

from kova_ls.permission.inert import INERT, Inert, is_inert


@pytest.mark.parametrize("entry", INERT, ids=lambda entry: entry.names)
def test_every_entry_keeps_what_its_examples_say(entry: Inert) -> None:
    assert entry.reason
    assert entry.examples
    assert entry.refused
    for assignment in entry.examples:
        assert is_inert(*assignment.split("=", 1)), assignment
    for assignment in entry.refused:
        assert not is_inert(*assignment.split("=", 1)), assignment


@pytest.mark.parametrize("name", ["PATH", "LD_PRELOAD", "GIT_PAGER", "NODE_OPTIONS", "LC_", "IFS"])
def test_variables_that_steer_programs_are_not_inert(name: str) -> None:
    assert not is_inert(name, "x")


def test_a_value_that_names_a_path_is_not_inert() -> None:
    assert not is_inert("LC_ALL", "../evil")
    assert not is_inert("NODE_ENV", "a b")
