import pytest
from inline_snapshot import snapshot
from pydantic import ValidationError

from kova_ls.permission.effects import Interact
from kova_ls.tools.todo_list import TOOL
from kova_ls.values import Todo, TodosBlock


def test_schema():
    assert TOOL.schema() == snapshot(
        {
            "additionalProperties": False,
            "properties": {
                "todos": {
                    "items": {
                        "additionalProperties": False,
                        "properties": {
                            "title": {
                                "description": "What is to be done.",
                                "minLength": 1,
                                "type": "string",
                            },
                            "status": {
                                "default": "pending",
                                "description": "How far it is.",
                                "enum": ["pending", "in_progress", "done"],
                                "type": "string",
                            },
                        },
                        "required": ["title"],
                        "type": "object",
                    },
                    "type": "array",
                    "description": "The whole new list; [] clears; omit to read.",
                }
            },
            "type": "object",
        }
    )


async def test_replaces_the_whole_list(desk):
    desk.todos = (Todo(text="old", status="done"),)
    args, ctx = desk.context(
        TOOL, {"todos": [{"title": "a", "status": "in_progress"}, {"title": "b"}]}
    )
    assert TOOL.effects(args, ctx.resolve) == [Interact("todo")]
    result = await TOOL.run(args, ctx)
    assert ctx.todos == (Todo(text="a", status="in_progress"), Todo(text="b", status="pending"))
    assert result.text == "List replaced: 1 pending, 1 in_progress, 0 done."
    assert result.display == (TodosBlock(todos=ctx.todos),)


async def test_reads_when_none_is_given(desk):
    desk.todos = (Todo(text="a", status="done"), Todo(text="b", status="pending"))
    args, ctx = desk.context(TOOL, {})
    assert (await TOOL.run(args, ctx)).text == "[x] a\n[ ] b"
    assert ctx.todos == desk.todos


async def test_an_empty_list_clears(desk):
    desk.todos = (Todo(text="a", status="done"),)
    args, ctx = desk.context(TOOL, {"todos": []})
    await TOOL.run(args, ctx)
    assert ctx.todos == ()


def test_another_status_is_refused():
    with pytest.raises(ValidationError):
        TOOL.args.model_validate({"todos": [{"title": "a", "status": "started"}]})
