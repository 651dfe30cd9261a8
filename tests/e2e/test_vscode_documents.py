"""VS Code's real workbench: the documents of the editor, as text and on the disk; its folders."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.vscode import EDITOR_WITH_KEYBOARD, Workbench, open_workbench

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]

LINES = ".editor-group-container.active .view-lines"


def edit(name: str, old: str, new: str) -> dict[str, Any]:
    arguments = {"path": name, "old_string": old, "new_string": new}
    return {"calls": [{"name": "edit", "arguments": arguments}]}


def write(path: Path) -> dict[str, Any]:
    return {"calls": [{"name": "write", "arguments": {"path": str(path), "content": "x\n"}}]}


def open_folders(window: Workbench, *names: str) -> Path:
    """Let the window's `.code-workspace` file name these folders; an open window follows."""
    place = window.top / "folders.code-workspace"
    place.write_text(json.dumps({"folders": [{"path": name} for name in names]}))
    return place


@pytest.fixture(scope="module")
def window() -> Iterator[Workbench]:
    """One window for all tests of the file."""
    with open_workbench() as opened:
        opened.script({"text": "Hello."})
        opened.configure(**{"editor.formatOnSave": True})
        new = {"command": "vscode.open", "args": f"untitled:{opened.workspace / 'new.txt'}"}
        keys = opened.top / "u/User/keybindings.json"
        keys.write_text(json.dumps([{"key": "ctrl+alt+u", **new}]))
        opened.open_chat(open_folders(opened, "ws"))
        yield opened


@pytest.fixture
def chat(window: Workbench) -> Iterator[Workbench]:
    """A new conversation, the keyboard in its prompt; no editor is left open."""
    window.new_chat()
    yield window
    while window.do("count", selector=".tab.dirty", view=None):
        window.command("View: Revert and Close Editor")
    window.command("View: Close All Editors")


def ask(chat: Workbench, prompt: str, answer: str) -> None:
    """Ask from the prompt and wait for the answer."""
    chat.focus_prompt()
    chat.ask(prompt)
    chat.wait(f".item.replied >> text={answer}")


def test_marks_line_ends_and_wide_characters_survive(chat: Workbench) -> None:
    path = chat.workspace / "wide.txt"
    path.write_bytes("\ufeff一 👍 x = 1\r\n👩‍💻 second\r\n".encode())
    chat.script(edit("wide.txt", "👍 x = 1", "👍👍 x = 2"), {"text": "Wider."})
    chat.open_file("wide.txt")
    ask(chat, "widen it", "Wider.")
    chat.wait(f"{LINES} >> text=👍👍 x = 2", view=None)
    chat.wait(".tab.active:not(.dirty)[aria-label^='wide.txt']", view=None)
    assert path.read_bytes() == "\ufeff一 👍👍 x = 2\r\n👩‍💻 second\r\n".encode()
    chat.focus_editor()
    chat.press("Control+z")
    chat.wait(f"{LINES} >> text=👍 x = 1", view=None)


def test_one_undo_brings_back_text_selection_and_what_was_typed_before(chat: Workbench) -> None:
    (chat.workspace / "main.py").write_text("a = 1\nb = 1\nc = 1\n")
    chat.script(
        {
            "calls": [
                {
                    "name": "edit",
                    "arguments": {
                        "path": "main.py",
                        "old_string": " = 1",
                        "new_string": " = 2",
                        "replace_all": True,
                    },
                }
            ]
        },
        {"text": "All are 2."},
    )
    chat.open_file("main.py")
    chat.press("Control+Home", "Shift+ArrowDown", "Shift+ArrowRight")
    chat.wait("role=button[name='Ln 2, Col 2 (7 selected)']", view=None)
    ask(chat, "make it 2", "All are 2.")
    chat.wait(f"{LINES} >> text=c = 2", view=None)
    chat.wait("role=button[name='Ln 2, Col 2 (7 selected)']", view=None)
    chat.focus_editor()
    chat.press("Control+z")
    for line in ("a = 1", "b = 1", "c = 1"):
        chat.wait(f"{LINES} >> text={line}", view=None)
    chat.wait("role=button[name='Ln 2, Col 2 (7 selected)']", view=None)


def test_what_a_formatter_does_on_save_belongs_to_the_change(chat: Workbench) -> None:
    path = chat.workspace / "data.json"
    path.write_text('{\n    "a": 1\n}\n')
    chat.script(
        edit("data.json", '"a": 1', '"a":    2'),
        {"calls": [{"name": "read", "arguments": {"path": "data.json"}}]},
        {"text": "It is 2.", "expect": [": 2"]},
    )
    chat.open_file("data.json")
    ask(chat, "set a to 2", "It is 2.")
    chat.wait(".tab.active:not(.dirty)[aria-label^='data.json']", view=None)
    assert path.read_text() == '{\n    "a": 2\n}'


def test_a_document_that_may_not_be_edited_here_is_changed_on_the_disk(chat: Workbench) -> None:
    path = chat.workspace / "locked.txt"
    path.write_text("one\n")
    chat.configure(**{"files.readonlyInclude": {"**/locked.txt": True}})
    chat.script(edit("locked.txt", "one", "two"), {"text": "Two."})
    chat.open_file("locked.txt")
    ask(chat, "count", "Two.")
    assert path.read_text() == "two\n"
    chat.wait(f"{LINES} >> text=two", view=None)
    chat.wait(".tab.active:not(.dirty)[aria-label^='locked.txt']", view=None)
    chat.configure(**{"files.readonlyInclude": {}})


def test_a_document_that_is_closed_before_the_answer_is_changed_on_the_disk(
    chat: Workbench,
) -> None:
    path = chat.workspace / "main.py"
    path.write_text("x = 1\n")
    chat.script(edit("main.py", "x = 1", "x = 2"), {"text": "It is 2."})
    chat.open_file("main.py")
    chat.focus_prompt()
    for _ in range(3):
        chat.press("Shift+Tab")
    chat.until("select.level", "element.value === 'ask'")
    chat.ask("set x to 2")
    chat.wait(".card[data-armed=true]")
    chat.command("View: Close All Editors")
    chat.focus_prompt()
    chat.press("Alt+o")
    chat.wait(".item.replied >> text=It is 2.")
    assert path.read_text() == "x = 2\n"


def test_text_that_was_typed_while_a_card_waited_is_kept(chat: Workbench) -> None:
    path = chat.workspace / "main.py"
    path.write_text("x = 1\n\n\n")
    chat.script(edit("main.py", "x = 1", "x = 2"), {"text": "It is 2."})
    chat.open_file("main.py")
    chat.focus_prompt()
    for _ in range(3):
        chat.press("Shift+Tab")
    chat.until("select.level", "element.value === 'ask'")
    chat.ask("set x to 2")
    chat.wait(".card[data-armed=true]")
    chat.focus_editor()
    chat.press("Control+End")
    chat.type("mine")
    chat.wait(".tab.active.dirty[aria-label^='main.py']", view=None)
    chat.focus_prompt()
    chat.press("Alt+o")
    chat.wait("text=What this call would change is not what was approved: review again.")
    chat.wait(".card[data-armed=true]")
    chat.press("Alt+o")
    chat.wait(".item.replied >> text=It is 2.")
    chat.wait(f"{LINES} >> text=x = 2", view=None)
    chat.wait(f"{LINES} >> text=mine", view=None)
    assert path.read_text() == "x = 1\n\n\n"


def test_a_huge_document_is_changed_in_place(chat: Workbench) -> None:
    path = chat.workspace / "huge.txt"
    lines = [f"line {number} of a long file with some words" for number in range(30_000)]
    path.write_text("\n".join(lines))
    chat.script(edit("huge.txt", "line 29999 of", "the last line of"), {"text": "Marked."})
    chat.open_file("huge.txt")
    chat.press("Control+End")
    ask(chat, "mark the end", "Marked.")
    chat.wait(f"{LINES} >> text=the last line of a long file", view=None)
    chat.wait(".tab.active:not(.dirty)[aria-label^='huge.txt']", view=None)
    assert path.stat().st_size == len("\n".join(lines)) + len("the last") - len("29999")
    chat.focus_editor()
    chat.press("Control+z")
    chat.wait(f"{LINES} >> text=line 29999 of", view=None)


def test_a_new_document_is_changed_before_it_is_a_file(chat: Workbench) -> None:
    chat.script(edit("new.txt", "one", "two"), {"text": "It is two."})
    chat.press("Control+1")
    chat.wait(".editor-group-container.active:focus", view=None)
    chat.press("Control+Alt+u")
    chat.wait(".tab.active[aria-label^='new.txt']", view=None)
    chat.wait(EDITOR_WITH_KEYBOARD, view=None)
    chat.type("one")
    chat.wait(f"{LINES} >> text=one", view=None)
    ask(chat, "make it two", "It is two.")
    chat.wait(f"{LINES} >> text=two", view=None)
    assert not (chat.workspace / "new.txt").exists()
    chat.focus_editor()
    chat.press("Control+z")
    chat.wait(f"{LINES} >> text=one", view=None)


def test_an_unnamed_document_stays_as_it_is(chat: Workbench) -> None:
    chat.command("File: New Untitled Text File")
    chat.wait(".tab.active[aria-label^='Untitled-1']", view=None)
    chat.type("only here")
    chat.script(write(chat.workspace / "Untitled-1"), {"text": "Written."})
    ask(chat, "write it", "Written.")
    chat.wait(f"{LINES} >> text=only here", view=None)
    assert (chat.workspace / "Untitled-1").read_text() == "x\n"


def test_the_fix_of_a_problem_is_offered_once_and_reaches_the_model(chat: Workbench) -> None:
    (chat.workspace / "broken.json").write_text('{\n  "a" 2\n}\n')
    chat.script({"text": "A colon.", "expect": ["Colon expected", "broken.json"]})
    chat.open_file("broken.json")
    chat.wait(".editor-group-container.active .squiggly-error", view=None)
    chat.press("F8")
    chat.wait(".marker-widget", view=None)
    chat.press("Escape")
    chat.wait(".marker-widget", view=None, state="hidden")
    chat.press("Control+.")
    offer = ".action-widget .monaco-list-row:has-text('Kova')"
    chat.wait(offer, view=None)
    assert chat.do("count", selector=offer, view=None) == 1
    assert chat.text(offer, view=None) == "Fix with Kova"
    chat.click(offer, view=None)
    chat.wait(".item.said >> text=Fix this.")
    chat.wait(".item.replied >> text=A colon.")


def test_a_folder_that_is_added_or_removed_changes_where_may_be_written(chat: Workbench) -> None:
    other = chat.top / "two"
    other.mkdir()
    chat.script(
        write(other / "a"),
        {"text": "Not yet."},
        write(other / "b"),
        {"text": "Written."},
        write(other / "c"),
        {"text": "No longer."},
    )
    chat.ask("write a")
    chat.wait(".card[data-armed=true]")
    chat.press("Alt+d")
    chat.wait(".item.replied >> text=Not yet.")
    open_folders(chat, "ws", "two")
    chat.wait_for_folder("two")
    chat.ask("write b")
    chat.wait(".item.replied >> text=Written.")
    assert (other / "b").exists()
    open_folders(chat, "ws")
    chat.wait_for_folder("two", state="hidden")
    chat.ask("write c")
    chat.wait(".card[data-armed=true]")
    chat.press("Alt+d")
    chat.wait(".item.replied >> text=No longer.")
    assert not (other / "c").exists()
