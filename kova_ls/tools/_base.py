"""What a tool is and what it is given.

A tool declares its effects, never asks for permission, and returns a result for every input.
Invariant: the context serves only what the effects declared; reaching further is an error.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, Protocol

from kova_ls.permission.effects import Effect, ReadPath, WritePath
from kova_ls.values import Answer, Block, FileChange, Option, Question, Todo
from kova_ls.vocabulary import ToolKind

if TYPE_CHECKING:
    from kova_ls.tools._args import Args


@dataclass(frozen=True, slots=True)
class ResolvedPath:
    """A path as the call named it and as the disk has it."""

    asked: str
    """Absolute, `..` and `.` gone lexically, links not followed."""
    path: str
    """Absolute, links followed, case as the disk has it; the last parts may not exist."""
    exists: bool

    def reads(self, *, is_tree: bool = False) -> ReadPath:
        """Return the effect of looking at it."""
        return ReadPath(self.path, self.asked, is_tree=is_tree)

    def writes(self) -> WritePath:
        """Return the effect of creating or changing it."""
        return WritePath(self.path, self.asked, "modify" if self.exists else "create")


Resolve = Callable[[str], ResolvedPath]
"""Resolve a path named by the model: absolute, `~`-led, or relative to the workspace."""


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text file as read, with what is needed to write it back unchanged in form."""

    text: str
    """Line ends as they are (`\\r\\n` kept), without byte order mark."""
    encoding: str
    """Python codec name."""
    has_bom: bool
    source: Literal["editor", "disk"]
    """Whose text it is: an open document's or the file's."""
    digest: str
    """Of `text`; a write based on it is refused when the text moved."""
    version: int | None = None
    """The open document's version."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a command did."""

    exit_code: int | None
    """None when it was stopped."""
    output: str
    """Both streams as they came, decoded; at most the preview: head and tail."""
    hidden_bytes: int
    """Bytes between head and tail that `output` leaves out."""
    output_ref: str | None
    """The whole output, when some is hidden."""
    output_path: str | None
    """The file behind `output_ref`, which the model may `read`."""
    timed_out: bool
    duration_s: float
    stopped_pids: tuple[int, ...] = ()
    """Process group killed at the end of time or on interrupt."""
    background_group: int | None = None
    """Process group of what it left running in the background."""


class Workspace(Protocol):
    """Files, limited to the paths that the call declared."""

    @property
    def root(self) -> str | None:
        """The permission workspace, resolved."""
        ...

    async def read_text(self, path: str, *, max_bytes: int = 50_000_000) -> TextFile:
        """Read a text file; open documents as the editor has them.

        Raises: ToolError for a missing file, a folder, a binary or a too large file.
        """
        ...

    async def read_bytes(self, path: str, *, max_bytes: int = 50_000_000) -> bytes:
        """Read a file's bytes from the disk. Raises: ToolError."""
        ...

    async def write_text(self, path: str, text: str, *, like: TextFile | None = None) -> FileChange:
        """Create or replace a file, atomically, with the form (encoding, BOM, mode) of `like`.

        With `like` the write is refused when the file's text is no longer `like.text`.
        Raises: ToolError; the file is then as it was.
        """
        ...

    def display(self, path: str) -> str:
        """Return the path as people and the model should see it: relative inside the workspace."""
        ...

    def overlays(self, tree: str) -> dict[str, str]:
        """Return path -> text of the open documents below `tree` that differ from the disk."""
        ...

    def uri(self, path: str) -> str:
        """Return the `file:` URI."""
        ...


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """What the editor's tools say of one place."""

    uri: str
    line_no: int
    severity: Literal["error", "warning", "information", "hint"]
    message: str
    source: str | None = None
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """What the editor's tools say, as far as they have finished."""

    diagnostics: tuple[Diagnostic, ...]
    is_settled: bool
    is_open: bool = True
    """The files that were asked for are open there; tools seldom look at others."""


GoalWord = Literal["active", "complete", "blocked"]
"""What the model may say of a goal."""


class ToolContext(Protocol):
    """What a running call may use."""

    @property
    def call_id(self) -> str:
        """Unique in the session."""
        ...

    @property
    def workspace(self) -> Workspace:
        """Files, limited to the declared effects."""
        ...

    @property
    def shell_env(self) -> dict[str, str]:
        """Environment for programs it starts."""
        ...

    @property
    def todos(self) -> tuple[Todo, ...]:
        """The session's task list."""
        ...

    @property
    def plan_path(self) -> str:
        """The session's plan file."""
        ...

    @property
    def answer(self) -> "Reply | None":
        """What the person said, for tools with `asks`."""
        ...

    def resolve(self, path: str) -> ResolvedPath:
        """Resolve as the effects did."""
        ...

    def emit(self, text: str) -> None:
        """Show a piece of output at once; not stored."""
        ...

    async def run_command(
        self, command: str, *, cwd: str, timeout_s: float, preview_bytes: int = 30_000
    ) -> CommandResult:
        """Run a declared command in the shell, streaming its output through `emit`."""
        ...

    async def run_program(
        self, argv: Sequence[str], *, cwd: str, timeout_s: float, max_bytes: int
    ) -> tuple[int, bytes, bool]:
        """Run one of our own helper programs (ripgrep): exit code, output, was it cut.

        The output is stdout, or stderr when nothing came there.
        """
        ...

    def save_output(self, data: bytes, *, name: str = "output") -> tuple[str, str]:
        """Keep a large output; returns its `outputRef` and its path."""
        ...

    def set_todos(self, todos: tuple[Todo, ...]) -> None:
        """Replace the session's task list."""
        ...

    def open_file(self, path: str, line_no: int | None) -> str:
        """Ask the editor to show a file; says what became of it. Raises: ToolError."""
        ...

    def open_panel(
        self, kind: str, title: str, *, markdown: str | None = None, data: Any = None
    ) -> str:
        """Ask the editor to show a panel; says what became of it. Raises: ToolError."""
        ...

    async def diagnostics(self, path: str | None, *, settle_ms: int) -> Diagnosed:
        """Ask the editor what its tools say of a file, or of what it has open.

        Raises: ToolError when no editor can tell.
        """
        ...

    def goal(self) -> str:
        """Say what the session's goal is and how far it has come."""
        ...

    def create_goal(self, objective: str, criterion: str | None, *, replace: bool) -> str:
        """Set a goal; says what became of it. Raises: ToolError."""
        ...

    def update_goal(self, status: GoalWord, why: str | None) -> str:
        """Move the goal; says what became of it. Raises: ToolError."""
        ...

    def set_mode_agent(self) -> None:
        """Leave mode `plan`; for plan_exit after the person's yes."""
        ...


class ToolError(Exception):
    """A call failed in a way the model can act on; the text says how."""


class Moved(ToolError):
    """A file is no longer what a change was made from; nothing was written."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What became of a call."""

    text: str
    """What the model is told."""
    display: tuple[Block, ...] = ()
    """What people are shown."""
    is_error: bool = False
    output_ref: str | None = None
    has_moved: bool = False
    """It failed only because a file moved meanwhile: the same call again may do."""


@dataclass(frozen=True, slots=True)
class AskQuestions:
    """Questions to the person; the turn waits."""

    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class AskPlan:
    """A plan to be approved; the turn waits. Decisions: approve, reject, rejectAndExit, revise."""

    markdown: str
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What the person said to an ask."""

    decision: str
    """`answered`, `declined`, or a plan card's decision."""
    answers: tuple[Answer, ...] = ()
    option: str | None = None
    feedback: str | None = None


@dataclass(frozen=True, slots=True)
class Preview:
    """What a write would do, computed before anyone is asked."""

    files: tuple[FileChange, ...]
    digests: dict[str, str] = field(default_factory=dict[str, str])
    """Resolved path -> digest of the text the diff was computed from (empty text: new file)."""


@dataclass(frozen=True)
class Tool:
    """One tool: the file's `TOOL`."""

    name: str
    kind: ToolKind
    args: "type[Args]"
    description: str
    """What the model reads: short, what it does and its limits."""
    effects: Callable[[Any, Resolve], list[Effect]]
    """Pure but for path resolution; may be called many times. Raises: ToolError for a bad path."""
    run: Callable[[Any, ToolContext], Awaitable[ToolResult]]
    title: Callable[[Any], str]
    """One line for people: `Read src/a.py`."""
    asks: Callable[[Any, ToolContext], Awaitable[AskQuestions | AskPlan]] | None = None
    """For tools whose very purpose is to ask the person. Raises: ToolError when it cannot."""
    preview: Callable[[Any, ToolContext], Awaitable[Preview]] | None = None
    """For tools that change files: the diffs for the card. Raises: ToolError as `run` would."""
    aliases: tuple[str, ...] = ()
    """Accepted when called, not advertised."""
    older: "Mapping[str, type[Args]]" = field(default_factory=dict[str, "type[Args]"])
    """Alias in small letters -> its own arguments, where a name stood for a part of the tool."""

    def args_of(self, called: str) -> "type[Args]":
        """Return the arguments that go with one of its names."""
        return self.older.get(called.casefold(), self.args)

    def schema(self) -> dict[str, Any]:
        """Return the arguments' JSON Schema as the model is given it."""
        return _tidy(self.args.model_json_schema())


def reports_errors(
    run: Callable[[Any, ToolContext], Awaitable[ToolResult]],
) -> Callable[[Any, ToolContext], Awaitable[ToolResult]]:
    """Turn a ToolError of `run` into the result that tells the model."""

    @wraps(run)
    async def running(args: Any, ctx: ToolContext) -> ToolResult:
        try:
            return await run(args, ctx)
        except ToolError as error:
            return ToolResult(str(error), is_error=True, has_moved=isinstance(error, Moved))

    return running


def _tidy(schema: dict[str, Any]) -> dict[str, Any]:
    """Drop what costs tokens and says nothing: titles, class docstrings, nulls, references."""
    shapes: dict[str, Any] = schema.pop("$defs", {})
    return _plain(schema, shapes)


def _plain(node: Any, shapes: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_plain(child, shapes) for child in node]  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(node, dict):
        return node
    seen: dict[str, Any] = dict(node)  # pyright: ignore[reportUnknownArgumentType]
    name = str(seen.pop("$ref", "")).removeprefix("#/$defs/")
    if name:
        seen = shapes[name] | seen
    kinds = [kind for kind in seen.get("anyOf", ()) if kind != {"type": "null"}]
    if len(kinds) == 1:
        del seen["anyOf"]
        return _plain(kinds[0] | seen, shapes)
    if "properties" in seen:
        seen.pop("description", None)
    return {
        key: (
            {field: _plain(value, shapes) for field, value in child.items()}
            if key == "properties"
            else _plain(child, shapes)
        )
        for key, child in seen.items()
        if not (key == "title" and isinstance(child, str))
        and not (key == "default" and child is None)
    }
