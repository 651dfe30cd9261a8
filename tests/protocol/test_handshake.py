"""The `kova` part of initialize."""

from collections.abc import Callable

import pytest

from kova_ls.protocol import handshake
from kova_ls.protocol._base import WireModel

MODELS = [
    model
    for model in vars(handshake).values()
    if isinstance(model, type)
    and issubclass(model, WireModel)
    and model.__module__ == handshake.__name__
]


@pytest.mark.parametrize("model", MODELS)
def test_travels_there_and_back(
    model: type[WireModel], travels: Callable[[type[WireModel]], None]
) -> None:
    travels(model)


def test_a_client_that_says_little_can_do_little() -> None:
    options = handshake.InitializationOptions.model_validate({"versions": [1]})
    assert not options.trusted
    assert options.capabilities == handshake.ClientCapabilities()
