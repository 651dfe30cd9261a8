"""Open documents and commands; two editors on one file are in tests/endpoint/test_documents.py."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from kova_ls.engine.overlays import (
    SharedOverlays,
    after_command,
    before_command,
    dirty_below,
    dirty_notice,
    stamp_of,
    trees_of,
)
from kova_ls.engine.workspace import Document, Replaced
from kova_ls.tools._base import ToolError
from tests.support.context import Opened
from tests.support.play import play
from tests.support.stage import PretendedEditor, Stage, call, say


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return Path(os.path.realpath(tmp_path))


def opened(root: Path, *, is_dirty: bool, text: str = "shown\n") -> tuple[Opened, Path]:
    path = root / "a.txt"
    path.write_text("disk\n")
    documents = Opened()
    documents.open(path, text, is_dirty=is_dirty)
    return documents, path


async def test_unsaved_documents_are_told_to_the_model(root: Path) -> None:
    documents, path = opened(root, is_dirty=True)
    before = await before_command(documents, [str(root)], "warn", os.path.basename)
    assert before.notes == ("Unsaved in the editor, so the command saw older text: a.txt.",)
    assert before.stamps == {str(path): stamp_of(str(path))}
    assert documents.asked == []


async def test_unsaved_documents_are_saved_and_the_rest_is_told(root: Path) -> None:
    documents, path = opened(root, is_dirty=True)
    documents.open(root / "b.txt", "b\n")
    documents.saves = frozenset({str(path)})
    before = await before_command(documents, [str(root)], "save", os.path.basename)
    assert path.read_text() == "shown\n"
    assert before.notes == ("Unsaved in the editor, so the command saw older text: b.txt.",)


async def test_unsaved_documents_stop_the_command(root: Path) -> None:
    documents, _ = opened(root, is_dirty=True)
    with pytest.raises(ToolError, match=r"Unsaved in the editor: a\.txt\. .*not run"):
        await before_command(documents, [str(root)], "refuse", os.path.basename)


async def test_documents_outside_are_no_matter(root: Path) -> None:
    documents, _ = opened(root, is_dirty=True)
    before = await before_command(documents, [str(root / "sub")], "refuse", os.path.basename)
    assert before.notes == ()


async def test_a_document_outside_that_the_command_changed_is_read_anew(root: Path) -> None:
    documents, path = opened(root, is_dirty=False)
    before = await before_command(documents, [str(root / "sub")], "warn", os.path.basename)
    path.write_text("changed by it\n")
    notes = await after_command(documents, before, os.path.basename)
    assert notes == ["The editor may still show older text of: a.txt."]


async def test_clean_documents_are_read_anew_after_the_command(root: Path) -> None:
    documents, path = opened(root, is_dirty=False, text="disk\n")
    documents.reloads = frozenset({str(path)})
    before = await before_command(documents, [str(root)], "warn", os.path.basename)
    path.write_text("changed by it\n")
    assert await after_command(documents, before, os.path.basename) == []
    assert documents.documents[str(path)].text == "changed by it\n"


async def test_what_the_editor_does_not_read_anew_is_told(root: Path) -> None:
    documents, path = opened(root, is_dirty=False, text="disk\n")
    before = await before_command(documents, [str(root)], "warn", os.path.basename)
    path.unlink()
    notes = await after_command(documents, before, os.path.basename)
    assert notes == ["The editor may still show older text of: a.txt."]


async def test_unsaved_text_over_a_changed_file_is_told(root: Path) -> None:
    documents, path = opened(root, is_dirty=True)
    before = await before_command(documents, [str(root)], "warn", os.path.basename)
    path.write_text("changed by it\n")
    notes = await after_command(documents, before, os.path.basename)
    assert "Changed on the disk while unsaved in the editor: a.txt." in notes[1]
    assert ("reload", str(path)) not in documents.asked


async def test_a_command_that_changes_nothing_asks_the_editor_nothing(root: Path) -> None:
    documents, _ = opened(root, is_dirty=False)
    before = await before_command(documents, [str(root)], "warn", os.path.basename)
    assert await after_command(documents, before, os.path.basename) == []
    assert documents.asked == []


async def test_a_path_is_up_to_date_when_it_is_so_in_every_editor(root: Path) -> None:
    one, path = opened(root, is_dirty=False)
    two, _ = opened(root, is_dirty=False)
    one.reloads = frozenset({str(path)})
    editors = [PretendedEditor((), {}, opened=documents) for documents in (one, two)]
    shared = SharedOverlays(editors[1], editors)
    assert await shared.reload([str(path)]) == frozenset()
    two.reloads = one.reloads
    assert await shared.reload([str(path)]) == {str(path)}
    two.saves = one.saves = frozenset({str(path)})
    assert await shared.save([str(path), "/elsewhere"]) == {str(path)}
    assert ("save", str(path)) not in one.asked


async def test_a_document_that_is_open_nowhere_is_unavailable() -> None:
    answer = await SharedOverlays(None, []).replace(Document("/a", "", 1, False), "x")
    assert answer.status == "unavailable"


def test_words_for_the_card(root: Path) -> None:
    documents, path = opened(root, is_dirty=True)
    assert dirty_below(documents, trees_of(str(root), str(root / "sub"))) == [str(path)]
    assert trees_of(None, "/tmp") == ("/tmp",)
    assert dirty_notice([str(path)], "save", os.path.basename) == (
        "Unsaved in the editor: a.txt. They are saved before it runs."
    )


# -- in a turn --------------------------------------------------------------------------------------


def unsaved(stage: Stage, _: object) -> None:
    stage.editor.opened.open(stage.put("a.txt", "disk\n"), "unsaved\n")


def test_the_card_and_the_result_say_what_is_unsaved() -> None:
    told = play(
        [call("bash", command="touch made"), say("Done.")],
        before=unsaved,
        answers=["once"],
        only=("notice", "call ok"),
        level="ask",
    )
    assert told == (
        "    notice 'Unsaved in the editor: a.txt. The command sees what is on the disk.'\n"
        "    notice 'This approval is for this one time.'\n"
        "  call ok: '(no output)⏎[exit code 0]⏎[Unsaved in the editor, so the command saw older "
        "text: a.txt.]'\n"
    ).replace("⏎", "\\n")


def test_the_setting_can_stop_commands() -> None:
    told = play(
        [call("bash", command="ls"), say("Done.")],
        before=unsaved,
        settings='dirty_documents = "refuse"',
        answers=["once"],
        only=("call error",),
    )
    assert "Unsaved in the editor: a.txt. Commands see only what is saved" in told


def test_what_a_command_changed_is_read_anew_by_the_editor() -> None:
    def clean(stage: Stage, _: object) -> None:
        path = stage.put("a.txt", "disk\n")
        stage.editor.opened.open(path, "disk\n", is_dirty=False)
        stage.editor.opened.reloads = frozenset({os.path.realpath(path)})

    def shown(stage: Stage, _: object) -> None:
        [document] = stage.editor.opened.documents.values()
        assert document.text == "new\n"

    told = play(
        [call("bash", command="echo new > a.txt"), say("Done.")],
        before=clean,
        after=shown,
        answers=["once"],
        only=("call ok",),
    )
    assert told == "  call ok: '(no output)\\n[exit code 0]'\n"


# -- a document that moves under a call -------------------------------------------------------------


class Moving(Opened):
    """A person types into the document while the first edits come."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    async def replace(self, document: Document, text: str) -> Replaced:
        if not self.times:
            return await super().replace(document, text)
        self.times -= 1
        self.open(Path(document.path), f"typed\n{document.text}")
        return Replaced("stale")


def moving(level: str, answers: Sequence[str] = ()) -> tuple[str, str]:
    """What became of an edit, and of the document."""
    shown: list[str] = []

    def begin(stage: Stage, _: object) -> None:
        stage.editor.opened = Moving(2)
        stage.editor.opened.open(stage.put("a.txt", "one\n"), "one\ntwo\n")

    def end(stage: Stage, _: object) -> None:
        shown.extend(document.text for document in stage.editor.opened.documents.values())

    told = play(
        [call("edit", path="a.txt", old_string="two", new_string="2"), say("Done.")],
        before=begin,
        after=end,
        level=level,
        answers=answers,
        only=("call ok", "call error"),
    )
    return told, shown[0]


def test_an_edit_that_nobody_had_to_read_is_computed_anew() -> None:
    told, shown = moving("auto-edit")
    assert told == "  call ok: 'Replaced 1 match in a.txt (line 4).'\n"
    assert shown == "typed\ntyped\none\n2\n"


def test_an_edit_that_a_card_showed_is_never_computed_anew_by_itself() -> None:
    told, shown = moving("ask", ["once"])
    assert "changed since it was looked at; nothing was written" in told
    assert shown == "typed\none\ntwo\n"
