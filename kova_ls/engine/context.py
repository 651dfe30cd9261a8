"""What a running call may use: files, commands, the editor, within its declared effects."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Sequence
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from kova_ls.engine import autonomy, goals, orphans, outputs
from kova_ls.engine.changes import wrote
from kova_ls.engine.command_changes import known_before, record_after
from kova_ls.engine.environment import shell_env
from kova_ls.engine.overlays import (
    SharedOverlays,
    after_command,
    before_command,
    dirty_below,
    dirty_notice,
    trees_of,
)
from kova_ls.engine.places import workspace_path
from kova_ls.engine.process import run_command, run_program
from kova_ls.engine.workspace import Files, file_uri
from kova_ls.permission.effects import Effect, RunCommand
from kova_ls.tools._base import (
    CommandResult,
    Diagnosed,
    GoalWord,
    Reply,
    ResolvedPath,
    ToolError,
)
from kova_ls.values import Todo
from kova_ls.vocabulary import Mode

if TYPE_CHECKING:
    from kova_ls.engine.session import Session

_SETTLE_MS = 200
"""After an edit: at most a second is waited for the editor's tools."""


class CallContext:
    """The `ToolContext` of one call."""

    def __init__(
        self,
        session: "Session",
        call_id: str,
        effects: Sequence[Effect],
        *,
        resolve: Callable[[str], ResolvedPath],
        emit: Callable[[str], None],
        answer: Reply | None = None,
    ) -> None:
        self.call_id = call_id
        self.answer = answer
        self._resolve = resolve
        self._emit = emit
        self._session = session
        self._effects = effects
        self._overlays = SharedOverlays(session.origin, session.engine.editors)
        self.workspace = Files(
            effects,
            root=workspace_path(session),
            overlays=self._overlays,
            also_readable=(session.plan_path,),
            on_written=self._written,
        )

    def resolve(self, path: str) -> ResolvedPath:
        """Resolve as the effects did."""
        return self._resolve(path)

    def emit(self, text: str) -> None:
        """Show a piece of output at once; not stored."""
        self._emit(text)

    @property
    def plan_path(self) -> str:
        """The session's plan file."""
        return self._session.plan_path

    @property
    def todos(self) -> tuple[Todo, ...]:
        """The session's task list."""
        return self._session.todos

    @property
    def shell_env(self) -> dict[str, str]:
        """Environment for programs it starts."""
        return shell_env(self._session.env, api_key_envs=self._session.engine.models.key_names())

    async def run_command(
        self, command: str, *, cwd: str, timeout_s: float, preview_bytes: int = 30_000
    ) -> CommandResult:
        """Run a declared command.

        Raises: ToolError when it was not declared, when what it may change cannot be watched, or
        when unsaved documents forbid it.
        """
        declared = any(
            isinstance(effect, RunCommand) and (effect.command, effect.cwd) == (command, cwd)
            for effect in self._effects
        )
        if not declared:
            raise ToolError("This command was not judged; nothing was run.")
        session = self._session

        def stopped(result: CommandResult) -> None:
            pids = ", ".join(map(str, result.stopped_pids))
            session.stopped_notes.append(f"{command} (process {pids})" if pids else command)
            session.partial_output = result.output

        files = self.workspace
        before = await before_command(
            self._overlays,
            trees_of(files.root, cwd),
            session.engine.settings.dirty_documents,
            files.display,
        )
        known = await known_before(session, self._overlays)
        try:
            with session.engine.commands.during(files.root, session.notices.append) as watched:
                result = await run_command(
                    command,
                    shell=session.engine.settings.shell,
                    cwd=cwd,
                    env=orphans.marked(self.shell_env, self.call_id),
                    timeout_s=timeout_s,
                    preview_bytes=preview_bytes,
                    new_output=lambda: outputs.reserve(session, "output"),
                    on_output=self.emit,
                    on_stopped=stopped,
                )
                watched.group = result.background_group
        finally:
            await self._review(record_after(session, self._overlays, known))
        files.notes.extend(await after_command(self._overlays, before, files.display))
        return result

    def unsaved_notices(self) -> tuple[str, ...]:
        """Say for the card of a command what unsaved text it will not see."""
        files = self.workspace
        for effect in self._effects:
            if isinstance(effect, RunCommand):
                unsaved = dirty_below(self._overlays, trees_of(files.root, effect.cwd))
                if unsaved:
                    setting = self._session.engine.settings.dirty_documents
                    return (dirty_notice(unsaved, setting, files.display),)
        return ()

    async def run_program(
        self, argv: Sequence[str], *, cwd: str, timeout_s: float, max_bytes: int
    ) -> tuple[int, bytes, bool]:
        """Run one of our own helper programs."""
        return await run_program(
            argv, cwd=cwd, env=self.shell_env, timeout_s=timeout_s, max_bytes=max_bytes
        )

    def save_output(self, data: bytes, *, name: str = "output") -> tuple[str, str]:
        """Keep a large output; returns its `outputRef` and its path."""
        return outputs.keep(self._session, name, data)

    def set_todos(self, todos: tuple[Todo, ...]) -> None:
        """Replace the session's task list."""
        self._session.todos = todos

    def open_file(self, path: str, line_no: int | None) -> str:
        """Ask the turn's editor to show a file. Raises: ToolError when none can."""
        editor = self._session.origin
        if editor is None:
            raise ToolError("No editor is attached that could show a file.")
        uri = file_uri(path)
        if "file" in editor.panel_kinds:
            editor.open_panel(
                {
                    "panel_id": f"file-{self.call_id}",
                    "kind": "file",
                    "title": os.path.basename(path),
                    "uri": uri,
                    "line": line_no - 1 if line_no else None,
                    "preserve_focus": True,
                }
            )
        else:
            self._session.engine.spawn(editor.show_document(uri, line_no), name="show document")
        return f"{editor.name} was asked to show {self.workspace.display(path)}."

    def open_panel(
        self, kind: str, title: str, *, markdown: str | None = None, data: Any = None
    ) -> str:
        """Ask the turn's editor to show a panel. Raises: ToolError when it cannot."""
        editor = self._session.origin
        if editor is None:
            raise ToolError("No editor is attached that could show a panel.")
        if kind not in editor.panel_kinds:
            known = ", ".join(sorted(editor.panel_kinds)) or "none"
            raise ToolError(f"{editor.name} has no panel of kind {kind!r} (it has: {known}).")
        editor.open_panel(
            {
                "panel_id": f"{kind}-{token_hex(4)}",
                "kind": kind,
                "title": title,
                "markdown": markdown,
                "data": data,
                "preserve_focus": True,
            }
        )
        return f"{editor.name} was asked to open the panel {title!r}."

    async def diagnostics(self, path: str | None, *, settle_ms: int) -> Diagnosed:
        """Ask the turn's editor what its tools say. Raises: ToolError when it cannot tell."""
        editor = self._session.origin
        instead = "Run the project's own checks in bash instead."
        if editor is None:
            raise ToolError(f"No editor is attached that could tell diagnostics. {instead}")
        if not editor.tells_diagnostics:
            raise ToolError(f"{editor.name} does not tell its diagnostics. {instead}")
        answer = await editor.diagnostics([path] if path is not None else [], settle_ms)
        if answer is None:
            raise ToolError(f"{editor.name} did not tell its diagnostics in time. {instead}")
        return answer

    async def _review(self, recording: Coroutine[Any, Any, None]) -> None:
        try:
            await asyncio.shield(recording)
        except OSError as error:
            self.workspace.notes.append(f"Not recorded for review: {error.strerror}.")

    async def _written(self, path: str, before: str | None, now: str) -> None:
        await self._review(wrote(self._session, path, before, now))
        editor = self._session.origin
        if editor is None or not editor.tells_diagnostics or editor.overlays is None:
            return
        if editor.overlays.get(path) is None:
            return
        answer = await editor.diagnostics([path], _SETTLE_MS)
        if answer is not None and answer.is_settled:
            errors = sum(entry.severity == "error" for entry in answer.diagnostics)
            if errors:
                plural = "error" if errors == 1 else "errors"
                self.workspace.notes.append(
                    f"The editor reports {errors} {plural} in this file: see diagnostics."
                )

    def goal(self) -> str:
        """Say what the session's goal is and how far it has come."""
        return goals.told(self._session.state.goal)

    def create_goal(self, objective: str, criterion: str | None, *, replace: bool) -> str:
        """Set a goal. Raises: ToolError."""
        return autonomy.create(self._session, objective, criterion, replace=replace)

    def update_goal(self, status: GoalWord, why: str | None) -> str:
        """Move the goal. Raises: ToolError."""
        return autonomy.update(self._session, status, why)

    def set_mode_agent(self) -> None:
        """Leave mode `plan`."""
        self._session.configure("plan_exit", mode=Mode.AGENT)
