"""Progress, the page and messages of a plain editor."""

from tests.support.plain import opened
from tests.support.stage import Stage, call, say

EDIT = call("edit", path="a.txt", old_string="one", new_string="two")


async def test_a_prompt_is_answered_on_a_page(tmp_path):
    stage = Stage(tmp_path, [say("It is <b>42</b>.")])
    editor = await opened(stage)
    answer = await editor.run("kova.ask", "What is it?")
    assert answer["status"] == "started"
    shown = await editor.shows_document()
    assert shown == {"uri": answer["transcript"], "takeFocus": False}
    page = (stage.root / "data/sessions" / answer["sessionId"] / "transcript.md").read_text()
    assert page.endswith("\n## You\n\n> What is it?\n\n## Kova\n\nIt is &lt;b>42&lt;/b>.\n")
    assert editor.events == []
    await stage.close()


async def test_a_turn_has_its_progress(tmp_path):
    stage = Stage(tmp_path, [EDIT, say("Done.")], files={"a.txt": "one\n"})
    editor = await opened(stage)
    await editor.run("kova.ask", "Change it.")
    token = await editor.shows_progress()
    await editor.told("Kova waits")
    await editor.run("kova.pending")
    await editor.chooses("Allow once")
    await editor.until(
        lambda _: editor.progress(token)[-1:] == [{"kind": "end", "message": "done"}]
    )
    begin, *between, _ = editor.progress(token)
    assert begin["kind"] == "begin"
    assert begin["cancellable"] is True
    assert begin["title"] == "Kova: Change it."
    assert "waits for your answer" in [said["message"] for said in (begin, *between)]
    await stage.close()


async def test_what_waited_before_the_editor_came_is_announced(tmp_path):
    stage = Stage(tmp_path, [EDIT, say("Done.")], files={"a.txt": "one\n"})
    first = await opened(stage)
    await first.run("kova.ask", "Change it.")
    await first.told("Kova waits")
    first.leave()
    second = await opened(stage)
    await second.told("Kova waits: Edit a.txt")
    assert (await second.run("kova.ask", "And?"))["status"] == "queued"
    await second.run("kova.pending")
    await second.chooses("Allow once")
    await second.shows_document()
    assert (stage.workspace / "a.txt").read_text() == "two\n"
    await stage.close()


async def test_cancelled_progress_stops_the_turn(tmp_path):
    stage = Stage(tmp_path, [EDIT], files={"a.txt": "one\n"})
    editor = await opened(stage)
    await editor.run("kova.ask", "Change it.")
    token = await editor.shows_progress()
    await editor.told("Kova waits")
    editor.notify("window/workDoneProgress/cancel", {"token": token})
    await editor.told("Kova: interrupted")
    assert editor.progress(token)[-1] == {"kind": "end", "message": "interrupted"}
    await stage.close()


async def test_an_editor_that_shows_nothing_is_told_all(tmp_path):
    stage = Stage(tmp_path, [say("It is\n42.")])
    editor = await opened(stage, window={}, workspace={}, textDocument={})
    session = await editor.run("kova.ask", "What is it?")
    assert await editor.told("Kova: It is")
    path = stage.root / "data/sessions" / session["sessionId"] / "transcript.md"
    assert str(path) in await editor.told("did not show the page; open ")
    assert editor.requests("window/showDocument") == []
    assert editor.requests("window/workDoneProgress/create") == []
    await stage.close()


async def test_a_failed_turn_is_told(tmp_path):
    stage = Stage(tmp_path, [{"error": {"code": "refused", "message": "No credit left."}}])
    editor = await opened(stage)
    await editor.run("kova.ask", "Hello")
    assert await editor.told("No credit left.") == "Kova: failed: No credit left."
    await stage.close()


async def test_a_conversation_of_another_editor_is_followed_and_not_entered(tmp_path):
    stage = Stage(tmp_path, [EDIT, say("Done.")], files={"a.txt": "one\n"})
    session = stage.create(level="ask")
    stage.prompt(session, "Change it.")
    await stage.waiting(session)
    editor = await opened(stage)
    await editor.told("Kova waits: Edit a.txt")
    assert (await editor.run("kova.ask", "Hi"))["sessionId"] != session.id
    await editor.run("kova.pending")
    await editor.chooses("Allow once")
    await editor.told("did not trust it")
    assert len(session.state.approvals) == 1
    await stage.close()
