import pytest
from inline_snapshot import snapshot

from kova_ls.tools._base import Diagnosed, Diagnostic
from kova_ls.tools.diagnostics import TOOL


def entry(desk, name, line_no, severity, message, **more):
    uri = (desk.root / name).resolve().as_uri()
    return Diagnostic(uri, line_no, severity, message, **more)


@pytest.fixture
def busy(desk):
    desk.diagnosed = Diagnosed(
        (
            entry(desk, "a.py", 9, "warning", "unused import", source="ruff", code="F401"),
            entry(desk, "a.py", 3, "error", "no such\n  name", source="pyright"),
            entry(desk, "b c.py", 1, "error", "bad"),
            entry(desk, "a.py", 1, "hint", "consider"),
            Diagnostic("file:///elsewhere/x.py", 1, "error", "not ours"),
        ),
        is_settled=True,
    )
    return desk


def test_arguments():
    assert TOOL.schema() == snapshot(
        {
            "additionalProperties": False,
            "properties": {
                "path": {
                    "type": "string",
                    "description": "The file; default all files that the editor has open in the workspace.",
                }
            },
            "type": "object",
        }
    )


async def test_errors_come_first_and_hints_are_counted(busy):
    result = await busy.call(TOOL)
    assert result.text == snapshot("""\
a.py:3: error: no such name [pyright]
b c.py:1: error: bad
a.py:9: warning: unused import [ruff F401]
[1 hints and notes are left out.]\
""")
    assert not result.is_error


async def test_one_file_alone(busy):
    assert (await busy.call(TOOL, path="b c.py")).text == "b c.py:1: error: bad"


async def test_nothing_wrong_is_said_in_words(desk):
    (desk.root / "a.py").touch()
    assert (await desk.call(TOOL, path="a.py")).text == snapshot(
        "The editor reports no errors or warnings in a.py."
    )
    assert (await desk.call(TOOL)).text == snapshot(
        "The editor reports no errors or warnings in the open files."
    )


async def test_unfinished_tools_are_said(desk):
    desk.diagnosed = Diagnosed((), is_settled=False)
    assert "still at work" in (await desk.call(TOOL)).text


async def test_a_file_that_no_tool_looked_at_is_not_called_faultless(desk):
    desk.diagnosed = Diagnosed((), is_settled=True, is_open=False)
    assert (await desk.call(TOOL, path="a.py")).text == snapshot("""\
The editor reports no errors or warnings in a.py.
[It is not open there, so its tools may not have looked at it.]\
""")


async def test_much_is_cut(desk):
    many = tuple(entry(desk, "a.py", n, "error", "x" * 900) for n in range(1, 251))
    desk.diagnosed = Diagnosed(many, is_settled=True)
    lines = (await desk.call(TOOL)).text.split("\n")
    assert lines[-1] == "[50 more; name a path to see fewer.]"
    assert len(lines) == 201
    assert lines[0].endswith("[… cut]")


async def test_no_editor_is_an_error(desk):
    desk.has_editor = False
    assert (await desk.call(TOOL)).is_error
