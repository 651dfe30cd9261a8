"""Sessions on the wire."""

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from kova_ls.protocol import session
from kova_ls.protocol._base import WireModel

MODELS = [
    model
    for model in vars(session).values()
    if isinstance(model, type)
    and issubclass(model, WireModel)
    and model.__module__ == session.__name__
]


@pytest.mark.parametrize("model", MODELS)
def test_travels_there_and_back(
    model: type[WireModel], travels: Callable[[type[WireModel]], None]
) -> None:
    travels(model)


def test_a_page_has_a_limit() -> None:
    with pytest.raises(ValidationError, match="limit"):
        session.SessionReadParams.model_validate({"sessionId": "s", "limit": 501})


def test_an_absent_field_of_a_change_is_not_a_change() -> None:
    asked = session.SessionConfigureParams.model_validate({"sessionId": "s", "level": "auto"})
    assert asked.model_dump(mode="json", by_alias=True, exclude_none=True) == {
        "sessionId": "s",
        "level": "auto",
    }
