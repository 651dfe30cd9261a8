"""Reduce a JSON Schema to the OpenAPI subset that older Gemini servers take.

Source: Gemini API reference, "Schema".
"""

from typing import Any

from kova_ls.llm._json import as_object

_OPEN_API = frozenset(
    {
        "type",
        "format",
        "title",
        "description",
        "nullable",
        "enum",
        "items",
        "minItems",
        "maxItems",
        "properties",
        "required",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "pattern",
        "anyOf",
    }
)


def open_api_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Reduce a JSON Schema to the OpenAPI subset of servers without `parametersJsonSchema`."""
    return _reduced(schema, schema.get("$defs") or {}, 0)


def _reduced(node: dict[str, Any], defs: dict[str, Any], depth: int) -> dict[str, Any]:
    reference = node.get("$ref")
    if isinstance(reference, str):
        if depth > 12:
            return {"type": "object"}
        target = as_object(defs.get(reference.rpartition("/")[2]))
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    kept = {key: value for key, value in node.items() if key in _OPEN_API}
    if "const" in node:
        kept["enum"] = [str(node["const"])]
        kept.setdefault("type", "string")
    variants = node.get("anyOf") or node.get("oneOf")
    if variants:
        real = [one for one in variants if one.get("type") != "null"]
        reduced = [_reduced(one, defs, depth + 1) for one in real]
        kept.pop("anyOf", None)
        kept.update(reduced[0] if len(reduced) == 1 else {"anyOf": reduced})
        if len(real) < len(variants):
            kept["nullable"] = True
    if isinstance(kept.get("type"), list):
        names = [name for name in kept["type"] if name != "null"]
        if len(names) < len(kept["type"]):
            kept["nullable"] = True
        kept["type"] = names[0] if names else "string"
    if "properties" in kept:
        kept["properties"] = {
            name: _reduced(child, defs, depth + 1) for name, child in kept["properties"].items()
        }
    if isinstance(kept.get("items"), dict):
        kept["items"] = _reduced(kept["items"], defs, depth + 1)
    return kept
