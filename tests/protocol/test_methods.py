"""The method table."""

import re

import pytest

from kova_ls.protocol.methods import METHODS, Method


@pytest.mark.parametrize("row", METHODS.values(), ids=lambda row: row.name)
def test_a_name_is_a_noun_and_a_verb(row: Method) -> None:
    assert re.fullmatch(r"kova(/[a-z][A-Za-z]*){1,2}", row.name)


@pytest.mark.parametrize("row", METHODS.values(), ids=lambda row: row.name)
def test_a_summary_is_one_sentence(row: Method) -> None:
    assert row.summary.endswith(".")
    assert len(row.summary) <= 80


@pytest.mark.parametrize("row", METHODS.values(), ids=lambda row: row.name)
def test_only_what_is_told_has_no_answer(row: Method) -> None:
    told = {"kova/event", "kova/resyncRequired", "kova/panel/open", "kova/editor/documentChanged"}
    assert (row.result is None) is (row.name in told)


@pytest.mark.parametrize("row", METHODS.values(), ids=lambda row: row.name)
def test_the_engine_asks_only_about_the_editor(row: Method) -> None:
    if row.sender == "server" and row.result is not None:
        assert row.name.startswith("kova/editor/")


@pytest.mark.parametrize("row", METHODS.values(), ids=lambda row: row.name)
def test_what_must_be_given_may_not_be_null(row: Method) -> None:
    """The schema says that null is left out, so a required null could not be sent."""
    for name, field in row.params.model_fields.items():
        assert not (
            field.is_required() and type(None) in getattr(field.annotation, "__args__", ())
        ), name
