"""What holds for every tool in the folder."""

import json
import os
from dataclasses import replace

import pytest
from pydantic import ValidationError

from kova_ls.tools import by_name, check, discover, file_name
from kova_ls.tools._base import ResolvedPath, ToolError, ToolResult
from kova_ls.vocabulary import ToolKind

TOOLS = discover()

GOOD = {
    "bash": {"command": "exit 7"},
    "diagnostics": {"path": "missing.txt"},
    "edit": {"path": "missing.txt", "old_string": "a", "new_string": "b"},
    "glob": {"pattern": "*", "path": "missing"},
    "goal": {"action": "update"},
    "grep": {"pattern": "("},
    "open_file": {"path": "missing.txt"},
    "open_plugin_panel": {"kind": "markdown", "title": "T", "markdown": "x"},
    "plan_exit": {},
    "Question": {
        "questions": [
            {
                "question": "Which?",
                "options": [
                    {"label": "A", "description": "a"},
                    {"label": "B", "description": "b"},
                ],
            }
        ]
    },
    "read": {"path": "missing.txt"},
    "TodoList": {},
    "write": {"path": "plain/file.txt", "content": "x"},
}


def unmoved(text):
    """Resolve without a disk."""
    path = os.path.normpath(os.path.join("/w", text))
    return ResolvedPath(path, path, exists=True)


def objects(node):
    if isinstance(node, dict):
        if "properties" in node:
            yield node
        for child in node.values():
            yield from objects(child)
    if isinstance(node, list):
        for child in node:
            yield from objects(child)


def test_the_set_is_the_one_that_is_expected():
    assert list(TOOLS) == [
        "bash",
        "diagnostics",
        "edit",
        "glob",
        "goal",
        "grep",
        "open_file",
        "open_plugin_panel",
        "plan_exit",
        "Question",
        "read",
        "TodoList",
        "write",
    ]


def test_all_that_the_model_reads_of_them_stays_small():
    told = [
        {"name": tool.name, "description": tool.description, "parameters": tool.schema()}
        for tool in TOOLS.values()
    ]
    assert len(json.dumps(told, separators=(",", ":"), ensure_ascii=False).encode()) <= 9_000


@pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))
class TestEveryTool:
    def test_says_what_it_does(self, tool):
        assert tool.description.endswith(".")
        assert len(tool.description) < 400

    def test_has_a_closed_schema_with_every_argument_described(self, tool):
        for shape in objects(tool.schema()):
            assert shape["additionalProperties"] is False
            assert all("description" in value for value in shape["properties"].values())
            assert "$ref" not in json.dumps(shape)

    def test_refuses_an_unknown_argument(self, tool):
        with pytest.raises(ValidationError):
            tool.args.model_validate(GOOD[tool.name] | {"no_such_argument": 1})

    def test_declares_the_same_effects_every_time_and_without_the_disk(self, tool):
        args = tool.args.model_validate(GOOD[tool.name])
        effects = tool.effects(args, unmoved)
        assert effects
        assert effects == tool.effects(args, unmoved)

    def test_has_one_line_for_people(self, tool):
        title = tool.title(tool.args.model_validate(GOOD[tool.name]))
        assert title
        assert "\n" not in title

    def test_previews_when_it_writes(self, tool):
        assert (tool.preview is not None) == (tool.kind is ToolKind.WRITE)

    async def test_a_failing_run_gives_a_result(self, tool, desk):
        desk.put("plain", "a file where a folder is needed")
        desk.has_editor = False
        args, ctx = desk.context(tool, GOOD[tool.name])
        result = await tool.run(args, ctx)
        assert isinstance(result, ToolResult)
        assert result.is_error == (tool.name != "TodoList")
        assert result.text


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("read", "read"),
        ("Read", "read"),
        ("READ", "read"),
        ("Write", "write"),
        ("Edit", "edit"),
        ("Glob", "glob"),
        ("Grep", "grep"),
        ("Bash", "bash"),
        ("AskUserQuestion", "Question"),
        ("ExitPlanMode", "plan_exit"),
        ("todolist", "TodoList"),
        ("Goal", "goal"),
        ("CreateGoal", "goal"),
        ("GetGoal", "goal"),
        ("UpdateGoal", "goal"),
        ("SetGoalBudget", "goal"),
    ],
)
def test_a_call_finds_its_tool_by_name_alias_and_case(call, name):
    assert by_name(call) is TOOLS[name]


def test_an_unknown_name_finds_nothing():
    assert by_name("delete_everything") is None


def test_file_names_follow_tool_names():
    assert [file_name(name) for name in ("TodoList", "WebFetch", "plan_exit", "Question")] == [
        "todo_list",
        "web_fetch",
        "plan_exit",
        "question",
    ]


def test_a_misnamed_tool_is_refused():
    with pytest.raises(ValueError, match=r"rename the file to read\.py"):
        check({"reader": TOOLS["read"]})


def test_a_name_used_twice_is_refused():
    other = replace(TOOLS["write"], name="writer", aliases=("READ",))
    with pytest.raises(ValueError, match="taken by"):
        check({"read": TOOLS["read"], "writer": other})


async def test_the_context_serves_only_what_was_declared(desk):
    desk.put("a.txt", "a")
    _, ctx = desk.context(TOOLS["read"], {"path": "a.txt"})
    with pytest.raises(ToolError, match="not judged"):
        await ctx.workspace.read_text(str(desk.root / "b.txt"))
    with pytest.raises(ToolError, match="not judged"):
        await ctx.workspace.write_text(str(desk.root / "a.txt"), "b")
