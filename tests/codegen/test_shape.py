"""The restricted JSON Schema."""

from typing import Any

import pytest

from kova_ls.codegen.shape import (
    Anything,
    Field,
    ListOf,
    MapOf,
    Named,
    Nullable,
    Scalar,
    Struct,
    Tagged,
    UnsupportedSchema,
    Words,
    read,
)

TAGGED = {
    "oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}],
    "discriminator": {"propertyName": "type", "mapping": {}},
}


@pytest.mark.parametrize(
    ("schema", "shape"),
    [
        ({"type": "string", "minLength": 1, "description": "A name."}, Scalar("string")),
        ({"type": "integer", "minimum": 0}, Scalar("integer")),
        ({"type": "number"}, Scalar("number")),
        ({"type": "boolean", "default": True}, Scalar("boolean")),
        ({"type": "string", "enum": ["a", "b"]}, Words(("a", "b"))),
        ({"type": "string", "const": "a"}, Words(("a",))),
        ({"$ref": "#/$defs/Cat", "description": "Whose?"}, Named("Cat")),
        (TAGGED, Tagged("type", ("Cat", "Dog"))),
        ({"type": "array", "items": {"type": "string"}}, ListOf(Scalar("string"))),
        ({"type": "array"}, ListOf(Anything())),
        ({"type": "object", "additionalProperties": True}, MapOf(Anything())),
        (
            {"type": "object", "additionalProperties": {"type": "number"}},
            MapOf(Scalar("number")),
        ),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, Nullable(Scalar("string"))),
        ({"description": "Whatever."}, Anything()),
        ({"type": "object"}, Struct(())),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "string", "description": "A."}, "b": {}},
                "required": ["a"],
            },
            Struct(
                (
                    Field("a", Scalar("string"), is_required=True, description="A.", default=None),
                    Field("b", Anything(), is_required=False, description="", default=None),
                )
            ),
        ),
    ],
)
def test_reads_the_subset(schema: dict[str, Any], shape: object) -> None:
    assert read(schema) == shape


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "^a"},
        {"type": "string", "format": "uri"},
        {"type": ["string", "null"]},
        {"type": "null"},
        {"type": "array", "prefixItems": [{"type": "string"}]},
        {"type": "array", "items": {"type": "string", "format": "uri"}},
        {"type": "integer", "enum": [1, 2]},
        {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
        {"anyOf": [{"type": "string"}]},
        {"oneOf": [{"$ref": "#/$defs/Cat"}]},
        {**TAGGED, "oneOf": [{"type": "string"}]},
        {"allOf": [{"$ref": "#/$defs/Cat"}]},
        {"$ref": "other.json"},
        {"type": "object", "properties": {"a": {}}, "additionalProperties": True},
        {"type": "object", "patternProperties": {}},
        {"enum": ["a"]},
    ],
)
def test_anything_outside_the_subset_raises(schema: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedSchema, match=r"^Thing"):
        read(schema, "Thing")


def test_the_place_is_named() -> None:
    schema = {
        "type": "object",
        "properties": {"pets": {"type": "array", "items": {"format": "uri", "type": "string"}}},
    }
    with pytest.raises(UnsupportedSchema, match=r"Thing\.pets\[\]: format"):
        read(schema, "Thing")


@pytest.mark.parametrize(
    ("default", "is_required", "text"),
    [
        (None, False, "It."),
        ("", False, "It."),
        (True, False, "It. Default: true."),
        (0, False, "It. Default: 0."),
        ("turn", False, "It. Default: turn."),
        ("turn", True, "It."),
    ],
)
def test_a_default_is_told_where_it_matters(default: Any, is_required: bool, text: str) -> None:
    field = Field("a", Anything(), is_required=is_required, description="It.", default=default)
    assert field.text == text
