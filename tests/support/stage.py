"""A real engine over temporary folders, a scripted model and a pretended editor."""

import asyncio
import contextlib
import itertools
import json
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kova_ls.engine import Engine, Session
from kova_ls.engine.answers import answer, respond
from kova_ls.engine.overlays import SharedOverlays
from kova_ls.engine.workspace import file_uri
from kova_ls.journal.records import Record
from kova_ls.journal.store import Stored
from kova_ls.journal.stream import Delta
from kova_ls.tools._base import Diagnosed
from kova_ls.values import Answer, InputPart, TextPart
from kova_ls.vocabulary import ApprovalLevel, Mode, StartStatus, WhenBusy
from tests.support.context import Opened

Step = dict[str, Any]


def say(text: str | list[str], **more: Any) -> Step:
    """One answer without calls."""
    return {"text": text, **more}


def call(name: str, **arguments: Any) -> Step:
    """One answer that calls one tool."""
    return {"calls": [{"name": name, "arguments": arguments}]}


def text(words: str) -> tuple[InputPart, ...]:
    """What a person types."""
    return (TextPart(text=words),)


@dataclass
class PretendedEditor:
    """An attached editor without a wire."""

    folders: tuple[str, ...]
    env: Mapping[str, str]
    id: str = "window-1"
    name: str = "tester"
    trusted: bool = True
    panel_kinds: frozenset[str] = frozenset()
    opened: Opened = field(default_factory=Opened)
    shown: list[Any] = field(default_factory=list)

    @property
    def overlays(self) -> Opened:
        return self.opened

    async def show_document(self, uri: str, line_no: int | None) -> bool:
        self.shown.append((uri, line_no))
        return True

    tells_diagnostics: bool = False
    diagnosed: Diagnosed | None = None

    async def diagnostics(self, paths: Sequence[str], settle_ms: int) -> Diagnosed | None:
        self.shown.append(("diagnostics", *paths))
        return self.diagnosed

    def open_panel(self, panel: Mapping[str, Any]) -> None:
        self.shown.append(dict(panel))


class Stage:
    """Folders, an engine, an editor, and what was told of each session."""

    def __init__(
        self,
        root: Path,
        model: Sequence[Step] = (),
        *,
        files: Mapping[str, str] | None = None,
        trusted: bool = True,
        settings: str = "",
    ) -> None:
        self.root = root
        self.workspace = root / "ws"
        for name in ("ws", "home", "kova", "data", "run"):
            (root / name).mkdir(exist_ok=True)
        for name, content in (files or {}).items():
            self.put(name, content)
        self.env = {"HOME": str(root / "home"), "PATH": os.defpath, "LANG": "C.UTF-8"}
        self._settings = settings
        self.script("script", model)
        self.editor = PretendedEditor(
            (os.path.realpath(self.workspace),), self.env, trusted=trusted
        )
        self._ticks = itertools.count()
        self.facts: list[Stored | Delta] = []
        self.told = asyncio.Event()
        self.engine = self.start_engine()

    @property
    def overlays(self) -> SharedOverlays:
        """The open documents, the editor's own first."""
        return SharedOverlays(self.editor, self.engine.editors)

    def put(self, name: str, content: str) -> Path:
        """Create a file in the workspace."""
        path = self.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
        return path

    def script(self, name: str, model: Sequence[Step]) -> None:
        """Give a model, by name, its script."""
        place = self.root / f"{name}.json"
        place.write_text(json.dumps({"steps": list(model)}))
        tables = "".join(
            f'[models.{path.stem}]\napi = "scripted"\nscript = {json.dumps(str(path))}\n'
            for path in sorted(self.root.glob("*.json"))
        )
        config = f'default_model = "script"\n{self._settings}\n{tables}'
        (self.root / "kova" / "config.toml").write_text(config)

    def start_engine(self) -> Engine:
        """Open an engine on the same folders."""
        self.engine = Engine(
            kova_home=self.root / "kova",
            data_dir=self.root / "data",
            runtime_dir=self.root / "run",
            env=self.env,
            now=lambda: 1_700_000_000 + next(self._ticks) / 1000,
        )
        self.engine.attached(self.editor)
        return self.engine

    async def kill_engine(self) -> None:
        """Drop the engine as `kill -9` would: no record is written, its locks are gone."""
        for session in self.engine.loaded_sessions:
            session.leaving = True
            session.journal.append = _dead  # type: ignore[method-assign]
            session.stream.tell = _unheard  # type: ignore[method-assign]
        tasks = [task for task in self.engine._tasks if not task.done()]
        for task in tasks:
            task.cancel()
        tasks += [s.journal._sync for s in self.engine.loaded_sessions if s.journal._sync]
        if tasks:
            await asyncio.wait(tasks)
        for session in self.engine.loaded_sessions:
            with contextlib.suppress(OSError):
                session.journal.close()

    def create(self, **settings: Any) -> Session:
        """Begin a session and listen to it."""
        session = self.engine.create(
            workspace_uri=file_uri(os.path.realpath(self.workspace)),
            title=settings.pop("title", None),
            mode=Mode(settings.pop("mode", "agent")),
            level=ApprovalLevel(level) if (level := settings.pop("level", None)) else None,
            model=settings.pop("model", None),
            editor=self.editor,
        )
        self.listen(session)
        return session

    def listen(self, session: Session) -> None:
        """Note all that is told of a session."""
        session.stream.subscribe(self._hear)

    def _hear(self, fact: Stored | Delta) -> None:
        self.facts.append(fact)
        self.told.set()

    def prompt(
        self,
        session: Session,
        words: str,
        *,
        when_busy: WhenBusy = WhenBusy.REJECT,
        prompt_id: str | None = None,
    ) -> tuple[str, StartStatus]:
        """Say something as the editor."""
        return session.start(
            text(words), prompt_id=prompt_id, when_busy=when_busy, editor=self.editor
        )

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for the moment, after something told, when a condition holds."""
        while not holds():
            self.told.clear()
            await self.told.wait()

    async def idle(self, session: Session) -> None:
        """Wait until nothing of the session works."""
        while session.turn is not None:
            await asyncio.wait([session.turn])
            await asyncio.sleep(0)

    async def waiting(self, session: Session) -> str:
        """Wait for a card or questions; returns the id."""
        # After a restart nothing is told when the turn waits again.
        while not (session.state.is_waiting and session.waiters):
            await asyncio.sleep(0.001)
        state = session.state
        if state.approvals:
            return state.approvals[0].approval_id
        return state.questions[0].question_id

    def records(self) -> list[Record]:
        """Return the records that were told, in order."""
        return [fact.record for fact in self.facts if isinstance(fact, Stored)]

    def respond(
        self,
        session: Session,
        approval_id: str,
        decision: str,
        feedback: str | None = None,
        option: str | None = None,
    ) -> None:
        """Answer a card as the editor."""
        respond(session, approval_id, decision, self.editor.name, feedback=feedback, option=option)

    def answer(self, session: Session, question_id: str, choice: str | None) -> None:
        """Answer every question with one option, or decline with None."""
        request = next(q for q in session.state.questions if q.question_id == question_id)
        answers = choice and tuple(Answer(id=q.id, selected=(choice,)) for q in request.questions)
        answer(session, question_id, answers or None, self.editor.name)

    async def close(self) -> None:
        """End the engine; turns are left as they are."""
        await self.engine.close()


def _dead(*_: Any, **__: Any) -> Any:
    raise asyncio.CancelledError


def _unheard(*_: Any) -> None:
    """Nobody hears a dead engine."""


Action = Callable[[Stage, Session], Awaitable[None] | None]
