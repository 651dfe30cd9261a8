import pytest
from pydantic import ValidationError

from kova_ls.tools._args import Args


class Sample(Args):
    """Arguments."""

    path: str
    """Which file."""


def test_what_stands_below_a_field_describes_it():
    assert Sample.model_fields["path"].description == "Which file."


def test_what_the_model_made_up_is_refused():
    with pytest.raises(ValidationError):
        Sample.model_validate({"path": "a", "other": 1})
