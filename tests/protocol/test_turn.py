"""Turns on the wire."""

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from kova_ls.protocol import turn
from kova_ls.protocol._base import WireModel

MODELS = [
    model
    for model in vars(turn).values()
    if isinstance(model, type)
    and issubclass(model, WireModel)
    and model.__module__ == turn.__name__
]


@pytest.mark.parametrize("model", MODELS)
def test_travels_there_and_back(
    model: type[WireModel], travels: Callable[[type[WireModel]], None]
) -> None:
    travels(model)


def test_a_prompt_says_something() -> None:
    with pytest.raises(ValidationError, match="input"):
        turn.TurnStartParams.model_validate({"sessionId": "s", "input": []})


def test_an_unknown_part_of_a_prompt_is_refused_with_its_place() -> None:
    with pytest.raises(ValidationError) as caught:
        turn.TurnStartParams.model_validate({"sessionId": "s", "input": [{"type": "smell"}]})
    assert caught.value.errors()[0]["loc"] == ("input", 0)
