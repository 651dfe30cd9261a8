"""VS Code's real workbench: finding, installing and losing the server, and trust."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.vscode import BIN, Workbench, open_workbench

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]

PLACE = "kova.server.path"
TOUCH: dict[str, Any] = {"calls": [{"name": "bash", "arguments": {"command": "touch made"}}]}


@pytest.fixture(scope="module")
def window() -> Iterator[Workbench]:
    """One window for all tests of the file: no server is found, and the folder is not trusted."""
    with open_workbench(has_server=False, trusts=False) as opened:
        opened.script({"text": "Hello."})
        opened.open()
        opened.command("Kova: Open the Conversation")
        opened.wait("text=The server is not installed")
        yield opened


@pytest.fixture
def server(window: Workbench) -> Iterator[Workbench]:
    """The window connected by the setting; afterwards there is no server again."""
    window.configure_machine(**{PLACE: str(BIN / "kova-ls")})
    window.wait("role=button[name=/^Kova: (idle|waits)/]", view=None)
    window.command("Kova: New Conversation")
    window.wait("text=What shall we do?")
    yield window
    window.configure_machine()
    window.wait("role=button[name='Kova: not installed']", view=None)


def trust(window: Workbench) -> None:
    """Trust the folders, as a person does in VS Code's own page."""
    if window.do("count", selector="role=button[name^='Restricted Mode']", view=None) == 0:
        return
    window.command("Workspaces: Manage Workspace Trust")
    window.click("role=button[name='Trust'] >> nth=0", view=None)
    window.wait("text=You trust this", view=None)
    window.command("View: Close All Editors")
    window.focus_prompt()


def write(path: Path) -> dict[str, Any]:
    return {"calls": [{"name": "write", "arguments": {"path": str(path), "content": "x\n"}}]}


def test_a_folder_is_trusted_while_the_conversation_goes_on(server: Workbench) -> None:
    server.script({"text": "Hello."}, write(server.workspace / "new.txt"), {"text": "Written."})
    server.wait(".notice >> text=This folder is not trusted")
    server.wait("role=button[name='Trust this folder…']")
    server.ask("hello")
    server.wait(".item.replied >> text=Hello.")
    server.press("Shift+Tab")
    server.wait("text=Level 'workspace-write' needs a trusted folder.")
    server.until("select.level", "element.value === 'ask'")
    trust(server)
    server.press("Shift+Tab")
    server.until("select.level", "element.value === 'workspace-write'")
    server.ask("write it")
    server.wait(".item.replied >> text=Written.")
    assert (server.workspace / "new.txt").read_text() == "x\n"


def test_a_server_that_is_not_there_is_installed_from_the_extension(window: Workbench) -> None:
    # Stands for `uv tool install --force FOLDER`: what it installs runs from that folder alone.
    installer = window.top / "bin" / "uv"
    installer.write_text(
        '#!/bin/sh\nmkdir -p "$HOME/.local/bin" && cd "$HOME/.local/bin" && '
        "printf '#!/bin/sh\\nPYTHONPATH=%s exec %s -m kova_ls \"$@\"\\n' "
        f'"$4" {sys.executable} >kova-ls && chmod +x kova-ls && echo "$@" >"$HOME/asked"\n'
    )
    installer.chmod(0o755)
    # A terminal wants trust.
    trust(window)
    window.click("role=button[name='Check again']")
    window.wait("pre:has-text('uv tool install --force') >> visible=true")
    window.click("role=button[name='Install with uv']")
    window.wait("role=button[name^='Kova: idle']", view=None)
    asked = (window.top / "h/asked").read_text().split()
    assert asked[:3] == ["tool", "install", "--force"]
    [relay] = window.programs("kova_ls")
    assert f"PYTHONPATH={asked[3]}".encode() in Path(f"/proc/{relay}/environ").read_bytes()
    window.command("Kova: New Conversation")
    window.wait("text=What shall we do?")
    window.ask("hello")
    window.wait(".item.replied >> text=Hello.")
    (window.top / "h/.local/bin/kova-ls").unlink()
    window.command("Kova: Restart the Connection")
    window.wait("role=button[name='Kova: not installed']", view=None)


def test_a_configured_program_that_does_not_work_says_why(window: Workbench) -> None:
    window.configure_machine(**{PLACE: "/no/such/kova-ls"})
    window.command("Kova: New Conversation")
    words = "The setting kova.server.path names /no/such/kova-ls, which is no program."
    window.wait(f"text={words} >> visible=true")
    window.wait("role=button[name='Settings'] >> visible=true")
    window.wait("role=button[name='Kova: did not start']", view=None)
    broken = window.top / "broken"
    broken.write_text("#!/bin/sh\necho 'No module named kova_ls' >&2\nexit 1\n")
    broken.chmod(0o755)
    window.configure_machine(**{PLACE: str(broken)})
    window.wait(".problem:has-text('No module named kova_ls') >> visible=true")
    window.wait(".notifications-toasts >> text=connection", view=None, state="hidden")
    window.configure_machine()
    window.wait("text=The server is not installed >> visible=true")


def test_a_program_that_never_answers_is_left_when_another_is_named(window: Workbench) -> None:
    silent = window.top / "silent"
    silent.write_text("#!/bin/sh\nexec sleep 600\n")
    silent.chmod(0o755)
    window.configure_machine(**{PLACE: str(silent)})
    window.command("Kova: New Conversation")
    window.wait(".busy >> text=Connecting to the engine")
    # Sooner than its silence would be noticed.
    window.configure_machine(**{PLACE: str(BIN / "kova-ls")})
    window.wait("role=button[name^='Kova: idle']", view=None)
    window.configure_machine()
    window.wait("role=button[name='Kova: not installed']", view=None)


def test_a_server_that_is_killed_comes_back_with_the_card(server: Workbench) -> None:
    server.script(TOUCH, {"text": "It is made."})
    trust(server)
    server.ask("make it")
    server.wait(".card[data-armed=true]")
    for program in ("kova-ls", "engine"):
        killed = server.programs(program)
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        while not server.programs(program) - killed:
            server.wait(".card")
        server.wait("role=button[name^='Kova: waits for you']", view=None)
    server.focus_prompt()
    # Until it is connected again the client says so, and the card stays.
    while not (server.workspace / "made").exists():
        server.press("Alt+o")
        server.wait(".composer")
    server.wait(".item.replied >> text=It is made.")
