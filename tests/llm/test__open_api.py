from kova_ls.llm._open_api import open_api_schema


def test_a_schema_is_reduced_to_what_open_api_knows():
    schema = {
        "type": "object",
        "additionalProperties": False,
        "$defs": {"Kind": {"enum": ["a", "b"], "type": "string", "default": "a"}},
        "properties": {
            "kind": {"$ref": "#/$defs/Kind", "description": "which"},
            "n": {"anyOf": [{"type": "integer", "exclusiveMinimum": 0}, {"type": "null"}]},
            "list": {"type": ["array", "null"], "items": {"const": "x"}},
            "either": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
        },
        "required": ["kind"],
    }
    assert open_api_schema(schema) == {
        "type": "object",
        "properties": {
            "kind": {"enum": ["a", "b"], "type": "string", "description": "which"},
            "n": {"type": "integer", "nullable": True},
            "list": {
                "type": "array",
                "nullable": True,
                "items": {"enum": ["x"], "type": "string"},
            },
            "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        },
        "required": ["kind"],
    }


def test_a_schema_that_holds_itself_ends():
    schema = {
        "$defs": {"Tree": {"type": "object", "properties": {"sub": {"$ref": "#/$defs/Tree"}}}},
        "$ref": "#/$defs/Tree",
    }
    assert open_api_schema(schema)["properties"]["sub"]["type"] == "object"
