"""Cards and questions put to the person at a plain editor."""

import asyncio
from pathlib import Path

import pytest

from kova_ls.endpoint.handshake import local_path
from kova_ls.engine.answers import respond
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
    assert [action["title"] for action in asked["actions"]] == [
        "Deny",
        "Deny and say why …",
        "Allow once",
    ]
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
    respond(
        session, session.state.approvals[0].approval_id, "deny", "other", feedback=None, option=None
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
    titles = [a["title"] for a in asked["actions"]]
    assert titles == ["Decline to answer", "Answer in writing …", "First"]
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


def refuse(editor, request):
    editor.answered.add(request["id"])
    error = {"code": -32601, "message": "no such method"}
    editor.send({"jsonrpc": "2.0", "id": request["id"], "error": error})


async def test_where_no_choice_can_be_put_a_card_that_was_opened_is_answered_by_an_action(tmp_path):
    stage = Stage(tmp_path, [EDIT, say("Done.")], files={"a.txt": "one\n"})
    editor = await opened(stage, window={})
    session_id = (await editor.run("kova.ask", "Change it."))["sessionId"]
    await editor.told("Kova waits")
    [card] = stage.engine.get(session_id).state.approvals
    once = [card.approval_id, "once"]
    assert "Open the card first" in (await editor.fails("kova.pending", *once))["message"]
    await editor.run("kova.pending")
    refuse(editor, await editor.asked("window/showMessageRequest"))
    path = (await editor.told("did not show the page")).split("; open ")[1]
    assert "+two" in Path(path).read_text()
    await editor.told("answer it by a code action")
    actions = await editor.result(
        "textDocument/codeAction",
        {
            "textDocument": {"uri": f"{editor.folder}/a.txt"},
            "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}},
            "context": {"diagnostics": []},
        },
    )
    direct = {a["title"]: a["command"]["arguments"] for a in actions if "Edit a.txt" in a["title"]}
    assert direct == {
        "Answer Kova: Edit a.txt": [card.approval_id],
        "Deny: Edit a.txt": [card.approval_id, "deny"],
        "Allow once: Edit a.txt": once,
    }
    wrong = await editor.fails("kova.pending", card.approval_id, "remember")
    assert "Open the card first" in wrong["message"]
    assert await editor.run("kova.pending", *once) == {"pending": 0}
    await editor.told("Kova: Done.")
    assert (stage.workspace / "a.txt").read_text() == "two\n"
    await stage.close()


async def test_where_no_choice_can_be_put_a_question_is_answered_in_writing(tmp_path):
    stage = Stage(tmp_path, [ASK, say("Done.")])
    editor = await opened(stage)
    session_id = (await editor.run("kova.ask", "Ask me."))["sessionId"]
    await editor.told("Kova waits")
    await editor.run("kova.pending")
    refuse(editor, await editor.asked("window/showMessageRequest"))
    await writes(editor, lambda page: page + "neither")
    await editor.told("Kova: sent")
    [answer] = resolved(stage, session_id, "question.resolved").answers
    assert answer.other == "neither"
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


async def test_what_a_message_cuts_is_allowed_only_after_it_was_opened_whole(tmp_path):
    long = "\n".join(f"line {n}" for n in range(4_000))
    stage = Stage(tmp_path, [call("write", path="b.txt", content=long), say("Done.")])
    editor = await opened(stage)
    session_id = (await editor.run("kova.ask", "Write it."))["sessionId"]
    await editor.told("Kova waits")
    await editor.run("kova.pending")
    asked = await editor.chooses("Open the whole of it")
    titles = [action["title"] for action in asked["actions"]]
    assert titles == ["Deny", "Deny and say why …", "Open the whole of it"]
    shown = await editor.shows_document()
    page = local_path(shown["uri"])
    assert "+line 3999" in Path(page).read_text()
    assert len(stage.engine.get(session_id).state.approvals) == 1
    await editor.run("kova.pending")
    asked = await editor.chooses("Allow once")
    assert "Open the whole of it" not in [action["title"] for action in asked["actions"]]
    await editor.shows_document()
    assert (stage.workspace / "b.txt").read_text() == long
    await stage.close()


async def writes(editor, add):
    """Show the page that is asked for, and save it with what is added."""
    page = Path(local_path((await editor.shows_document())["uri"]))
    page.write_text(add(page.read_text()))


def resolved(stage, session_id, tag):
    records = [s.record for s in stage.engine.get(session_id).journal.read(1, 100)]
    [record] = [r for r in records if r.tag == tag]
    return record


async def test_a_denial_carries_the_words_of_a_page(tmp_path):
    stage = Stage(tmp_path, [EDIT, say("Done.")], files={"a.txt": "one\n"})
    editor = await opened(stage)
    session_id = (await editor.run("kova.ask", "Change it."))["sessionId"]
    await editor.told("Kova waits")
    await editor.run("kova.pending")
    await editor.chooses("Deny and say why …")
    await writes(editor, lambda page: page + "Use three.\n")
    await editor.told("Kova: sent")
    found = resolved(stage, session_id, "approval.resolved")
    assert (found.decision, found.feedback) == ("deny", "Use three.")
    await stage.close()


async def test_a_plan_is_sent_back_with_what_to_change(tmp_path):
    stage = Stage(tmp_path, [call("plan_exit"), say("Better.")])
    editor = await opened(stage)
    new = await editor.run("kova.newSession")
    Path(stage.engine.get(new["sessionId"]).plan_path).write_text("# Plan\n")
    await editor.run("kova.mode", "plan")
    session_id = (await editor.run("kova.ask", "Plan it."))["sessionId"]
    await editor.told("Kova waits")
    await editor.run("kova.pending")
    asked = await editor.chooses("Say what to change …")
    assert asked["actions"][0]["title"] in ("Reject", "Deny")
    await writes(editor, lambda page: page + "Shorter.")
    await editor.told("Kova: sent")
    found = resolved(stage, session_id, "approval.resolved")
    assert (found.decision, found.feedback) == ("revise", "Shorter.")
    await stage.close()


async def test_several_questions_are_answered_on_one_page(tmp_path):
    options = [{"label": "A", "description": "any"}, {"label": "B", "description": "best"}]
    asks = call(
        "Question",
        questions=[
            {"question": "Which?", "options": options, "multi_select": True},
            {"question": "And?", "options": options},
        ],
    )
    stage = Stage(tmp_path, [asks, say("Done.")])
    editor = await opened(stage)
    session_id = (await editor.run("kova.ask", "Ask me."))["sessionId"]
    await editor.told("Kova waits")
    await editor.run("kova.pending")
    asked = await editor.chooses("Answer in writing …")
    assert "Several may be chosen" in asked["message"]
    await writes(
        editor,
        lambda page: (
            page.replace("- [ ] 1. `A`", "- [x] 1. `A`", 1).replace("- [ ] 2.", "- [X] 2.", 1)
            + "neither"
        ),
    )
    await editor.told("Kova: sent")
    answers = resolved(stage, session_id, "question.resolved").answers
    assert [(a.selected, a.other) for a in answers] == [(("A", "B"), None), ((), "neither")]
    await stage.close()
