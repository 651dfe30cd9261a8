"""Code actions and code lenses of a plain editor."""

import pytest

from tests.support.plain import opened
from tests.support.stage import Stage, call, say

EDIT = call("edit", path="a.txt", old_string="one", new_string="two")
SPAN = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}}
POINT = {"start": {"line": 0, "character": 1}, "end": {"line": 0, "character": 1}}
FOUND = {"range": SPAN, "message": "bad\u202e word", "severity": 2, "source": "lint", "code": 7}


async def actions(editor, *, span=SPAN, diagnostics=(), **context):
    params = {
        "textDocument": {"uri": f"{editor.folder}/a.txt"},
        "range": span,
        "context": {"diagnostics": list(diagnostics), **context},
    }
    return await editor.result("textDocument/codeAction", params)


async def test_a_selection_and_a_line_can_be_asked_about(stage):
    editor = await opened(stage)
    ask, write = await actions(editor)
    assert ask == {
        "title": "Ask Kova about this",
        "kind": "refactor.rewrite.kova",
        "command": {
            "title": "Ask Kova about this",
            "command": "kova.ask",
            "arguments": [{"uri": f"{editor.folder}/a.txt", "range": SPAN}],
        },
    }
    assert write["title"] == "Write to Kova about this …"
    assert write["command"]["arguments"] == [
        {"uri": f"{editor.folder}/a.txt", "range": SPAN, "compose": True}
    ]
    ask, _ = await actions(editor, span=POINT)
    assert ask["title"] == "Ask Kova about this line"


async def test_a_diagnostic_can_be_fixed(stage):
    editor = await opened(stage)
    fix, *_ = await actions(editor, diagnostics=[FOUND])
    assert (fix["title"], fix["kind"]) == ("Fix with Kova: bad⟨U+202E⟩ word", "quickfix")
    assert fix["diagnostics"] == [FOUND]
    [argument] = fix["command"]["arguments"]
    assert argument["diagnostic"] == {
        "message": FOUND["message"],
        "range": SPAN,
        "severity": 2,
        "source": "lint",
    }


@pytest.mark.parametrize(
    ("only", "count"),
    [(["quickfix"], 1), (["refactor"], 2), (["refactor.rewrite.kova"], 2), ([""], 3), (["x"], 0)],
)
async def test_only_the_wanted_kinds_come(stage, only, count):
    editor = await opened(stage)
    assert len(await actions(editor, diagnostics=[FOUND], only=only)) == count


async def test_an_old_editor_gets_commands(stage):
    editor = await opened(stage, textDocument={})
    assert [command["command"] for command in await actions(editor)] == ["kova.ask"] * 2


async def test_what_waits_and_runs_can_be_reached_from_anywhere(tmp_path):
    stage = Stage(tmp_path, [EDIT, say("Done.")], files={"a.txt": "one\n"})
    editor = await opened(stage)
    await editor.run("kova.ask", "Change it.")
    await editor.told("Kova waits")
    _, _, answer, show, stop = await actions(editor)
    assert answer["title"] == "Answer Kova: Edit a.txt"
    assert (show["command"]["command"], stop["command"]["command"]) == ("kova.open", "kova.stop")
    await editor.run(answer["command"]["command"], *answer["command"]["arguments"])
    await editor.chooses("Deny")
    await editor.shows_document()
    await editor.asked("workspace/codeLens/refresh")
    assert [a["title"] for a in await actions(editor)][2:] == ["Show Kova's conversation"]
    await stage.close()


async def lenses(editor, uri):
    return await editor.result("textDocument/codeLens", {"textDocument": {"uri": uri}})


async def test_what_waits_has_a_lens_on_the_page(tmp_path):
    stage = Stage(tmp_path, [EDIT, say("Done.")], files={"a.txt": "one\n"})
    editor = await opened(stage)
    answer = await editor.run("kova.ask", "Change it.")
    await editor.told("Kova waits")
    await editor.asked("workspace/codeLens/refresh")
    [lens] = await lenses(editor, answer["transcript"])
    page = (stage.root / "data/sessions" / answer["sessionId"] / "transcript.md").read_text()
    line = page.split("\n")[lens["range"]["start"]["line"]]
    assert line.startswith("**Kova waits**")
    assert lens["command"]["title"] == "Answer: Edit a.txt"
    await editor.run(lens["command"]["command"], *lens["command"]["arguments"])
    await editor.chooses("Allow once")
    await editor.shows_document()
    assert await lenses(editor, answer["transcript"]) == []
    await stage.close()


@pytest.mark.parametrize(("number", "text"), [(0, "two\n"), (1, "one\n")])
async def test_a_change_is_kept_or_reverted_by_its_lens(tmp_path, number, text):
    stage = Stage(tmp_path, [EDIT, say("Done.")], files={"a.txt": "one\n", "b.txt": "one\n"})
    editor = await opened(stage)
    await editor.run("kova.ask", "Change it.")
    await editor.told("Kova waits")
    await editor.run("kova.pending")
    await editor.chooses("Allow once")
    await editor.shows_document()
    uri = f"{editor.folder}/a.txt"
    found = await lenses(editor, uri)
    assert [lens["command"]["title"] for lens in found] == ["Keep Kova's change (+1 -1)", "Revert"]
    assert await lenses(editor, f"{editor.folder}/b.txt") == []
    command = found[number]["command"]
    assert (await editor.run(command["command"], *command["arguments"]))["remaining"] == 0
    assert (stage.workspace / "a.txt").read_text() == text
    assert await lenses(editor, uri) == []
    await stage.close()
