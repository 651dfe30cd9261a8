"""Two editors on one conversation: VS Code's real workbench and a client over a second relay."""

import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.lsp_client import Client
from tests.support.vscode import Beside, Workbench

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]

EDIT: dict[str, Any] = {
    "text": "I change it.",
    "calls": [
        {
            "name": "edit",
            "arguments": {"path": "main.py", "old_string": "x = 1", "new_string": "x = 2"},
        },
    ],
}


@pytest.fixture
async def other(chat: Workbench) -> AsyncIterator[Client]:
    """A second editor in the same workspace."""
    beside = Beside(chat)
    yield await beside.client("neighbour")
    await beside.close()


async def attach(client: Client) -> dict[str, Any]:
    """Attach to the conversation that went on last; returns its snapshot."""
    listed = await client.result("kova/session/list", {"limit": 1})
    [summary] = listed["sessions"]
    attached = await client.result("kova/session/attach", {"sessionId": summary["sessionId"]})
    return attached["snapshot"]


def command(line: str) -> dict[str, Any]:
    return {"calls": [{"name": "bash", "arguments": {"command": line}}]}


async def test_a_card_answered_by_the_other_editor_goes_and_says_by_whom(
    chat: Workbench, other: Client
) -> None:
    chat.script(command("touch made"), {"text": "It is made."})
    chat.ask("make it")
    chat.wait(".card[data-armed=true]")
    snapshot = await attach(other)
    [card] = snapshot["approvals"]
    assert card["subject"]["command"] == "touch made"
    answer = {"approvalId": card["approvalId"], "decision": "once"}
    said = await other.result("kova/approval/respond", answer)
    assert said["status"] == "resolved"
    chat.wait(".said-line >> text=Answered: Allow once (by neighbour).")
    chat.wait(".card", state="hidden")
    chat.wait(".item.replied >> text=It is made.")
    resolved = await other.event("approval.resolved")
    assert resolved["payload"]["resolvedBy"] == "neighbour"
    reply = await other.event("item.completed", lambda e: e["payload"]["item"]["kind"] == "reply")
    assert reply["payload"]["item"]["text"] == "It is made."
    await other.event("turn.completed")
    assert (chat.workspace / "made").exists()


async def test_the_other_editor_sees_who_answered_here_and_comes_too_late(
    chat: Workbench, other: Client
) -> None:
    chat.script(command("touch late"), {"text": "As you like."})
    chat.ask("make it")
    chat.wait(".card[data-armed=true]")
    [card] = (await attach(other))["approvals"]
    chat.press("Alt+d")
    resolved = await other.event("approval.resolved")
    assert resolved["payload"]["resolvedBy"] == "VS Code"
    answer = {"approvalId": card["approvalId"], "decision": "once"}
    said = await other.result("kova/approval/respond", answer)
    assert said == {"status": "alreadyResolved", "decision": "deny", "resolvedBy": "VS Code"}
    chat.wait(".said-line >> text=Answered: Deny (by VS Code).")
    chat.wait(".item.replied >> text=As you like.")
    assert not (chat.workspace / "late").exists()


@contextmanager
def unheard(chat: Workbench) -> Iterator[None]:
    """Hold back all that the window and the engine say to each other."""
    [relay] = chat.programs("kova-ls")
    os.kill(relay, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(relay, signal.SIGCONT)


async def test_an_answer_that_comes_too_late_says_so_and_keeps_what_was_typed(
    chat: Workbench, other: Client
) -> None:
    chat.script(command("touch early"), {"text": "It is made."})
    chat.ask("make it")
    chat.wait(".card[data-armed=true]")
    [card] = (await attach(other))["approvals"]
    with unheard(chat):
        answer = {"approvalId": card["approvalId"], "decision": "once"}
        await other.result("kova/approval/respond", answer)
        chat.click("role=button[name='Deny and say why']")
        chat.type("use mkdir")
        chat.press("Enter")
        chat.wait(".card.answered")
    chat.wait(".said-line >> text=Somebody was faster: Allow once (by neighbour).")
    chat.wait(".said-line >> text=What you had typed on the card is in the prompt now.")
    chat.wait(".card", state="hidden")
    chat.until(".prompt textarea", "element.value === 'use mkdir'")
    chat.wait(".item.replied >> text=It is made.")
    assert (chat.workspace / "early").exists()
    chat.focus_prompt()
    chat.press("Control+a", "Delete")


async def test_what_was_typed_on_a_card_that_goes_is_kept(chat: Workbench, other: Client) -> None:
    chat.script(command("touch typed"), {"text": "It is made."})
    chat.ask("make it")
    chat.wait(".card[data-armed=true]")
    [card] = (await attach(other))["approvals"]
    chat.click("role=button[name='Deny and say why']")
    chat.type("use mkd")
    answer = {"approvalId": card["approvalId"], "decision": "once"}
    await other.result("kova/approval/respond", answer)
    chat.wait(".said-line >> text=Answered: Allow once (by neighbour).")
    chat.wait(".card", state="hidden")
    chat.until(".prompt textarea", "element.value === 'use mkd' && element.matches(':focus')")
    chat.press("Control+a", "Delete")


async def test_a_window_that_has_no_focus_is_told_that_kova_waits_and_is_done(
    chat: Workbench, other: Client
) -> None:
    chat.script(
        {"text": "Hello."},
        command("touch seen"),
        {"text": "As you like."},
        command("touch unseen"),
        {"text": "Well then."},
    )
    chat.ask("hello")
    chat.wait(".item.replied >> text=Hello.")
    session = (await attach(other))["sessionId"]
    # From a page within the page the browser tells the workbench nothing of its window.
    chat.open_file("main.py")
    await other.start_turn(session, "make it")
    await deny(other, "touch seen")
    chat.wait(".item.replied >> text=As you like.")
    assert chat.do("count", selector=".notification-toast", view=None) == 0
    chat.until(".editor-instance .monaco-editor.focused", "true", view=None)
    chat.do("setWindowFocus", isFocused=False)
    await other.start_turn(session, "make another")
    chat.wait(".notification-toast >> text=Kova waits for you: $ touch unseen", view=None)
    await deny(other, "touch unseen")
    chat.wait(".notification-toast >> text=Kova is done: hello", view=None)
    chat.do("setWindowFocus", isFocused=True)
    chat.command("Notifications: Clear All Notifications")
    chat.wait(".notification-toast", view=None, state="hidden")
    chat.command("View: Close All Editors")


async def deny(client: Client, line: str) -> None:
    """Answer the card of a command as soon as it is there."""

    def is_it(event: dict[str, Any]) -> bool:
        return event["payload"]["approval"]["subject"]["command"] == line

    asked = await client.event("approval.requested", is_it)
    answer = {"approvalId": asked["payload"]["approval"]["approvalId"], "decision": "deny"}
    await client.result("kova/approval/respond", answer)


async def test_a_question_answered_by_the_other_editor_goes_and_says_by_whom(
    chat: Workbench, other: Client
) -> None:
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
    chat.wait(".card[data-armed=true]")
    [card] = (await attach(other))["questions"]
    answers = [{"id": card["questions"][0]["id"], "selected": ["coffee"]}]
    given = {"questionId": card["questionId"], "answers": answers}
    await other.result("kova/question/respond", given)
    chat.wait(".said-line >> text=The question was answered by neighbour.")
    chat.wait(".card", state="hidden")
    chat.wait(".item.replied >> text=Enjoy.")


async def test_a_prompt_of_the_other_editor_is_shown_with_its_changes(
    chat: Workbench, other: Client
) -> None:
    chat.script({"text": "Hello."}, EDIT, {"text": ["Now x ", "is 2."]})
    chat.ask("hello")
    chat.wait(".item.replied >> text=Hello.")
    session = (await attach(other))["sessionId"]
    await other.start_turn(session, "set x to 2")
    chat.wait(".item.said >> text=set x to 2")
    chat.wait(".call >> text=Edit main.py")
    chat.wait(".item.replied >> text=Now x is 2.")
    level = {"sessionId": session, "level": "ask"}
    await other.result("kova/session/configure", level)
    chat.until("select.level", "element.value === 'ask'")
    seqs = [event["seq"] for event in other.stored]
    assert seqs == sorted(set(seqs))


async def test_a_document_open_in_both_is_changed_where_the_turn_began(
    chat: Workbench, other: Client
) -> None:
    lines = ".editor-group-container.active .view-lines"
    path = chat.workspace / "main.py"
    chat.script(EDIT, {"text": "Now it is 2."})
    chat.open_file("main.py")
    chat.press("Control+End")
    chat.type("y = 3")
    chat.wait(f"{lines} >> text=y = 3", view=None)
    other.open_document(path, path.read_text())
    chat.focus_prompt()
    chat.ask("set x to 2")
    chat.wait(".item.replied >> text=Now it is 2.")
    chat.wait(f"{lines} >> text=x = 2", view=None)
    chat.wait(f"{lines} >> text=y = 3", view=None)
    assert path.read_text() == "print('hi')\nx = 1\n"
    chat.command("View: Revert and Close Editor")
