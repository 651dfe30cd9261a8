from typing import Any

import pytest

from kova_ls.llm._partial_args import PartialArgs


def put(*pieces: dict[str, Any]) -> str:
    args = PartialArgs()
    for piece in pieces:
        args.take([piece])
    return args.text


def test_values_of_every_kind_find_their_place():
    assert (
        put(
            {"jsonPath": "$.a", "stringValue": "x"},
            {"jsonPath": "$.b", "numberValue": 1.5},
            {"jsonPath": "$.c", "boolValue": False},
            {"jsonPath": "$.d", "nullValue": "NULL_VALUE"},
            {"jsonPath": "$.e[1].f", "numberValue": 2},
            {"jsonPath": "$['g h'].i", "stringValue": "y"},
        )
        == '{"a":"x","b":1.5,"c":false,"d":null,"e":[null,{"f":2}],"g h":{"i":"y"}}'
    )


def test_a_text_goes_on_only_when_it_said_so():
    goes_on = {"jsonPath": "$.a", "stringValue": "he", "willContinue": True}
    assert put(goes_on, {"jsonPath": "$.a", "stringValue": "y"}) == '{"a":"hey"}'
    other = {"jsonPath": "$.b", "stringValue": ""}
    assert put(goes_on, other, {"jsonPath": "$.a", "stringValue": "y"}) == '{"a":"y","b":""}'


@pytest.mark.parametrize("path", ["", "$", "$.a[99999999999]", "$.s.t", "$.l.x", "$.l[0][1]"])
def test_a_path_that_leads_nowhere_is_no_path(path: str):
    with pytest.raises((ValueError, TypeError, AttributeError)):
        put(
            {"jsonPath": "$.s", "stringValue": "x"},
            {"jsonPath": "$.l[0]", "stringValue": "x"},
            {"jsonPath": path, "numberValue": 1},
        )
