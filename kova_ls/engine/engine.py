"""All sessions of one user: open, list, end, and go on after a restart.

Invariant: knows no wire and no editor but through the `Editor` protocol.
"""

import asyncio
import contextlib
import logging
import os
import shutil
import time
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, TypeVar

from kova_ls import paths
from kova_ls.config import Settings
from kova_ls.engine import autonomy, index
from kova_ls.engine.editor import Editor
from kova_ls.engine.grants import Grants
from kova_ls.engine.index import Summary
from kova_ls.engine.judge import roots_of
from kova_ls.engine.models import Models
from kova_ls.engine.places import Places, path_of
from kova_ls.engine.programs import Programs
from kova_ls.engine.reopen import reopen
from kova_ls.engine.reserve import Reserve
from kova_ls.engine.running import CommandWatch
from kova_ls.engine.session import Session
from kova_ls.engine.title import one_line
from kova_ls.engine.trust import not_trusted, trusts
from kova_ls.engine.waiters import rejudge, rejudge_grants
from kova_ls.errors import (
    IllegalTransition,
    KovaError,
    RequestFailed,
    SettingsError,
)
from kova_ls.journal import records as r
from kova_ls.journal.store import Journal, Stored
from kova_ls.tools import discover
from kova_ls.tools._base import Tool
from kova_ls.vocabulary import ApprovalLevel, Mode, SessionState

if TYPE_CHECKING:
    from kova_ls.llm._base import ToolSpec

_T = TypeVar("_T")
_log = logging.getLogger(__name__)
_MAX_OPEN = 64
"""Sessions, beyond which those are closed that nobody uses."""
_RECOVER_S = 5.0
"""Until a session that another engine holds is tried again."""


class Engine:
    """The sessions of one user, and what they share."""

    def __init__(
        self,
        *,
        kova_home: Path,
        data_dir: Path,
        runtime_dir: Path,
        env: Mapping[str, str],
        now: Callable[[], float] = time.time,
    ) -> None:
        self.env = env
        self.now = now
        self.kova_home = kova_home
        self.data_dir = data_dir
        self.models = Models(kova_home, env)
        home = os.path.realpath(paths.user_home(env))
        self.places = Places(
            home=home,
            kova_home=os.path.realpath(kova_home),
            data_dir=os.path.realpath(data_dir),
            runtime_dir=os.path.realpath(runtime_dir),
        )
        self.grants = Grants(kova_home, data_dir, home=Path(home), env=env)
        self.programs = Programs(data_dir / "adopted")
        self.reserve = Reserve(data_dir / "reserve")
        self.commands = CommandWatch(self.grants, self.programs, self.models)
        self.declined: set[tuple[str, str]] = set()
        """Path and digest of permission files that the person would not adopt."""
        self.editors: list[Editor] = []
        self.on_change: Callable[[], None] = lambda: None
        """Called when a session began or ended work."""
        self.on_warning: Callable[[str], None] = _log.warning
        """Called with what every person attached should know."""
        self.on_rival: Callable[[int | None], None] = lambda holder: None
        """Called with the process, where known, that has a session open which is wanted here."""
        self.is_ending = False
        """No goal begins a further turn here."""
        self._sessions: dict[str, Session] = {}
        self._index: dict[str, Summary] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._later: asyncio.TimerHandle | None = None
        self._specs: dict[Mode, tuple[ToolSpec, ...]] = {}

    @property
    def settings(self) -> Settings:
        """The settings as they were last read."""
        return self.models.settings

    @property
    def sessions_dir(self) -> Path:
        """Where the sessions are."""
        return self.data_dir / "sessions"

    # -- tasks ------------------------------------------------------------------------------------

    def spawn(self, work: Coroutine[Any, Any, _T], *, name: str) -> asyncio.Task[_T]:
        """Run work beside; the engine keeps it until it ends."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def log_incident(self, incident: str, error: BaseException) -> None:
        """Write a fault of ours to the log, with its id and, where known, its story."""
        story = error.data if isinstance(error, IllegalTransition) else {}
        _log.error("incident %s %s", incident, story, exc_info=error)

    def touched(self, session: Session) -> None:
        """Note what a session is doing, for lists and for the next start."""
        summary = session.summary
        if not session.is_deleted:
            index.write(session.folder, summary)
            if self._index is not None:
                self._index[session.id] = summary
        self.on_change()

    @property
    def running(self) -> list[Session]:
        """Sessions whose turn works or waits."""
        return [s for s in self._sessions.values() if s.state.status is not SessionState.IDLE]

    @property
    def loaded_sessions(self) -> list[Session]:
        """Sessions in memory."""
        return list(self._sessions.values())

    # -- tools ----------------------------------------------------------------------------------

    def offered(self, mode: Mode) -> list[Tool]:
        """Return the tools that a mode offers to the model."""
        # Late, since it brings the reading of commands along, of which a first page needs nothing.
        from kova_ls.permission.mode import offered

        return [tool for tool in discover().values() if offered(tool.kind, mode)]

    def tool_specs(self, mode: Mode) -> "tuple[ToolSpec, ...]":
        """Return what the model is told of its tools; the same tuple for the same mode."""
        from kova_ls.llm._base import ToolSpec

        if mode not in self._specs:
            self._specs[mode] = tuple(
                ToolSpec(tool.name, tool.description, tool.schema()) for tool in self.offered(mode)
            )
        return self._specs[mode]

    def editor_named(self, name: str | None) -> Editor | None:
        """Return an attached editor by name, for prompts that waited."""
        return next((editor for editor in self.editors if editor.name == name), None)

    # -- sessions -------------------------------------------------------------------------------

    def create(
        self,
        *,
        workspace_uri: str | None,
        title: str | None,
        mode: Mode | None,
        level: ApprovalLevel | None,
        model: str | None,
        editor: Editor,
    ) -> Session:
        """Begin a session. Raises: RequestFailed."""
        workspace = path_of(workspace_uri)
        if workspace is None:
            raise RequestFailed(
                "noWorkspace", "No folder is open. Open one, or name a `workspace` (file: URI)."
            )
        if not os.path.isdir(workspace):
            raise RequestFailed("noWorkspace", f"workspace: {workspace} is not a folder.")
        trusted = trusts(self.places, editor, workspace)
        if level is None:
            level = ApprovalLevel.WORKSPACE_WRITE if trusted else ApprovalLevel.ASK
        elif level is not ApprovalLevel.ASK and not trusted:
            raise not_trusted(level)
        if model:
            self.models.check(model, editor)
        else:
            try:
                model = self.models.read(editor.env).default_model or ""
            except SettingsError:
                model = ""  # said when a turn starts: looking around needs no model
        self._make_room()
        session_id = token_hex(10)
        now = self.now()
        journal = Journal.create(self.sessions_dir / session_id / "journal.jsonl")
        session = Session(self, journal, [], now)
        session.record(
            r.SessionCreated(
                session_id=session_id,
                epoch=token_hex(4),
                workspace=workspace_uri,
                title=one_line(title or ""),
                mode=mode or Mode.AGENT,
                level=level,
                model=model,
                trusted=trusted,
            )
        )
        self._sessions[session_id] = session
        self.touched(session)
        return session

    def get(self, session_id: str) -> Session:
        """Return a session, read from its journal when it is not in memory.

        Raises: RequestFailed (`sessionNotFound`), JournalCorrupt.
        """
        session = self._sessions.get(session_id)
        if session is not None and not session.is_deleted:
            return session
        path = self.sessions_dir / session_id / "journal.jsonl"
        if session is not None or not session_id.isalnum() or not path.is_file():
            raise RequestFailed(
                "sessionNotFound", f"There is no session {session_id!r}. List the sessions again."
            )
        journal, stored = self._open(path)
        session = reopen(self, journal, stored)
        self._sessions[session_id] = session
        autonomy.loaded(session)
        session.resume()
        return session

    def _open(self, path: Path) -> tuple[Journal, list[Stored]]:
        self._make_room()
        try:
            return Journal.open(path)
        except RequestFailed as error:
            if error.code == "sessionInUse":
                self._index = None  # what the other engine does with it is read when it is listed
                self.on_rival(error.data["holder"])
            raise

    def _make_room(self) -> None:
        # Each open session holds a file, of which a process may have a thousand.
        if len(self._sessions) >= _MAX_OPEN:
            self.release_idle()

    def release_idle(self) -> None:
        """Give back the sessions that nobody follows and that have nothing to do."""
        for session in list(self._sessions.values()):
            if session.is_unused:
                session.close()
                del self._sessions[session.id]

    def loaded(self, session_id: str) -> Session | None:
        """Return a session that is in memory."""
        return self._sessions.get(session_id)

    def recheck(self) -> None:
        """Judge open cards anew where permission files or documents changed; else cheap.

        Called after everything that an editor says: a turn that waits looks at no clock, and
        whoever changed a file is seen at the latest when the card is answered.
        """
        self.grants.hear()
        for session in self._sessions.values():
            if session.waiters:
                rejudge_grants(session)
            for waiter in tuple(session.waiters.values()):
                waiter.look()

    def summaries(self) -> list[Summary]:
        """Return all sessions, the latest used first."""
        if self._index is None:
            self._index = {}
            folders = self.sessions_dir.iterdir() if self.sessions_dir.is_dir() else ()
            for folder in folders:
                known = self._sessions.get(folder.name)
                if known is not None and known.is_deleted:
                    continue
                if known is not None:
                    summary = known.summary
                else:
                    summary = index.read(folder)
                if summary is not None:
                    self._index[summary.session_id] = summary
        return sorted(self._index.values(), key=lambda s: s.updated_at, reverse=True)

    def delete(self, session_id: str) -> asyncio.Task[None]:
        """Remove a session for good, stopping its turn first: gone for everyone from now on.

        Raises: RequestFailed (`sessionNotFound`); the work, RequestFailed (`diskFailed`).
        """
        session = self.get(session_id)
        session.is_deleted = True
        if self._index is not None:
            self._index.pop(session_id, None)
        return self.spawn(self._delete(session), name=f"delete {session_id}")

    async def _delete(self, session: Session) -> None:
        with contextlib.suppress(KovaError):
            if session.state.queue:
                session.record(r.QueueUpdated(queue=()))
        with contextlib.suppress(KovaError):
            await session.interrupt(None)
        session.leaving = True
        async with session.review_lock:
            with contextlib.suppress(KovaError):
                await session.journal.sync()
            session.close()
        await asyncio.to_thread(shutil.rmtree, session.folder, True)
        del self._sessions[session.id]
        if session.journal.path.exists():
            raise RequestFailed(
                "diskFailed", f"{session.folder} cannot be removed. Mend its rights and try again."
            )

    def recover(self) -> list[Session]:
        """Go on with every turn that the last engine left open, or leaves later."""
        found: list[Session] = []
        is_held = False
        for summary in self.summaries():
            if summary.state is SessionState.IDLE and not summary.has_queue:
                continue
            try:
                found.append(self.get(summary.session_id))
            except KovaError as error:
                if error.code == "sessionInUse":
                    is_held = True
                else:
                    _log.warning("session %s: %s", summary.session_id, error.message)
        if is_held:
            self._later = asyncio.get_running_loop().call_later(_RECOVER_S, self.recover)
        return found

    def detached(self, editor: Editor) -> None:
        """Forget an editor; its turns go on without its documents and folders."""
        if editor in self.editors:
            self.editors.remove(editor)
        for session in self._sessions.values():
            if session.origin is editor:
                session.origin = None

    def attached(self, editor: Editor) -> None:
        """Note an editor; turns of the same window get their documents and folders back."""
        self.editors.append(editor)
        for session in self._sessions.values():
            if session.turn is not None and session.origin is None and editor.id:
                if session.state.client_id == editor.id:
                    session.origin = editor

    def folders_changed(self, editor: Editor) -> None:
        """Tell the turns of an editor whose folders came or went what counts as inside now."""
        for session in self._sessions.values():
            if session.origin is editor:
                roots = roots_of(session)
                with contextlib.suppress(KovaError):
                    if roots != session.state.roots:
                        session.record(r.RootsChanged(roots=roots))
                rejudge(session, "engine")

    async def close(self) -> None:
        """End without ending turns: they go on when the next engine starts."""
        for session in self._sessions.values():
            session.leaving = True
        self.commands.close()
        if self._later is not None:
            self._later.cancel()
        tasks = [task for task in self._tasks if not task.done()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=5)
        await self.models.close()
        for session in self._sessions.values():
            await session.journal.sync()
            session.close()
