from kova_ls.codegen.attribute_docs import describe, subclasses
from kova_ls.protocol._base import WireModel
from kova_ls.values import Segment, Value


def test_fields_get_the_text_below_them() -> None:
    describe({Segment})
    assert Segment.model_fields["rule"].description == "The rule that matched it."


def test_inherited_fields_are_described_too() -> None:
    class Narrower(Segment):
        pass

    describe({Narrower})
    assert Narrower.model_fields["text"].description == "The segment as it stands in the line."


def test_all_levels_of_subclasses_are_found() -> None:
    found = subclasses(Value)
    assert WireModel in found
    assert any(issubclass(model, WireModel) and model is not WireModel for model in found)
