import os

import pytest
from inline_snapshot import snapshot

from kova_ls.permission.effects import ReadPath
from kova_ls.tools.glob import TOOL


def test_schema():
    assert TOOL.schema() == snapshot(
        {
            "additionalProperties": False,
            "properties": {
                "pattern": {
                    "description": "`*.{ts,tsx}` matches names at any depth, `src/**/*.py` below path.",
                    "type": "string",
                },
                "path": {"type": "string", "description": "Folder; default the workspace."},
                "include_ignored": {
                    "default": False,
                    "description": "Also files that .gitignore and its kin exclude.",
                    "type": "boolean",
                },
                "offset": {
                    "default": 0,
                    "description": "Skip so many.",
                    "minimum": 0,
                    "type": "integer",
                },
                "head_limit": {
                    "default": 100,
                    "description": "0 = no limit.",
                    "minimum": 0,
                    "type": "integer",
                },
            },
            "required": ["pattern"],
            "type": "object",
        }
    )


def rows(result):
    return [row for row in result.text.split("\n") if not row.startswith("[")]


async def test_newest_first(desk):
    for age, name in enumerate(["new.py", "src/old.py", "src/older.py", "x.txt"]):
        os.utime(desk.put(name, ""), (1_000_000 - age, 1_000_000 - age))
    result = await desk.call(TOOL, pattern="*.py")
    assert rows(result) == ["new.py", "src/old.py", "src/older.py"]


async def test_a_folder_limits_the_search(desk):
    desk.put("a.py", "")
    desk.put("src/b.py", "")
    assert rows(await desk.call(TOOL, pattern="*.py", path="src")) == ["src/b.py"]


async def test_pages(desk):
    for number in range(250):
        desk.put(f"f{number:03}.txt", "")
    seen = []
    offset = 0
    texts = []
    for _ in range(3):
        result = await desk.call(TOOL, pattern="*.txt", offset=offset)
        seen += rows(result)
        texts.append(result.text.split("\n")[-1])
        offset += 100
    assert len(set(seen)) == 250
    assert texts[:2] == [
        "[100 of 250 shown; next offset=100.]",
        "[200 of 250 shown; next offset=200.]",
    ]
    assert not texts[2].startswith("[")
    assert len(rows(await desk.call(TOOL, pattern="*.txt", head_limit=0))) == 250
    assert (await desk.call(TOOL, pattern="*.txt", offset=250)).text == (
        "[No more: 250 files match.]"
    )


async def test_a_large_page_ends_at_a_whole_path_and_is_kept_in_a_file(desk):
    for number in range(300):
        desk.put(f"{'d' * 120}/{'f' * 100}{number:03}", "")
    result = await desk.call(TOOL, pattern="**", head_limit=0)
    assert len(result.text) < 31_000
    assert "next offset=" in result.text
    kept = (desk.saved / "paths-1").read_text().split("\n")
    assert len(kept) == 300
    assert rows(result) == kept[: len(rows(result))]


@pytest.mark.parametrize("name", [".gitignore", ".ignore", ".rgignore"])
async def test_ignore_files_hold_unless_told_otherwise(desk, name):
    desk.put(name, "*.log\nout/\n")
    for path in ("a.log", "out/b.log", "c.txt"):
        desk.put(path, "")
    assert rows(await desk.call(TOOL, pattern="*.{log,txt}")) == ["c.txt"]
    found = rows(await desk.call(TOOL, pattern="*.{log,txt}", include_ignored=True))
    assert sorted(found) == ["a.log", "c.txt", "out/b.log"]


async def test_hidden_files_are_found_but_no_secrets_and_no_git(desk):
    for path in (".editorconfig", ".env", ".git/config", "key.pem", ".env.example"):
        desk.put(path, "")
    found = rows(await desk.call(TOOL, pattern="**/*", include_ignored=True))
    assert sorted(found) == [".editorconfig", ".env.example"]


async def test_an_absolute_pattern_searches_its_own_folder(desk):
    desk.put("src/a.py", "")
    desk.put("b.py", "")
    root = os.path.realpath(desk.root)
    args, ctx = desk.context(TOOL, {"pattern": f"{root}/src/**/*.py"})
    assert TOOL.effects(args, ctx.resolve) == [ReadPath(f"{root}/src", f"{root}/src", is_tree=True)]
    assert rows(await TOOL.run(args, ctx)) == ["src/a.py"]


async def test_an_unsaved_new_document_is_found(desk):
    desk.put("old.py", "")
    desk.overlays.open(desk.root / "new.py", "")
    result = await desk.call(TOOL, pattern="*.py")
    assert rows(result)[:2] == ["new.py", "old.py"]
    assert "Not on the disk, only open in the editor, unsaved: new.py." in result.text
    assert "unsaved" not in (await desk.call(TOOL, pattern="*.py", offset=1)).text


async def test_every_call_searches_afresh(desk):
    assert (await desk.call(TOOL, pattern="*.py")).text == "[No file matches.]"
    desk.put("a.py", "")
    assert rows(await desk.call(TOOL, pattern="*.py")) == ["a.py"]


async def test_a_file_as_folder_is_an_error(desk):
    desk.put("a.py", "")
    result = await desk.call(TOOL, pattern="*", path="a.py")
    assert (result.text, result.is_error) == ("a.py is not a folder; give a folder as path.", True)


async def test_an_incomplete_search_says_so(desk, monkeypatch):
    desk.put("a.py", "")
    args, ctx = desk.context(TOOL, {"pattern": "*"})

    async def unreadable(*_args, **_more):
        return 2, os.fsencode(f"{os.path.realpath(desk.root)}/a.py\0"), False

    ctx.run_program = unreadable
    assert (await TOOL.run(args, ctx)).text == snapshot("""\
a.py
[Incomplete: some folders or files could not be read.]\
""")
