import os

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from pydantic import ValidationError

from kova_ls.permission.effects import ReadPath, WritePath
from kova_ls.tools._base import ToolError
from kova_ls.tools.edit import TOOL, replaced


def test_schema():
    assert TOOL.schema() == snapshot(
        {
            "additionalProperties": False,
            "properties": {
                "path": {"description": "The file.", "type": "string"},
                "old_string": {
                    "description": "Exact text to replace, without line numbers; unique unless replace_all.",
                    "type": "string",
                },
                "new_string": {"description": "What to put there.", "type": "string"},
                "replace_all": {
                    "default": False,
                    "description": "Replace every match.",
                    "type": "boolean",
                },
            },
            "required": ["path", "old_string", "new_string"],
            "type": "object",
        }
    )


async def test_replaces_one_unique_match(desk):
    path = desk.put("a.txt", "one\ntwo\nthree\n")
    result = await desk.call(TOOL, path="a.txt", old_string="two", new_string="2")
    assert path.read_text() == "one\n2\nthree\n"
    assert result.text == "Replaced 1 match in a.txt (line 2)."
    assert result.display[0].diff == snapshot("""\
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,3 @@
 one
-two
+2
 three
""")


def test_declares_reading_and_writing(desk):
    args, ctx = desk.context(TOOL, {"path": "a", "old_string": "a", "new_string": "b"})
    path = os.path.join(os.path.realpath(desk.root), "a")
    assert TOOL.effects(args, ctx.resolve) == [
        ReadPath(path, path),
        WritePath(path, path, "create"),
    ]


async def test_several_matches_change_nothing_and_are_named(desk):
    path = desk.put("a.txt", "x\ny\nx\n")
    result = await desk.call(TOOL, path="a.txt", old_string="x", new_string="z")
    assert result.is_error
    assert result.text == snapshot(
        "old_string is in a.txt 2 times (lines 1, 3); nothing was changed. Give more of the lines around it to make it unique, or set replace_all: true."
    )
    assert path.read_text() == "x\ny\nx\n"


async def test_replace_all_counts(desk):
    path = desk.put("a.txt", "x\ny\nx\n")
    result = await desk.call(TOOL, path="a.txt", old_string="x", new_string="z", replace_all=True)
    assert result.text == "Replaced 2 matches in a.txt (line 1, 3)."
    assert path.read_text() == "z\ny\nz\n"


@pytest.mark.parametrize(("old", "new"), [("same", "same"), ("", "x")])
def test_edits_that_mean_nothing_are_refused(old, new):
    with pytest.raises(ValidationError):
        TOOL.args.model_validate({"path": "a", "old_string": old, "new_string": new})


async def test_crlf_is_matched_as_lf_and_kept(desk):
    path = desk.put("a.txt", "a\r\nb\r\nc\r\n")
    await desk.call(TOOL, path="a.txt", old_string="a\nb", new_string="a\nnew\nb")
    assert path.read_bytes() == b"a\r\nnew\r\nb\r\nc\r\n"


async def test_mixed_line_ends_are_matched_exactly(desk):
    path = desk.put("a.txt", "a\r\nb\nc\n")
    missed = await desk.call(TOOL, path="a.txt", old_string="a\nb", new_string="x")
    assert "line ends are mixed" in missed.text
    await desk.call(TOOL, path="a.txt", old_string="a\r\nb", new_string="x")
    assert path.read_bytes() == b"x\nc\n"


HINTS = {
    "white space": ("def f():\n\treturn 1\n", "def f():\n    return 1", "lines are exactly"),
    "quotes": ("say “hi”\n", 'say "hi"', "white space or quotes"),
    "numbers": ("alpha\nbeta\n", "1\talpha\n2\tbeta", "Leave out the line numbers"),
    "near": ("total = compute(a, b)\n", "total = compute(a, c)", "Nearest is line 1"),
    "nothing": ("alpha\n", "zzzzzz", "Read the file again"),
}


@pytest.mark.parametrize(("text", "old", "says"), HINTS.values(), ids=list(HINTS))
async def test_a_miss_says_what_is_near(desk, text, old, says):
    desk.put("a.txt", text)
    result = await desk.call(TOOL, path="a.txt", old_string=old, new_string="!")
    assert result.is_error
    assert says.removeprefix("lines ") in result.text


async def test_latin_1_bytes_survive(desk):
    path = desk.put("a.txt", b"caf\xe9 = 1\nx\n")
    await desk.call(TOOL, path="a.txt", old_string="x", new_string="é")
    assert path.read_bytes() == b"caf\xe9 = 1\n\xe9\n"


async def test_text_that_the_encoding_lacks_is_refused(desk):
    path = desk.put("a.txt", b"caf\xe9\n")
    result = await desk.call(TOOL, path="a.txt", old_string="caf", new_string="日")
    assert result.is_error
    assert "latin-1" in result.text
    assert path.read_bytes() == b"caf\xe9\n"


async def test_an_edit_of_unsaved_text_goes_to_the_editor(desk):
    path = desk.put("a.txt", "disk\n")
    desk.overlays.open(path, "unsaved\n", version=4)
    args, ctx = desk.context(
        TOOL, {"path": "a.txt", "old_string": "unsaved", "new_string": "edited"}
    )
    preview = await TOOL.preview(args, ctx)
    assert preview.files[0].document_version == 4
    await TOOL.run(args, ctx)
    assert desk.overlays.get(os.path.realpath(path)).text == "edited\n"
    assert path.read_text() == "disk\n"


@pytest.mark.parametrize("answer", ["stale", "unavailable"])
async def test_an_editor_that_does_not_take_unsaved_text_changes_nothing(desk, answer):
    path = desk.put("a.txt", "disk\n")
    desk.overlays.open(path, "unsaved\n")
    desk.overlays.answer = answer
    result = await desk.call(TOOL, path="a.txt", old_string="unsaved", new_string="x")
    assert result.is_error
    assert path.read_text() == "disk\n"


async def test_an_editor_that_is_gone_leaves_the_disk_to_us(desk):
    path = desk.put("a.txt", "same\n")
    desk.overlays.open(path, "same\n", is_dirty=False)
    desk.overlays.answer = "unavailable"
    result = await desk.call(TOOL, path="a.txt", old_string="same", new_string="new")
    assert not result.is_error
    assert path.read_text() == "new\n"


lines = st.lists(st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), max_size=8))


@given(before=lines, old=st.text("abc\n", min_size=1), new=st.text("abc\nü"), after=lines)
def test_an_edit_of_a_crlf_view_is_the_edit_of_the_lf_text(before, old, new, after):
    text = "\n".join([*before, "<", ""]) + old + "\n".join(["", ">", *after, ""])
    assume(old != new)
    try:
        plain, _ = replaced(text, old, new, replace_all=False, name="f")
    except ToolError:
        return
    crlf, _ = replaced(text.replace("\n", "\r\n"), old, new, replace_all=False, name="f")
    assert crlf == plain.replace("\n", "\r\n")


@given(
    text=st.text("ab\n").map(lambda text: f"<\n{text}\n>"),
    old=st.text("ab\n", min_size=1),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_replacing_there_and_back_is_nothing(text, old, end):
    text = text.replace("\n", end)
    try:
        there, line_nos = replaced(text, old, "\0\n", replace_all=False, name="f")
    except ToolError:
        return
    assert len(line_nos) == 1
    assert replaced(there, "\0\n", old, replace_all=False, name="f")[0] == text


def test_matches_that_overlap_are_not_unique():
    with pytest.raises(ToolError, match="2 times"):
        replaced("aaa", "aa", "b", replace_all=False, name="f")
    assert replaced("aaa", "aa", "b", replace_all=True, name="f") == ("ba", [1])
