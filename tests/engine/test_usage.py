"""What calls cost: known, unknown, and both together."""

import pytest

from kova_ls.config import ModelPrice, ModelSettings
from kova_ls.engine.models import priced
from kova_ls.engine.usage import total
from kova_ls.values import Usage

PRICE = ModelPrice(input=3, output=15, cache_read=0.3, cache_write=3.75)
CALL = Usage(input_tokens=1000, cached_tokens=600, cache_write_tokens=100, output_tokens=10)


def model(**settings):
    return ModelSettings(api="scripted", **settings)


def test_every_kind_of_token_has_its_price():
    cost = priced(CALL, model(price=PRICE)).cost
    assert cost == pytest.approx((300 * 3 + 600 * 0.3 + 100 * 3.75 + 10 * 15) / 1e6)


def test_cached_tokens_cost_as_others_where_nothing_else_is_said():
    cost = priced(CALL, model(price=ModelPrice(input=3, output=15))).cost
    assert cost == pytest.approx((1000 * 3 + 10 * 15) / 1e6)


def test_the_word_of_the_provider_goes_first():
    told = CALL.model_copy(update={"cost": 0.5})
    assert priced(told, model(price=PRICE)).cost == 0.5
    assert priced(told, model()).cost == 0.5


def test_what_is_free_costs_nothing_and_what_is_unknown_is_not_free():
    assert priced(CALL, model(price=ModelPrice(input=0, output=0))).cost == 0
    assert priced(CALL, model()).cost is None
    assert priced(Usage(), model(price=PRICE)).cost is None


def test_the_window_is_the_models_unless_the_call_says_it():
    assert priced(CALL, model(context_window=9)).context_window == 9
    told = CALL.model_copy(update={"context_window": 7})
    assert priced(told, model(context_window=9)).context_window == 7


def calls(*costs):
    sum_ = Usage()
    for cost in costs:
        sum_ = total(sum_, Usage(input_tokens=5, output_tokens=1, cost=cost))
    return sum_


def test_costs_add_up_and_one_that_is_unknown_makes_the_sum_unknown():
    assert calls(0.25, 0.5).cost == 0.75
    assert calls(0.25, 0).cost == 0.25
    assert calls(0, 0).cost == 0
    assert calls(0.25, None).cost is None
    assert calls(None, 0.25).cost is None
    assert (calls(0.25, None, 1).input_tokens, calls(None).cost) == (15, None)


def test_a_call_of_which_nothing_was_told_changes_nothing():
    before = calls(0.25)
    assert total(before, Usage(context_window=9)) is before


def test_the_context_is_that_of_the_last_call():
    both = total(calls(1), Usage(input_tokens=50, output_tokens=7, context_window=100))
    assert (both.context_tokens, both.context_window) == (57, 100)
    assert total(both, Usage(input_tokens=1)).context_window == 100
