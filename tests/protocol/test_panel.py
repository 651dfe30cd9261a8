"""Panels on the wire."""

from collections.abc import Callable

import pytest

from kova_ls.protocol import panel
from kova_ls.protocol._base import WireModel

MODELS = [
    model
    for model in vars(panel).values()
    if isinstance(model, type)
    and issubclass(model, WireModel)
    and model.__module__ == panel.__name__
]


@pytest.mark.parametrize("model", MODELS)
def test_travels_there_and_back(
    model: type[WireModel], travels: Callable[[type[WireModel]], None]
) -> None:
    travels(model)
