"""Runs that nobody watches."""

import json

import pytest

from kova_ls.config import AutomationSettings
from kova_ls.journal import records as r
from kova_ls.vocabulary import ApprovalLevel, StopReason, WhenBusy
from tests.support.stage import Stage, call, say, text

END = say("Done.")
OPTIONS = [{"label": "A", "description": ""}, {"label": "B", "description": ""}]
QUESTION = call("Question", questions=[{"question": "Which?", "options": OPTIONS}])
NIGHTLY = '[automation]\nlevel = "auto-edit"\n[automation.levels]\nnightly = "auto"\n'


async def run(tmp_path, step, *, name="nightly-not", when_busy=WhenBusy.REJECT, **more):
    level, mode = more.pop("level", "auto"), more.pop("mode", "agent")
    stage = Stage(tmp_path, [step, END], **more)
    session = stage.create(level=level, mode=mode)
    session.start(
        text("Go."), prompt_id=None, when_busy=when_busy, editor=stage.editor, automation=name
    )
    await stage.idle(session)
    ended = [x for x in stage.records() if isinstance(x, r.ItemCompleted) and x.result is not None]
    (turn,) = [x for x in stage.records() if isinstance(x, r.TurnCompleted)]
    assert turn.stop_reason is StopReason.DONE
    assert not any(
        isinstance(x, r.ApprovalRequested | r.QuestionRequested) for x in stage.records()
    )
    await stage.close()
    (call_ended,) = ended
    return call_ended


@pytest.mark.parametrize(
    ("step", "rules"),
    [
        (call("bash", command="touch made"), ("touch *",)),
        (call("bash", command="rm -rf x"), ()),
        (call("write", path="/srv/x", content=""), ()),
        (call("read", path=".env"), ()),
        (QUESTION, ()),
    ],
    ids=["command", "destructive", "outside", "secret", "question"],
)
async def test_what_would_ask_is_denied_at_once_whatever_the_sessions_level(tmp_path, step, rules):
    ended = await run(tmp_path, step, files={".env": "A=1\n"})
    assert ended.item.status.value == "blocked"
    assert ended.item.verdict.decision.value == "deny"
    assert ended.item.verdict.reasons[0].code == "unattended"
    assert ended.item.verdict.rules == rules
    assert "Nobody watches this run" in ended.result
    assert not (tmp_path / "ws/made").exists()


async def test_what_does_not_ask_goes_on(tmp_path):
    ended = await run(tmp_path, call("write", path="a.txt", content="x"), level="ask")
    assert ended.item.status.value == "ok"
    assert (tmp_path / "ws/a.txt").read_text() == "x"


async def test_the_settings_give_levels_and_auto_to_a_name_alone(tmp_path):
    outside = call("write", path=str(tmp_path / "out.txt"), content="x")
    command = call("bash", command="touch made")
    for number, (step, name, status) in enumerate(
        ((outside, "other", "ok"), (command, "nightly", "ok"), (command, "other", "blocked"))
    ):
        (tmp_path / str(number)).mkdir()
        ended = await run(tmp_path / str(number), step, name=name, settings=NIGHTLY)
        assert ended.item.status.value == status


async def test_a_folder_that_is_not_trusted_stays_at_ask(tmp_path):
    step = call("write", path="a.txt", content="x")
    ended = await run(tmp_path, step, name="nightly", level=None, trusted=False, settings=NIGHTLY)
    assert ended.item.verdict.decision.value == "deny"


def test_auto_cannot_be_the_level_of_all():
    assert AutomationSettings().level == "workspace-write"
    with pytest.raises(ValueError, match="auto-edit"):
        AutomationSettings.model_validate({"level": "auto"})
    assert AutomationSettings.model_validate({"levels": {"n": "auto"}}).levels == {
        "n": ApprovalLevel.AUTO
    }


async def test_a_run_that_was_queued_or_outlived_the_engine_is_still_unwatched(tmp_path):
    stage = Stage(
        tmp_path, [call("bash", command="make a"), END, call("bash", command="make b"), END]
    )
    session = stage.create()
    stage.prompt(session, "Go.")
    card = await stage.waiting(session)
    session.start(
        text("Later."),
        prompt_id=None,
        when_busy=WhenBusy.QUEUE,
        editor=stage.editor,
        automation="nightly",
    )
    await stage.kill_engine()
    stage.start_engine()
    session = stage.engine.get(session.id)
    stage.listen(session)
    await stage.waiting(session)
    stage.respond(session, card, "deny")
    await stage.until(lambda: sum(isinstance(x, r.TurnCompleted) for x in stage.records()) == 2)
    begun = [x for x in stage.records() if isinstance(x, r.TurnStarted)][-1]
    assert (begun.automation, begun.level) == ("nightly", ApprovalLevel.WORKSPACE_WRITE)
    last = [x for x in stage.records() if isinstance(x, r.ItemCompleted) and x.result][-1]
    assert json.loads(last.item.model_dump_json())["verdict"]["rules"] == ["make *"]
    await stage.close()
