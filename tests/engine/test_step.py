"""One model reply and the calls in it."""

import asyncio

import pytest
from inline_snapshot import snapshot

from kova_ls.engine.prompt import Conversation
from kova_ls.journal import records as r
from kova_ls.journal.stream import Delta
from kova_ls.llm.scripted import ScriptedAdapter
from tests.support.play import play
from tests.support.stage import Stage, call, say


async def played(tmp_path, *model, **settings):
    stage = Stage(tmp_path, model, files={"a.txt": "x\n"}, **settings)
    session = stage.create()
    stage.prompt(session, "Go.")
    await stage.idle(session)
    return stage, session


async def test_a_step_is_told_in_its_order(tmp_path):
    stage, _ = await played(tmp_path, {"text": "So.", **call("read", path="a.txt")}, say("Done."))
    kinds = [r.type for r in stage.records()]
    assert kinds == snapshot(
        [
            "turn.started",
            "session.renamed",
            "item.started",
            "item.completed",
            "step.started",
            "item.started",
            "item.completed",
            "model.replied",
            "item.started",
            "item.completed",
            "step.completed",
            "step.started",
            "item.started",
            "item.completed",
            "model.replied",
            "step.completed",
            "turn.completed",
        ]
    )
    await stage.close()


async def test_what_comes_together_is_told_together(tmp_path):
    stage, session = await played(tmp_path, say(["a", "b", "c"], reasoning=["x", "y"]))
    deltas = [fact for fact in stage.facts if isinstance(fact, Delta)]
    assert {delta.kind for delta in deltas} == {"reasoning", "reply"}
    for kind, whole in (("reasoning", "xy"), ("reply", "abc")):
        told = ""
        for delta in deltas:
            if delta.kind == kind:
                assert delta.offset == len(told)
                told += delta.text
        assert told == whole
    assert session.journal.seq == len(stage.records()) + 1
    await stage.close()


async def test_every_item_begins_before_its_first_delta(tmp_path):
    stage, _ = await played(tmp_path, say(["a"] * 50, reasoning=["b"] * 50))
    begun = set()
    for fact in stage.facts:
        if isinstance(fact, Delta):
            assert fact.item_id in begun
        elif isinstance(fact.record, r.ItemStarted):
            begun.add(fact.record.item.item_id)
        elif isinstance(fact.record, r.ItemCompleted):
            begun.discard(fact.record.item.item_id)
    await stage.close()


async def test_usage_adds_up_over_the_turn(tmp_path):
    stage, session = await played(tmp_path, call("read", path="a.txt"), say("Done."))
    steps = [x for x in stage.records() if isinstance(x, r.StepCompleted)]
    total = session.state.usage
    assert total.input_tokens == sum(step.usage.input_tokens for step in steps)
    assert total.output_tokens == sum(step.usage.output_tokens for step in steps)
    assert total.context_tokens == steps[-1].usage.input_tokens + steps[-1].usage.output_tokens
    replies = [x for x in stage.records() if isinstance(x, r.ModelReplied)]
    assert replies[0].total
    assert replies[0].total.input_tokens == steps[0].usage.input_tokens
    assert replies[1].total == total == stage.records()[-1].usage
    assert total.cost is None
    assert all(step.first_token_ms is None or step.first_token_ms >= 0 for step in steps)
    await stage.close()


def test_what_was_said_during_a_step_is_read_in_the_next():
    def steer(stage, session):
        session.steer(session.state.turn_id, _text("Be quick."), stage.editor)

    assert play(
        [say("One."), say("Two.", expect=["Be quick."])],
        on={"step 1": steer},
        only=("user", "step", "reply", "turn"),
    ) == snapshot("""\
turn t1 from tester
  user 'Go.'
  step 1 script
  user steered 'Be quick.'
  reply ok 'One.'
  step end end
  step 2 script
  reply ok 'Two.'
  step end end
turn t1 done
""")


async def test_the_model_reads_what_the_journal_holds(tmp_path):
    """Live and read back, the conversation is the same."""
    stage, session = await played(
        tmp_path, {"text": "So.", **call("read", path="a.txt")}, call("nope"), say("Done.")
    )
    adapter = stage.engine.models.adapter("script", stage.env)
    live = list(session.messages(adapter))
    stored = session.journal.read(1, session.journal.seq)
    messages = Conversation().add_all(entry.record for entry in stored)
    read_back = [adapter.encode(message) for message in messages]
    assert live == read_back
    await stage.close()


async def test_an_answer_is_worked_on_to_its_end_when_nobody_listens(tmp_path):
    stage = Stage(tmp_path, [say(["a", "b"]), say("Two.")])
    session = stage.create()
    stage.prompt(session, "Go.")
    stage.engine.detached(stage.editor)
    await stage.idle(session)
    assert session.state.status == "idle"
    assert stage.records()[-1].stop_reason == "done"
    await asyncio.sleep(0)
    await stage.close()


def _text(words):
    from tests.support.stage import text

    return text(words)


READING = {
    *("read", "glob", "grep", "Question", "TodoList", "diagnostics"),
    *("open_file", "open_plugin_panel"),
}
CHANGING = {"write", "edit", "bash"}


@pytest.mark.parametrize(
    ("mode", "tools"),
    [
        ("agent", READING | CHANGING | {"goal"}),
        ("goal", READING | CHANGING | {"goal"}),
        ("plan", READING | CHANGING | {"plan_exit"}),
        ("ask", READING),
    ],
)
async def test_the_model_is_told_of_the_tools_of_the_mode(tmp_path, monkeypatch, mode, tools):
    requests = []
    run = ScriptedAdapter.run

    async def note(self, request, sink, on_retry):
        requests.append({tool.name for tool in request.tools})
        return await run(self, request, sink, on_retry)

    monkeypatch.setattr(ScriptedAdapter, "run", note)
    stage = Stage(tmp_path, [say("Done.")])
    session = stage.create(mode=mode)
    stage.prompt(session, "Go.")
    await stage.idle(session)
    assert requests == [tools]
    await stage.close()
