"""Cards and questions put to the person at a plain editor."""

import asyncio

import pytest

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
