"""What a card shows and offers."""

import pytest

from kova_ls.engine.approvals import PLAN_DECISIONS, plan_card
from kova_ls.tools._base import AskPlan
from kova_ls.values import Option
from tests.support.play import play
from tests.support.stage import Stage, call, say

END = say("Done.")
BIG = "".join(f"line {n}\n" for n in range(3_000))


def card_of(model, **settings):
    cards = []
    play(
        model,
        answers=[lambda _, session: cards.extend(session.state.approvals)],
        **settings,
    )
    return cards[0]


def test_a_plan_offers_its_approaches_and_no_is_first():
    ask = AskPlan("# Plan", (Option(label="Fast"),))
    card = plan_card(session_id="s", turn_id="t", call_id="c", tool="plan_exit", ask=ask, now=1.0)
    assert card.decisions == PLAN_DECISIONS
    assert card.decisions[0] == "reject"
    assert card.approval_id.startswith("s.")
    assert card.subject.options == (Option(label="Fast"),)


def test_remember_is_offered_only_with_its_rules():
    assert card_of([call("bash", command="make -v"), END]).decisions == ("deny", "once", "remember")
    once = card_of([call("bash", command="make -v"), END], level="ask")
    assert (once.decisions, once.rules, once.rules_path) == (("deny", "once"), (), None)


def test_a_command_that_is_not_understood_is_never_remembered():
    card = card_of([call("bash", command="eval $(cat x)"), END])
    assert card.decisions == ("deny", "once")
    assert any("this one time" in notice for notice in card.notices)


def test_every_segment_of_a_command_is_shown():
    card = card_of([call("bash", command="cat a | make && rm b"), END])
    assert [segment.text for segment in card.subject.segments] == ["cat a", "make", "rm b"]


async def test_a_long_diff_is_a_preview_and_a_whole(tmp_path):
    stage = Stage(tmp_path, [call("write", path="a.txt", content=BIG), END])
    session = stage.create(level="ask")
    stage.prompt(session, "Go.")
    await stage.waiting(session)
    (file,) = session.state.approvals[0].subject.files
    assert file.hidden_lines > 2_000
    assert len(file.diff) < 60_000
    name = file.output_ref.partition("/")[2]
    whole = (session.folder / "outputs" / name).read_text("utf-8")
    assert whole.startswith(file.diff)
    assert whole.count("\n+line ") == 3_000
    await stage.close()


async def test_a_long_diff_approved_before_a_restart_is_not_asked_again(tmp_path):
    stage = Stage(tmp_path, [call("write", path="a.txt", content=BIG), END])
    session = stage.create(level="ask")
    stage.prompt(session, "Go.")
    approval = await stage.waiting(session)
    await stage.kill_engine()
    stage.start_engine()
    session = stage.engine.get(session.id)
    stage.listen(session)
    assert await stage.waiting(session) == approval
    stage.respond(session, approval, "once")
    await stage.idle(session)
    assert (stage.workspace / "a.txt").read_text("utf-8") == BIG
    assert [x.type for x in stage.records()].count("approval.requested") == 1
    await stage.close()


@pytest.mark.parametrize("level", ["ask", "workspace-write", "auto-edit"])
def test_no_is_always_the_first_answer(level):
    assert card_of([call("bash", command="make"), END], level=level).decisions[0] == "deny"


@pytest.mark.parametrize("restarts", [False, True])
async def test_a_card_is_good_whoever_has_the_document_open(tmp_path, restarts):
    """The editor with the document goes while its card is open: what is shown is the same."""
    step = call("edit", path="a.txt", old_string="one", new_string="1")
    stage = Stage(tmp_path, [step, END], files={"a.txt": "one\n"})
    stage.editor.opened.open(stage.workspace / "a.txt", "one\n", is_dirty=False, version=7)
    session = stage.create(level="ask")
    stage.prompt(session, "Go.")
    approval = await stage.waiting(session)
    assert session.state.approvals[0].subject.files[0].document_version == 7
    stage.editor.opened.documents.clear()
    if restarts:
        await stage.kill_engine()
        stage.start_engine()
        session = stage.engine.get(session.id)
        stage.listen(session)
        assert await stage.waiting(session) == approval
    stage.respond(session, approval, "once")
    await stage.idle(session)
    assert (stage.workspace / "a.txt").read_text() == "1\n"
    assert [x.type for x in stage.records()].count("approval.requested") == 1
    await stage.close()
