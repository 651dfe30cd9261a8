"""What a call asks, from the card or question to its answer, also over a restart."""

import asyncio

import pytest
from inline_snapshot import snapshot

from kova_ls.journal.records import SessionConfigured
from kova_ls.vocabulary import ApprovalLevel, Mode
from tests.support.play import play
from tests.support.stage import Stage, call, say

CALLS = ("call", "card", "answer", "command", "rules", "modify", "create", "notice", "turn")
END = say("Done.")
ASKING = call(
    "Question",
    questions=[
        {
            "question": "Which colour?",
            "header": "Colour",
            "options": [
                {"label": "Red", "description": "Warm"},
                {"label": "Blue", "description": "Cold"},
            ],
        }
    ],
)


def test_a_level_change_while_the_card_is_being_written_is_heard():
    def raise_level(_stage, session):
        session.configure("tester", level=ApprovalLevel.WORKSPACE_WRITE)

    transcript = play(
        [call("edit", path="a.txt", old_string="a", new_string="b"), END],
        files={"a.txt": "a"},
        level="ask",
        on={"call 'Edit": raise_level},
        only=CALLS,
    )
    assert transcript == snapshot("""\
turn t1 from tester
  call 'Edit a.txt' ask ['level'] waiting
  card tool 'Edit a.txt' deny/once ['level']
    modify <ws>/a.txt '--- a/a.txt\\n+++ b/a.txt\\n@@ -1 +1 @@\\n-a\\n\\\\ No newline at end of file\\n+b\\n\\\\ No newline at end of file\\n'
  answer allowed by level
  call running
  call ok: 'Replaced 1 match in a.txt (line 1).'
turn t1 done
""")


def test_questions_are_answered():
    assert play([ASKING, END], answers=["Red"]) == snapshot("""\
turn t1 from tester
renamed 'Go.' by engine
  user 'Go.'
  step 1 script
  call 'Ask: Which colour?' allow ['harmless'] waiting
  asks ['Which colour?']
  suspended
  answer answered [('q1', 'Red')] by tester
  resumed
  call running
  call ok: 'Which colour?\\n-> Red'
  step end end
  step 2 script
  reply ok 'Done.'
  step end end
turn t1 done
""")


def test_questions_are_declined():
    assert play([ASKING, END], answers=[None], only=("call", "answer", "turn")) == snapshot("""\
turn t1 from tester
  call 'Ask: Which colour?' allow ['harmless'] waiting
  answer declined [] by tester
  call running
  call ok: 'The person declined to answer. Do not ask the same again.'
turn t1 done
""")


@pytest.mark.parametrize("model", [call("bash", command="touch made"), ASKING])
async def test_an_answer_while_the_card_is_being_put_on_the_disk_is_heard(tmp_path, model):
    stage = Stage(tmp_path, [model, END])
    session = stage.create()
    stage.prompt(session, "Go.")
    while not (session.state.approvals or session.state.questions):
        await asyncio.sleep(0)
    assert session.waiters == {}
    for card in session.state.approvals:
        stage.respond(session, card.approval_id, "once")
    for request in session.state.questions:
        stage.answer(session, request.question_id, "Red")
    await stage.idle(session)
    kinds = [record.type for record in stage.records()]
    assert "turn.suspended" not in kinds
    assert stage.records()[-1].stop_reason == "done"
    items = [record.item for record in stage.records() if record.type == "item.completed"]
    assert [item.status for item in items[1:]] == ["ok", "ok"]
    await stage.close()


async def test_what_was_answered_before_a_restart_is_not_asked_again(tmp_path):
    stage = Stage(tmp_path, [call("bash", command="touch made"), END])
    session = stage.create()
    stage.prompt(session, "Go.")
    approval = await stage.waiting(session)
    stage.respond(session, approval, "once")
    await stage.kill_engine()
    assert not (stage.workspace / "made").exists()
    stage.start_engine()
    session = stage.engine.get(session.id)
    stage.listen(session)
    await stage.idle(session)
    assert (stage.workspace / "made").exists()
    assert [record.type for record in stage.records()].count("approval.requested") == 1
    await stage.close()


@pytest.mark.parametrize(
    ("change", "decision", "status"),
    [
        ({"level": ApprovalLevel.WORKSPACE_WRITE}, "allowed", "ok"),
        ({"mode": Mode.ASK}, "blocked", "blocked"),
    ],
)
async def test_a_card_from_before_a_restart_is_withdrawn_when_it_is_settled(
    tmp_path, change, decision, status
):
    stage = Stage(
        tmp_path,
        [call("edit", path="a.txt", old_string="a", new_string="b"), END],
        files={"a.txt": "a"},
    )
    session = stage.create(level="ask")
    stage.prompt(session, "Go.")
    await stage.waiting(session)
    session.record(
        SessionConfigured(
            **{"mode": Mode.AGENT, "level": ApprovalLevel.ASK, **change}, model="script", by="x"
        )
    )
    await stage.kill_engine()
    stage.start_engine()
    session = stage.engine.get(session.id)
    stage.listen(session)
    await stage.idle(session)
    resolved = [r for r in stage.records() if r.type == "approval.resolved"]
    assert [(r.decision, r.resolved_by) for r in resolved] == [(decision, "engine")]
    ended = [
        r.item.status
        for r in stage.records()
        if r.type == "item.completed" and r.item.kind == "toolCall"
    ]
    assert ended == [status]
    assert stage.records()[-1].stop_reason == "done"
    await stage.close()
