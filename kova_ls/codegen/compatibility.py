"""Say what a newer OpenRPC document breaks for those who know the older one.

Invariant: fields are added optional, never renamed, never retyped; words are never taken away.
"""

from typing import Any, cast

from kova_ls.codegen.jsonschema import references
from kova_ls.codegen.shape import Schema

_SAID = frozenset({"description", "default", "required", "properties", "enum", "oneOf"})
_LIMITS = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "minLength", "maxLength", "minItems", "maxItems"}
)


def breaking_changes(old: Schema, new: Schema) -> list[str]:
    """Return one sentence per break; empty when old clients and old engines are served."""
    found = _methods(_by_name(old["methods"]), _by_name(new["methods"]))
    found += [
        f"event {name} is gone or has another payload"
        for name, ref in old["x-events"].items()
        if new["x-events"].get(name) != ref
    ]
    errors = new["components"]["errors"]
    found += [
        f"error {word} is gone or has another code"
        for word, error in old["components"]["errors"].items()
        if errors.get(word, {}).get("code") != error["code"]
    ]
    heard = _heard(old)
    schemas = new["components"]["schemas"]
    for name, schema in old["components"]["schemas"].items():
        if name not in schemas:
            found.append(f"{name} is gone")
        else:
            found += _definition(name, schema, schemas[name], is_heard=name in heard)
    return found


def _by_name(methods: list[Schema]) -> dict[str, Schema]:
    return {method["name"]: method for method in methods}


def _methods(old: dict[str, Schema], new: dict[str, Schema]) -> list[str]:
    found: list[str] = []
    for name, method in old.items():
        if name not in new:
            found.append(f"method {name} is gone")
            continue
        for part in ("x-direction", "x-params"):
            if method[part] != new[name][part]:
                found.append(f"method {name} has another {part}")
        before, after = (m.get("result", {}).get("schema") for m in (method, new[name]))
        if before != after:
            found.append(f"method {name} has another result")
    return found


def _heard(document: Schema) -> set[str]:
    """Return the definitions that an editor is sent, as opposed to those it sends."""
    schemas = document["components"]["schemas"]
    told = [m["x-params"] for m in document["methods"] if m["x-direction"] == "serverToClient"]
    results = [m["result"] for m in document["methods"] if "result" in m]
    waiting = references([told, results, document["x-events"], document["x-server-capabilities"]])
    heard: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in heard:
            heard.add(name)
            waiting |= references(schemas[name])
    return heard


def _definition(name: str, old: Schema, new: Schema, *, is_heard: bool) -> list[str]:
    found = _type(name, old, new)
    before, after = old.get("properties", {}), new.get("properties", {})
    was, now = set(old.get("required", [])), set(new.get("required", []))
    for field, part in before.items():
        if field not in after:
            found.append(f"{name}.{field} is gone")
        else:
            found += _type(f"{name}.{field}", part, after[field])
    found += [f"{name}.{field} became required" for field in sorted(now - was)]
    if is_heard:
        found += [
            f"{name}.{field} is no longer always sent"
            for field in sorted((was - now) & after.keys())
        ]
    return found


def _type(where: str, old: Schema, new: Schema) -> list[str]:
    found: list[str] = []
    if _bare(old) != _bare(new):
        found.append(f"{where} has another type")
    gone = sorted(_words(old) - _words(new))
    found += [f"{where} no longer knows {word!r}" for word in gone if _words(new)]
    return found


def _words(node: Any) -> set[str]:
    """Return the words and the union members of a type, nested ones included."""
    if isinstance(node, dict):
        branch = cast(Schema, node)
        words = set(branch.get("enum", [])) | set(
            branch.get("discriminator", {}).get("mapping", {})
        )
        inner = [branch[key] for key in ("items", "additionalProperties") if key in branch]
        return words.union(*(_words(child) for child in inner))
    return set()


def _bare(node: Any) -> Any:
    """Return what makes a type: no texts, no limits, no members that may be added to."""
    if isinstance(node, dict):
        branch = cast(Schema, node)
        kept = {
            key: _bare(child)
            for key, child in branch.items()
            if key not in _SAID and key not in _LIMITS
        }
        if "discriminator" in kept:
            kept["discriminator"] = branch["discriminator"]["propertyName"]
        return kept | ({"enum": True} if "enum" in branch else {})
    return node
