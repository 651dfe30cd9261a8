"""Approvals and questions on the wire."""

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from kova_ls.protocol import approval
from kova_ls.protocol._base import WireModel

MODELS = [
    model
    for model in vars(approval).values()
    if isinstance(model, type)
    and issubclass(model, WireModel)
    and model.__module__ == approval.__name__
]


@pytest.mark.parametrize("model", MODELS)
def test_travels_there_and_back(
    model: type[WireModel], travels: Callable[[type[WireModel]], None]
) -> None:
    travels(model)


def test_an_answer_without_a_decision_is_refused() -> None:
    with pytest.raises(ValidationError, match="decision"):
        approval.ApprovalRespondParams.model_validate({"approvalId": "a"})
