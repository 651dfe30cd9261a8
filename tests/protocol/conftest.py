"""One check for every wire model: what it promises about the JSON that travels."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kova_ls.codegen.jsonschema import wire_definitions
from kova_ls.protocol._base import WireModel

Schema = dict[str, Any]

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | _TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_TEXT, inner, max_size=2),
    max_leaves=4,
)


def _values(schema: Schema, definitions: dict[str, Schema]) -> st.SearchStrategy[Any]:
    """Return JSON values that a schema of the restricted subset allows."""
    if "$ref" in schema:
        target = definitions[schema["$ref"].rsplit("/", 1)[-1]]
        return st.deferred(lambda: _values(target, definitions))
    if "oneOf" in schema:
        return st.one_of(_values(part, definitions) for part in schema["oneOf"])
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema.get("type"):
        case "string":
            least = schema.get("minLength", 0)
            return st.text(
                st.characters(exclude_categories=["Cs"]), min_size=least, max_size=least + 8
            )
        case "integer":
            return st.integers(schema.get("minimum", -9), schema.get("maximum", 99))
        case "number":
            return st.floats(-1e9, 1e9)
        case "boolean":
            return st.booleans()
        case "array":
            least = schema.get("minItems", 0)
            return st.lists(
                _values(schema["items"], definitions), min_size=least, max_size=least + 2
            )
        case "object" if "properties" in schema or "additionalProperties" not in schema:
            return _objects(schema, definitions)
        case "object" if schema["additionalProperties"] is True:
            return st.dictionaries(_TEXT, _ANYTHING, max_size=2)
        case "object":
            return st.dictionaries(
                _TEXT, _values(schema["additionalProperties"], definitions), max_size=2
            )
        case None:
            return _ANYTHING.filter(lambda value: value is not None)
        case other:
            raise AssertionError(f"no values for type {other!r}")


def _objects(schema: Schema, definitions: dict[str, Schema]) -> st.SearchStrategy[Any]:
    parts = {
        name: _values(part, definitions) for name, part in schema.get("properties", {}).items()
    }
    required = schema.get("required", [])
    return st.fixed_dictionaries(
        {name: part for name, part in parts.items() if name in required},
        optional={name: part for name, part in parts.items() if name not in required},
    )


def _holds(part: Any, whole: Any) -> bool:
    """Say whether everything in `part` stands in `whole`."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and _holds(value, whole[key]) for key, value in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) == len(whole) and all(map(_holds, part, whole))
    return part == whole


@pytest.fixture(scope="session")
def definitions() -> dict[str, Schema]:
    """Everything on the wire, as the schema has it."""
    return wire_definitions()


@pytest.fixture(scope="session")
def travels(definitions: dict[str, Schema]) -> Callable[[type[WireModel]], None]:
    """Check that a model and its schema agree, there and back."""

    def check(model: type[WireModel]) -> None:
        schema = definitions[model.__name__]

        @settings(
            max_examples=25,
            deadline=None,
            database=None,
            suppress_health_check=[HealthCheck.too_slow],
        )
        @given(_values(schema, definitions))
        def holds(value: Schema) -> None:
            read = model.model_validate(value)
            sent = read.model_dump(mode="json", by_alias=True, exclude_none=True)
            assert _holds(value, sent)
            assert sent.keys() <= schema.get("properties", {}).keys()
            assert None not in sent.values()
            assert model.model_validate(sent) == read
            assert model.model_validate({**value, "aFieldOfTheFuture": {"jsonrpc": 1}}) == read
            required = {name: value[name] for name in schema.get("required", [])}
            least = model.model_validate(required)
            for name, field in model.model_fields.items():
                if (field.alias or name) not in required:
                    default = field.get_default(call_default_factory=True, validated_data={})
                    assert getattr(least, name) == default

        holds()

    return check
