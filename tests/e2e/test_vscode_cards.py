"""VS Code's real workbench: plans, the documents of the editor, its language tools, its language."""

import json
from typing import Any

import pytest

from tests.support.vscode import MAIN_PY, Workbench, open_workbench

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]

EDIT: dict[str, Any] = {
    "calls": [
        {
            "name": "edit",
            "arguments": {"path": "main.py", "old_string": "x = 1", "new_string": "x = 2"},
        },
    ],
}
LINES = ".editor-group-container.active .view-lines"


def with_plan(chat: Workbench, *after: dict[str, Any]) -> None:
    """Begin a conversation in mode plan, whose plan waits for an answer."""
    options = [
        {"label": "Fast", "description": "less safe"},
        {"label": "Safe", "description": "slower"},
    ]
    leave = {"calls": [{"name": "plan_exit", "arguments": {"options": options}}]}
    chat.script({"text": "I look around."}, leave, *after)
    chat.command("Kova: Choose the Mode…")
    chat.pick("plan")
    chat.until("select.mode", "element.value === 'plan'")
    chat.focus_prompt()
    chat.ask("look")
    chat.wait(".item.replied >> text=I look around.")
    folders = (chat.top / "d" / "sessions").iterdir()
    newest = max(folders, key=lambda folder: folder.stat().st_mtime_ns)
    (newest / "plan.md").write_text("# The plan\n\n1. Look\n2. Change `main.py`\n")
    chat.ask("plan it")
    chat.wait(".card.plan[data-armed=true]")


def test_a_plan_is_approved_with_an_approach_by_keyboard(chat: Workbench) -> None:
    with_plan(chat, {"text": "I carry it out.", "expect": ["Chosen approach: Safe"]})
    chat.wait(".card.plan h1 >> text=The plan")
    chat.press("Alt+ArrowUp", "Tab")
    chat.until(".card.plan input[value=Fast]", "element.matches(':focus')")
    chat.press("ArrowDown")
    chat.until(".card.plan input[value=Safe]", "element.checked")
    chat.press("Alt+o")
    chat.wait(".item.replied >> text=I carry it out.")
    chat.wait(".card", state="hidden")
    chat.until("select.mode", "element.value === 'agent'")


def test_a_plan_is_sent_back_with_what_to_change(chat: Workbench) -> None:
    with_plan(chat, {"text": "I add tests.", "expect": ["add tests", "Revise the plan"]})
    chat.click(".card.plan textarea")
    chat.type("add tests")
    chat.click(".card.plan [data-decision=revise]")
    chat.wait(".item.replied >> text=I add tests.")
    chat.until("select.mode", "element.value === 'plan'")


def test_words_beside_an_approval_of_the_plan_reach_the_model(chat: Workbench) -> None:
    with_plan(chat, {"text": "Gladly.", "expect": ["mind the tests", "Chosen approach: Fast"]})
    chat.click(".card.plan textarea")
    chat.type("mind the tests")
    chat.press("Alt+o")
    chat.wait(".item.replied >> text=Gladly.")


def test_the_agent_reads_what_the_language_tools_of_the_editor_say(chat: Workbench) -> None:
    (chat.workspace / "broken.json").write_text('{\n  "a": 1,\n  "a" 2\n}\n')
    chat.open_file("broken.json")
    chat.wait(".editor-group-container.active .squiggly-error", view=None)
    chat.script(
        {"calls": [{"name": "diagnostics", "arguments": {"path": "broken.json"}}]},
        {"text": "A colon is missing.", "expect": ["broken.json:3: error: Colon expected"]},
    )
    chat.focus_prompt()
    chat.ask("what is wrong?")
    chat.wait(".item.replied >> text=A colon is missing.")
    chat.command("View: Close All Editors")


def test_a_clean_document_shows_the_change_and_stays_clean(chat: Workbench) -> None:
    chat.open_file("main.py")
    chat.wait(f"{LINES} >> text=x = 1", view=None)
    chat.script(EDIT, {"text": "Now it is 2."})
    chat.focus_prompt()
    chat.ask("set x to 2")
    chat.wait(".item.replied >> text=Now it is 2.")
    chat.wait(f"{LINES} >> text=x = 2", view=None)
    chat.wait(".tab.active:not(.dirty)[aria-label^='main.py']", view=None)
    assert (chat.workspace / "main.py").read_text() == "print('hi')\nx = 2\n"
    chat.command("View: Close All Editors")


def test_a_command_that_writes_a_clean_document_is_shown_in_it(chat: Workbench) -> None:
    chat.open_file("main.py")
    chat.wait(f"{LINES} >> text=x = 1", view=None)
    line = "printf 'x = 3\\n' > main.py"
    chat.script({"calls": [{"name": "bash", "arguments": {"command": line}}]}, {"text": "Done."})
    chat.focus_prompt()
    chat.ask("write it")
    chat.wait(".card[data-armed=true]")
    chat.press("Alt+o")
    chat.wait(".item.replied >> text=Done.")
    chat.wait(f"{LINES} >> text=x = 3", view=None)
    chat.wait(".tab.active:not(.dirty)[aria-label^='main.py']", view=None)
    chat.command("View: Close All Editors")


def test_a_dirty_document_stays_dirty(chat: Workbench) -> None:
    chat.open_file("main.py")
    chat.press("Control+End")
    chat.type("y = 3")
    chat.wait(".tab.active.dirty[aria-label^='main.py']", view=None)
    chat.script(EDIT, {"text": "Now it is 2."})
    chat.focus_prompt()
    chat.ask("set x to 2")
    chat.wait(".item.replied >> text=Now it is 2.")
    chat.wait(f"{LINES} >> text=x = 2", view=None)
    chat.wait(".tab.active.dirty[aria-label^='main.py']", view=None)
    assert (chat.workspace / "main.py").read_text() == MAIN_PY
    chat.command("File: Revert File")
    chat.command("View: Close All Editors")


def test_a_rule_written_by_hand_is_adopted_by_keyboard_and_holds(chat: Workbench) -> None:
    place = chat.workspace / ".kova" / "permissions.local.json"
    place.parent.mkdir(exist_ok=True)
    place.write_text(json.dumps({"version": 1, "allow": ["touch *"]}))
    touch = [{"name": "bash", "arguments": {"command": f"touch {name}"}} for name in ("one", "two")]
    chat.script({"calls": touch[:1]}, {"calls": touch[1:]}, {"text": "Both are made."})
    chat.ask("make both")
    chat.wait(".card.adopt[data-armed=true]")
    assert "touch *" in chat.text(".card.adopt .card-body")
    chat.press("Alt+o")
    chat.wait(".item.replied >> text=Both are made.")
    assert (chat.workspace / "one").exists()
    assert (chat.workspace / "two").exists()
    place.unlink()


def test_the_chinese_editor_has_a_chinese_conversation() -> None:
    with open_workbench(locale="zh-cn") as chat:
        chat.script({"calls": [{"name": "bash", "arguments": {"command": "touch a"}}]})
        chat.open()
        chat.command("打开对话")
        chat.wait("text=我们做点什么？")
        chat.wait("role=button[name^='Kova: 空闲']", view=None)
        chat.ask("做")
        chat.wait(".card[data-armed=true]")
        chat.wait(".card .reasons >> text=没有规则涵盖")
        assert chat.text("[data-decision=deny]") == "拒绝"
        assert chat.text("[data-decision=once]") == "仅这一次"
        assert chat.text("[data-decision=remember]") == "允许并记住"
        chat.wait("select.level[aria-label='权限档位']")
