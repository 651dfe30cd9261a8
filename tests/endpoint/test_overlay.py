"""Open documents, as an editor has them."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kova_ls.endpoint.overlay import Overlay
from kova_ls.endpoint.text_edits import apply_change

PIECES = st.lists(
    st.sampled_from(["a", "b\n", "\r\n", "\n", "\f", "\u2028", "\x85", "\v", "😀", "é", "𝒳y", "\r"])
).map("".join)


class Client:
    """How an editor holds a text: lines that end at `\\n`, columns in UTF-16 units."""

    def __init__(self, text):
        self.text = text

    def position(self, offset):
        before = self.text[:offset]
        line = before.count("\n")
        start = before.rfind("\n") + 1
        units = len(before[start:].encode("utf-16-le")) // 2
        return {"line": line, "character": units}

    def edit(self, start, end, new):
        start, end = sorted((start % (len(self.text) + 1), end % (len(self.text) + 1)))
        change = {
            "range": {"start": self.position(start), "end": self.position(end)},
            "text": new,
        }
        self.text = self.text[:start] + new + self.text[end:]
        return change


EDITS = st.lists(st.tuples(st.integers(0, 999), st.integers(0, 999), PIECES), max_size=8)


@given(PIECES, EDITS)
def test_any_edits_give_the_editors_text(text, edits):
    client = Client(text)
    for start, end, new in edits:
        text = apply_change(text, client.edit(start, end, new))
        assert text == client.text


@given(PIECES, st.lists(EDITS, max_size=3))
def test_documents_follow_the_editor_message_by_message(text, messages):
    overlay, client = Overlay(), Client(text)
    uri, path = "file:///nowhere/a.txt", "/nowhere/a.txt"
    overlay.opened({"uri": uri, "version": 1, "text": text})
    for version, edits in enumerate(messages, 2):
        overlay.changed(uri, version, [client.edit(*edit) for edit in edits])
        document = overlay.get(path)
        assert document is not None
        assert (document.text, document.version) == (client.text, version)


def test_a_document_that_is_on_the_disk_is_clean(tmp_path):
    overlay, path = Overlay(), tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo")
    for text, is_dirty in [("one\ntwo\n", False), ("one\r\ntwo", False), ("other", True)]:
        overlay.opened({"uri": path.as_uri(), "version": 1, "text": text})
        assert overlay.get(os.path.realpath(path)).is_dirty is is_dirty


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ("\ufeffgrün😀\nb\n".encode("utf-16-le"), "grün😀\nb\n"),
        ("\ufeffa\r\nb\r\n".encode("utf-16-be"), "a\nb\n"),
        ("grün\n".encode("latin-1"), "grün\n"),
        ("grün\n".encode("latin-1"), "gr\ufffdn\n"),
        ("日本\n".encode("shift_jis"), "日本\n"),
    ],
)
def test_a_document_in_another_encoding_is_clean(tmp_path, data, shown):
    overlay, path = Overlay(), tmp_path / "a.txt"
    path.write_bytes(data)
    name = os.path.realpath(path)
    overlay.opened({"uri": path.as_uri(), "version": 1, "text": shown})
    assert not overlay.get(name).is_dirty
    overlay.changed(path.as_uri(), 2, [{"text": shown + "more"}])
    assert overlay.get(name).is_dirty
    overlay.changed(path.as_uri(), 3, [{"text": shown}])
    assert not overlay.get(name).is_dirty


def test_a_new_document_is_dirty_and_a_saved_one_clean(tmp_path):
    overlay, path = Overlay(), tmp_path / "new.txt"
    overlay.opened({"uri": path.as_uri(), "version": 1, "text": "x"})
    assert overlay.get(os.path.realpath(path)).is_dirty
    overlay.saved(path.as_uri(), None)
    assert not overlay.get(os.path.realpath(path)).is_dirty
    overlay.closed(path.as_uri())
    assert overlay.get(os.path.realpath(path)) is None


def test_typing_is_counted_and_reading_anew_is_not(tmp_path):
    overlay, path = Overlay(), tmp_path / "a.txt"
    path.write_text("one")
    name, uri = os.path.realpath(path), path.as_uri()
    overlay.opened({"uri": uri, "version": 1, "text": "one"})
    path.write_text("two")
    overlay.changed(uri, 2, [{"text": "two"}])
    assert overlay.get(name).typed == 0
    overlay.changed(uri, 3, [{"text": "three"}])
    path.write_text("three")
    overlay.saved(uri, None)
    assert (overlay.get(name).typed, overlay.get(name).is_dirty) == (1, False)
    overlay.dirtied(uri, is_dirty=True)
    overlay.dirtied(uri, is_dirty=True)
    overlay.dirtied(uri, is_dirty=False)
    assert overlay.get(name).typed == 2


def test_what_is_no_regular_file_is_not_read(tmp_path):
    """Reading a pipe would stop the engine."""
    overlay, path = Overlay(), tmp_path / "pipe"
    os.mkfifo(path)
    overlay.opened({"uri": path.as_uri(), "version": 1, "text": "x"})
    assert overlay.get(os.path.realpath(path)).is_dirty


def test_a_document_that_is_to_become_a_file_has_its_path(tmp_path):
    overlay, path = Overlay(), tmp_path / "neu.txt"
    name, new = os.path.realpath(path), f"untitled:{path}"
    overlay.opened({"uri": new, "version": 1, "text": "x"})
    assert overlay.get(name).is_dirty
    path.write_text("x")
    overlay.opened({"uri": path.as_uri(), "version": 1, "text": "x"})
    overlay.closed(new)
    assert not overlay.get(name).is_dirty
    overlay.closed(path.as_uri())
    assert overlay.get(name) is None


def test_a_notebook_with_unsaved_changes_is_known_though_its_text_is_not(tmp_path):
    overlay, path = Overlay(), tmp_path / "a.ipynb"
    name = os.path.realpath(path)
    overlay.dirtied(path.as_uri(), is_dirty=True)
    assert overlay.holds_unseen(name)
    assert overlay.get(name) is None
    overlay.dirtied(path.as_uri(), is_dirty=False)
    assert not overlay.holds_unseen(name)
    overlay.dirtied(path.as_uri(), is_dirty=True)
    overlay.opened({"uri": path.as_uri(), "version": 1, "text": "x"})
    overlay.closed(path.as_uri())
    overlay.dirtied("untitled:a", is_dirty=True)
    assert not overlay.holds_unseen(name)


def test_other_schemes_and_unknown_documents_are_left_alone():
    overlay = Overlay()
    overlay.opened({"uri": "untitled:a", "version": 1, "text": "x"})
    overlay.changed("file:///a", 2, [{"text": "y"}])
    overlay.saved("file:///a", "y")
    overlay.closed("file:///a")
    assert list(overlay.below("/")) == []


def test_documents_of_a_folder_are_found(tmp_path):
    overlay = Overlay()
    for name in ("in/a", "in/b/c", "inside"):
        overlay.opened({"uri": (tmp_path / name).as_uri(), "version": 1, "text": name})
    root = os.path.realpath(tmp_path)
    found = overlay.below(os.path.join(root, "in"))
    assert {os.path.relpath(document.path, root) for document in found} == {"in/a", "in/b/c"}
