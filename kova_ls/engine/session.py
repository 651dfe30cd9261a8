"""One conversation: its state, its journal, its running turn.

Everything here runs on the loop's thread, and between looking at the state and recording there is
no await: that order of calls is the session's inbox.
Invariant: `record` is the only way into the journal; at most one turn runs.
"""

import asyncio
import contextlib
import logging
import os
from collections.abc import Coroutine, Mapping
from functools import cached_property
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from pydantic_core import PydanticSerializationError

from kova_ls.engine import autonomy, backlog, machine
from kova_ls.engine.editor import Editor
from kova_ls.engine.goals import GO_ON
from kova_ls.engine.grant_set import GrantSet
from kova_ls.engine.index import Summary, summary_of
from kova_ls.engine.item_index import ItemIndex, last_todos, telling
from kova_ls.engine.stranded import end_stranded, is_stranded, strand
from kova_ls.engine.title import title_of
from kova_ls.engine.waiters import Waiter, rejudge
from kova_ls.engine.well_formed import well_formed
from kova_ls.errors import KovaError, RequestFailed
from kova_ls.journal import records as r
from kova_ls.journal.store import Journal, Stored
from kova_ls.journal.stream import Stream
from kova_ls.values import InputPart, Item, TextPart, Todo
from kova_ls.vocabulary import ApprovalLevel, Mode, SessionState, StartStatus, WhenBusy

if TYPE_CHECKING:
    from kova_ls.engine.engine import Engine
    from kova_ls.engine.prompt import Encoded
    from kova_ls.llm._base import Adapter

_log = logging.getLogger(__name__)


class Session:
    """A conversation in memory; `state` is what its records make of it."""

    def __init__(
        self, engine: "Engine", journal: Journal, stored: list[Stored], created_at: float
    ) -> None:
        self.engine = engine
        self.stream = Stream(journal)
        self.created_at = created_at
        self.updated_at = created_at
        self.state = machine.State()
        self.todos: tuple[Todo, ...] = ()
        self.origin: Editor | None = None
        """Editor that the running turn came from, while it is attached."""
        self.caller = ("", "")
        """Window and name of the editor that somebody last asked from, for turns that nobody asks."""
        self.turn: asyncio.Task[None] | None = None
        self.waiters: dict[str, Waiter] = {}
        """Approval or question id -> the turn that waits for it."""
        self.leaving = False
        """The engine ends: a cancelled turn is left as it is, to go on later."""
        self.is_deleted = False
        """It is being removed and is not there for anyone any more."""
        self.notices: list[str] = []
        """To be told when the running call has ended."""
        self.review_lock = asyncio.Lock()
        """Held while what is to be reviewed is computed or decided."""
        self.seen_paths: dict[str, None] = {}
        """Files that calls read or wrote, the latest last."""
        self.stopped_notes: list[str] = []
        """Commands that an interrupt stopped, with their processes."""
        self.partial_output = ""
        """What the stopped command had printed."""
        self.judged_by: GrantSet | None = None
        """What the permission files said when open cards were last judged."""
        self._steered = False
        self._committing: asyncio.Task[None] | None = None
        self._items = ItemIndex()
        self._encoded: Encoded | None = None
        """The conversation for the model that was last called."""
        if stored:
            self._read_back(stored)

    def _read_back(self, stored: list[Stored]) -> None:
        state: machine.State | None = None
        for entry in telling(stored):
            state = machine.fold(state, entry.record)
        assert state is not None
        self.state = state
        for entry in stored:
            self._items.add(entry)
        self.todos = last_todos(stored)
        self.updated_at = stored[-1].at

    @property
    def id(self) -> str:
        """The session's id."""
        return self.state.session_id

    @property
    def summary(self) -> Summary:
        """What a list shows of it."""
        size = self.journal.size_bytes(1, self.journal.seq)
        return summary_of(self.state, self.created_at, self.updated_at, size)

    @property
    def is_unused(self) -> bool:
        """True when nothing is lost or unheard by closing it until it is wanted again."""
        state = self.state
        is_busy = self.turn is not None or state.turn_id is not None or bool(state.queue)
        is_busy = is_busy or state.has_active_goal
        is_heard = self.stream.is_heard or self.review_lock.locked()
        return not (is_busy or is_heard or self.is_deleted)

    @property
    def journal(self) -> Journal:
        """The session's file."""
        return self.stream.journal

    @cached_property
    def folder(self) -> Path:
        """Where the session's files are."""
        return self.journal.path.parent

    @cached_property
    def plan_path(self) -> str:
        """The session's plan file, resolved."""
        return os.path.realpath(self.folder / "plan.md")

    @property
    def env(self) -> Mapping[str, str]:
        """The environment of the turn's editor, or the engine's own when it is gone."""
        return self.origin.env if self.origin is not None else self.engine.env

    # -- records ------------------------------------------------------------------------------

    def record(self, record: r.Record) -> Stored:
        """Judge, write, apply and tell a record. Raises: IllegalTransition, RequestFailed."""
        try:
            return self._record(record)
        except PydanticSerializationError:
            # A lone surrogate, which neither a file nor a model can be given.
            return self._record(well_formed(record))

    def _record(self, record: r.Record) -> Stored:
        state = machine.fold(self.state if self.journal.seq else None, record)

        def apply() -> None:
            self.state = state

        stored = self.stream.append(record, self.engine.now(), apply)
        self.updated_at = stored.at
        self._items.add(stored)
        if self._encoded is not None:
            self._encoded.add((record,))
        return stored

    def commit_soon(self) -> None:
        """Put what was written on the disk, beside whatever comes next."""
        if self._committing is None or self._committing.done():
            self._committing = self.engine.spawn(self._commit(), name=f"commit {self.id}")

    async def _commit(self) -> None:
        # A failure shows itself again at the next record or sync, which must not go on.
        with contextlib.suppress(KovaError):
            await self.journal.sync()

    def messages(self, adapter: "Adapter") -> list[bytes]:
        """Return the conversation encoded for the adapter; kept and only added to."""
        from kova_ls.engine.prompt import Encoded

        if self._encoded is None or self._encoded.adapter is not adapter:
            encoded = Encoded(adapter)
            stored = self.journal.read(1, self.journal.seq)
            encoded.add(entry.record for entry in stored)
            self._encoded = encoded
        return self._encoded.messages

    def items(self, before_seq: int | None, limit: int) -> tuple[list[Item], int | None]:
        """Return a page of items, oldest first, and `before_seq` of the page before it."""
        return self._items.read(self.journal, self.state.open_items, before_seq, limit)

    # -- what editors ask for -----------------------------------------------------------------

    def start(
        self,
        input: tuple[InputPart, ...],
        *,
        prompt_id: str | None,
        when_busy: WhenBusy,
        editor: Editor | None,
        automation: str | None = None,
    ) -> tuple[str, StartStatus]:
        """Begin, queue or steer; the same `prompt_id` again changes nothing.

        Raises: RequestFailed (`turnBusy`, `modelNotConfigured`, `diskFailed`).
        """
        if (known := backlog.known(self.state, prompt_id)) is not None:
            return known
        prompt_id = prompt_id or token_hex(8)
        if is_stranded(self):
            end_stranded(self)
        if self.state.status is SessionState.IDLE and not self.state.queue:
            self.engine.models.check(self.state.model, editor)
            turn_id = token_hex(8)
            self._begin(turn_id, prompt_id, input, editor, automation=automation)
            return turn_id, StartStatus.STARTED
        if when_busy is WhenBusy.STEER and self.state.turn_id is not None:
            self._say(input, prompt_id, editor)
            return self.state.turn_id, StartStatus.STEERED
        if when_busy is WhenBusy.QUEUE:
            client = editor.name if editor is not None else None
            queue = backlog.enqueue(self.state.queue, input, prompt_id, client, automation)
            self.record(r.QueueUpdated(queue=queue))
            self.go_on()
            return queue[-1].turn_id, StartStatus.QUEUED
        raise RequestFailed(
            "turnBusy",
            "A turn runs in this session. Queue the prompt, steer the turn, or wait for its end.",
            turnId=self.state.turn_id,
        )

    def steer(self, turn_id: str, input: tuple[InputPart, ...], editor: Editor | None) -> None:
        """Say something into the running turn. Raises: RequestFailed (`staleTurn`)."""
        self.expect_turn(turn_id)
        self._say(input, None, editor)

    def withdraw(self, prompt_id: str) -> tuple[InputPart, ...]:
        """Take a prompt out of the queue. Raises: RequestFailed (`staleTurn`)."""
        taken, rest = backlog.without(self.state.queue, prompt_id)
        self.record(r.QueueUpdated(queue=rest))
        return taken.input

    def _say(
        self, input: tuple[InputPart, ...], prompt_id: str | None, editor: Editor | None
    ) -> None:
        from kova_ls.engine.said import say

        client = editor.name if editor is not None else None
        say(self, input, prompt_id=prompt_id, client=client, steered=True)
        self._steered = True

    def was_steered(self) -> bool:
        """Say whether something was said into the turn since this was last asked."""
        steered, self._steered = self._steered, False
        return steered

    def expect_turn(self, turn_id: str | None) -> None:
        """Refuse when `turn_id` is given and is not the running turn."""
        if turn_id is not None and turn_id != self.state.turn_id:
            raise RequestFailed(
                "staleTurn",
                f"Turn {turn_id!r} does not run any more. Attach again to see where it stands.",
                turnId=self.state.turn_id,
            )

    async def interrupt(self, turn_id: str | None, by: str = "engine") -> tuple[str, ...]:
        """Stop the running turn and the goal; return, when all has stopped, what that was.

        A turn that began by itself is meant whichever is named: whoever said stop saw the one before.
        Raises: RequestFailed (`staleTurn`).
        """
        goal, is_paused = self.state.goal, False
        with contextlib.suppress(KovaError):  # else the turn's end pauses it
            is_paused = autonomy.rest(self, by, "The turn was stopped.")
        if self.state.turn_goal_id is None:
            self.expect_turn(turn_id)
        stopped = await self._stop_turn() if self.state.turn_id is not None else ()
        return (*stopped, f"the goal: {goal.objective}") if goal and is_paused else stopped

    async def _stop_turn(self) -> tuple[str, ...]:
        task = self.turn
        if task is None:
            return end_stranded(self)
        running = self.state.turn_id
        first = self.journal.seq + 1
        task.cancel()
        await asyncio.wait([task])
        for stored in self.journal.read(first, self.journal.seq):
            if isinstance(stored.record, r.TurnCompleted) and stored.record.turn_id == running:
                return stored.record.stopped
        return end_stranded(self) if self.state.turn_id == running else ()

    def configure(
        self,
        by: str,
        *,
        mode: Mode | None = None,
        level: ApprovalLevel | None = None,
        model: str | None = None,
    ) -> None:
        """Change settings and judge open cards anew."""
        new = r.SessionConfigured(
            mode=mode or self.state.mode,
            level=level or self.state.level,
            model=model or self.state.model,
            by=by,
        )
        old = (self.state.mode, self.state.level, self.state.model)
        if (new.mode, new.level, new.model) == old:
            return
        autonomy.mode_leaves(self, by, new.mode)
        self.record(new)
        self.engine.touched(self)
        rejudge(self, "mode" if new.mode is not old[0] else "level")

    # -- turns --------------------------------------------------------------------------------

    def _begin(
        self,
        turn_id: str,
        prompt_id: str,
        input: tuple[InputPart, ...],
        editor: Editor | None,
        client: str | None = None,
        automation: str | None = None,
        goal_id: str | None = None,
    ) -> None:
        from kova_ls.engine.turn import run_turn
        from kova_ls.engine.unattended import level_for

        if editor is not None:
            self.caller = (editor.id, editor.name)
        window, name = (None, client) if goal_id is None else self.caller
        self.record(
            r.TurnStarted(
                turn_id=turn_id,
                prompt_id=prompt_id,
                input=input,
                client=editor.name if editor else name or None,
                client_id=editor.id if editor else window or None,
                automation=automation,
                level=level_for(self, automation, editor) if automation is not None else None,
                goal_id=goal_id,
            )
        )
        self.origin = editor
        self.engine.reserve.keep()
        if not self.state.title:
            with contextlib.suppress(KovaError):  # the turn finds out by itself
                self.record(r.SessionRenamed(title=title_of(input), by="engine"))
        self.engine.touched(self)
        self._run(run_turn(self))

    def resume(self, editor: Editor | None = None) -> None:
        """Go on with the turn that the journal left open, if there is one."""
        if self.turn is None and self.state.turn_id is not None:
            from kova_ls.engine.turn import resume_turn

            self.origin = editor
            self._run(resume_turn(self))
        elif self.turn is None:
            self.go_on()

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        self.turn = self.engine.spawn(work, name=f"turn {self.id}")
        self.turn.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            _log.error("turn of session %s failed", self.id, exc_info=task.exception())
        if self.turn is not task:
            return  # the next turn began while this one was still being put on the disk
        self.turn = None
        self.waiters.clear()
        if self.leaving:
            return
        self.engine.touched(self)
        if self.state.status is SessionState.IDLE:
            self.origin = None
            self.go_on()
        else:
            strand(self, None if task.cancelled() else task.exception())

    def go_on(self) -> None:
        """Begin the first queued prompt when nothing runs, or else the next turn of the goal."""
        if self.state.status is not SessionState.IDLE or self.turn:
            return
        if not self.state.queue:
            autonomy.go_on(self, self._begin_for_goal)
            return
        first = self.state.queue[0]
        editor = self.engine.editor_named(first.client)
        with contextlib.suppress(KovaError):
            self._begin(
                first.turn_id, first.prompt_id, first.input, editor, first.client, first.automation
            )
            self.record(r.QueueUpdated(queue=self.state.queue))

    def _begin_for_goal(self, editor: Editor | None, goal_id: str) -> None:
        words = (TextPart(text=GO_ON),)
        self._begin(token_hex(8), token_hex(8), words, editor, goal_id=goal_id)

    def close(self) -> None:
        """Give the file back."""
        self.journal.close()
