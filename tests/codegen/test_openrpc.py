"""The OpenRPC document."""

import json
import re

from kova_ls.codegen import openrpc
from kova_ls.codegen.jsonschema import references, wire_definitions
from kova_ls.protocol.failures import CODES, ErrorCode
from kova_ls.protocol.handshake import VERSION
from kova_ls.protocol.methods import METHODS

DOCUMENT = openrpc.document()


def test_every_row_of_the_table_is_a_method() -> None:
    assert [method["name"] for method in DOCUMENT["methods"]] == list(METHODS)
    assert all(method["summary"] for method in DOCUMENT["methods"])
    assert all(method["description"] for method in DOCUMENT["methods"])


def test_only_what_is_asked_has_a_result_and_errors() -> None:
    for method in DOCUMENT["methods"]:
        assert ("result" in method) == (METHODS[method["name"]].result is not None)
        assert ("errors" in method) == ("result" in method)


def test_a_method_in_full() -> None:
    method = next(m for m in DOCUMENT["methods"] if m["name"] == "kova/session/archive")
    assert method == {
        "name": "kova/session/archive",
        "summary": "Take out of the usual list, or back into it.",
        "description": "Leave or re-enter the usual list.",
        "x-direction": "clientToServer",
        "x-params": {"$ref": "#/components/schemas/SessionArchiveParams"},
        "paramStructure": "by-name",
        "params": [
            {
                "name": "sessionId",
                "description": "Opaque id.",
                "required": True,
                "schema": {"type": "string"},
            },
            {
                "name": "archived",
                "description": "False takes it back.",
                "required": False,
                "schema": {"type": "boolean", "default": True},
            },
        ],
        "result": {
            "name": "empty",
            "description": "No fields.",
            "required": True,
            "schema": {"$ref": "#/components/schemas/Empty"},
        },
        "errors": [
            {"$ref": "#/components/errors/invalidParams"},
            {"$ref": "#/components/errors/notInitialized"},
            {"$ref": "#/components/errors/internalError"},
        ],
    }


def test_every_reference_has_its_target() -> None:
    schemas, errors = (DOCUMENT["components"][part].keys() for part in ("schemas", "errors"))
    assert references(DOCUMENT) <= schemas | errors
    assert "#/$defs/" not in json.dumps(DOCUMENT)


def test_the_schemas_are_all_of_the_wire() -> None:
    assert DOCUMENT["components"]["schemas"].keys() == wire_definitions().keys()


def test_errors_have_code_word_and_advice() -> None:
    errors = openrpc.errors()
    assert CODES.keys() <= errors.keys()
    assert {error["code"] for error in errors.values()} == {int(code) for code in ErrorCode}
    assert errors["turnBusy"] == {
        "code": -32022,
        "message": "Queue, steer, or wait for turn.completed.",
        "data": {"code": "turnBusy"},
    }
    assert errors["parseError"] == {"code": -32700, "message": "Send one JSON object per frame."}


def test_the_version_is_the_protocols() -> None:
    assert DOCUMENT["x-protocol-version"] == VERSION
    assert DOCUMENT["openrpc"].startswith("1.3.")


def test_the_digest_follows_the_text() -> None:
    assert re.fullmatch("[0-9a-f]{16}", openrpc.digest("a"))
    assert openrpc.digest("a") != openrpc.digest("b")


def test_the_hash_module_is_python() -> None:
    names: dict[str, str] = {}
    exec(openrpc.hash_module("a"), names)
    assert names["SCHEMA_HASH"] == openrpc.digest("a")
