import os

import pytest
from inline_snapshot import snapshot
from pydantic import ValidationError

from kova_ls.permission.effects import ReadPath
from kova_ls.tools.grep import TOOL


def test_schema():
    assert TOOL.schema() == snapshot(
        {
            "additionalProperties": False,
            "properties": {
                "pattern": {"description": "Regular expression (Rust syntax).", "type": "string"},
                "path": {"type": "string", "description": "File or folder; default the workspace."},
                "glob": {
                    "type": "string",
                    "description": "Only files that match, as `*.{ts,tsx}` or `src/**`; `!` excludes.",
                },
                "type": {"type": "string", "description": "ripgrep file type: py, ts, rust …"},
                "output_mode": {
                    "default": "files_with_matches",
                    "description": "What to return.",
                    "enum": ["files_with_matches", "content", "count_matches"],
                    "type": "string",
                },
                "-A": {
                    "default": 0,
                    "description": "Context lines after (content).",
                    "minimum": 0,
                    "type": "integer",
                },
                "-B": {"default": 0, "description": "Before.", "minimum": 0, "type": "integer"},
                "-C": {"default": 0, "description": "Both.", "minimum": 0, "type": "integer"},
                "-i": {"default": False, "description": "Ignore case.", "type": "boolean"},
                "-n": {
                    "default": True,
                    "description": "Line numbers (content).",
                    "type": "boolean",
                },
                "multiline": {
                    "default": False,
                    "description": "Match across lines; `.` matches newline.",
                    "type": "boolean",
                },
                "include_ignored": {
                    "default": False,
                    "description": "Also files that .gitignore excludes.",
                    "type": "boolean",
                },
                "offset": {
                    "default": 0,
                    "description": "Skip so many rows.",
                    "minimum": 0,
                    "type": "integer",
                },
                "head_limit": {
                    "default": 250,
                    "description": "0 = no limit.",
                    "minimum": 0,
                    "type": "integer",
                },
            },
            "required": ["pattern"],
            "type": "object",
        }
    )


@pytest.fixture
def tree(desk):
    desk.put("a.py", "import os\nNEEDLE = 1\n\nprint(NEEDLE)\n")
    desk.put("src/b.ts", "let needle = 2\n")
    desk.put("src/deep/c.py", "x\nNEEDLE\ny\n")
    return desk


async def test_names_the_files_by_default(tree):
    result = await tree.call(TOOL, pattern="NEE?DLE")
    assert result.text == "a.py\nsrc/deep/c.py"


async def test_content_with_line_numbers(tree):
    result = await tree.call(TOOL, pattern="NEEDLE", output_mode="content")
    assert result.text == snapshot("""\
a.py:2:NEEDLE = 1
a.py:4:print(NEEDLE)
src/deep/c.py:2:NEEDLE\
""")


async def test_counts(tree):
    result = await tree.call(TOOL, pattern="NEEDLE", output_mode="count_matches")
    assert result.text == "a.py:2\nsrc/deep/c.py:1"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"-n": False}, ["src/deep/c.py:NEEDLE"]),
        ({"-A": 1}, ["src/deep/c.py:2:NEEDLE", "src/deep/c.py:3-y"]),
        ({"-B": 1}, ["src/deep/c.py:1-x", "src/deep/c.py:2:NEEDLE"]),
        ({"-C": 1}, ["src/deep/c.py:1-x", "src/deep/c.py:2:NEEDLE", "src/deep/c.py:3-y"]),
        ({"-i": True, "type": "ts"}, ["src/b.ts:1:let needle = 2"]),
        ({"glob": "*.ts", "-i": True}, ["src/b.ts:1:let needle = 2"]),
        ({"glob": "src/**/*.py"}, ["src/deep/c.py:2:NEEDLE"]),
        ({"glob": "!*.py", "-i": True}, ["src/b.ts:1:let needle = 2"]),
        ({"glob": "src/**", "type": "py"}, ["src/deep/c.py:2:NEEDLE"]),
        ({"path": "src"}, ["src/deep/c.py:2:NEEDLE"]),
        ({"path": "src/deep/c.py"}, ["src/deep/c.py:2:NEEDLE"]),
    ],
)
async def test_options(tree, options, expected):
    place = "." if "glob" in options else "src"
    call = {"pattern": "NEEDLE", "output_mode": "content", "path": place} | options
    assert (await tree.call(TOOL, **call)).text.split("\n") == expected


async def test_multiline(tree):
    call = {"pattern": "x.NEEDLE", "output_mode": "files_with_matches"}
    assert (await tree.call(TOOL, **call)).text == "[No match.]"
    assert (await tree.call(TOOL, **call, multiline=True)).text == "src/deep/c.py"


async def test_breaks_between_pieces_of_context(desk):
    desk.put("a.txt", "hit\n1\n2\n3\nhit\n")
    desk.put("b.txt", "hit\n")
    result = await desk.call(TOOL, pattern="hit", output_mode="content", **{"-A": 1})
    assert result.text == snapshot("""\
a.txt:1:hit
a.txt:2-1
--
a.txt:5:hit
b.txt:1:hit\
""")


async def test_pages(desk):
    desk.put("a.txt", "hit\n" * 300)
    call = {"pattern": "hit", "output_mode": "content"}
    first = (await desk.call(TOOL, **call)).text.split("\n")
    assert len(first) == 251
    assert first[-1] == "[250 of 300 rows shown; next offset=250.]"
    assert len((await desk.call(TOOL, **call, offset=250)).text.split("\n")) == 50
    assert len((await desk.call(TOOL, **call, head_limit=0)).text.split("\n")) == 300
    assert (await desk.call(TOOL, **call, offset=300)).text == "[No more: 300 rows match.]"


async def test_a_large_page_is_kept_in_a_file(desk):
    desk.put("a.txt", f"hit {'x' * 300}\n" * 400)
    result = await desk.call(TOOL, pattern="hit", output_mode="content", head_limit=0)
    assert len(result.text) < 41_000
    assert result.output_ref == "out-1"
    assert len((desk.saved / "matches-1").read_text().split("\n")) == 400


async def test_long_lines_are_cut(desk):
    desk.put("a.txt", "hit" + "x" * 10_000)
    result = await desk.call(TOOL, pattern="hit", output_mode="content")
    assert len(result.text) < 700


@pytest.mark.parametrize("options", [{}, {"glob": "*.log"}])
async def test_ignored_files_only_when_asked_for(desk, options):
    desk.put(".gitignore", "*.log\n")
    desk.put("a.log", "hit")
    assert (await desk.call(TOOL, pattern="hit", **options)).text == "[No match.]"
    found = await desk.call(TOOL, pattern="hit", include_ignored=True, **options)
    assert found.text == "a.log"


async def test_secrets_stay_out(desk):
    desk.put(".env", "hit")
    desk.put("key.pem", "hit")
    for ignored in (False, True):
        result = await desk.call(TOOL, pattern="hit", include_ignored=ignored)
        assert result.text == "[No match.]"
    assert (await desk.call(TOOL, pattern="hit", path=".env")).text == "[No match.]"


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ({"pattern": "("}, "unclosed group"),
        ({"pattern": "x", "type": "nonsense"}, "unrecognized file type"),
        ({"pattern": "x", "path": "nowhere"}, "nowhere does not exist"),
        ({"pattern": "x", "glob": "*.{ts"}, "unclosed '{'"),
    ],
)
async def test_mistakes_say_what_is_wrong(tree, call, says):
    result = await tree.call(TOOL, **call)
    assert result.is_error
    assert says in result.text


def test_another_mode_is_refused():
    with pytest.raises(ValidationError):
        TOOL.args.model_validate({"pattern": "x", "output_mode": "lines"})


async def test_a_pattern_that_looks_like_an_option(desk):
    desk.put("a.txt", "a --files b\n")
    assert (await desk.call(TOOL, pattern="--files")).text == "a.txt"


def test_declares_the_tree(desk):
    args, ctx = desk.context(TOOL, {"pattern": "x"})
    root = os.path.realpath(desk.root)
    assert TOOL.effects(args, ctx.resolve) == [ReadPath(root, root, is_tree=True)]


async def test_unsaved_text_is_searched_instead_of_the_file(tree):
    tree.overlays.open(tree.root / "a.py", "first\nNEEDLE here\n")
    tree.overlays.open(tree.root / "src/b.ts", "NEEDLE\n")
    tree.overlays.open(tree.root / "src/new.py", "a new NEEDLE\n")
    result = await tree.call(TOOL, pattern="NEEDLE", output_mode="content")
    assert result.text == snapshot("""\
a.py:2:NEEDLE here
src/b.ts:1:NEEDLE
src/deep/c.py:2:NEEDLE
src/new.py:1:a new NEEDLE
[Unsaved text of open documents was searched instead of their files.]\
""")
    only = await tree.call(TOOL, pattern="NEEDLE", type="py", path="src")
    assert only.text.split("\n")[:2] == ["src/deep/c.py", "src/new.py"]


async def test_a_match_that_unsaved_text_lost_is_not_found(tree):
    tree.overlays.open(tree.root / "src/deep/c.py", "gone\n")
    assert (await tree.call(TOOL, pattern="NEEDLE", path="src/deep/c.py")).text.startswith(
        "[No match.]"
    )


async def test_an_ignored_open_document_stays_ignored(desk):
    desk.put(".gitignore", "*.log\n")
    desk.overlays.open(desk.put("a.log", ""), "hit\n")
    assert (await desk.call(TOOL, pattern="hit")).text == "[No match.]"
    found = await desk.call(TOOL, pattern="hit", include_ignored=True)
    assert found.text.startswith("a.log\n")


async def test_utf_16_is_searched(desk):
    desk.put("a.txt", "\ufeffhit\n".encode("utf-16-le"))
    assert (await desk.call(TOOL, pattern="hit")).text == "a.txt"
