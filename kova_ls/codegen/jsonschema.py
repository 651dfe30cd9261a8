"""Turn the wire models, the records and the settings into JSON Schema.

Invariant: a definition's text comes from the docstring in the model and from nowhere else.
Invariant: on the wire a field that may be None is left out instead of sent as null.
"""

from collections.abc import Callable, Iterable
from typing import Annotated, Any, cast, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic.json_schema import models_json_schema

from kova_ls import values
from kova_ls.codegen.attribute_docs import describe, subclasses
from kova_ls.codegen.shape import PREFIX, Schema
from kova_ls.config import Settings, Table
from kova_ls.journal.records import VERSION as JOURNAL_VERSION
from kova_ls.journal.records import AnyRecord, Record
from kova_ls.protocol.event import ENVELOPE_FIELDS, DeltaPayload
from kova_ls.protocol.handshake import VERSION, InitializationOptions, ServerIdentity
from kova_ls.protocol.methods import METHODS

DIALECT = "https://json-schema.org/draft/2020-12/schema"
DELTA = "item.delta"
"""The one event that is no record."""


def records() -> tuple[type[Record], ...]:
    """Return the classes of the record union, in its order."""
    return _members(AnyRecord)


def tag(record: type[Record]) -> str:
    """Return the event type that a record class stands for."""
    return record.model_fields["type"].default


def payload_fields(record: type[Record]) -> tuple[str, ...]:
    """Return the fields that travel as an event's payload, in snake_case.

    What the event's envelope carries is left out, and what must stay on disk.
    """
    hidden = ENVELOPE_FIELDS | record.private_fields
    return tuple(name for name in record.model_fields if name not in hidden)


def event_payloads() -> dict[str, str]:
    """Return event type -> name of the definition of its payload, by type."""
    named = {tag(record): f"{record.__name__}Payload" for record in records()}
    return dict(sorted({**named, DELTA: DeltaPayload.__name__}.items()))


def wire_definitions() -> dict[str, Schema]:
    """Return everything that crosses the wire, by name, in camelCase."""
    spoken: list[type[BaseModel]] = [InitializationOptions, ServerIdentity, DeltaPayload]
    for method in METHODS.values():
        spoken += [method.params, *([method.result] if method.result else [])]
    found = _definitions([*spoken, *records()], by_alias=True)
    found = {name: _omitting(schema) for name, schema in found.items()}
    roots = [model.__name__ for model in spoken]
    for record in records():
        name = f"{record.__name__}Payload"
        kept = [record.model_fields[field].alias or field for field in payload_fields(record)]
        found[name] = _restricted(found[record.__name__], kept)
        roots.append(name)
    return _reachable(found, roots)


def wire_schema() -> Schema:
    """Return kova.schema.json: the models of requests, results and events."""
    return {
        "$schema": DIALECT,
        "title": "Kova LS wire models",
        "description": "Everything an editor may say to Kova LS and hear from it.",
        "x-protocol-version": VERSION,
        "x-events": {name: {"$ref": PREFIX + ref} for name, ref in event_payloads().items()},
        "$defs": wire_definitions(),
    }


def journal_schema() -> Schema:
    """Return journal.schema.json: one line of a session's journal."""
    found = _definitions(records(), by_alias=False)
    for record in records():
        found[record.__name__] = _on_a_line(found[record.__name__])
    refs = {tag(record): PREFIX + record.__name__ for record in records()}
    return {
        "$schema": DIALECT,
        "title": "Kova LS journal line",
        "description": "One line of a session's journal, told apart by `type`.",
        "x-journal-version": JOURNAL_VERSION,
        "oneOf": [{"$ref": ref} for ref in refs.values()],
        "discriminator": {"propertyName": "type", "mapping": refs},
        "$defs": _reachable(found, [record.__name__ for record in records()]),
    }


def config_schema() -> Schema:
    """Return config.schema.json: what config.toml may say."""
    found = {
        name: _omitting(schema) for name, schema in _definitions([Settings], by_alias=False).items()
    }
    top = found.pop(Settings.__name__)
    return {"$schema": DIALECT, "title": "Kova LS config.toml", **top, "$defs": found}


def undescribed(definitions: dict[str, Schema]) -> list[str]:
    """Return the definitions and fields that say nothing about themselves."""
    silent: list[str] = []
    for name, schema in definitions.items():
        if not schema.get("description"):
            silent.append(name)
        for field, part in schema.get("properties", {}).items():
            if not part.get("description"):
                silent.append(f"{name}.{field}")
    return silent


def _members(union: Any) -> tuple[Any, ...]:
    """Return the classes of an annotated, tagged union."""
    return get_args(get_args(union)[0])


def _unions() -> dict[frozenset[str], str]:
    """Return the tagged unions that `values` names: references of the members -> name."""
    return {
        frozenset(PREFIX + member.__name__ for member in _members(alias)): name
        for name, alias in vars(values).items()
        if get_origin(alias) is Annotated
        and any(isinstance(note, FieldInfo) and note.discriminator for note in get_args(alias)[1:])
    }


def _definitions(models: Iterable[type[BaseModel]], *, by_alias: bool) -> dict[str, Schema]:
    describe(subclasses(values.Value) | subclasses(Table))
    unique = [(model, "validation") for model in dict.fromkeys(models)]
    _, document = models_json_schema(cast(Any, unique), by_alias=by_alias)
    unions = _unions()
    lifted: dict[str, Schema] = {}

    def lift(schema: Schema) -> Schema:
        parts = schema.get("oneOf")
        name = unions.get(frozenset(part["$ref"] for part in parts)) if parts else None
        if name is None:
            return schema
        key = schema["discriminator"]["propertyName"]
        lifted[name] = {
            "description": f"One of several, told apart by `{key}`.",
            "oneOf": schema["oneOf"],
            "discriminator": schema["discriminator"],
        }
        rest = {k: v for k, v in schema.items() if k not in ("oneOf", "discriminator")}
        return {"$ref": PREFIX + name, **rest}

    found = {
        name: _tags_required(_each(schema, lift)) for name, schema in document["$defs"].items()
    }
    found = dict(sorted({**found, **lifted}.items()))
    for schema in found.values():
        _describe_references(schema, found)
    return found


def _each(schema: Schema, change: Callable[[Schema], Schema]) -> Schema:
    """Rebuild a schema from the leaves up, without titles and defaults that say nothing."""
    out: Schema = {}
    for key, value in schema.items():
        if key == "title" or (key == "default" and (value is None or isinstance(value, dict))):
            continue
        if key == "properties":
            out[key] = {name: _each(part, change) for name, part in value.items()}
        elif key in ("anyOf", "oneOf"):
            out[key] = [_each(part, change) for part in value]
        elif key in ("items", "additionalProperties") and isinstance(value, dict):
            out[key] = _each(cast(Schema, value), change)
        else:
            out[key] = value
    return change(out)


def _describe_references(schema: Schema, found: dict[str, Schema]) -> None:
    """Put back a field's text that pydantic leaves out when its model says the same."""
    for part in schema.get("properties", {}).values():
        target = found.get(part.get("$ref", "").removeprefix(PREFIX), {})
        if "description" in target:
            part.setdefault("description", target["description"])


def _tags_required(schema: Schema) -> Schema:
    """Make tags required: without them a union cannot be told apart."""
    properties = schema.get("properties", {})
    tags = [name for name, part in properties.items() if "const" in part]
    for name in tags:
        properties[name].pop("default", None)
    required = [name for name in properties if name in schema.get("required", []) or name in tags]
    return {**schema, "required": required} if required else schema


def _omitting(schema: Schema) -> Schema:
    """Write "may be left out" for "may be null"."""
    properties: dict[str, Schema] = {}
    optional: set[str] = set()
    for name, part in schema.get("properties", {}).items():
        branches = [branch for branch in part.get("anyOf", []) if branch != {"type": "null"}]
        if len(branches) == 1:
            rest = {key: value for key, value in part.items() if key != "anyOf"}
            properties[name] = {**branches[0], **rest}
            optional.add(name)
        else:
            properties[name] = part
    if not properties:
        return schema
    required = [name for name in schema.get("required", []) if name not in optional]
    rest = {key: value for key, value in schema.items() if key != "required"}
    return {**rest, "properties": properties, **({"required": required} if required else {})}


def _restricted(schema: Schema, kept: list[str]) -> Schema:
    """Keep only some of an object's fields."""
    required = [name for name in schema.get("required", []) if name in kept]
    return {
        "description": schema["description"],
        "type": "object",
        "properties": {name: schema["properties"][name] for name in kept},
        **({"required": required} if required else {}),
    }


def _on_a_line(schema: Schema) -> Schema:
    """Add what the store writes beside the record's own fields."""
    beside = {
        "seq": {
            "type": "integer",
            "minimum": 1,
            "description": "Counts the session's records from 1, no holes.",
        },
        "at": {"type": "number", "description": "Unix seconds when it was written."},
    }
    return {
        **schema,
        "properties": {**beside, **schema["properties"]},
        "required": [*beside, *schema.get("required", [])],
    }


def references(node: Any) -> set[str]:
    """Return the names of the definitions that a schema refers to directly."""
    if isinstance(node, dict):
        branch = cast(Schema, node)
        found: set[str] = set()
        if isinstance(branch.get("$ref"), str):
            found.add(branch["$ref"].rsplit("/", 1)[-1])
        return found.union(*(references(child) for child in branch.values()))
    if isinstance(node, list):
        return set[str]().union(*(references(child) for child in cast(list[Any], node)))
    return set()


def _reachable(found: dict[str, Schema], roots: Iterable[str]) -> dict[str, Schema]:
    wanted: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            waiting += references(found[name])
    return {name: found[name] for name in sorted(wanted)}
