"""VS Code's real workbench, the real relay, the real engine: work with the agent from the chat."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.vscode import MAIN_PY, Workbench

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]

EDIT: dict[str, Any] = {
    "text": "I change it.",
    "calls": [
        {"name": "read", "arguments": {"path": "main.py"}},
        {
            "name": "edit",
            "arguments": {"path": "main.py", "old_string": "x = 1", "new_string": "x = 2"},
        },
    ],
}


def set_level(chat: Workbench, level: str) -> None:
    """Press Shift+Tab in the prompt until the picker shows the level."""
    chat.focus_prompt()
    for at in ("auto-edit", "auto", "ask", "workspace-write"):
        chat.press("Shift+Tab")
        chat.until("select.level", f"element.value === {json.dumps(at)}")
        if at == level:
            return


def wait_for_card(chat: Workbench) -> None:
    """Wait until a card is there and takes answers."""
    chat.wait(".card[data-armed=true]")


def main_py(chat: Workbench) -> Path:
    return chat.workspace / "main.py"


def test_an_edit_is_shown_in_the_diff_editor_and_allowed_by_keyboard(chat: Workbench) -> None:
    chat.script(EDIT, {"text": ["Now `x` ", "is 2."]})
    set_level(chat, "ask")
    chat.ask("set x to 2")
    wait_for_card(chat)
    assert chat.text(".card .diff").splitlines() == [
        "@@ -1,2 +1,2 @@",
        " print('hi')",
        "-x = 1",
        "+x = 2",
    ]
    buttons = chat.evaluate(
        "[...document.querySelectorAll('.card [data-decision]')].map(b => b.dataset.decision)"
    )
    assert buttons[0] == "deny"
    chat.click("role=button[name='Open diff: main.py']")
    chat.wait(".monaco-diff-editor", view=None)
    chat.wait("text=main.py (what Kova would change)", view=None)
    assert main_py(chat).read_text() == MAIN_PY
    chat.press("Alt+o")
    chat.wait(".item.replied >> text=Now x is 2.")
    chat.wait(".card", state="hidden")
    assert main_py(chat).read_text() == "print('hi')\nx = 2\n"


def test_a_stream_grows_and_escape_stops_it(chat: Workbench) -> None:
    chat.script({"text": [f"word{number} " for number in range(2000)], "delay_ms": 20})
    chat.ask("talk")
    chat.wait("text=word5")
    chat.wait("role=button[name=Stop]")
    chat.press("Escape")
    chat.wait(".item.notice >> text=Stopped")
    chat.until(".state", "element.dataset.state === 'idle'")


def test_a_command_shows_its_parts_and_is_denied_with_a_reason(chat: Workbench) -> None:
    command = "mkdir made && touch made/a"
    chat.script(
        {"calls": [{"name": "bash", "arguments": {"command": command}}]},
        {"text": "As you like.", "expect": ["leave it"]},
    )
    chat.ask("make a folder")
    wait_for_card(chat)
    parts = "[...document.querySelectorAll('.segments li > code')].map(code => code.textContent)"
    assert chat.evaluate(parts) == ["mkdir made", "touch made/a"]
    chat.wait(".card >> text=“Allow and remember” would write to")
    chat.click("role=button[name='Deny and say why']")
    chat.type("leave it")
    chat.press("Enter")
    chat.wait(".item.replied >> text=As you like.")
    assert not (chat.workspace / "made").exists()


def test_a_command_that_is_allowed_shows_what_it_prints(chat: Workbench) -> None:
    chat.script(
        {"calls": [{"name": "bash", "arguments": {"command": "touch here; echo printed"}}]},
        {"text": "Done."},
    )
    chat.ask("run it")
    wait_for_card(chat)
    chat.press("Alt+o")
    chat.wait(".item.replied >> text=Done.")
    chat.click(".call summary")
    chat.wait(".call pre.output >> text=printed")
    chat.wait(".call .reasons li")


def test_what_is_long_is_opened_before_it_can_be_allowed(chat: Workbench) -> None:
    content = "".join(f"line {number}\n" for number in range(200))
    chat.script(
        {"calls": [{"name": "write", "arguments": {"path": "long.txt", "content": content}}]},
        {"text": "Written."},
    )
    set_level(chat, "ask")
    chat.ask("write it")
    wait_for_card(chat)
    chat.until("[data-decision=once]", "element.ariaDisabled === 'true'")
    chat.press("Alt+o")
    chat.wait("text=Show all of it before you allow it: long.txt")
    chat.click("role=button[name='Show all']")
    chat.until("[data-decision=once]", "element.ariaDisabled === 'false'")
    chat.press("Alt+o")
    chat.wait(".item.replied >> text=Written.")
    assert (chat.workspace / "long.txt").read_text() == content


def test_a_question_is_answered_by_keyboard(chat: Workbench) -> None:
    options = [
        {"label": "tea", "description": "green"},
        {"label": "coffee", "description": "black"},
    ]
    ask = {"question": "Which drink?", "header": "Drink", "options": options}
    chat.script(
        {"calls": [{"name": "Question", "arguments": {"questions": [ask]}}]},
        {"text": "Enjoy.", "expect": ["coffee"]},
    )
    chat.ask("offer me something")
    wait_for_card(chat)
    chat.press("Alt+ArrowUp", "ArrowDown")
    chat.until("input[value=coffee]", "element.checked")
    chat.press("Enter")
    chat.wait(".item.replied >> text=Enjoy.")
    assert chat.evaluate("document.querySelector('.prompt textarea').value") == ""


def test_mode_and_level_are_chosen_and_cycled(chat: Workbench) -> None:
    chat.script({"text": "Hello."})
    chat.ask("hello")
    chat.wait(".item.replied >> text=Hello.")
    set_level(chat, "ask")
    chat.wait("role=button[name='Kova: idle, agent, ask']", view=None)
    chat.command("Kova: Choose the Mode…")
    chat.pick("plan")
    chat.until("select.mode", "element.value === 'plan'")
    chat.wait("role=button[name='Kova: idle, plan, ask']", view=None)


def test_a_file_is_mentioned_by_typing_its_name(chat: Workbench) -> None:
    chat.script({"text": "Seen.", "expect": ["x = 1"]})
    chat.type("look at @mai")
    chat.wait("role=option >> text=main.py")
    chat.press("Enter")
    chat.until(".prompt textarea", "element.value === 'look at @main.py '")
    chat.press("Enter")
    chat.wait(".said .chip >> text=main.py")
    chat.wait(".item.replied >> text=Seen.")


def test_a_prompt_waits_for_the_turn_is_taken_back_or_goes_into_it(chat: Workbench) -> None:
    chat.script(
        EDIT,
        {"text": "First done.", "expect": ["mind the gap"]},
        {"text": "Second done.", "expect": ["and then"]},
    )
    set_level(chat, "ask")
    chat.ask("set x to 2")
    wait_for_card(chat)
    chat.ask("and @main.py")
    chat.wait(".queue >> text=and @main.py")
    chat.until(".prompt textarea", "element.value === ''")
    chat.do("pressIn", selector=".prompt textarea", view="chat", key="ArrowUp")
    chat.until(".prompt textarea", "element.value === 'and @main.py'")
    chat.wait(".queue", state="hidden")
    chat.ask("and then")
    chat.wait(".queue >> text=and then")
    chat.focus_prompt()
    chat.type("mind the gap")
    chat.press("Control+Enter")
    chat.until(".prompt textarea", "element.value === ''")
    chat.press("Alt+o")
    chat.wait(".item.replied >> text=First done.")
    chat.wait(".item.replied >> text=Second done.")
    chat.wait(".queue", state="hidden")


def test_a_reload_in_mid_turn_keeps_the_card_and_the_draft(chat: Workbench) -> None:
    chat.script(EDIT, {"text": "Now it is 2."})
    set_level(chat, "ask")
    chat.ask("set x to 2")
    wait_for_card(chat)
    chat.focus_prompt()
    chat.type("half a thought")
    chat.until(".prompt textarea", "element.value === 'half a thought'")
    chat.do("reload")
    wait_for_card(chat)
    chat.wait(".item.said >> text=set x to 2")
    chat.until(".prompt textarea", "element.value === 'half a thought'")
    chat.focus_prompt()
    chat.press("Alt+o")
    chat.wait(".item.replied >> text=Now it is 2.")
    assert main_py(chat).read_text() == "print('hi')\nx = 2\n"
    chat.press("Control+a", "Delete")


def test_a_turn_that_failed_says_so_after_a_reload_and_is_tried_again(chat: Workbench) -> None:
    failure = {"code": "overloaded", "message": "Come back later."}
    chat.script({"error": failure})
    chat.ask("try it")
    chat.wait(".item.notice.error >> text=Come back later.")
    chat.do("reload")
    chat.wait(".item.said >> text=try it")
    chat.wait(".item.notice.error >> text=Come back later.")
    chat.script({"text": "Now it works."})
    chat.click("role=button[name='Try again']")
    chat.wait(".item.replied >> text=Now it works.")
    assert chat.do("count", selector=".item.said >> text=try it", view="chat") == 2
    chat.wait("role=button[name='Try again']", state="hidden")


def test_a_turn_that_was_stopped_says_so_after_a_reload(chat: Workbench) -> None:
    chat.script({"text": ["word ", "another"], "delay_ms": 600_000})
    chat.ask("talk")
    chat.wait("role=button[name=Stop]")
    chat.press("Escape")
    chat.wait(".item.notice >> text=Stopped")
    chat.do("reload")
    chat.wait(".item.said >> text=talk")
    chat.wait(".item.notice >> text=Stopped")


def test_the_loop_view_tells_every_step(chat: Workbench) -> None:
    chat.script(EDIT, {"text": "Now it is 2."})
    chat.ask("set x to 2")
    chat.wait(".item.replied >> text=Now it is 2.")
    chat.command("Kova: Show the Loop View")
    chat.wait("text=Step 1: I change it.", view="loop")
    chat.wait(".call >> text=Edit main.py", view="loop")
    chat.wait("text=Step 2: Now it is 2.", view="loop")


def test_conversations_are_listed_and_opened_again(chat: Workbench) -> None:
    chat.script({"text": "A remarkable answer."})
    chat.ask("a remarkable question")
    chat.wait(".item.replied >> text=A remarkable answer.")
    chat.command("Kova: New Conversation")
    chat.click(".recent button >> text=a remarkable question")
    chat.wait(".item.replied >> text=A remarkable answer.")


def test_no_model_is_a_page_with_the_next_step(chat: Workbench) -> None:
    (chat.top / "k" / "config.toml").write_text("")
    chat.command("Kova: New Conversation")
    chat.wait("text=No model is ready")
    chat.wait("role=button[name='Open config.toml']")
    chat.script({"text": "Hello."})
    chat.click("role=button[name='Check again']")
    chat.wait("text=What shall we do?")


def test_an_unsaved_document_is_changed_and_one_undo_takes_it_back(chat: Workbench) -> None:
    chat.script(EDIT, {"text": "Now it is 2."})
    chat.open_file("main.py")
    lines = ".editor-group-container.active .view-lines"
    chat.wait(f"{lines} >> text=x = 1", view=None)
    chat.press("Control+End")
    chat.type("y = 3")
    chat.wait(f"{lines} >> text=y = 3", view=None)
    chat.focus_prompt()
    chat.ask("set x to 2")
    chat.wait(".item.replied >> text=Now it is 2.")
    chat.wait(f"{lines} >> text=x = 2", view=None)
    chat.wait(f"{lines} >> text=y = 3", view=None)
    assert main_py(chat).read_text() == MAIN_PY
    chat.focus_editor()
    chat.press("Control+z")
    chat.wait(f"{lines} >> text=x = 1", view=None)
    chat.wait(f"{lines} >> text=y = 3", view=None)
    chat.command("File: Revert File")
    chat.command("View: Close All Editors")


def test_a_hunk_is_reverted_in_the_changes_view(chat: Workbench) -> None:
    chat.script(EDIT, {"text": "Now it is 2."})
    chat.ask("set x to 2")
    chat.wait(".item.replied >> text=Now it is 2.")
    assert main_py(chat).read_text() != MAIN_PY
    chat.command("Kova: Show the Changes")
    chat.wait(".hunk .add >> text=x = 2", view="changes")
    chat.click(".hunk >> role=button[name^='Revert']", view="changes")
    chat.wait("text=Nothing waits for review.", view="changes")
    assert main_py(chat).read_text() == MAIN_PY
    chat.command("View: Close All Editors")


def test_a_selection_is_offered_but_never_of_a_file_with_secrets(chat: Workbench) -> None:
    chat.script({"text": "Hello."}, {"text": "Seen.", "expect": ["x = 1"]})
    (chat.workspace / ".env").write_text("TOKEN=abc\n")
    chat.ask("hello")
    chat.wait(".item.replied >> text=Hello.")
    chat.open_file("main.py")
    chat.press("Control+a")
    chat.wait(".composer .chip >> text=main.py:1-2")
    chat.open_file(".env")
    chat.press("Control+a")
    chat.wait(".composer .chip", state="hidden")
    chat.open_file("main.py")
    chat.wait(".composer .chip >> text=main.py:1-2")
    chat.ask("what is this?")
    chat.wait(".item.replied >> text=Seen.")
    chat.wait(".said .chip >> text=main.py:1-3")
    chat.command("View: Close All Editors")
