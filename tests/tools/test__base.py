from typing import Literal

from inline_snapshot import snapshot
from pydantic import Field

from kova_ls.tools._args import Args
from kova_ls.tools._base import (
    ResolvedPath,
    Tool,
    ToolError,
    ToolResult,
    reports_errors,
)
from kova_ls.vocabulary import ToolKind


class Inner(Args):
    """A shape within."""

    title: str
    """A field that is named like a keyword."""


class Outer(Args):
    """Arguments."""

    inner: Inner
    """One."""
    many: tuple[Inner, ...] | None = Field(default=None, max_length=3)
    """Several."""
    word: Literal["a", "b"] | None = None
    """A word."""
    either: int | str = 1
    """Two kinds."""


def test_a_schema_is_closed_flat_and_without_what_says_nothing():
    tool = Tool(
        name="t",
        kind=ToolKind.READ,
        args=Outer,
        description="",
        effects=lambda _args, _resolve: [],
        run=reports_errors(lambda _args, _ctx: None),
        title=lambda _args: "",
    )
    assert tool.schema() == snapshot(
        {
            "additionalProperties": False,
            "properties": {
                "inner": {
                    "additionalProperties": False,
                    "properties": {
                        "title": {
                            "description": "A field that is named like a keyword.",
                            "type": "string",
                        }
                    },
                    "required": ["title"],
                    "type": "object",
                },
                "many": {
                    "items": {
                        "additionalProperties": False,
                        "properties": {
                            "title": {
                                "description": "A field that is named like a keyword.",
                                "type": "string",
                            }
                        },
                        "required": ["title"],
                        "type": "object",
                    },
                    "maxItems": 3,
                    "type": "array",
                    "description": "Several.",
                },
                "word": {"enum": ["a", "b"], "type": "string", "description": "A word."},
                "either": {
                    "anyOf": [{"type": "integer"}, {"type": "string"}],
                    "default": 1,
                    "description": "Two kinds.",
                },
            },
            "required": ["inner"],
            "type": "object",
        }
    )


async def test_an_error_of_a_tool_becomes_its_result():
    @reports_errors
    async def run(args, _ctx):
        if args:
            raise ToolError(args)
        return ToolResult("fine")

    assert await run("do this", None) == ToolResult("do this", is_error=True)
    assert await run("", None) == ToolResult("fine")


def test_a_resolved_path_names_its_effects():
    there = ResolvedPath("/link", "/real", exists=True)
    new = ResolvedPath("/new", "/new", exists=False)
    assert (there.reads(is_tree=True).is_tree, there.writes().change) == (True, "modify")
    assert new.writes().change == "create"
