"""Read the restricted JSON Schema that the emitters understand.

Objects, arrays, scalars, words, tagged unions, nullables, maps and anything: no more.
Invariant: a schema outside this subset raises, so the models stay plain.
"""

from dataclasses import dataclass
from typing import Any, Literal

Schema = dict[str, Any]

PREFIX = "#/$defs/"
"""Where the definitions stand in every document but OpenRPC's."""

_LIMITS = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "minLength", "maxLength", "minItems", "maxItems"}
)
_SAID = frozenset({"description", "default"})


class UnsupportedSchema(ValueError):
    """A model has a shape that no emitter can express; make the model plainer."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A string, a number or a truth value."""

    kind: Literal["string", "integer", "number", "boolean"]


@dataclass(frozen=True, slots=True)
class Words:
    """A closed set of strings; a tag is a set of one."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Named:
    """Another definition."""

    name: str


@dataclass(frozen=True, slots=True)
class Tagged:
    """One of several definitions, told apart by the value of one field."""

    tag: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ListOf:
    """An array."""

    item: "Shape"


@dataclass(frozen=True, slots=True)
class MapOf:
    """An object with free keys."""

    value: "Shape"


@dataclass(frozen=True, slots=True)
class Nullable:
    """A value that may be null."""

    inner: "Shape"


@dataclass(frozen=True, slots=True)
class Anything:
    """Any JSON value."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a structure."""

    name: str
    shape: "Shape"
    is_required: bool
    description: str
    default: Any
    """None when there is none that says anything."""

    @property
    def text(self) -> str:
        """Return the description with the default, where one is worth telling."""
        if self.is_required or self.default is None or self.default in ("", []):
            return self.description
        word = str(self.default).lower() if isinstance(self.default, bool) else self.default
        return f"{self.description} Default: {word}."


@dataclass(frozen=True, slots=True)
class Struct:
    """An object with known fields, in the order of the model."""

    fields: tuple[Field, ...]


Shape = Scalar | Words | Named | Tagged | ListOf | MapOf | Nullable | Anything | Struct


def read(schema: Schema, where: str = "schema") -> Shape:
    """Turn a schema into a shape.

    Raises: UnsupportedSchema naming the place and the keyword.
    """
    keys = schema.keys() - _SAID - _LIMITS
    if "$ref" in keys:
        _only(keys, {"$ref"}, where)
        return Named(_name(schema["$ref"], where))
    if "oneOf" in keys:
        _only(keys, {"oneOf", "discriminator"}, where)
        if "discriminator" not in keys:
            raise UnsupportedSchema(f"{where}: `oneOf` without a tag; give the union a tag field.")
        names = tuple(_name(part.get("$ref", ""), where) for part in schema["oneOf"])
        return Tagged(schema["discriminator"]["propertyName"], names)
    if "anyOf" in keys:
        _only(keys, {"anyOf"}, where)
        parts = [part for part in schema["anyOf"] if part != {"type": "null"}]
        if len(parts) != 1 or len(parts) == len(schema["anyOf"]):
            raise UnsupportedSchema(f"{where}: a union without a tag; give its members a tag.")
        return Nullable(read(parts[0], where))
    if not keys:
        return Anything()
    return _typed(schema, keys, where)


def _typed(schema: Schema, keys: set[str], where: str) -> Shape:
    match schema.get("type"):
        case "string" if "const" in keys:
            _only(keys, {"type", "const"}, where)
            return Words((schema["const"],))
        case "string" if "enum" in keys:
            _only(keys, {"type", "enum"}, where)
            return Words(tuple(schema["enum"]))
        case "string" | "integer" | "number" | "boolean" as kind:
            _only(keys, {"type"}, where)
            return Scalar(kind)
        case "array":
            _only(keys, {"type", "items"}, where)
            return ListOf(read(schema.get("items", {}), f"{where}[]"))
        case "object":
            return _object(schema, keys, where)
        case other:
            raise UnsupportedSchema(f"{where}: type {other!r} is outside the subset.")


def _object(schema: Schema, keys: set[str], where: str) -> Shape:
    extra = schema.get("additionalProperties")
    if "properties" not in keys and extra is not None and extra is not False:
        _only(keys, {"type", "additionalProperties"}, where)
        return MapOf(Anything() if extra is True else read(extra, f"{where}{{}}"))
    _only(keys, {"type", "properties", "required", "additionalProperties"}, where)
    if extra not in (None, False):
        raise UnsupportedSchema(f"{where}: known and free keys together; split them.")
    required = schema.get("required", [])
    return Struct(
        tuple(
            Field(
                name,
                read(part, f"{where}.{name}"),
                name in required,
                part.get("description", ""),
                part.get("default"),
            )
            for name, part in schema.get("properties", {}).items()
        )
    )


def _only(keys: set[str], allowed: set[str], where: str) -> None:
    if strange := keys - allowed:
        raise UnsupportedSchema(f"{where}: {', '.join(sorted(strange))} is outside the subset.")


def _name(ref: str, where: str) -> str:
    if not ref.startswith(PREFIX):
        raise UnsupportedSchema(f"{where}: {ref!r} does not name a definition.")
    return ref.removeprefix(PREFIX)
