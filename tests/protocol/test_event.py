"""The one stream of facts."""

from collections.abc import Callable

import pytest

from kova_ls.protocol import event
from kova_ls.protocol._base import WireModel

MODELS = [
    model
    for model in vars(event).values()
    if isinstance(model, type)
    and issubclass(model, WireModel)
    and model.__module__ == event.__name__
]


@pytest.mark.parametrize("model", MODELS)
def test_travels_there_and_back(
    model: type[WireModel], travels: Callable[[type[WireModel]], None]
) -> None:
    travels(model)


def test_the_envelope_has_what_the_payload_leaves_to_it() -> None:
    assert event.Event.model_fields.keys() >= event.ENVELOPE_FIELDS


def test_a_delta_has_no_number() -> None:
    delta = event.DeltaPayload(kind="reply", offset=0, text="Hi")
    sent = event.Event(
        session_id="s",
        epoch="e",
        volatile=True,
        at=1.0,
        item_id="i",
        type="item.delta",
        payload=delta.model_dump(mode="json", by_alias=True),
    )
    assert sent.model_dump(mode="json", by_alias=True, exclude_none=True) == {
        "sessionId": "s",
        "epoch": "e",
        "volatile": True,
        "at": 1.0,
        "itemId": "i",
        "type": "item.delta",
        "payload": {"kind": "reply", "offset": 0, "text": "Hi"},
    }
