import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kova_ls.engine.workspace import (
    Files,
    file_uri,
    is_below,
    resolve,
)
from kova_ls.permission.effects import ReadPath, WritePath
from kova_ls.tools._base import ToolError
from tests.support.context import Opened


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "w"
    folder.mkdir()
    return os.path.realpath(folder)


def at(root, text):
    return resolve(text, root=root, home="/home/me")


def writing(root, name, **more):
    target = at(root, name)
    return target.path, Files([target.reads(), target.writes()], root=root, **more)


def put(root, name, data):
    path = os.path.join(root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    return path


def get(path):
    with open(path, "rb") as file:
        return file.read()


class TestResolve:
    @pytest.mark.parametrize(
        ("text", "path"),
        [
            ("a.txt", "{root}/a.txt"),
            ("./b/../a.txt", "{root}/a.txt"),
            ("", None),
            ("/x//y/./z/", "/x/y/z"),
            ("//x", "/x"),
            ("~", "/home/me"),
            ("~/a", "/home/me/a"),
            ("~other/a", "{root}/~other/a"),
            ("file:///x/a%20b", "/x/a b"),
            (" spaced ", "{root}/ spaced "),
        ],
    )
    def test_spellings(self, root, text, path):
        if path is None:
            with pytest.raises(ToolError, match="empty"):
                at(root, text)
        else:
            assert at(root, text).path == path.format(root=root)

    def test_follows_links_also_to_what_does_not_exist(self, root):
        os.mkdir(f"{root}/real")
        os.symlink("real", f"{root}/link")
        os.symlink("/nowhere/at/all", f"{root}/dangling")
        found = at(root, "link/new/file.txt")
        assert (found.asked, found.path, found.exists) == (
            f"{root}/link/new/file.txt",
            f"{root}/real/new/file.txt",
            False,
        )
        assert at(root, "dangling").path == "/nowhere/at/all"

    def test_a_loop_of_links_does_not_hang(self, root):
        os.symlink("b", f"{root}/a")
        os.symlink("a", f"{root}/b")
        assert at(root, "a/c").asked == f"{root}/a/c"

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("a\0b", "NUL"),
            ("x" * 300, "too long"),
            ("/".join(["x" * 200] * 30), "too long"),
            ("ü" * 200, "too long"),
            ("\ud800", "no file name can have"),
        ],
    )
    def test_what_can_name_no_file(self, root, text, says):
        with pytest.raises(ToolError, match=says):
            at(root, text)

    def test_relative_without_a_workspace(self):
        with pytest.raises(ToolError, match="absolute"):
            resolve("a", root=None, home="/home/me")

    @given(st.lists(st.sampled_from(["..", ".", "a", "b", ""]), max_size=8))
    def test_no_spelling_leaves_a_dot(self, parts):
        found = resolve("/".join(["/w", *parts]), root="/w", home="/h")
        assert ".." not in found.path.split("/")
        assert os.path.isabs(found.path)


def test_is_below_knows_whole_names():
    assert is_below("/a/b", "/a")
    assert is_below("/a", "/a")
    assert is_below("/a", "/")
    assert not is_below("/ab", "/a")


def test_uris_are_quoted():
    assert file_uri("/a b/ü#?.py") == "file:///a%20b/%C3%BC%23%3F.py"


class TestReading:
    async def test_only_what_was_declared(self, root):
        put(root, "tree/a", b"a")
        put(root, "b", b"b")
        tree = f"{root}/tree"
        files = Files([ReadPath(tree, tree, is_tree=True)], root=root, also_readable=[f"{root}/b"])
        assert (await files.read_text(f"{tree}/a")).text == "a"
        assert (await files.read_text(f"{root}/b")).text == "b"
        with pytest.raises(ToolError, match="not judged"):
            await files.read_text(f"{root}/c")
        alone = Files([ReadPath(tree, tree)], root=root)
        with pytest.raises(ToolError, match="not judged"):
            await alone.read_bytes(f"{tree}/a")

    async def test_a_file_that_became_a_link_is_not_followed(self, root):
        put(root, "secret", b"secret")
        path, files = writing(root, "a")
        os.symlink("secret", path)
        with pytest.raises(ToolError):
            await files.read_text(path)

    async def test_a_folder_that_became_a_link_is_not_followed(self, root):
        put(root, "other/a", b"secret")
        put(root, "dir/a", b"mine")
        path, files = writing(root, "dir/a")
        os.rename(f"{root}/dir", f"{root}/old")
        os.symlink("other", f"{root}/dir")
        with pytest.raises(ToolError, match="link"):
            await files.read_text(path)

    async def test_large_files_are_read_off_the_loop_and_too_large_ones_refused(self, root):
        path = put(root, "big", b"x" * 300_000)
        files = Files([ReadPath(path, path)], root=root)
        assert len(await files.read_bytes(path)) == 300_000
        with pytest.raises(ToolError, match="300,000 bytes"):
            await files.read_text(path, max_bytes=1_000)

    async def test_no_descriptor_is_left_open(self, root):
        put(root, "dir/a", b"a")
        files = Files([ReadPath(root, root, is_tree=True)], root=root)
        before = len(os.listdir("/proc/self/fd"))
        for name in ("dir", "dir/a", "dir/none", "dir/a/b"):
            try:
                await files.read_text(f"{root}/{name}")
            except ToolError:
                continue
        assert len(os.listdir("/proc/self/fd")) == before

    async def test_display_is_relative_inside_alone(self, root):
        files = Files([], root=root)
        shown = [files.display(p) for p in (f"{root}/a/b", root, f"{root}x/a", "/etc/passwd")]
        assert shown == ["a/b", ".", f"{root}x/a", "/etc/passwd"]


class TestOverlays:
    async def test_unsaved_changes_that_are_not_told_are_not_written_over(self, root):
        path = put(root, "a.ipynb", b"disk\n")
        _, files = writing(root, "a.ipynb", overlays=Opened(unseen=frozenset({path})))
        assert (await files.read_text(path)).text == "disk\n"
        with pytest.raises(ToolError, match="does not tell them"):
            await files.write_text(path, "ours\n")
        assert get(path) == b"disk\n"

    async def test_unsaved_text_is_read_and_a_stale_edit_refused(self, root):
        path = put(root, "a", b"disk")
        opened = Opened()
        opened.open(path, "unsaved", version=3)
        _, files = writing(root, "a", overlays=opened)
        seen = await files.read_text(path)
        assert (seen.text, seen.source, seen.version) == ("unsaved", "editor", 3)
        opened.open(path, "typed on", version=4)
        with pytest.raises(ToolError, match="changed since"):
            await files.write_text(path, "mine", like=seen)
        assert opened.get(path).text == "typed on"

    async def test_unsaved_text_keeps_the_form_of_its_file(self, root):
        path = put(root, "a", "\ufeffdisk".encode("utf-16-le"))
        opened = Opened()
        opened.open(path, "unsaved")
        _, files = writing(root, "a", overlays=opened)
        seen = await files.read_text(path)
        assert (seen.encoding, seen.has_bom) == ("utf-16-le", True)

    async def test_only_dirty_documents_in_a_declared_tree_are_searched(self, root):
        opened = Opened()
        for name, is_dirty in (("in/a", True), ("in/b", False), ("out/c", True)):
            opened.open(put(root, name, b""), name, is_dirty=is_dirty)
        tree = f"{root}/in"
        files = Files([ReadPath(tree, tree, is_tree=True)], root=root, overlays=opened)
        assert files.overlays(root) == {f"{tree}/a": "in/a"}
        assert Files([], root=root).overlays(root) == {}

    async def test_the_change_names_the_version_it_was_made_from(self, root):
        opened = Opened()
        opened.open(put(root, "a", b"disk"), "unsaved\n", version=7)
        path, files = writing(root, "a", overlays=opened)
        change = await files.write_text(path, "mine\n", like=await files.read_text(path))
        assert change.document_version == 7

    async def test_a_clean_document_that_is_older_than_the_disk_does_not_count(self, root):
        opened = Opened()
        opened.open(put(root, "a", b"newer"), "older", is_dirty=False)
        path, files = writing(root, "a", overlays=opened)
        seen = await files.read_text(path)
        assert (seen.text, seen.source) == ("newer", "disk")
        await files.write_text(path, "newest", like=seen)
        assert (get(path), opened.get(path).text) == (b"newest", "older")

    @pytest.mark.parametrize("shown", ["one\ntwo", "one\r\ntwo\r\n", "one\ntwo\n"])
    async def test_line_ends_and_the_last_newline_make_no_unsaved_change(self, root, shown):
        opened = Opened(answer="unavailable")
        opened.open(put(root, "a", b"one\ntwo\n"), shown)
        path, files = writing(root, "a", overlays=opened)
        seen = await files.read_text(path)
        assert (seen.text, seen.source) == ("one\ntwo\n", "disk")
        assert files.overlays(path) == {}
        await files.write_text(path, "three\n", like=seen)
        assert get(path) == b"three\n"


async def test_a_write_effect_asked_by_a_link_that_moved_is_refused(root):
    put(root, "one", b"1")
    put(root, "two", b"2")
    os.symlink("one", f"{root}/link")
    target = at(root, "link")
    files = Files([WritePath(target.path, target.asked)], root=root)
    os.unlink(f"{root}/link")
    os.symlink("two", f"{root}/link")
    with pytest.raises(ToolError, match="call again"):
        await files.write_text(target.path, "x")
    assert (get(f"{root}/one"), get(f"{root}/two")) == (b"1", b"2")
