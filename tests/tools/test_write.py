import os

import pytest
from inline_snapshot import snapshot
from pydantic import ValidationError

from kova_ls.permission.effects import WritePath
from kova_ls.tools._base import Preview
from kova_ls.tools.write import TOOL


def test_schema():
    assert TOOL.schema() == snapshot(
        {
            "additionalProperties": False,
            "properties": {
                "path": {"description": "Parent folders are created.", "type": "string"},
                "content": {"description": "The whole text, or what to append.", "type": "string"},
                "mode": {
                    "default": "overwrite",
                    "description": "`append` adds no newline.",
                    "enum": ["overwrite", "append"],
                    "type": "string",
                },
            },
            "required": ["path", "content"],
            "type": "object",
        }
    )


async def test_creates_a_file_with_its_folders(desk):
    result = await desk.call(TOOL, path="a/b/c.txt", content="one\ntwo\n")
    assert (desk.root / "a/b/c.txt").read_text() == "one\ntwo\n"
    assert result.text == "Created a/b/c.txt (+2 -0 lines)."
    [block] = result.display
    assert (block.change, block.diff) == snapshot(
        (
            "create",
            """\
--- /dev/null
+++ b/a/b/c.txt
@@ -0,0 +1,2 @@
+one
+two
""",
        )
    )


async def test_replaces_a_file_and_keeps_its_mode(desk):
    path = desk.put("a.sh", "old\n")
    path.chmod(0o755)
    result = await desk.call(TOOL, path="a.sh", content="new\n")
    assert result.text == "Replaced a.sh (+1 -1 lines)."
    assert path.stat().st_mode & 0o777 == 0o755


async def test_appends_without_adding_a_newline(desk):
    path = desk.put("a.txt", "one")
    await desk.call(TOOL, path="a.txt", content="two", mode="append")
    assert path.read_bytes() == b"onetwo"
    await desk.call(TOOL, path="new.txt", content="x", mode="append")
    assert (desk.root / "new.txt").read_bytes() == b"x"


def test_another_mode_is_refused():
    with pytest.raises(ValidationError):
        TOOL.args.model_validate({"path": "a", "content": "", "mode": "insert"})


async def test_keeps_the_encoding_of_the_file(desk):
    path = desk.put("a.txt", "\ufeffä\n".encode("utf-16-le"))
    await desk.call(TOOL, path="a.txt", content="ö\n")
    assert path.read_bytes() == "\ufeffö\n".encode("utf-16-le")


async def test_the_effect_names_the_target_of_a_link(desk):
    target = desk.put("real.txt", "old\n")
    (desk.root / "link.txt").symlink_to(target)
    args, ctx = desk.context(TOOL, {"path": "link.txt", "content": "new\n"})
    root = os.path.realpath(desk.root)
    assert TOOL.effects(args, ctx.resolve) == [
        WritePath(f"{root}/real.txt", f"{root}/link.txt", "modify")
    ]
    await TOOL.run(args, ctx)
    assert target.read_text() == "new\n"
    assert (desk.root / "link.txt").is_symlink()


async def test_a_target_that_changed_since_it_was_judged_writes_nothing(desk):
    for name in ("one.txt", "two.txt"):
        desk.put(name, "old\n")
    link = desk.root / "link.txt"
    link.symlink_to("one.txt")
    args, ctx = desk.context(TOOL, {"path": "link.txt", "content": "new\n"})
    link.unlink()
    link.symlink_to("two.txt")
    result = await TOOL.run(args, ctx)
    assert result.is_error
    assert "call again" in result.text
    assert {(desk.root / name).read_text() for name in ("one.txt", "two.txt")} == {"old\n"}


async def test_preview_shows_the_diff_and_writes_nothing(desk):
    path = desk.put("a.txt", "old\n")
    args, ctx = desk.context(TOOL, {"path": "a.txt", "content": "new\n"})
    preview = await TOOL.preview(args, ctx)
    assert isinstance(preview, Preview)
    assert preview.files[0].diff == snapshot("""\
--- a/a.txt
+++ b/a.txt
@@ -1 +1 @@
-old
+new
""")
    assert list(preview.digests) == [os.path.realpath(path)]
    assert path.read_text() == "old\n"


async def test_a_large_diff_is_previewed_whole_and_shown_in_part(desk):
    args, ctx = desk.context(TOOL, {"path": "a.txt", "content": "x\n" * 3_000})
    preview = await TOOL.preview(args, ctx)
    [change] = preview.files
    assert (change.diff.count("\n"), change.hidden_lines) == (3_003, 0)
    result = await TOOL.run(args, ctx)
    assert (result.display[0].hidden_lines, result.output_ref) == (2_003, "out-1")


async def test_a_binary_file_is_not_replaced(desk):
    path = desk.put("a.bin", b"a\0b")
    assert (await desk.call(TOOL, path="a.bin", content="x")).is_error
    assert path.read_bytes() == b"a\0b"


async def test_an_open_document_is_changed_in_its_editor(desk):
    path = desk.put("a.txt", "disk\n")
    desk.overlays.open(path, "unsaved\n")
    result = await desk.call(TOOL, path="a.txt", content="new\n")
    assert not result.is_error
    assert desk.overlays.get(os.path.realpath(path)).text == "new\n"
    assert path.read_text() == "disk\n"


async def test_an_unsaved_new_document_is_replaced_in_its_editor(desk):
    desk.overlays.open(desk.root / "new.txt", "typed\n")
    result = await desk.call(TOOL, path="new.txt", content="more\n", mode="append")
    assert result.text == "Appended to new.txt (+1 -0 lines)."
    assert desk.overlays.get(os.path.join(os.path.realpath(desk.root), "new.txt")).text == (
        "typed\nmore\n"
    )
    assert not (desk.root / "new.txt").exists()
