"""A card above documents that move."""

import asyncio
import os

import pytest

from kova_ls.engine import card_watch
from tests.support.stage import Stage, call, say

END = say("Done.")
EDIT = call("edit", path="a.txt", old_string="one", new_string="1")
SHOWN_BEFORE = "What this call would change is not what was shown before: review again."


@pytest.fixture(autouse=True)
def no_typing_pause(monkeypatch):
    monkeypatch.setattr(card_watch, "QUIET_S", 0.0)


async def at_a_card(tmp_path, *, restarts=False):
    stage = Stage(tmp_path, [EDIT, END], files={"a.txt": "one\n"})
    stage.editor.opened.open(stage.workspace / "a.txt", "one\n", is_dirty=False, version=1)
    session = stage.create(level="ask")
    stage.prompt(session, "Go.")
    await stage.waiting(session)
    if restarts:
        await stage.kill_engine()
        stage.start_engine()
        session = stage.engine.get(session.id)
        stage.listen(session)
        await stage.waiting(session)
    return stage, session


def types(stage, text, version):
    stage.editor.opened.open(stage.workspace / "a.txt", text, version=version)
    stage.engine.recheck()


def told(stage):
    wanted = ("approval.requested", "approval.resolved")
    return [record for record in stage.records() if record.type in wanted]


@pytest.mark.parametrize("restarts", [False, True])
async def test_a_document_that_moves_replaces_the_card_before_anyone_answers(tmp_path, restarts):
    stage, session = await at_a_card(tmp_path, restarts=restarts)
    (first,) = session.state.approvals
    types(stage, "one more\n", 2)
    await stage.until(lambda: len(told(stage)) == 3)
    (second,) = session.state.approvals
    _, gone, _ = told(stage)
    assert (gone.approval_id, gone.decision) == (first.approval_id, "superseded")
    assert second.approval_id != first.approval_id
    assert second.subject.files[0].document_version == 2
    assert "+1 more" in second.subject.files[0].diff
    assert SHOWN_BEFORE in second.notices
    await stage.waiting(session)
    stage.respond(session, second.approval_id, "once")
    await stage.idle(session)
    assert stage.editor.opened.get(os.path.realpath(stage.workspace / "a.txt")).text == "1 more\n"
    assert len(told(stage)) == 4
    await stage.close()


@pytest.mark.parametrize(
    "text",
    ["one\n", "something else\n"],
    ids=["the same text", "a text in which nothing can be replaced"],
)
async def test_a_card_stays_when_there_is_nothing_else_to_show(tmp_path, monkeypatch, text):
    computed = asyncio.Event()
    compute = card_watch.CardWatch._compute

    async def counted(watch, give_way):
        await compute(watch, give_way)
        computed.set()

    monkeypatch.setattr(card_watch.CardWatch, "_compute", counted)
    stage, session = await at_a_card(tmp_path)
    (card,) = session.state.approvals
    types(stage, text, 2)
    await computed.wait()
    assert session.state.approvals == (card,)
    await stage.close()


async def test_an_answer_that_comes_first_counts(tmp_path):
    stage, session = await at_a_card(tmp_path)
    (card,) = session.state.approvals
    types(stage, "one more\n", 2)
    stage.respond(session, card.approval_id, "deny")
    await stage.idle(session)
    assert [record.type for record in told(stage)] == ["approval.requested", "approval.resolved"]
    assert told(stage)[1].decision == "deny"
    await stage.close()
