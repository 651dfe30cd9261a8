"""VS Code's real workbench: what is read before it is allowed, and the conversation by keyboard."""

from typing import Any

import pytest

from tests.support.vscode import Workbench

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]

LONG_COMMAND = "".join(f": part {number:04}\n" for number in range(9000)) + "touch end"
REPLY = "See [main](main.py).\n\n```python\ndef f(): return 1\n```\n"
PASTE = """(() => {
  const data = new DataTransfer();
  data.setData("text/plain", "a line of a log\\n".repeat(70000));
  const paste = new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true});
  document.querySelector(".prompt textarea").dispatchEvent(paste);
})()"""


def command(line: str) -> dict[str, Any]:
    return {"calls": [{"name": "bash", "arguments": {"command": line}}]}


def test_a_command_that_the_card_holds_in_part_is_read_before_it_is_allowed(
    chat: Workbench,
) -> None:
    chat.script(command(LONG_COMMAND), {"text": "It ran."})
    chat.ask("run it")
    chat.wait(".card[data-armed=true]")
    chat.wait("button.whole >> text=/Show the whole command .* more characters/")
    chat.press("Alt+o")
    chat.wait(".said-line >> text=Show all of it before you allow it")
    chat.press("Alt+w")
    chat.until("[data-decision=once]", "element.ariaDisabled === 'false'")
    chat.until(".card .command", "element.matches(':focus')")
    chat.until(".card .command", "element.lastElementChild.textContent === 'touch end'")
    chat.press("Alt+o")
    chat.wait(".item.replied >> text=It ran.")
    assert (chat.workspace / "end").exists()


def test_nothing_in_a_command_is_unseen(chat: Workbench) -> None:
    chat.script(command("echo \u202eno\u200b\ntouch x"), {"text": "As you like."})
    chat.ask("run it")
    chat.wait(".card[data-armed=true]")
    chat.wait(".card .command .row >> text=echo ⟨U+202E⟩no⟨U+200B⟩")
    chat.press("Alt+d")
    chat.wait(".item.replied >> text=As you like.")


def test_the_transcript_is_one_stop_and_arrows_go_through_it(chat: Workbench) -> None:
    chat.script({**command("true"), "text": REPLY}, {"text": "Ready."})
    chat.ask("look")
    chat.wait(".card[data-armed=true]")
    chat.press("Alt+o")
    chat.wait(".item.replied >> text=Ready.")
    chat.wait(".code .hljs-keyword >> text=def")
    chat.press("Alt+ArrowUp", "End")
    chat.until(".item.replied >> nth=1", "element.matches(':focus')")
    chat.press("ArrowUp")
    chat.until(".item.call summary", "element.matches(':focus')")
    chat.press("Enter")
    chat.until(".item.call", "element.open")
    chat.press("ArrowUp")
    chat.until(".item.replied >> nth=0", "element.matches(':focus')")
    chat.press("Tab")
    chat.until(".item.replied a", "element.matches(':focus')")
    chat.press("Escape")
    chat.until(".item.replied >> nth=0", "element.matches(':focus')")
    chat.press("Home", "Tab")
    chat.until(".prompt textarea", "element.matches(':focus')")


def test_a_long_paste_is_a_chip_that_outlives_a_reload_and_goes_by_keyboard(
    chat: Workbench,
) -> None:
    chat.evaluate(PASTE)
    chat.wait(".composer .chip >> text=Pasted text, 70001 lines")
    chat.type("what failed?")
    chat.until(".prompt textarea", "element.value === 'what failed?'")
    chat.wait(".composer .chip:not([aria-busy]) >> text=Pasted text, 70001 lines")
    chat.do("reload")
    chat.wait(".composer .chip >> text=Pasted text, 70001 lines")
    chat.until(".prompt textarea", "element.value === 'what failed?'")
    chat.focus_prompt()
    chat.press("Control+Home", "ArrowLeft")
    chat.until(".composer .chip button", "element.matches(':focus')")
    chat.press("Delete")
    chat.wait(".composer .chip", state="hidden")
    chat.until(".prompt textarea", "element.matches(':focus')")


def test_a_goal_is_paused_resumed_and_cancelled_by_keyboard(chat: Workbench) -> None:
    goal = {"action": "create", "objective": "All of it is green."}
    chat.script(
        {"calls": [{"name": "goal", "arguments": goal}]},
        {"text": "It is set."},
        command("echo one"),
        {"text": "Never said."},
    )
    chat.ask("make it green")
    # The turn that began by itself waits at its card.
    chat.wait(".card[data-armed=true]")
    chat.wait(".goal[data-status=active] >> text=All of it is green. · goes on by itself")
    chat.wait(".item.said >> text=Begun by itself, for the goal")
    chat.evaluate("document.querySelector('.goal button').focus()")
    chat.until(".goal button:not([hidden])", "element.matches(':focus')")
    chat.press("Enter")
    chat.wait(".goal[data-status=paused]")
    chat.until(".goal button:not([hidden])", "element.matches(':focus')")
    chat.press("Enter")
    chat.wait(".goal[data-status=active]")
    chat.until(".goal button:not([hidden])", "element.matches(':focus')")
    chat.press("Tab", "Tab")
    chat.until(".goal button:last-child", "element.matches(':focus')")
    chat.press("Enter")
    chat.until(".goal", "element.hidden")
    chat.until(".state", "element.textContent === 'idle'")
    assert "Never said" not in chat.text("main.scroller")
