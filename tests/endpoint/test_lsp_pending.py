"""Cards and questions put to the person at a plain editor."""

import asyncio

import pytest

from kova_ls.endpoint.lsp_pending import card_text
from kova_ls.values import (
    Approval,
    CommandSubject,
    EditSubject,
    FileChange,
    NetworkSubject,
    OtherSubject,
    PlanSubject,
    Reason,
)
from tests.support.plain import opened
from tests.support.stage import Stage, call, say

EDIT = call("edit", path="a.txt", old_string="one", new_string="two")


async def test_a_card_is_announced_and_answered_only_when_asked_for(tmp_path):
    stage = Stage(tmp_path, [EDIT, say("Done.")], files={"a.txt": "one\n"})
    editor = await opened(stage)
    session = await editor.run("kova.ask", "Change it.")
    await editor.shows_progress()
    assert "kova.pending" in await editor.told("Kova waits: Edit a.txt")
    assert editor.requests("window/showMessageRequest") == []
    assert stage.engine.get(session["sessionId"]).state.level.value == "ask"

    assert await editor.run("kova.pending") == {"pending": 1}
    ids = [m.get("id") for m in editor.messages]
    asked = await editor.chooses(None)
    titles = [m.get("method") for m in editor.messages]
    assert titles.index("window/showMessageRequest") > ids.index(f"r{3}")
    assert [action["title"] for action in asked["actions"]] == ["Deny", "Allow once"]
    assert "+two" in asked["message"]
    for _ in range(20):
        await asyncio.sleep(0)
    assert (stage.workspace / "a.txt").read_text() == "one\n"

    await editor.run("kova.pending")
    await editor.chooses("Allow once")
    await editor.shows_document()
    assert (stage.workspace / "a.txt").read_text() == "two\n"
    await stage.close()


@pytest.mark.parametrize("answer", [{"title": "Allow"}, {"title": 5}, [], "Allow once", {}])
async def test_no_other_answer_is_a_yes(tmp_path, answer):
    stage = Stage(tmp_path, [EDIT, say("Done.")], files={"a.txt": "one\n"})
    editor = await opened(stage)
    session_id = (await editor.run("kova.ask", "Change it."))["sessionId"]
    await editor.told("Kova waits")
    await editor.run("kova.pending")
    editor.reply(await editor.asked("window/showMessageRequest"), answer)
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(stage.engine.get(session_id).state.approvals) == 1
    assert (stage.workspace / "a.txt").read_text() == "one\n"
    await editor.run("kova.pending")
    await editor.chooses("Deny")
    await editor.shows_document()
    assert (stage.workspace / "a.txt").read_text() == "one\n"
    await stage.close()


async def test_asked_again_what_was_put_before_is_withdrawn(tmp_path):
    stage = Stage(tmp_path, [EDIT, say("Done.")], files={"a.txt": "one\n"})
    editor = await opened(stage)
    await editor.run("kova.ask", "Change it.")
    await editor.told("Kova waits")
    await editor.run("kova.pending")
    first = await editor.asked("window/showMessageRequest")
    await editor.run("kova.pending")
    await editor.until(
        lambda m: m.get("method") == "$/cancelRequest" and m["params"]["id"] == first["id"]
    )
    editor.reply(first, {"title": "Allow once"})
    second = await editor.asked("window/showMessageRequest")
    assert (stage.workspace / "a.txt").read_text() == "one\n"
    editor.reply(second, {"title": "Deny"})
    await editor.shows_document()
    await stage.close()


async def test_a_card_answered_elsewhere_is_said(tmp_path):
    stage = Stage(tmp_path, [EDIT, say("Done.")], files={"a.txt": "one\n"})
    editor = await opened(stage)
    session_id = (await editor.run("kova.ask", "Change it."))["sessionId"]
    await editor.told("Kova waits")
    await editor.run("kova.pending")
    request = await editor.asked("window/showMessageRequest")
    session = stage.engine.get(session_id)
    session.respond(
        session.state.approvals[0].approval_id, "deny", "other", feedback=None, option=None
    )
    editor.reply(request, {"title": "Allow once"})
    assert await editor.told("already answered") == "Kova: already answered: deny by other."
    await stage.close()


ASK = call(
    "Question",
    questions=[
        {
            "question": "Which\u202e one?",
            "options": [
                {"label": "First", "description": "the plain one"},
                {"label": "Decline to answer", "description": "a trap"},
            ],
        }
    ],
)


@pytest.mark.parametrize(
    ("choice", "outcome", "selected"),
    [("First", "answered", ("First",)), ("Decline to answer", "declined", None)],
)
async def test_a_question_is_put_with_the_refusal_first(tmp_path, choice, outcome, selected):
    stage = Stage(tmp_path, [ASK, say("Done.")])
    editor = await opened(stage)
    session_id = (await editor.run("kova.ask", "Ask me."))["sessionId"]
    await editor.told("Kova waits: Which⟨U+202E⟩ one?")
    await editor.run("kova.pending")
    asked = await editor.chooses(choice)
    assert [a["title"] for a in asked["actions"]] == ["Decline to answer", "First"]
    assert "First: the plain one" in asked["message"]
    await editor.shows_document()
    records = [s.record for s in stage.engine.get(session_id).journal.read(1, 100)]
    [resolved] = [r for r in records if r.tag == "question.resolved"]
    assert resolved.outcome == outcome
    assert [a.selected for a in resolved.answers] == ([selected] if selected else [])
    await stage.close()


async def test_a_question_is_answered_in_own_words(tmp_path):
    stage = Stage(tmp_path, [ASK, say("Done.")])
    editor = await opened(stage)
    session_id = (await editor.run("kova.ask", "Ask me."))["sessionId"]
    await editor.told("Kova waits")
    await editor.run("kova.answer", "neither")
    await editor.shows_document()
    records = [s.record for s in stage.engine.get(session_id).journal.read(1, 100)]
    [resolved] = [r for r in records if r.tag == "question.resolved"]
    assert [a.other for a in resolved.answers] == ["neither"]
    await stage.close()


async def test_an_editor_that_cannot_put_a_choice_is_told(tmp_path):
    stage = Stage(tmp_path, [EDIT, say("Done.")], files={"a.txt": "one\n"})
    editor = await opened(stage)
    session_id = (await editor.run("kova.ask", "Change it."))["sessionId"]
    await editor.told("Kova waits")
    await editor.run("kova.pending")
    request = await editor.asked("window/showMessageRequest")
    error = {"code": -32601, "message": "no such method"}
    editor.send({"jsonrpc": "2.0", "id": request["id"], "error": error})
    await editor.told("cannot put a choice")
    assert len(stage.engine.get(session_id).state.approvals) == 1
    await stage.close()


async def test_nothing_waits_is_said(stage):
    editor = await opened(stage)
    assert await editor.run("kova.pending") == {"pending": 0}
    await editor.told("nothing waits")


async def test_cards_come_one_after_the_other(tmp_path):
    two = {
        "calls": EDIT["calls"] + call("edit", path="b.txt", old_string="1", new_string="2")["calls"]
    }
    stage = Stage(tmp_path, [two, say("Done.")], files={"a.txt": "one\n", "b.txt": "1\n"})
    editor = await opened(stage)
    await editor.run("kova.ask", "Change both.")
    await editor.told("Kova waits: Edit a.txt")
    await editor.run("kova.pending")
    await editor.chooses("Deny")
    assert len(editor.requests("window/showMessageRequest")) == 1
    await editor.told("Kova waits: Edit b.txt")
    await editor.run("kova.pending")
    await editor.chooses("Allow once")
    await editor.shows_document()
    assert (stage.workspace / "a.txt").read_text() == "one\n"
    assert (stage.workspace / "b.txt").read_text() == "2\n"
    await stage.close()


def card(subject, decisions=("deny", "once", "remember")):
    return Approval(
        approval_id="a",
        session_id="s",
        turn_id="t",
        call_id="c",
        kind="tool",
        title="Run\nx",
        subject=subject,
        reasons=(Reason(code="r", text="No rule allows it."),),
        decisions=decisions,
        requested_at=1.0,
    )


def test_a_card_fits_a_message_and_says_what_is_missing():
    text = card_text(card(CommandSubject(command="echo " + "x" * 5_000, cwd="file:///w")))
    assert len(text) <= 1_000
    assert text.startswith("Kova: Run⏎x\necho xxx")
    assert "4,205 characters more: read them on the page, kova.open" in text
    assert text.endswith("No rule allows it.")
    short = card_text(card(CommandSubject(command="a\x1b[2J\nb", cwd="file:///w")))
    assert short == "Kova: Run⏎x\na⟨U+001B⟩[2J\nb\nNo rule allows it."


def test_every_subject_has_its_text():
    file = FileChange(uri="file:///w/a", change="modify", diff="-one\n+two\n")
    assert "+two" in card_text(card(EditSubject(files=(file,))))
    assert "GET http://x/" in card_text(card(NetworkSubject(method="GET", url="http://x/")))
    assert "# Plan" in card_text(card(PlanSubject(markdown="# Plan")))
    assert "it all" in card_text(card(OtherSubject(summary="it all")))
