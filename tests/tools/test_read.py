import pytest
from inline_snapshot import snapshot

from kova_ls.tools.read import TOOL


def test_schema():
    assert TOOL.schema() == snapshot(
        {
            "additionalProperties": False,
            "properties": {
                "path": {
                    "description": "Absolute, `~`-led or relative to the workspace.",
                    "type": "string",
                },
                "line_offset": {
                    "type": "integer",
                    "description": "First line, from 1; negative counts from the end.",
                },
                "n_lines": {"minimum": 1, "type": "integer", "description": "Lines to read."},
            },
            "required": ["path"],
            "type": "object",
        }
    )


async def test_shows_numbered_lines_and_says_that_is_all(desk):
    desk.put("a.txt", "one\ntwo\n")
    result = await desk.call(TOOL, path="a.txt")
    assert result.text == snapshot("""\
1	one
2	two
[2 lines, the whole file; line ends LF.]\
""")
    assert [(block.type, block.text) for block in result.display] == [("link", "a.txt")]


@pytest.mark.parametrize(
    ("ask", "shown"),
    [
        ({"line_offset": 3, "n_lines": 2}, ["3\tl3", "4\tl4"]),
        ({"line_offset": -2}, ["19\tl19", "20\tl20"]),
        ({"line_offset": -99, "n_lines": 1}, ["1\tl1"]),
        ({"line_offset": 0, "n_lines": 1}, ["1\tl1"]),
        ({"offset": 20, "limit": 5}, ["20\tl20"]),
    ],
)
async def test_shows_the_lines_asked_for(desk, ask, shown):
    desk.put("a.txt", "".join(f"l{n}\n" for n in range(1, 21)))
    assert (await desk.call(TOOL, path="a.txt", **ask)).text.split("\n")[:-1] == shown


async def test_stops_at_1000_lines_and_says_how_to_go_on(desk):
    desk.put("a.txt", "x\n" * 1500)
    text = (await desk.call(TOOL, path="a.txt", n_lines=5000)).text
    assert text.count("\n") == 1000
    assert text.endswith("[Lines 1-1000 of 1500; line ends LF. Go on with line_offset=1001.]")


async def test_stops_at_100_kilobytes_at_a_whole_line(desk):
    desk.put("a.txt", ("é" * 900 + "\n") * 200)
    text = (await desk.call(TOOL, path="a.txt")).text
    assert len(text.encode()) < 100_200
    assert "of 200; line ends LF. Go on with line_offset=56.]" in text


async def test_cuts_a_very_long_line_and_says_so(desk):
    desk.put("a.txt", "x" * 5_000)
    assert (
        "[… 3,000 more characters; cut them out in bash]"
        in (await desk.call(TOOL, path="a.txt")).text
    )


async def test_a_pure_crlf_file_appears_as_lf(desk):
    desk.put("a.txt", "a\r\nb\r\n")
    assert (await desk.call(TOOL, path="a.txt")).text == snapshot("""\
1	a
2	b
[2 lines, the whole file; line ends CRLF.]\
""")


async def test_mixed_line_ends_show_the_carriage_return(desk):
    desk.put("a.txt", "a\r\nb\n")
    assert (await desk.call(TOOL, path="a.txt")).text == snapshot("""\
1	a\\r
2	b
[2 lines, the whole file; line ends mixed. \\r shows a carriage return; edit must match it as that character.]\
""")


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-8"])
async def test_text_with_a_byte_order_mark_is_shown_as_text(desk, codec):
    desk.put("a.txt", "\ufeffgrüß\n".encode(codec))
    assert (await desk.call(TOOL, path="a.txt")).text == (
        f"1\tgrüß\n[1 line, the whole file; line ends LF; {codec.upper()} with BOM.]"
    )


async def test_form_feeds_and_unicode_separators_break_no_line(desk):
    desk.put("a.txt", "a\fb\u2028c\x85d\n")
    assert (await desk.call(TOOL, path="a.txt")).text.startswith("1\ta\fb\u2028c\x85d\n[1 line")


async def test_says_that_it_read_unsaved_text(desk):
    path = desk.put("a.txt", "old\n")
    desk.overlays.open(path, "new\n")
    assert (await desk.call(TOOL, path="a.txt")).text == snapshot("""\
1	new
[1 line, the whole file; line ends LF; as in the editor, not saved.]\
""")


async def test_reads_an_unsaved_new_document(desk):
    desk.overlays.open(desk.root / "new.txt", "fresh\n")
    assert "1\tfresh" in (await desk.call(TOOL, path="new.txt")).text


async def test_an_open_document_equal_to_the_disk_counts_as_the_disk(desk):
    desk.overlays.open(desk.put("a.txt", "same\n"), "same\n", is_dirty=False)
    assert "not saved" not in (await desk.call(TOOL, path="a.txt")).text


async def test_empty_file(desk):
    desk.put("a.txt", "")
    assert (await desk.call(TOOL, path="a.txt", line_offset=5)).text == snapshot(
        "[Empty file; line ends LF.]"
    )


async def test_an_offset_beyond_the_end_is_an_error(desk):
    desk.put("a.txt", "a\n")
    result = await desk.call(TOOL, path="a.txt", line_offset=9)
    assert result.is_error
    assert result.text == snapshot("a.txt has 1 lines; line_offset 9 is beyond its end.")


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.png", b"\x89PNG\r\n\x1a\n\0\0", "a PNG image, not text: use ReadMediaFile"),
        ("a.jpg", b"\xff\xd8\xff\xe0\0", "a JPEG image"),
        ("a.webp", b"RIFF\0\0\0\0WEBP", "a WebP image"),
        ("a.mp4", b"\0\0\0\x18ftypisom", "a video, not text: use ReadMediaFile"),
        ("a.pdf", b"%PDF-1.7\n\0", "pdftotext"),
        ("a.bin", b"ab\0cd", "a binary file, not text"),
    ],
)
async def test_what_is_no_text_says_what_to_do(desk, name, content, says):
    desk.put(name, content)
    result = await desk.call(TOOL, path=name)
    assert result.is_error
    assert says in result.text


async def test_a_folder_says_what_to_do(desk):
    desk.put("src/a.py", "")
    assert (await desk.call(TOOL, path="src")).text == snapshot(
        "src is a folder: list it with glob (path: its name, pattern: '*')."
    )


async def test_a_missing_file_names_its_neighbours(desk):
    desk.put("src/config.py", "")
    assert "Did you mean" in (await desk.call(TOOL, path="src/Confg.py")).text
    assert "/src?" in (await desk.call(TOOL, path="srcs/config.py")).text
    assert "Look for it with glob." in (await desk.call(TOOL, path="zzz")).text


async def test_a_pipe_does_not_hang(desk):
    import os

    os.mkfifo(desk.root / "pipe")
    assert "no regular file" in (await desk.call(TOOL, path="pipe")).text
