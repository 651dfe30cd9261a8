"""Goals on the wire."""

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from kova_ls.protocol import goal
from kova_ls.protocol._base import WireModel


@pytest.mark.parametrize("model", [goal.GoalSetBudgetParams, goal.GoalResult])
def test_travels_there_and_back(
    model: type[WireModel], travels: Callable[[type[WireModel]], None]
) -> None:
    travels(model)


@pytest.mark.parametrize("field", ["turns", "tokens"])
def test_a_budget_of_nothing_is_none(field: str) -> None:
    with pytest.raises(ValidationError, match=field):
        goal.GoalSetBudgetParams.model_validate({"sessionId": "s", field: 0})
