"""Shapes that cross the journal and the wire."""

import typing

import pytest
from pydantic import TypeAdapter, ValidationError

from kova_ls import values
from kova_ls.values import Answer, InputPart, Item, TextPart, Usage, Value

SHAPES = [
    value
    for value in vars(values).values()
    if isinstance(value, type) and issubclass(value, Value) and value is not Value
]


def test_one_model_has_two_spellings():
    usage = Usage(input_tokens=1, cached_tokens=2)
    assert usage.model_dump()["input_tokens"] == 1
    assert usage.model_dump(by_alias=True)["cachedTokens"] == 2
    assert Usage.model_validate({"inputTokens": 1, "cached_tokens": 2}) == usage


def test_unknown_fields_are_ignored_and_missing_ones_default():
    assert Answer.model_validate({"id": "q", "later": 1}) == Answer(id="q")


def test_shapes_are_frozen():
    part = TextPart(text="x")
    with pytest.raises(ValidationError):
        part.text = "y"


@pytest.mark.parametrize("union", [InputPart, Item, values.Block, values.Subject])
def test_tagged_unions_refuse_unknown_tags(union):
    with pytest.raises(ValidationError):
        TypeAdapter(union).validate_python({"type": "song", "kind": "song"})
    members = typing.get_args(typing.get_args(union)[0])
    tag = "kind" if union is Item else "type"
    tags = [member.model_fields[tag].default for member in members]
    assert len(set(tags)) == len(tags)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_no_two_fields_share_a_spelling(shape):
    aliases = [field.alias or name for name, field in shape.model_fields.items()]
    assert len(set(aliases)) == len(aliases)
