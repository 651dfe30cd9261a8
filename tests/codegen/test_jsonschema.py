"""JSON Schema of the wire, the journal and the settings."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from kova_ls.codegen import jsonschema
from kova_ls.codegen.shape import Named, Nullable, Struct, read
from kova_ls.config import Settings
from kova_ls.journal import records as r
from kova_ls.protocol.event import ENVELOPE_FIELDS
from kova_ls.protocol.methods import METHODS

RECORDS = jsonschema.records()
WIRE = jsonschema.wire_definitions()


def everything() -> dict[str, dict[str, Any]]:
    journal = jsonschema.journal_schema()["$defs"]
    config = jsonschema.config_schema()
    top = {key: value for key, value in config.items() if not key.startswith(("$", "title"))}
    return {
        **{f"wire {name}": schema for name, schema in WIRE.items()},
        **{f"journal {name}": schema for name, schema in journal.items()},
        **{f"config {name}": schema for name, schema in config["$defs"].items()},
        "config Settings": top,
    }


def test_every_model_and_field_says_what_it_is() -> None:
    assert jsonschema.undescribed(everything()) == []


def test_a_silent_field_is_found() -> None:
    schema = {"description": "A thing.", "properties": {"a": {}, "b": {"description": "B."}}}
    assert jsonschema.undescribed({"Thing": schema, "Other": {}}) == ["Thing.a", "Other"]


def test_every_definition_is_inside_the_subset() -> None:
    for name, schema in everything().items():
        read(schema, name)


def test_every_reference_has_its_definition() -> None:
    for document in (
        jsonschema.wire_schema(),
        jsonschema.journal_schema(),
        jsonschema.config_schema(),
    ):
        assert jsonschema.references(document) <= document["$defs"].keys()


def test_nothing_on_the_wire_is_null() -> None:
    for name, schema in WIRE.items():
        shape = read(schema, name)
        if isinstance(shape, Struct):
            assert not any(isinstance(field.shape, Nullable) for field in shape.fields), name


def test_the_wire_is_camel_case_and_the_journal_snake_case() -> None:
    journal = jsonschema.journal_schema()["$defs"]
    assert "callId" in WIRE["ToolCallItem"]["properties"]
    assert "call_id" in journal["ToolCallItem"]["properties"]
    assert not any("_" in field for s in WIRE.values() for field in s.get("properties", {}))


def test_tags_are_required() -> None:
    for schema in everything().values():
        for field, part in schema.get("properties", {}).items():
            assert "const" not in part or field in schema["required"]


def test_unions_have_their_name() -> None:
    assert {"Item", "InputPart", "Block", "Subject"} <= WIRE.keys()
    snapshot = read(WIRE["SessionSnapshot"])
    assert isinstance(snapshot, Struct)
    items = next(field.shape for field in snapshot.fields if field.name == "items")
    assert getattr(items, "item", None) == Named("Item")


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_a_payload_is_the_record_without_envelope_and_private_fields(
    record: type[r.Record],
) -> None:
    hidden = ENVELOPE_FIELDS | record.private_fields
    kept = set(record.model_fields) - hidden
    assert set(jsonschema.payload_fields(record)) == kept
    schema = WIRE[f"{record.__name__}Payload"]
    assert schema["properties"].keys() == {record.model_fields[name].alias for name in kept}


def test_private_fields_are_fields() -> None:
    for record in RECORDS:
        assert record.private_fields <= record.model_fields.keys()


def test_what_only_private_fields_need_is_not_on_the_wire() -> None:
    assert "CallRequest" not in WIRE
    assert "ModelReplied" not in WIRE
    assert "calls" not in WIRE["ModelRepliedPayload"]["properties"]


def test_every_event_type_has_a_payload() -> None:
    payloads = jsonschema.event_payloads()
    assert payloads.keys() == {jsonschema.tag(record) for record in RECORDS} | {"item.delta"}
    assert payloads["item.delta"] == "DeltaPayload"
    assert set(payloads.values()) <= WIRE.keys()


def test_params_and_results_are_all_there() -> None:
    for method in METHODS.values():
        assert method.params.__name__ in WIRE
        assert method.result is None or method.result.__name__ in WIRE


def test_a_journal_line_has_its_number_and_moment() -> None:
    document = jsonschema.journal_schema()
    for record in RECORDS:
        schema = document["$defs"][record.__name__]
        assert schema["required"][:3] == ["seq", "at", "type"]
        assert schema["properties"].keys() == {"seq", "at", *record.model_fields}
    assert len(document["oneOf"]) == len(RECORDS)


def test_the_union_of_records_is_what_is_listed() -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(r.AnyRecord)
    line = {"type": "session.renamed", "title": "T", "by": "engine", "seq": 2, "at": 1.0}
    assert type(adapter.validate_python(line)) in RECORDS


def test_settings_are_closed_so_that_editors_show_typing_errors() -> None:
    document = jsonschema.config_schema()
    assert document["properties"].keys() == Settings.model_fields.keys()
    assert document["additionalProperties"] is False
    assert document["$defs"]["ModelSettings"]["additionalProperties"] is False


def test_a_field_called_title_stays() -> None:
    assert "title" in WIRE["SessionSummary"]["properties"]
