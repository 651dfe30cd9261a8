"""The one place that names codes."""

import json

import pytest

from kova_ls.endpoint.answer import failed
from kova_ls.endpoint.framing import Framer
from kova_ls.errors import AdapterFailure, IllegalTransition, RequestFailed
from kova_ls.protocol.failures import CODES
from kova_ls.protocol.turn import TurnStartParams


def told(error):
    (body,) = Framer().feed(failed("id", error))
    return json.loads(body)["error"]


@pytest.mark.parametrize("word", CODES)
def test_every_word_has_its_code_and_message(word):
    error = told(RequestFailed(word, "What to do.", turnId="t", nothing=None))
    assert (error["code"], error["message"]) == (CODES[word], "What to do.")
    assert error["data"] == {"code": word, "turnId": "t"}


def test_a_wrong_field_is_named_without_its_value():
    with pytest.raises(ValueError) as caught:
        TurnStartParams.model_validate({"sessionId": {"secret": 1}, "input": []})
    error = told(caught.value)
    assert error["data"] == {"code": "invalidParams", "field": "sessionId"}
    assert "secret" not in json.dumps(error)


@pytest.mark.parametrize(
    "fault",
    [
        ZeroDivisionError("secret"),
        IllegalTransition("secret", open_items=["secret"]),
        AdapterFailure("odd", "secret"),
    ],
)
def test_a_fault_of_ours_is_an_id_in_the_log(fault, caplog):
    error = told(fault)
    assert error["code"] == -32603
    assert "secret" not in json.dumps(error)
    assert error["data"]["incident"] in caplog.text
