import errno
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kova_ls.engine import disk
from kova_ls.engine.disk import decode, encode
from kova_ls.engine.workspace import Files, file_uri, resolve
from kova_ls.permission.effects import ReadPath
from kova_ls.tools._base import Moved, ToolError
from kova_ls.tools._text import no_file


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


class TestForms:
    @given(
        text=st.text(st.characters(codec="utf-8", exclude_characters="\0")),
        codec=st.sampled_from(["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]),
    )
    def test_bytes_with_a_mark_survive(self, text, codec):
        data = ("\ufeff" + text).encode(codec)
        if codec == "utf-16-le" and text.startswith("\0"):
            return
        file = decode(data, "f")
        assert (file.text, file.has_bom) == (text, True)
        assert encode(file.text, file, "f") == data

    @given(st.binary())
    def test_whatever_reads_as_text_survives(self, data):
        try:
            file = decode(data, "f")
        except ToolError:
            return
        assert encode(file.text, file, "f") == data

    def test_latin_1_is_text_and_control_bytes_are_not(self):
        assert decode(b"caf\xe9\n", "f").encoding == "latin-1"
        with pytest.raises(ToolError, match="binary"):
            decode(bytes(range(1, 32)) + b"\xff", "f")
        with pytest.raises(ToolError, match="binary"):
            decode(b"\xff\xfea", "f")

    def test_lone_surrogates_do_not_fit(self):
        with pytest.raises(ToolError, match="nothing was written"):
            encode("\ud800", None, "f")


class TestWriting:
    async def test_only_what_was_declared(self, root):
        path = put(root, "a", b"a")
        files = Files([ReadPath(path, path)], root=root)
        with pytest.raises(ToolError, match="not judged"):
            await files.write_text(path, "b")

    async def test_keeps_form_and_mode_and_leaves_no_other_file(self, root):
        put(root, "a", b"\xef\xbb\xbfone\r\n")
        os.chmod(f"{root}/a", 0o640)
        path, files = writing(root, "a")
        old = await files.read_text(path)
        change = await files.write_text(path, "two\r\n", like=old)
        assert get(path) == b"\xef\xbb\xbftwo\r\n"
        assert os.stat(path).st_mode & 0o777 == 0o640
        assert os.listdir(root) == ["a"]
        assert (change.change, change.uri) == ("modify", file_uri(path))

    async def test_a_file_that_moved_on_is_left_alone(self, root):
        put(root, "a", b"one")
        path, files = writing(root, "a")
        old = await files.read_text(path)
        put(root, "a", b"other")
        with pytest.raises(ToolError, match="changed since"):
            await files.write_text(path, "two", like=old)
        assert get(path) == b"other"

    async def test_a_file_that_came_or_went_meanwhile_is_left_alone(self, root):
        path, files = writing(root, "new")
        put(root, "new", b"someone else's")
        with pytest.raises(ToolError, match="changed since"):
            await files.write_text(path, "mine", like=no_file())
        old = await files.read_text(path)
        os.unlink(path)
        with pytest.raises(ToolError, match="changed since"):
            await files.write_text(path, "mine", like=old)
        assert not os.path.exists(path)

    async def test_a_file_replaced_by_a_link_between_resolve_and_write(self, root):
        put(root, "outside", b"precious")
        put(root, "a", b"one")
        path, files = writing(root, "a")
        old = await files.read_text(path)
        os.unlink(path)
        os.symlink("outside", path)
        with pytest.raises(ToolError):
            await files.write_text(path, "two", like=old)
        with pytest.raises(ToolError):
            await files.write_text(path, "two")
        assert get(f"{root}/outside") == b"precious"

    async def test_a_link_that_appears_at_the_last_moment_is_not_followed(self, root, monkeypatch):
        put(root, "outside", b"precious")
        path, files = writing(root, "new")
        real = disk._write_new

        def with_a_race(*args):
            real(*args)
            os.symlink("outside", path)

        monkeypatch.setattr(disk, "_write_new", with_a_race)
        with pytest.raises(ToolError):
            await files.write_text(path, "two", like=no_file())
        assert get(f"{root}/outside") == b"precious"
        assert sorted(os.listdir(root)) == ["new", "outside"]

    async def test_a_file_that_comes_at_the_last_moment_is_left_alone(self, root, monkeypatch):
        path, files = writing(root, "new")
        real = disk._write_new

        def with_a_race(*args):
            real(*args)
            put(root, "new", b"someone else's")

        monkeypatch.setattr(disk, "_write_new", with_a_race)
        with pytest.raises(ToolError, match="changed since"):
            await files.write_text(path, "two")
        assert get(path) == b"someone else's"

    async def test_a_folder_replaced_by_a_link_between_resolve_and_write(self, root):
        os.mkdir(f"{root}/target")
        os.mkdir(f"{root}/dir")
        path, files = writing(root, "dir/new")
        os.rmdir(f"{root}/dir")
        os.symlink("target", f"{root}/dir")
        with pytest.raises(ToolError):
            await files.write_text(path, "two")
        assert os.listdir(f"{root}/target") == []

    async def test_a_full_disk_leaves_the_file_as_it_was(self, root, monkeypatch):
        put(root, "a", b"one")
        path, files = writing(root, "a")
        old = await files.read_text(path)

        def full(_handle):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(disk.os, "fsync", full)
        with pytest.raises(ToolError, match="No space left"):
            await files.write_text(path, "two", like=old)
        assert get(path) == b"one"
        assert os.listdir(root) == ["a"]

    async def test_another_name_of_a_hard_linked_file_keeps_the_old_text(self, root):
        put(root, "a", b"one")
        os.link(f"{root}/a", f"{root}/b")
        path, files = writing(root, "a")
        await files.write_text(path, "two")
        assert (get(path), get(f"{root}/b")) == (b"two", b"one")

    async def test_read_only_files_and_pipes_are_refused(self, root):
        put(root, "a", b"one")
        os.chmod(f"{root}/a", 0o444)
        os.mkfifo(f"{root}/pipe")
        for name, says in (("a", "read-only"), ("pipe", "no regular file")):
            path, files = writing(root, name)
            with pytest.raises(ToolError, match=says):
                await files.write_text(path, "two")

    async def test_a_file_on_the_way_is_named(self, root):
        put(root, "a", b"one")
        path, files = writing(root, "a/b/c")
        with pytest.raises(ToolError, match="not a folder"):
            await files.write_text(path, "two")

    async def test_a_longest_name_can_be_written(self, root):
        path, files = writing(root, "n" * 255)
        await files.write_text(path, "x")
        assert get(path) == b"x"

    @pytest.mark.parametrize("text", ["one\r\ntwo\r\n", "one\ntwo", "\ttab\f\x85\u2028\n"])
    async def test_text_is_written_to_the_letter(self, root, text):
        path, files = writing(root, "a")
        await files.write_text(path, text)
        assert get(path) == text.encode()


# -- deleting, and the forms in which editors show texts ---------------------------------------


def test_only_the_very_text_is_deleted(root):
    place = os.path.join(root, "a.txt")
    with open(place, "w", encoding="utf-8") as file:
        file.write("one\n")
    with pytest.raises(Moved):
        disk.remove_text(place, "other\n", "a.txt")
    disk.remove_text(place, "one\n", "a.txt")
    assert not os.path.exists(place)
    with pytest.raises(Moved):
        disk.remove_text(place, "one\n", "a.txt")


def test_a_link_is_not_deleted_in_place_of_its_file(root):
    place = os.path.join(root, "real.txt")
    with open(place, "w", encoding="utf-8") as file:
        file.write("one\n")
    os.symlink(place, os.path.join(root, "link"))
    with pytest.raises(ToolError):
        disk.remove_text(os.path.join(root, "link"), "one\n", "link")
    assert os.path.exists(place)


def test_an_empty_file_is_read_whatever_the_limit(root):
    place = os.path.join(root, "empty")
    open(place, "w", encoding="utf-8").close()
    assert disk.read(place, 1 << 40, "empty") == b""


@pytest.mark.parametrize(
    ("data", "fits"),
    [(b"plain", ()), ("é".encode(), ()), ("日本".encode("shift_jis"), ("shift_jis",))],
)
def test_encodings_that_bytes_fit(data, fits):
    assert set(fits) <= set(disk.fitting_encodings(data))
    assert bool(disk.fitting_encodings(data)) == bool(fits)


@pytest.mark.parametrize(
    ("text", "old", "shown", "wanted"),
    [
        ("a\r\nB\r\n", "a\r\nb\r\n", "a\nb\n", "a\nB\n"),
        ("a\nB\n", "a\nb\n", "a\r\nb\r\n", "a\r\nB\r\n"),
        ("a\nB", "a\nb", "a\nb\n", "a\nB\n"),
        ("a\nB", "a\nb", "a\r\nb\r\n", "a\r\nB\r\n"),
        ("B", "b", "other", "B"),
        ("B", "b", "b", "B"),
    ],
)
def test_a_text_takes_the_form_in_which_the_editor_shows_it(text, old, shown, wanted):
    assert disk.in_form_of(text, old, shown) == wanted


def test_line_ends_and_a_last_newline_make_no_other_text():
    assert disk.is_same_text("a\r\nb", "a\nb\n")
    assert not disk.is_same_text("a\nb", "a\nb\n\n")
