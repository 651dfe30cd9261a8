"""Keep the session's task list.

Invariant: a given list replaces the whole; without one the list is only read.
"""

from collections import Counter
from typing import Literal

from pydantic import AliasChoices, Field

from kova_ls.permission.effects import Effect, Interact
from kova_ls.tools._args import Args
from kova_ls.tools._base import Resolve, Tool, ToolContext, ToolResult, reports_errors
from kova_ls.values import Todo, TodosBlock
from kova_ls.vocabulary import ToolKind

_MARKS = {"pending": "[ ]", "in_progress": "[>]", "done": "[x]"}


class TodoEntry(Args):
    """One task."""

    title: str = Field(min_length=1)
    """What is to be done."""
    status: Literal["pending", "in_progress", "done"] = "pending"
    """How far it is."""


class TodoListArgs(Args):
    """Arguments of `TodoList`."""

    todos: tuple[TodoEntry, ...] | None = Field(
        default=None, validation_alias=AliasChoices("todos", "items")
    )
    """The whole new list; [] clears; omit to read."""


def effects(_args: TodoListArgs, _resolve: Resolve) -> list[Effect]:
    """Declare that only the list is touched."""
    return [Interact("todo")]


@reports_errors
async def run(args: TodoListArgs, ctx: ToolContext) -> ToolResult:
    """Replace or read the list."""
    if args.todos is None:
        listing = "\n".join(f"{_MARKS[todo.status]} {todo.text}" for todo in ctx.todos)
        return ToolResult(listing or "The list is empty.", (TodosBlock(todos=ctx.todos),))
    todos = tuple(Todo(text=entry.title, status=entry.status) for entry in args.todos)
    ctx.set_todos(todos)
    by_status = Counter(todo.status for todo in todos)
    counts = ", ".join(f"{by_status[status]} {status}" for status in _MARKS)
    return ToolResult(f"List replaced: {counts}.", (TodosBlock(todos=todos),))


TOOL = Tool(
    name="TodoList",
    kind=ToolKind.INTERACT,
    args=TodoListArgs,
    description="Keep a task list for work of several steps; the person sees it.",
    effects=effects,
    run=run,
    title=lambda args: "Read the task list" if args.todos is None else "Update the task list",
    aliases=("TodoWrite",),
)
