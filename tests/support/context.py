"""A ToolContext over the real workspace and processes, for tests of tools."""

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from kova_ls.engine.environment import shell_env
from kova_ls.engine.process import run_command, run_program
from kova_ls.engine.workspace import Document, Files, Replaced, is_below, resolve
from kova_ls.tools._base import (
    CommandResult,
    Diagnosed,
    Reply,
    ResolvedPath,
    Tool,
    ToolError,
    ToolResult,
)
from kova_ls.values import Todo


@dataclass
class Opened:
    """Open documents of a pretended editor."""

    documents: dict[str, Document] = field(default_factory=dict)
    answer: Literal["done", "stale", "unavailable"] = "done"
    saves: frozenset[str] = frozenset()
    """Resolved paths that it saves when asked."""
    reloads: frozenset[str] = frozenset()
    """Resolved paths that it reads anew when asked."""
    unseen: frozenset[str] = frozenset()
    """Resolved paths with unsaved changes that it does not tell."""
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def open(self, path: Path, text: str, *, is_dirty: bool = True, version: int = 1) -> None:
        name = os.path.realpath(path)
        self.documents[name] = Document(name, text, version, is_dirty)

    def get(self, path: str) -> Document | None:
        return self.documents.get(path)

    def below(self, tree: str) -> list[Document]:
        return [d for d in self.documents.values() if is_below(d.path, tree)]

    def holds_unseen(self, path: str) -> bool:
        return path in self.unseen

    async def replace(self, document: Document, text: str) -> Replaced:
        if self.answer == "done":
            self.documents[document.path] = Document(
                document.path, text, document.version + 1, document.is_dirty
            )
        return Replaced(self.answer, text, was_dirty=document.is_dirty)

    async def save(self, paths: Collection[str]) -> frozenset[str]:
        self.asked.append(("save", *sorted(paths)))
        for path in self.saves & frozenset(paths):
            document = self.documents[path]
            Path(path).write_text(document.text)
            self.documents[path] = replace(document, is_dirty=False)
        return self.saves & frozenset(paths)

    async def reload(self, paths: Collection[str]) -> frozenset[str]:
        self.asked.append(("reload", *sorted(paths)))
        done = frozenset(path for path in self.reloads & frozenset(paths))
        for path in done:
            self.documents[path] = replace(self.documents[path], text=Path(path).read_text())
        return done


@dataclass
class FakeContext:
    """What a call may use, with the editor's side recorded."""

    root: str
    saved: str
    """Folder for large outputs."""
    workspace: Files
    overlays: Opened
    plan_path: str
    call_id: str = "call-1"
    todos: tuple[Todo, ...] = ()
    answer: Reply | None = None
    emitted: list[str] = field(default_factory=list)
    opened: list[Any] = field(default_factory=list)
    is_agent: bool = False
    has_editor: bool = True
    diagnosed: Diagnosed = field(default_factory=lambda: Diagnosed((), is_settled=True))
    shell_env: dict[str, str] = field(
        default_factory=lambda: shell_env({"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"})
    )

    def resolve(self, path: str) -> ResolvedPath:
        return resolve(path, root=self.root, home="/nonexistent")

    def emit(self, text: str) -> None:
        self.emitted.append(text)

    async def run_command(
        self, command: str, *, cwd: str, timeout_s: float, preview_bytes: int = 30_000
    ) -> CommandResult:
        return await run_command(
            command,
            shell="/bin/bash",
            cwd=cwd,
            env=self.shell_env,
            timeout_s=timeout_s,
            preview_bytes=preview_bytes,
            new_output=lambda: self._place("output"),
            on_output=self.emit,
        )

    async def run_program(
        self, argv: Sequence[str], *, cwd: str, timeout_s: float, max_bytes: int
    ) -> tuple[int, bytes, bool]:
        return await run_program(
            argv, cwd=cwd, env=self.shell_env, timeout_s=timeout_s, max_bytes=max_bytes
        )

    def save_output(self, data: bytes, *, name: str = "output") -> tuple[str, str]:
        ref, path = self._place(name)
        Path(path).write_bytes(data)
        return ref, path

    def set_todos(self, todos: tuple[Todo, ...]) -> None:
        self.todos = todos

    def open_file(self, path: str, line_no: int | None) -> str:
        self._reach(("file", path, line_no))
        return "Shown."

    def open_panel(
        self, kind: str, title: str, *, markdown: str | None = None, data: Any = None
    ) -> str:
        self._reach(("panel", kind, title, markdown, data))
        return "Shown."

    async def diagnostics(self, path: str | None, *, settle_ms: int) -> Diagnosed:
        self._reach(("diagnostics", path, settle_ms))
        return self.diagnosed

    def goal(self) -> str:
        return "The session has no goal."

    def create_goal(self, objective: str, criterion: str | None, *, replace: bool) -> str:
        self.opened.append(("create", objective, criterion, replace))
        return "Set."

    def update_goal(self, status: str, why: str | None) -> str:
        self.opened.append(("update", status, why))
        return "Moved."

    def set_mode_agent(self) -> None:
        self.is_agent = True

    def _reach(self, what: Any) -> None:
        if not self.has_editor:
            raise ToolError("The editor shows no panels; tell the person in your reply.")
        self.opened.append(what)

    def _place(self, name: str) -> tuple[str, str]:
        number = len(os.listdir(self.saved)) + 1
        return f"out-{number}", os.path.join(self.saved, f"{name}-{number}")


@dataclass
class Desk:
    """A workspace folder and a way to call tools in it, each within its own effects."""

    root: Path
    saved: Path
    overlays: Opened = field(default_factory=Opened)
    answer: Reply | None = None
    todos: tuple[Todo, ...] = ()
    has_editor: bool = True
    diagnosed: Diagnosed = field(default_factory=lambda: Diagnosed((), is_settled=True))

    def context(self, tool: Tool, raw: dict[str, Any]) -> tuple[Any, FakeContext]:
        """Return the parsed arguments and a context limited to what they declare."""
        root = os.path.realpath(self.root)
        plan_path = os.path.join(os.path.realpath(self.saved), "plan.md")
        args = tool.args.model_validate(raw)
        effects = tool.effects(args, lambda text: resolve(text, root=root, home="/nonexistent"))
        files = Files(effects, root=root, overlays=self.overlays, also_readable=[plan_path])
        return args, FakeContext(
            root=root,
            saved=str(self.saved),
            workspace=files,
            overlays=self.overlays,
            plan_path=plan_path,
            answer=self.answer,
            todos=self.todos,
            has_editor=self.has_editor,
            diagnosed=self.diagnosed,
        )

    async def call(self, tool: Tool, **raw: Any) -> ToolResult:
        """Run a tool once."""
        args, ctx = self.context(tool, raw)
        return await tool.run(args, ctx)

    def put(self, name: str, content: str | bytes) -> Path:
        """Create a file in the workspace."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path
