from inline_snapshot import snapshot

from kova_ls.permission.effects import Interact
from kova_ls.tools.open_plugin_panel import TOOL


def test_schema():
    assert TOOL.schema() == snapshot(
        {
            "additionalProperties": False,
            "properties": {
                "kind": {
                    "description": "`markdown`, `plan`, `loop`, `diff`, or one of a plugin's.",
                    "minLength": 1,
                    "type": "string",
                },
                "title": {"description": "Heading.", "minLength": 1, "type": "string"},
                "markdown": {"type": "string", "description": "Content, for `markdown`."},
                "data": {
                    "additionalProperties": True,
                    "type": "object",
                    "description": "Content, for other kinds.",
                },
            },
            "required": ["kind", "title"],
            "type": "object",
        }
    )


async def test_asks_the_editor(desk):
    args, ctx = desk.context(TOOL, {"kind": "markdown", "title": "T", "markdown": "# x"})
    assert TOOL.effects(args, ctx.resolve) == [Interact("panel")]
    assert (await TOOL.run(args, ctx)).text == "Shown."
    assert ctx.opened == [("panel", "markdown", "T", "# x", None)]


async def test_an_editor_that_cannot_is_an_error(desk):
    desk.has_editor = False
    result = await desk.call(TOOL, kind="board", title="T", data={"a": 1})
    assert result.is_error
    assert result.text.startswith("The editor shows no panels")
