"""The schema against the last released one."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kova_ls.codegen.compatibility import breaking_changes
from kova_ls.codegen.openrpc import document
from kova_ls.protocol.handshake import VERSION

RELEASED = Path(__file__).resolve().parents[1] / "golden/schemas"
NOW = document()
Schema = dict[str, Any]


def _schemas(found: Schema) -> dict[str, Schema]:
    return found["components"]["schemas"]


def _method(found: Schema, name: str) -> Schema:
    return next(method for method in found["methods"] if method["name"] == name)


def test_clients_of_the_last_release_are_served() -> None:
    version, released = max(
        (int(path.parent.name.removeprefix("v")), path) for path in RELEASED.glob("v*/openrpc.json")
    )
    assert version <= VERSION
    if version == VERSION:
        broken = breaking_changes(json.loads(released.read_text("utf-8")), NOW)
        assert not broken, (
            "undo these, or raise VERSION in kova_ls/protocol/handshake.py and keep the new"
            f" schemas/openrpc.json as tests/golden/schemas/v{VERSION + 1}/openrpc.json: {broken}"
        )


def _drop_method(found: Schema) -> None:
    found["methods"] = [m for m in found["methods"] if m["name"] != "kova/turn/start"]


def _swap_result(found: Schema) -> None:
    _method(found, "kova/turn/start")["result"]["schema"]["$ref"] = "#/components/schemas/Empty"


def _swap_params(found: Schema) -> None:
    _method(found, "kova/turn/start")["x-params"]["$ref"] = "#/components/schemas/Empty"


def _drop_event(found: Schema) -> None:
    del found["x-events"]["turn.started"]


def _recode(found: Schema) -> None:
    found["components"]["errors"]["turnBusy"]["code"] = -32001


def _drop_schema(found: Schema) -> None:
    del _schemas(found)["Cursor"]


def _drop_field(found: Schema) -> None:
    del _schemas(found)["Cursor"]["properties"]["seq"]


def _retype(found: Schema) -> None:
    _schemas(found)["Cursor"]["properties"]["seq"]["type"] = "string"


def _retype_items(found: Schema) -> None:
    _schemas(found)["TableBlock"]["properties"]["rows"]["items"]["items"]["type"] = "integer"


def _require(found: Schema) -> None:
    _schemas(found)["TurnStartParams"]["required"].append("promptId")


def _add_required(found: Schema) -> None:
    params = _schemas(found)["TurnStartParams"]
    params["properties"]["colour"] = {"type": "string", "description": "Of it."}
    params["required"].append("colour")


def _no_longer_send(found: Schema) -> None:
    _schemas(found)["SessionSnapshot"]["required"].remove("title")


def _drop_word(found: Schema) -> None:
    _schemas(found)["Mode"]["enum"].remove("goal")


def _drop_inline_word(found: Schema) -> None:
    _schemas(found)["Approval"]["properties"]["kind"]["enum"].remove("adopt")


def _drop_member(found: Schema) -> None:
    item = _schemas(found)["Item"]
    item["oneOf"].pop()
    del item["discriminator"]["mapping"]["compaction"]


def _open_words(found: Schema) -> None:
    del _schemas(found)["Mode"]["enum"]


def _retag(found: Schema) -> None:
    _schemas(found)["ReplyItem"]["properties"]["kind"]["const"] = "answer"


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        (_drop_method, ["method kova/turn/start is gone"]),
        (_swap_result, ["method kova/turn/start has another result"]),
        (_swap_params, ["method kova/turn/start has another x-params"]),
        (_drop_event, ["event turn.started is gone or has another payload"]),
        (_recode, ["error turnBusy is gone or has another code"]),
        (_drop_schema, ["Cursor is gone"]),
        (_drop_field, ["Cursor.seq is gone"]),
        (_retype, ["Cursor.seq has another type"]),
        (_retype_items, ["TableBlock.rows has another type"]),
        (_require, ["TurnStartParams.promptId became required"]),
        (_add_required, ["TurnStartParams.colour became required"]),
        (_no_longer_send, ["SessionSnapshot.title is no longer always sent"]),
        (_drop_word, ["Mode no longer knows 'goal'"]),
        (_drop_inline_word, ["Approval.kind no longer knows 'adopt'"]),
        (_drop_member, ["Item no longer knows 'compaction'"]),
        (_open_words, ["Mode has another type"]),
        (_retag, ["ReplyItem.kind has another type"]),
    ],
)
def test_a_break_is_named(change: Callable[[Schema], None], broken: list[str]) -> None:
    new = copy.deepcopy(NOW)
    change(new)
    assert breaking_changes(NOW, new) == broken


def _add_method(found: Schema) -> None:
    found["methods"].append({**copy.deepcopy(found["methods"][0]), "name": "kova/a/b"})


def _add_optional(found: Schema) -> None:
    _schemas(found)["Cursor"]["properties"]["colour"] = {"type": "string"}


def _add_word(found: Schema) -> None:
    _schemas(found)["Mode"]["enum"].append("dream")


def _reword(found: Schema) -> None:
    _schemas(found)["Cursor"]["properties"]["seq"]["description"] = "Clearer."


def _raise_limit(found: Schema) -> None:
    _schemas(found)["SessionReadParams"]["properties"]["limit"]["maximum"] = 900


def _ask_less(found: Schema) -> None:
    _schemas(found)["TurnStartParams"]["required"].remove("sessionId")


@pytest.mark.parametrize(
    "change", [_add_method, _add_optional, _add_word, _reword, _raise_limit, _ask_less]
)
def test_an_addition_breaks_nothing(change: Callable[[Schema], None]) -> None:
    new = copy.deepcopy(NOW)
    change(new)
    assert breaking_changes(NOW, new) == []
