import asyncio
import itertools
import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kova_ls.endpoint import documents as module
from kova_ls.endpoint.documents import text_hashes
from kova_ls.engine.disk import is_same_text
from kova_ls.engine.overlays import SharedOverlays
from kova_ls.engine.workspace import Document, Files, Replaced, file_uri
from kova_ls.permission.effects import ReadPath, WritePath
from kova_ls.tools._base import ToolError
from tests.support.paper_editor import PaperEditor, sha

OLD = "one\ntwo\nthree\n"
NEW = "one\nTWO\nthree\n"


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SHOWN_S", 0.01)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.txt"
    path.write_bytes(OLD.encode())
    return path


def document(editor: PaperEditor, path: Path) -> Document:
    found = editor.documents.get(os.path.realpath(path))
    assert found is not None
    return found


async def replaced(editor: PaperEditor, path: Path, text: str = NEW) -> Replaced:
    return await editor.documents.replace(document(editor, path), text)


class TestReplace:
    async def test_a_clean_document_is_edited_by_the_smallest_edit_and_saved(
        self, file: Path
    ) -> None:
        editor = PaperEditor()
        editor.open(file, version=7)
        assert await replaced(editor, file) == Replaced("done", NEW, is_saved=True)
        [params] = editor.edits
        span = {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 3}}
        [change] = params["edit"]["documentChanges"]
        assert change["edits"] == [{"range": span, "newText": "TWO"}]
        assert change["textDocument"] == {"uri": file.resolve().as_uri(), "version": 7}
        assert params["kova"] == {"textHash": sha(OLD), "newTextHash": sha(NEW)}
        assert file.read_text() == NEW
        assert not document(editor, file).is_dirty

    async def test_a_dirty_document_stays_dirty_and_the_disk_as_it_was(self, file: Path) -> None:
        editor = PaperEditor()
        editor.open(file, f"{OLD}mine\n")
        answer = await replaced(editor, file, f"{NEW}mine\n")
        assert answer == Replaced("done", f"{NEW}mine\n", was_dirty=True)
        assert file.read_text() == OLD
        assert "kova/editor/save" not in editor.asked

    async def test_what_a_formatter_makes_of_it_is_ours(self, file: Path) -> None:
        editor = PaperEditor(formatter=lambda text: text.replace("TWO", "Two"))
        editor.open(file)
        answer = await replaced(editor, file)
        assert answer == Replaced("done", "one\nTwo\nthree\n", is_saved=True)
        assert not editor.documents._is_typed_in(os.path.realpath(file))

    async def test_a_document_that_moved_is_stale(self, file: Path) -> None:
        editor = PaperEditor()
        editor.open(file)
        before = document(editor, file)
        editor.type(file, 0, 0, "zero\n")
        editor.rest()
        assert (await editor.documents.replace(before, NEW)).status == "stale"
        assert editor.edits == []

    async def test_a_change_on_its_way_is_seen_by_the_hash(self, file: Path) -> None:
        editor = PaperEditor(lags=True)
        paper = editor.open(file)
        editor.type(file, 0, 0, "zero\n")
        paper.version = 1  # as an editor that counts saves and not changes
        editor.meanwhile = [lambda: None, editor.rest]
        asking = asyncio.ensure_future(replaced(editor, file))
        await asyncio.sleep(0)
        editor.rest()
        editor.sync(paper)
        editor.rest()
        assert (await asking).status == "stale"
        assert paper.text == f"zero\n{OLD}"

    async def test_typing_between_question_and_edit_is_stale(self, file: Path) -> None:
        editor = PaperEditor()
        paper = editor.open(file)

        def type_and_rest() -> None:
            editor.type(file, 0, 0, "typed ")
            editor.rest()

        editor.meanwhile = [lambda: None, type_and_rest]
        assert (await replaced(editor, file)).status == "stale"
        assert paper.text == f"typed {OLD}"

    async def test_typing_beside_the_edit_right_after_it_is_no_fault(self, file: Path) -> None:
        editor = PaperEditor(habit="blind", is_ours=False)
        paper = editor.open(file)
        editor.meanwhile = [lambda: editor.type(file, len(OLD), len(OLD), "four\n")]
        assert await replaced(editor, file) == Replaced("done", NEW)
        assert paper.text == f"{NEW}four\n"

    async def test_waits_while_the_person_types(self, file: Path) -> None:
        editor = PaperEditor()
        editor.open(file)
        editor.type(file, 0, 0, "x")
        asking = asyncio.ensure_future(replaced(editor, file))
        await asyncio.sleep(0)
        assert editor.asked == []
        editor.rest()
        editor.documents._tell()
        assert (await asking).status == "done"

    @pytest.mark.parametrize("habit", ["refuses", "silent", "gone"])
    @pytest.mark.parametrize("is_ours", [True, False])
    async def test_refusal_and_silence_are_unavailable(
        self, file: Path, habit: Any, is_ours: bool
    ) -> None:
        editor = PaperEditor(habit=habit, is_ours=is_ours)
        paper = editor.open(file)
        assert (await replaced(editor, file)).status == "unavailable"
        assert paper.text == OLD

    async def test_a_read_only_document_is_unavailable(self, file: Path) -> None:
        editor = PaperEditor()
        editor.open(file).readonly = True
        assert (await replaced(editor, file)).status == "unavailable"
        assert editor.edits == []

    async def test_a_document_closed_meanwhile_is_unavailable(self, file: Path) -> None:
        editor = PaperEditor()
        editor.open(file)
        editor.meanwhile = [lambda: editor.close(file)]
        assert (await replaced(editor, file)).status == "unavailable"

    async def test_an_editor_that_skips_and_says_that_it_did_not(self, file: Path) -> None:
        editor = PaperEditor(habit="skips", is_ours=False, lags=True)
        paper = editor.open(file)
        editor.type(file, 0, 0, "typed ")
        assert (await replaced(editor, file)).status == "unavailable"
        editor.sync(paper)
        assert paper.text == document(editor, file).text == f"typed {OLD}"

    async def test_half_an_edit_is_stale(self, file: Path) -> None:
        editor = PaperEditor(habit="half", is_ours=False)
        editor.open(file)
        assert (await replaced(editor, file, "ONE\ntwo\nTHREE\n")).status == "stale"
        assert document(editor, file).text == "ONE\ntwo\nthree\n"

    async def test_a_plain_client_is_believed_by_its_text_and_does_not_save(
        self, file: Path
    ) -> None:
        editor = PaperEditor(is_ours=False)
        editor.open(file)
        assert await replaced(editor, file) == Replaced("done", NEW)
        assert "kova" not in editor.edits[0]
        assert editor.asked == ["workspace/applyEdit"]

    async def test_a_save_that_fails_leaves_the_document_dirty(self, file: Path) -> None:
        editor = PaperEditor(refuses_to_save=True)
        editor.open(file)
        assert await replaced(editor, file) == Replaced("done", NEW)
        assert document(editor, file).is_dirty

    async def test_a_missing_last_newline_is_the_same_text(self, tmp_path: Path) -> None:
        path = tmp_path / "b.txt"
        path.write_text("one")
        editor = PaperEditor()
        paper = editor.open(path)
        editor.documents._open[os.path.realpath(path)].document = Document(
            os.path.realpath(path), "one\n", 1, False
        )
        assert (await replaced(editor, path, "ONE\n")).status == "done"
        assert paper.text == "ONE"
        assert text_hashes("one")[1] == text_hashes("one\n")[0]


async def test_a_document_that_the_editor_shows_in_another_form_is_edited_by_the_smallest_edit(
    file: Path,
) -> None:
    """VS Code shows the commoner line end of a file with both."""
    file.write_bytes(b"one\r\ntwo\r\nthree")
    editor = PaperEditor()
    editor.open(file, OLD)
    name = os.path.realpath(file)
    effects = [ReadPath(name, name), WritePath(name, name)]
    files = Files(effects, root=None, overlays=editor.documents)
    seen = await files.read_text(name)
    await files.write_text(name, seen.text.replace("two", "TWO"), like=seen)
    [params] = editor.edits
    [change] = params["edit"]["documentChanges"]
    assert [entry["newText"] for entry in change["edits"]] == ["TWO"]
    assert document(editor, file).text == NEW


async def test_an_edit_that_comes_late_finds_the_same_text_on_the_disk(file: Path) -> None:
    editor = PaperEditor(habit="silent")
    paper = editor.open(file)
    name = os.path.realpath(file)
    files = Files(
        [ReadPath(name, name), WritePath(name, name)], root=None, overlays=editor.documents
    )
    editor.is_ours = False
    editor.documents._knows_documents = False
    await files.write_text(name, NEW, like=await files.read_text(name))
    assert file.read_text() == NEW
    assert (await files.read_text(name)).text == NEW  # what is shown is older than the disk
    editor.type(file, 4, 7, "TWO")
    assert paper.text == NEW
    assert not document(editor, file).is_dirty
    editor.habit = "strict"
    await files.write_text(name, OLD, like=await files.read_text(name))
    assert paper.text == OLD


async def test_dirty_text_that_the_editor_does_not_change_is_an_error(file: Path) -> None:
    editor = PaperEditor(habit="silent")
    editor.open(file, "mine\n")
    name = os.path.realpath(file)
    files = Files([WritePath(name, name)], root=None, overlays=editor.documents)
    with pytest.raises(ToolError, match="nothing was written, but the edit may come late"):
        await files.write_text(name, NEW)
    assert file.read_text() == OLD


class TestSaveAndReload:
    async def test_saves_and_reloads_what_is_open(self, file: Path) -> None:
        editor = PaperEditor()
        editor.open(file, f"{OLD}mine\n")
        name = os.path.realpath(file)
        assert await editor.documents.save([name, "/elsewhere"]) == {name}
        assert file.read_text() == f"{OLD}mine\n"
        file.write_text("disk\n")
        assert await editor.documents.reload([name]) == {name}
        assert document(editor, file).text == "disk\n"
        assert not document(editor, file).is_dirty

    async def test_dirty_text_is_not_reloaded(self, file: Path) -> None:
        editor = PaperEditor()
        editor.open(file, "mine\n")
        assert await editor.documents.reload([os.path.realpath(file)]) == set()
        assert document(editor, file).text == "mine\n"

    @pytest.mark.parametrize("editor", [PaperEditor(is_ours=False), PaperEditor(habit="silent")])
    async def test_others_cannot(self, editor: PaperEditor, file: Path) -> None:
        editor.open(file)
        assert await editor.documents.save([os.path.realpath(file)]) == set()
        assert await editor.documents.reload([os.path.realpath(file)]) == set()


async def test_diagnostics_are_told_with_lines_and_severity(file: Path) -> None:
    place = {"line": 4, "character": 0}
    editor = PaperEditor()
    editor.diagnostics = {
        "documents": [
            {
                "uri": file.as_uri(),
                "diagnostics": [
                    {"range": {"start": place, "end": place}, "severity": 9, "message": "m"}
                ],
            }
        ],
        "settled": False,
    }
    said = await editor.documents.diagnostics([], 1)
    assert said is not None
    assert not said.is_settled
    [entry] = said.diagnostics
    assert (entry.line_no, entry.severity, entry.message) == (5, "hint", "m")
    editor.habit = "silent"
    assert await editor.documents.diagnostics([], 1) is None


async def test_diagnostics_of_another_version_are_not_settled(file: Path) -> None:
    editor = PaperEditor()
    editor.open(file)
    name = os.path.realpath(file)
    for version, is_settled in ((1, True), (None, True), (2, False)):
        entry = {"uri": file_uri(name), "version": version, "diagnostics": []}
        editor.diagnostics = {"documents": [entry], "settled": True}
        said = await editor.documents.diagnostics([name], 1)
        assert said is not None
        assert (said.is_settled, said.is_open) == (is_settled, True)
    said = await editor.documents.diagnostics(["/elsewhere"], 1)
    assert said is not None
    assert not said.is_open


# -- two sides at work on one file ------------------------------------------------------------------

PIECES = st.sampled_from(["x", "\n", "\r\n", "😀", "é", "\f", "word ", "\u2028"])
WORDS = st.lists(PIECES, max_size=4).map("".join)
USER = st.tuples(st.just("user"), st.integers(0, 40), st.integers(0, 3), WORDS)
AGENT = st.tuples(st.just("agent"), st.integers(0, 40), st.integers(0, 3), WORDS)
RACE = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 3), WORDS) | st.none(), max_size=4)


@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    text=st.lists(PIECES, max_size=10).map("".join),
    acts=st.lists(st.tuples(USER | AGENT, RACE), max_size=5),
    lags=st.booleans(),
    is_dirty=st.booleans(),
)
def test_neither_side_loses_a_character_unsaid(
    tmp_path: Path, text: str, acts: list[Any], lags: bool, is_dirty: bool
) -> None:
    asyncio.run(_race(tmp_path, text, acts, lags, is_dirty))


async def _race(tmp_path: Path, text: str, acts: list[Any], lags: bool, is_dirty: bool) -> None:
    path = tmp_path / "raced.txt"
    path.write_bytes(text.encode())
    editor = PaperEditor(lags=lags)
    paper = editor.open(path, f"{text}unsaved" if is_dirty else None)
    name = os.path.realpath(path)
    ticks = itertools.count()
    editor.documents._clock = lambda: float(next(ticks))
    effects = [ReadPath(name, name), WritePath(name, name)]
    files = Files(effects, root=None, overlays=editor.documents)
    marks: set[str] = set()

    def user(start: int, length: int, words: str) -> None:
        start = _place(paper.text, start)
        stop = _place(paper.text, start + length)
        mark = f"‹{next(ticks)}›"
        marks.add(mark)
        editor.type(path, start, max(start, stop), words + mark)
        marks.intersection_update({mark for mark in marks if mark in paper.text})

    for (who, start, length, words), race in acts:
        if who == "user":
            user(start, length, words)
            continue
        marks.clear()
        editor.meanwhile = [
            (lambda: None) if typed is None else partial(user, *typed) for typed in race
        ]
        seen = await files.read_text(name)
        new = seen.text[:start] + words + seen.text[start + length :]
        before, told = paper.text, paper.told
        said: ToolError | None = None
        try:
            await files.write_text(name, new, like=seen)
        except ToolError as error:
            said = error
        if not any(race):
            if said is not None:
                assert paper.text == before
                assert told != before  # it had typed what was not told yet
            elif seen.source == "editor":
                assert is_same_text(paper.text, new)
            else:
                assert is_same_text(path.read_bytes().decode(), new)
        # What the person typed after the agent had looked stands in any case.
        assert all(mark in paper.text for mark in marks)
        editor.meanwhile = []
        editor.sync(paper)
    editor.sync(paper)
    assert document(editor, path).text == paper.text


def _place(text: str, offset: int) -> int:
    """Where a person's cursor can be: not between carriage return and line feed."""
    offset = min(offset, len(text))
    return offset + 1 if text[offset - 1 : offset + 1] == "\r\n" and offset else offset


# -- two editors ------------------------------------------------------------------------------------


class Window:
    """As much of an attached editor as its documents need."""

    def __init__(self, name: str, editor: PaperEditor) -> None:
        self.name = name
        self.overlays = editor.documents


async def test_the_turns_editor_wins_and_the_other_reads_the_file_anew(file: Path) -> None:
    own, other = PaperEditor(), PaperEditor()
    own.open(file)
    other.open(file)
    windows = [Window("other", other), Window("own", own)]
    shared = SharedOverlays(windows[1], windows)  # type: ignore[arg-type]
    name = os.path.realpath(file)
    files = Files([ReadPath(name, name), WritePath(name, name)], root=None, overlays=shared)
    seen = await files.read_text(name)
    await files.write_text(name, NEW, like=seen)
    assert own.edits
    assert not other.edits
    assert document(other, file).text == NEW == file.read_text()


async def test_two_different_unsaved_texts_are_refused_by_name(file: Path) -> None:
    own, other = PaperEditor(), PaperEditor()
    own.open(file, "mine\n")
    other.open(file, "theirs\n")
    windows = [Window("vim", own), Window("code", other)]
    shared = SharedOverlays(windows[0], windows)  # type: ignore[arg-type]
    name = os.path.realpath(file)
    files = Files([ReadPath(name, name), WritePath(name, name)], root=None, overlays=shared)
    assert (await files.read_text(name)).text == "mine\n"
    with pytest.raises(ToolError, match="two editors \\(vim and code\\)"):
        await files.write_text(name, "new\n")
    assert (own.papers[name].text, other.papers[name].text) == ("mine\n", "theirs\n")


async def test_a_document_of_another_editor_counts_too(file: Path) -> None:
    other = PaperEditor()
    other.open(file, "theirs\n")
    shared = SharedOverlays(None, [Window("code", other)])  # type: ignore[list-item]
    name = os.path.realpath(file)
    files = Files([ReadPath(name, name), WritePath(name, name)], root=None, overlays=shared)
    assert (await files.read_text(name)).text == "theirs\n"
    assert [doc.path for doc in shared.below(os.path.dirname(name))] == [name]
    await files.write_text(name, "both\n")
    assert other.papers[name].text == "both\n"


async def test_what_an_editor_cannot_represent_is_refused_with_encodings(tmp_path: Path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes("café\n".encode("latin-1"))
    editor = PaperEditor()
    editor.open(path)
    name = os.path.realpath(path)
    files = Files(
        [ReadPath(name, name), WritePath(name, name)], root=None, overlays=editor.documents
    )
    with pytest.raises(ToolError, match="cp1252"):
        await files.write_text(name, "tea\n")
    assert path.read_bytes() == "café\n".encode("latin-1")
