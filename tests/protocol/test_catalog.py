"""Models and tools on the wire."""

from collections.abc import Callable

import pytest

from kova_ls.protocol import catalog
from kova_ls.protocol._base import WireModel

MODELS = [
    model
    for model in vars(catalog).values()
    if isinstance(model, type)
    and issubclass(model, WireModel)
    and model.__module__ == catalog.__name__
]


@pytest.mark.parametrize("model", MODELS)
def test_travels_there_and_back(
    model: type[WireModel], travels: Callable[[type[WireModel]], None]
) -> None:
    travels(model)
