"""The one place that names codes."""

import json

import pytest

from kova_ls.endpoint import answer as module
from kova_ls.endpoint.answer import failed
from kova_ls.endpoint.framing import Framer
from kova_ls.errors import AdapterFailure, IllegalTransition, RequestFailed
from kova_ls.l10n import Language
from kova_ls.protocol._base import Empty
from kova_ls.protocol.failures import CODES
from kova_ls.protocol.turn import TurnStartParams


def told(error):
    (body,) = Framer().feed(failed("id", error, Language.ENGLISH))
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


@pytest.mark.parametrize("is_given_back", [True, False])
async def test_what_another_engine_has_is_asked_for_again(monkeypatch, is_given_back):
    monkeypatch.setattr(module, "_WAITS_S", (0, 0))
    asked = []

    def handler(endpoint, params):
        asked.append(params)
        if len(asked) < 3 or not is_given_back:
            raise RequestFailed("sessionInUse", "Wait.", holder=1)
        return Empty()

    monkeypatch.setitem(module.HANDLERS, "kova/session/read", handler)
    work = module.answer(None, "kova/session/read", {"sessionId": "s"})
    if is_given_back:
        assert await work == Empty()
    else:
        with pytest.raises(RequestFailed, match="Wait"):
            await work
    assert len(asked) == 3
