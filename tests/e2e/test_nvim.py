"""A real Neovim, the real relay, the real engine: work with the agent from the keyboard."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from tests.support.nvim import Nvim, open_nvim

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
EMPTY = "ask something"


@dataclass(frozen=True)
class House:
    """Folders of one test, short enough for a Unix socket."""

    top: Path

    @property
    def workspace(self) -> Path:
        return self.top / "ws"

    @property
    def env(self) -> dict[str, str]:
        return {
            "KOVA_HOME": str(self.top / "k"),
            "KOVA_DATA_DIR": str(self.top / "d"),
            "KOVA_RUNTIME_DIR": str(self.top / "r"),
            "PYTHONPATH": str(ROOT),
        }

    def script(self, *steps: dict[str, Any]) -> None:
        """What the model will say."""
        (self.top / "k" / "script.json").write_text(json.dumps({"steps": steps}))

    def command(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "kova_ls", *arguments],
            env=os.environ | self.env,
            cwd=self.top,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout + done.stderr

    def engine_pid(self) -> int:
        status = json.loads(self.command("status", "--json"))
        return int(status["engine"]["pid"])

    def open(self, **options: Any) -> AbstractAsyncContextManager[Nvim]:
        setup = f"{{ cmd = {{ {sys.executable!r}, '-m', 'kova_ls' }} }}"
        defaults: dict[str, Any] = {"files": ("main.py",), "env": self.env, "setup": setup}
        return open_nvim(self.top / "h", cwd=self.workspace, **(defaults | options))


@pytest.fixture
def house() -> Iterator[House]:
    made = House(Path(tempfile.mkdtemp(prefix="kova", dir="/tmp")).resolve())
    (made.workspace / ".git").mkdir(parents=True)
    (made.workspace / "main.py").write_text("print('hi')\nx = 1\n")
    (made.top / "k").mkdir()
    script = json.dumps(str(made.top / "k" / "script.json"))
    (made.top / "k" / "config.toml").write_text(
        f'default_model = "demo"\n[models.demo]\napi = "scripted"\nscript = {script}\n'
        "context_window = 100000\n"
    )
    store = made.top / "h" / "state" / "nvim" / "kova" / "trust.json"
    store.parent.mkdir(parents=True)
    store.write_text(json.dumps({"folders": {str(made.workspace): True}}))
    yield made
    made.command("stop", "--force")
    shutil.rmtree(made.top)


EDIT = {
    "text": "I change it.",
    "calls": [
        {"name": "read", "arguments": {"path": "main.py"}},
        {
            "name": "edit",
            "arguments": {"path": "main.py", "old_string": "x = 1", "new_string": "x = 2"},
        },
    ],
}


async def start(nvim: Nvim, prompt: str, *, level: str = "") -> None:
    await nvim.command("Kova")
    await nvim.wait("A new conversation")
    await nvim.wait("workspace-write")
    if level:
        await nvim.command(f"Kova level {level}")
        await nvim.wait(f"agent · {level}")
    await nvim.input(f"{prompt}<Esc><CR>")


async def test_a_change_is_asked_for_approved_and_made(house: House) -> None:
    house.script(EDIT, {"text": "Now `x` is 2."})
    async with house.open(width=100, height=24) as nvim:
        await start(nvim, "set x to 2 in @main.py", level="ask")
        await nvim.wait("+x = 2")
        await nvim.wait_lua("require('kova.card_window').is_armed()")
        assert (house.workspace / "main.py").read_text() == "print('hi')\nx = 1\n"
        await nvim.input("o")
        await nvim.wait("Now `x` is 2.")
        await nvim.wait("✓ idle")
        await nvim.wait(EMPTY)
        assert (house.workspace / "main.py").read_text() == "print('hi')\nx = 2\n"
        await nvim.wait("x = 2 Kova +1 -1")
        assert "\n".join(nvim.grid.lines[:-1]) == snapshot("""\
  print('hi')                                         │ ✓ idle · agent · ask · <1% of 100k · demo
  x = 1                                               │ ❯ set x to 2 in @main.py
▎ x = 2 Kova +1 -1                                    │   @main.py
~                                                     │
~                                                     │ I change it.
~                                                     │
~                                                     │+✓ Read main.py
~                                                     │+✓ Edit main.py
~                                                     │
~                                                     │ Now `x` is 2.
~                                                     │
~                                                     │
~                                                     │
~                                                     │
~                                                     │
~                                                     │
~                                                     │ Kova  set x to 2 in @main.py
~                                                     │ prompt
~                                                     │ ask something; <CR> sends, @ mentions a file
~                                                     │
~                                                     │
~                                                     │
main.py                             1,1            All\
""")


async def test_the_card_shows_the_diff_and_the_reasons(house: House) -> None:
    house.script(EDIT, {"text": "As you like."})
    async with house.open(width=100, height=24) as nvim:
        await start(nvim, "set x to 2", level="ask")
        await nvim.wait("+x = 2")
        await nvim.wait_lua("require('kova.card_window').is_armed()")
        lines = [line.removeprefix("~ ") for line in nvim.grid.lines]
        top = next(n for n, line in enumerate(lines) if line.startswith("╭"))
        why = next(n for n, line in enumerate(lines) if "Why it asks" in line)
        assert "\n".join(lines[top:why]) == snapshot("""\
╭ Edit main.py ────────────────────────────────────────────────────────────────────────────────╮
│ change  main.py                                                                              │
│ --- a/main.py                                                                                │
│ +++ b/main.py                                                                                │
│ @@ -1,2 +1,2 @@                                                                              │
│  print('hi')                                                                                 │
│ -x = 1                                                                                       │
│ +x = 2                                                                                       │
│                                                                                              │\
""")
        await nvim.input("f")
        await nvim.wait("Why not?")
        await nvim.input("leave it<CR>")
        await nvim.wait("As you like.")
        assert (house.workspace / "main.py").read_text() == "print('hi')\nx = 1\n"


async def test_a_command_is_remembered(house: House) -> None:
    run = {"calls": [{"name": "bash", "arguments": {"command": "mkdir made && ls made"}}]}
    house.script(run, {"text": "Made."})
    async with house.open() as nvim:
        await start(nvim, "make a folder")
        await nvim.wait("It is made of 2 commands")
        await nvim.wait("Remember would write to .kova/permissions.local.json")
        await nvim.wait_lua("require('kova.card_window').is_armed()")
        await nvim.input("r")
        await nvim.wait("Made.")
        assert (house.workspace / "made").is_dir()
        rules = (house.workspace / ".kova" / "permissions.local.json").read_text()
        assert "mkdir" in rules


async def test_typing_is_not_disturbed_by_a_card(house: House) -> None:
    house.script(EDIT, {"text": "Now it is."})
    async with house.open() as nvim:
        await start(nvim, "set x to 2", level="ask")
        await nvim.input("i")
        await nvim.wait("<C-g> answers")
        await nvim.input("do or not")
        await nvim.wait("do or not")
        assert nvim.grid.mode == "insert"
        assert (house.workspace / "main.py").read_text() == "print('hi')\nx = 1\n"
        await nvim.input("<C-g>")
        await nvim.wait_lua("require('kova.card_window').is_armed()")
        await nvim.input("o")
        await nvim.wait("Now it is.")
        assert (house.workspace / "main.py").read_text() == "print('hi')\nx = 2\n"
        await nvim.wait("do or not")


async def test_levels_cycle(house: House) -> None:
    house.script({"text": "Hello."})
    async with house.open() as nvim:
        await start(nvim, "hello")
        await nvim.wait("Hello.")
        for level in ("auto-edit", "auto", "ask", "workspace-write"):
            await nvim.input("<S-Tab>")
            await nvim.wait(f"agent · {level}")
        await nvim.command("Kova mode plan")
        await nvim.wait("plan · workspace-write")


async def test_a_question_is_answered(house: House) -> None:
    options = [{"label": "tea", "description": "green"}, {"label": "coffee", "description": ""}]
    ask = {"question": "Which drink?", "header": "Drink", "options": options}
    house.script(
        {"calls": [{"name": "Question", "arguments": {"questions": [ask]}}]},
        {"text": "Enjoy.", "expect": ["coffee"]},
    )
    async with house.open() as nvim:
        await start(nvim, "offer me something")
        await nvim.wait("Which drink?")
        await nvim.wait_lua("require('kova.card_window').is_armed()")
        await nvim.input("2")
        await nvim.wait("Enjoy.")


async def test_a_running_command_is_stopped(house: House) -> None:
    run = {"calls": [{"name": "bash", "arguments": {"command": "echo begun; sleep 1000"}}]}
    house.script(run)
    async with house.open() as nvim:
        await start(nvim, "wait", level="auto")
        await nvim.wait(lambda text: "\n" in text and "begun" in text.replace("echo begun", ""))
        await nvim.input("<C-c>")
        await nvim.wait("⚠ Stopped")
        await nvim.wait("✓ idle")


async def test_a_turn_outlives_neovim_and_its_card_comes_back(house: House) -> None:
    house.script(EDIT, {"text": "Now it is."})
    async with house.open(files=()) as nvim:
        await start(nvim, "set x to 2", level="ask")
        await nvim.wait("+x = 2")
        nvim.process.kill()
    async with house.open(files=()) as nvim:
        await nvim.command("Kova")
        await nvim.wait("❯ set x to 2")
        await nvim.wait("<C-g> answers")
        await nvim.input("<C-g>")
        await nvim.wait_lua("require('kova.card_window').is_armed()")
        await nvim.input("o")
        await nvim.wait("Now it is.")
        assert (house.workspace / "main.py").read_text() == "print('hi')\nx = 2\n"
        lines = await nvim.lua(
            "return vim.api.nvim_buf_get_lines(require('kova.transcript').buffer(), 0, -1, false)"
        )
        assert lines.count("❯ set x to 2") == 1
        assert lines.count("Now it is.") == 1


async def test_the_engine_s_death_loses_nothing(house: House) -> None:
    house.script(EDIT, {"text": "Now it is."})
    async with house.open(files=()) as nvim:
        await start(nvim, "set x to 2", level="ask")
        await nvim.wait("+x = 2")
        os.kill(house.engine_pid(), signal.SIGKILL)
        await nvim.wait("reconnecting")
        await nvim.wait("reconnecting", absent=True)
        await nvim.wait("+x = 2")
        await nvim.wait_lua(
            "require('kova.client').state == 'ready' and require('kova.card_window').is_armed()"
        )
        await nvim.input("o")
        await nvim.wait("Now it is.")
        assert (house.workspace / "main.py").read_text() == "print('hi')\nx = 2\n"
        lines = await nvim.lua(
            "return vim.api.nvim_buf_get_lines(require('kova.transcript').buffer(), 0, -1, false)"
        )
        assert lines.count("❯ set x to 2") == 1
