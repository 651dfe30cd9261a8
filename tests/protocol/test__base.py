"""The base of every wire model."""

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from kova_ls.protocol._base import Empty, WireModel


class Sample(WireModel):
    """One field."""

    long_name: str | None = None
    """A text."""


def test_nothing_travels_there_and_back(travels: Callable[[type[WireModel]], None]) -> None:
    travels(Empty)


def test_names_are_camel_case_on_the_wire_and_snake_case_on_disk() -> None:
    sample = Sample(long_name="x")
    assert sample.model_dump(by_alias=True) == {"longName": "x"}
    assert sample.model_dump() == {"long_name": "x"}


def test_a_missing_value_is_left_out() -> None:
    assert Sample().model_dump(by_alias=True, exclude_none=True) == {}


def test_a_model_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Sample().long_name = "y"  # pyright: ignore[reportAttributeAccessIssue]


def test_a_docstring_is_left_to_the_generator() -> None:
    assert "description" not in Sample.model_json_schema()["properties"]["longName"]
