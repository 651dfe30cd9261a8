"""Pages on which a person writes what no choice can say."""

import asyncio
import os
from pathlib import Path

import pytest

from kova_ls.endpoint.handshake import local_path
from kova_ls.endpoint.lsp_forms import MARK, put_form, questions_form, words_form
from kova_ls.errors import KovaError, RequestFailed
from kova_ls.values import Option, Question, QuestionRequest
from tests.support.plain import opened
from tests.support.stage import Stage, call, say


def form(*questions):
    sent = []
    request = QuestionRequest(
        question_id="q",
        session_id="s",
        turn_id="t",
        questions=questions,
        call_id="c",
        requested_at=1.0,
    )
    return questions_form(request, sent.append), sent


A, B = Option(label="A `x`", description="first"), Option(label="B")
ONE = Question(id="1", question="Which\u202e one?", options=(A, B))
MANY = Question(id="2", question="Which?", options=(A, B), multi_select=True)


def test_a_form_as_it_is_written_is_no_answer():
    page, sent = form(ONE)
    assert "⟨U+202E⟩" in page.text
    assert "\u202e" not in page.text
    with pytest.raises(KovaError, match="Not answered yet"):
        page.send(page.text)
    assert sent == []


def test_ticks_and_words_answer_each_question_alone():
    page, sent = form(ONE, MANY)
    first, second = page.text.split("## 2.")
    first = first.replace("- [ ] 2.", "- [x] 2.")
    second = second.replace("[ ] 1.", "[X] 1.").replace("[ ] 2.", "[x] 2.") + "and\n\nmore\n"
    page.send(f"{first}## 2.{second}")
    [[one, many]] = sent
    assert (one.id, one.selected, one.other) == ("1", ("B",), None)
    assert (many.selected, many.other) == (("A `x`", "B"), "and\n\nmore")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.replace("[ ]", "[x]"), "Only one may be ticked"),
        (lambda t: t.replace("[ ] 2. `B`", "[x] 2. `Z`"), "words were changed"),
        (lambda t: t.replace(MARK, ""), "lost this line"),
        (lambda t: t.replace("## 1.", "##"), "lost this line"),
    ],
)
def test_a_page_that_cannot_be_read_with_certainty_says_what_is_wrong(change, words):
    page, sent = form(ONE)
    with pytest.raises(KovaError, match=words):
        page.send(change(page.text))
    assert sent == []


def test_the_words_are_all_below_the_mark():
    sent = []
    page = words_form(["# Title"], sent.append)
    page.send(page.text + "one\n\n# two\n")
    assert sent == ["one\n\n# two"]
    with pytest.raises(KovaError, match="Nothing is written yet"):
        page.send(page.text)


async def test_a_prompt_is_written_on_a_page_and_sent_once(tmp_path):
    stage = Stage(tmp_path, [say("Hi."), say("Again.")])
    editor = await opened(stage)
    session_id = (await editor.run("kova.ask"))["sessionId"]
    shown = await editor.shows_document()
    page = Path(local_path(shown["uri"]))
    text = page.read_text()
    assert shown["takeFocus"]
    assert text.split("\n")[shown["selection"]["start"]["line"] - 2] == MARK
    page.write_text(text + "  ")
    await editor.told("Nothing is written yet")
    atomic = page.with_suffix(".tmp")
    atomic.write_bytes(b"\xef\xbb\xbf" + (text + "Hello,\nworld").replace("\n", "\r\n").encode())
    atomic.replace(page)
    await editor.told("Kova: sent")
    await editor.shows_document()
    records = [s.record for s in stage.engine.get(session_id).journal.read(1, 100)]
    starts = [r for r in records if r.tag == "turn.started"]
    assert [[part.text for part in r.input] for r in starts] == [["Hello,\nworld"]]
    assert not [task for task in asyncio.all_tasks() if "form" in task.get_name()]
    await stage.close()


async def test_an_editor_that_cannot_show_a_page_is_told_where_it_is(tmp_path):
    stage = Stage(tmp_path, [say("Hi.")])
    editor = await opened(stage, window={})
    await editor.run("kova.ask")
    text = await editor.told("your prompt: write in ")
    assert os.path.isfile(text.split("write in ")[1].removesuffix(" and save it."))
    await stage.close()


EDIT = call("edit", path="a.txt", old_string="one", new_string="two")


async def written_page(editor):
    shown = await editor.shows_document()
    path = Path(local_path(shown["uri"]))
    return path, path.read_text()


async def test_too_many_words_with_a_no_are_told_and_the_next_save_counts(tmp_path):
    stage = Stage(tmp_path, [EDIT, say("Done.")], files={"a.txt": "one\n"})
    editor = await opened(stage)
    session_id = (await editor.run("kova.ask", "Change it."))["sessionId"]
    await editor.told("Kova waits")
    await editor.run("kova.pending")
    await editor.chooses("Deny and say why …")
    path, text = await written_page(editor)
    written = text + "w" * 10_001
    path.write_text(written)
    await editor.told("10,001 characters are more than 10,000. Shorten them, then save.")
    assert path.read_text() == written
    path.write_text(text + "w" * 10_000)
    await editor.told("Kova: sent")
    session = stage.engine.get(session_id)
    await stage.idle(session)
    records = [entry.record for entry in session.journal.read(1, 100)]
    assert [r.feedback for r in records if r.tag == "approval.resolved"] == ["w" * 10_000]
    await stage.close()


async def test_a_page_too_large_to_be_read_is_not_sent_in_part(tmp_path):
    stage = Stage(tmp_path, [say("Hi.")])
    editor = await opened(stage)
    await editor.run("kova.ask")
    path, text = await written_page(editor)
    path.write_text(text + "w" * (1 << 20))
    await editor.told("larger than 1 MiB and was not sent")
    path.write_text(text + "Hello.")
    await editor.told("Kova: sent")
    await stage.close()


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (RuntimeError("secret"), "A fault of the engine (incident "),
        (RequestFailed("turnBusy", "No."), "No."),
    ],
)
async def test_whatever_goes_wrong_is_told_and_the_page_goes_on_being_watched(
    tmp_path, fault, words
):
    stage = Stage(tmp_path, [])
    editor = await opened(stage)
    session_id = (await editor.run("kova.newSession"))["sessionId"]
    faults, sent = [fault], []

    def send(page):
        if faults:
            raise faults.pop()
        sent.append(page)

    lsp = editor.endpoint.plain._server
    page = words_form(["# Title"], send)
    lsp.spawn(put_form(lsp, stage.engine.get(session_id), "words", page), "put")
    path, text = await written_page(editor)
    path.write_text(text + "one")
    assert "secret" not in await editor.told(words)
    path.write_text(text + "one, again")
    await editor.told("Kova: sent")
    assert sent == ["one, again"]
    await stage.close()
