import os

from inline_snapshot import snapshot

from kova_ls.permission.effects import Interact
from kova_ls.tools.open_file import TOOL


def test_schema():
    assert TOOL.schema() == snapshot(
        {
            "additionalProperties": False,
            "properties": {
                "path": {"description": "The file.", "type": "string"},
                "line": {"minimum": 1, "type": "integer", "description": "Line to show, from 1."},
            },
            "required": ["path"],
            "type": "object",
        }
    )


async def test_asks_the_editor(desk):
    path = os.path.realpath(desk.put("a.py", "secret"))
    args, ctx = desk.context(TOOL, {"path": "a.py", "line": 3})
    assert TOOL.effects(args, ctx.resolve) == [Interact("open")]
    result = await TOOL.run(args, ctx)
    assert ctx.opened == [("file", path, 3)]
    assert result.text == "Shown."
    assert [(block.type, block.text) for block in result.display] == [("link", "a.py:3")]


async def test_a_missing_file_is_an_error(desk):
    result = await desk.call(TOOL, path="nowhere")
    assert result.is_error


async def test_an_editor_that_cannot_is_an_error(desk):
    desk.put("a.py", "")
    desk.has_editor = False
    assert (await desk.call(TOOL, path="a.py")).is_error
