"""One conversation under everything that can be done to it, in any order."""

import asyncio
import contextlib
import itertools
import tempfile
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
)

from kova_ls.engine.answers import answer, resolution
from kova_ls.errors import RequestFailed
from kova_ls.journal import records as r
from kova_ls.journal.store import Stored
from kova_ls.values import Answer
from kova_ls.vocabulary import ApprovalLevel, Mode, WhenBusy
from tests.support.stage import Stage, call, say, text

QUESTION = {
    "question": "Which?",
    "options": [{"label": "A", "description": ""}, {"label": "B", "description": ""}],
}
KINDS = {
    "say": say("Done."),
    "slow": say(["one ", "two ", "three"], delay_ms=2),
    "read": call("read", path="a.txt"),
    "edit": call("edit", path="a.txt", old_string="one", new_string="one"),
    "write": call("write", path="b.txt", content="new\n"),
    "command": call("bash", command="touch made"),
    "question": call("Question", questions=[QUESTION]),
    "plan": call("plan_exit"),
    "unknown": call("no_such_tool"),
    "fail": {"error": {"code": "overloaded", "message": "Later."}},
    "two": {
        "calls": [
            {"name": "bash", "arguments": {"command": "touch first"}},
            {"name": "bash", "arguments": {"command": "touch second"}},
        ]
    },
}


class Conversation(RuleBasedStateMachine):
    """What people, editors and crashes may do to a session."""

    def __init__(self):
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory(prefix="kova-session-")
        self.numbers = itertools.count()
        self.told = []
        self.is_attached = True
        self.work = set()

    @initialize(
        kinds=st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=8),
        level=st.sampled_from(["ask", "workspace-write", "auto"]),
    )
    def begin(self, kinds, level):
        steps = [KINDS[kind] for kind in kinds] * (300 // len(kinds))
        self.stage = Stage(Path(self.folder.name), steps, files={"a.txt": "one\n"})
        self.run(self._create(level))

    async def _create(self, level):
        self.session = self.stage.create(level=level)
        self.session_id = self.session.id
        self.told = self.session.journal.read(1, self.session.journal.seq)
        self.leave = self.session.stream.subscribe(self._hear)

    def _hear(self, fact):
        if isinstance(fact, Stored):
            self.told.append(fact)

    def run(self, work, ticks=0):
        async def all_of_it():
            result = await work if work is not None else None
            for _ in range(ticks):
                await asyncio.sleep(0)
            return result

        return self.loop.run_until_complete(all_of_it())

    async def _now(self, action):
        with contextlib.suppress(RequestFailed):  # turnBusy, staleTurn
            return action()

    # -- what is done -----------------------------------------------------------------------

    @rule(how=st.sampled_from(list(WhenBusy)), ticks=st.integers(0, 30))
    def start(self, how, ticks):
        prompt_id = f"p{next(self.numbers)}"
        first = self.run(self._start(prompt_id, how), ticks)
        if first is not None:
            again = self.run(self._start(prompt_id, how))
            assert again is not None
            assert again[0] == first[0]

    def _start(self, prompt_id, how):
        return self._now(
            lambda: self.session.start(
                text(f"Do {prompt_id}."),
                prompt_id=prompt_id,
                when_busy=how,
                editor=self.stage.editor,
            )
        )

    @rule(ticks=st.integers(0, 10))
    def steer(self, ticks):
        turn_id = self.session.state.turn_id
        if turn_id is None:
            return
        self.run(
            self._now(lambda: self.session.steer(turn_id, text("Faster."), self.stage.editor)),
            ticks,
        )

    @rule(waits=st.booleans(), ticks=st.integers(0, 10))
    def interrupt(self, waits, ticks):
        async def work():
            task = asyncio.ensure_future(self.session.interrupt(None))
            self.work.add(task)
            if waits:
                await task

        self.run(work(), ticks)

    @rule(pick=st.integers(0, 10), ticks=st.integers(0, 30))
    def answer(self, pick, ticks):
        self.run(self._answer(pick), ticks)

    async def _answer(self, pick):
        state = self.session.state
        for card in state.approvals[:1]:
            decision = card.decisions[pick % len(card.decisions)]
            self.stage.respond(self.session, card.approval_id, decision)
            assert resolution(self.session, card.approval_id) == (decision, "tester")
        for request in state.questions[:1]:
            chosen = [Answer(id=q.id, selected=("A",)) for q in request.questions]
            said = tuple(chosen) if pick % 2 else None
            answer(self.session, request.question_id, said, "tester")

    @rule(
        level=st.sampled_from(list(ApprovalLevel)),
        mode=st.sampled_from([Mode.AGENT, Mode.PLAN, Mode.ASK]),
        ticks=st.integers(0, 10),
    )
    def configure(self, level, mode, ticks):
        self.run(self._now(lambda: self.session.configure("tester", mode=mode, level=level)), ticks)

    @rule(ticks=st.integers(1, 200))
    def let_it_work(self, ticks):
        self.run(None, ticks)

    @rule()
    def settle(self):
        self.run(self._settle())

    async def _settle(self):
        """Until the turn ends or waits for a person."""
        while self.session.turn is not None and not self.session.waiters:
            await asyncio.sleep(0.001)

    @rule()
    def detach(self):
        if self.is_attached:
            self.leave()
            self.is_attached = False

    @rule()
    def attach(self):
        if not self.is_attached:
            self._catch_up()

    def _catch_up(self):
        last = self.told[-1].seq
        self.told.extend(self.session.journal.read(last + 1, self.session.journal.seq))
        self.leave = self.session.stream.subscribe(self._hear)
        self.is_attached = True

    @rule(ticks=st.integers(0, 30))
    def crash(self, ticks):
        self.run(self._crash(), ticks)

    async def _crash(self):
        await self.stage.kill_engine()
        pending = [task for task in self.work if not task.done()]
        if pending:
            await asyncio.wait(pending)
        self.stage.start_engine()
        self.session = self.stage.engine.get(self.session_id)
        self._catch_up()

    # -- what always holds --------------------------------------------------------------------

    @invariant()
    def nothing_is_lost_or_doubled(self):
        assert [stored.seq for stored in self.told] == list(range(1, len(self.told) + 1))

    @invariant()
    def everything_happens_once(self):
        counts = Counter(_names(self.told))
        doubled = {name: count for name, count in counts.items() if count > 1}
        assert doubled == {}

    @invariant()
    def one_turn_runs(self):
        running = None
        for stored in self.told:
            if isinstance(stored.record, r.TurnStarted):
                assert running is None
                running = stored.record.turn_id
            elif isinstance(stored.record, r.TurnCompleted):
                assert running == stored.record.turn_id
                running = None

    def teardown(self):
        if hasattr(self, "session"):
            self.run(self._finish())
        self.run(None, ticks=100)  # so that ended processes let go of their pipes
        self.run(self.loop.shutdown_default_executor())
        self.loop.close()
        self.folder.cleanup()

    async def _finish(self):
        if not self.is_attached:
            self._catch_up()
        while self.session.state.turn_id or self.session.state.queue or self.session.turn:
            await self.session.interrupt(None)
            await asyncio.sleep(0)
        counts = Counter(_names(self.told))
        opened = {(name[0], name[2]) for name in counts if name[1] == "opened"}
        closed = {(name[0], name[2]) for name in counts if name[1] == "closed"}
        assert opened == closed
        await self.stage.close()


def _names(told):
    for stored in told:
        match stored.record:
            case r.TurnStarted():
                yield "turn", "opened", stored.record.turn_id
            case r.TurnCompleted():
                yield "turn", "closed", stored.record.turn_id
            case r.StepStarted():
                yield "step", "opened", stored.record.step_id
            case r.StepCompleted():
                yield "step", "closed", stored.record.step_id
            case r.ItemStarted():
                yield "item", "opened", stored.record.item.item_id
            case r.ItemCompleted():
                yield "item", "closed", stored.record.item.item_id
            case r.ApprovalRequested():
                yield "approval", "opened", stored.record.approval.approval_id
            case r.ApprovalResolved():
                yield "approval", "closed", stored.record.approval_id
            case r.QuestionRequested():
                yield "question", "opened", stored.record.request.question_id
            case r.QuestionResolved():
                yield "question", "closed", stored.record.question_id


TestConversation = Conversation.TestCase
TestConversation.settings = settings(
    max_examples=15,
    stateful_step_count=25,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
