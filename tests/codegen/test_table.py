"""Tables between markers."""

import pytest

from kova_ls.codegen import table
from kova_ls.codegen.jsonschema import config_schema
from kova_ls.protocol.methods import METHODS
from kova_ls.tools._args import Args
from kova_ls.tools._base import Tool
from kova_ls.vocabulary import ToolKind

PAGE = "# Title\n\n<!-- gen:one -->\nold\n<!-- /gen -->\n\nBetween.\n\n<!-- gen:two -->\n<!-- /gen -->\n"


async def _run(_args: object, _ctx: object) -> object:
    raise NotImplementedError


def test_fills_between_the_markers_and_nowhere_else() -> None:
    filled = table.fill(PAGE, {"one": lambda: "1", "two": lambda: "2\n2"})
    assert filled == (
        "# Title\n\n<!-- gen:one -->\n1\n<!-- /gen -->\n\nBetween.\n\n"
        "<!-- gen:two -->\n2\n2\n<!-- /gen -->\n"
    )
    assert table.fill(filled, {"one": lambda: "1", "two": lambda: "2\n2"}) == filled


def test_a_page_without_markers_stays() -> None:
    assert table.fill("# Title\n", {}) == "# Title\n"


def test_only_what_is_asked_for_is_made() -> None:
    def never() -> str:
        raise AssertionError

    assert table.fill("Text.\n", {"one": never}) == "Text.\n"


def test_an_unknown_marker_is_named() -> None:
    with pytest.raises(table.UnknownMarker, match=r"'one'.*use one of: other"):
        table.fill(PAGE, {"other": lambda: ""})


def test_every_method_has_a_row() -> None:
    lines = table.methods(METHODS).splitlines()
    assert lines[:2] == ["| method | sent by | what it does |", "| --- | --- | --- |"]
    assert len(lines) == len(METHODS) + 2
    assert "| `kova/event` | engine | A fact or a delta of a followed session. |" in lines


def test_every_setting_has_a_row() -> None:
    text = table.settings(config_schema())
    assert "| `max_steps` | `1000` | Model calls in one turn. |" in text
    assert "| `instruction_files` | `AGENTS.md, KOVA.md` |" in text
    assert "| `models.NAME.api` |  | How to talk to it. |" in text


def test_a_tool_has_its_first_sentence() -> None:
    tool = Tool(
        name="bash",
        kind=ToolKind.SHELL,
        args=Args,
        description="Run a | command.\nIts output is cut.",
        effects=lambda _args, _resolve: [],
        run=_run,  # pyright: ignore[reportArgumentType]
        title=lambda _args: "",
    )
    assert table.tools([tool]).splitlines()[2] == "| `bash` | shell | Run a \\| command. |"
