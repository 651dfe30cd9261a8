"""Edits of open documents in a real Neovim: with our client, and with its own LSP client alone."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.nvim import Nvim, open_nvim

ROOT = Path(__file__).parents[2]
OLD = "print('hi')\nx = 1\ny = 2\n"


@dataclass(frozen=True)
class House:
    """Folders of one test, short enough for a Unix socket."""

    top: Path

    @property
    def file(self) -> Path:
        return self.top / "ws" / "main.py"

    @property
    def env(self) -> dict[str, str]:
        return {
            "KOVA_HOME": str(self.top / "k"),
            "KOVA_DATA_DIR": str(self.top / "d"),
            "KOVA_RUNTIME_DIR": str(self.top / "r"),
            "PYTHONPATH": str(ROOT),
        }

    def script(self, *steps: dict[str, Any]) -> None:
        (self.top / "k" / "script.json").write_text(json.dumps({"steps": steps}))


@pytest.fixture
def house() -> Iterator[House]:
    made = House(Path(tempfile.mkdtemp(prefix="kova", dir="/tmp")).resolve())
    (made.top / "ws" / ".git").mkdir(parents=True)
    (made.top / "k").mkdir()
    made.file.write_text(OLD)
    script = json.dumps(str(made.top / "k" / "script.json"))
    (made.top / "k" / "config.toml").write_text(
        f'default_model = "demo"\n[models.demo]\napi = "scripted"\nscript = {script}\n'
    )
    trust = made.top / "h" / "state" / "nvim" / "kova" / "trust.json"
    trust.parent.mkdir(parents=True)
    trust.write_text(json.dumps({"folders": {str(made.top / "ws"): True}}))
    yield made
    subprocess.run(
        [sys.executable, "-m", "kova_ls", "stop", "--force"],
        env=os.environ | made.env,
        cwd=made.top,
        capture_output=True,
        check=False,
    )
    shutil.rmtree(made.top)


EDIT = {
    "calls": [
        {
            "name": "edit",
            "arguments": {"path": "main.py", "old_string": "x = 1", "new_string": "x = 100"},
        }
    ]
}
DONE = {"text": "It is done."}

PROBE = """
_G.probe = {answers = {}, events = {}}
function probe.ask(method, params, name)
  probe.client():request(method, params, function(err, result)
    probe.answers[name] = err and {error = err.message} or result
  end)
end
function probe.client() return vim.lsp.get_clients({name = 'kova'})[1] end
function probe.start(session)
  probe.ask('kova/turn/start', {sessionId = session, input = {{type = 'text', text = 'Go.'}}}, 't')
end
function probe.ended()
  for _, event in ipairs(probe.events) do
    if event.type == 'turn.completed' then return true end
  end
  return false
end
"""

PLAIN = (
    PROBE
    + """
vim.lsp.start({
  name = 'kova', cmd = CMD, root_dir = vim.fn.getcwd(),
  workspace_folders = {{uri = vim.uri_from_fname(vim.fn.getcwd()), name = 'ws'}},
  handlers = {['kova/event'] = function(_, event) table.insert(probe.events, event) end},
  init_options = {kova = {versions = {1}, client = {id = 'w', name = 'plain'}, trusted = true}},
})
"""
)


async def turn(nvim: Nvim) -> str:
    """Let the agent do a turn with the probe; returns the session."""
    create = "probe.ask('kova/session/create', {level = 'auto-edit'}, 's')"
    await nvim.wait_lua("probe.client() ~= nil and probe.client().initialized == true")
    await nvim.lua(create)
    await nvim.wait_lua("probe.answers.s ~= nil")
    session = await nvim.lua("return probe.answers.s.sessionId")
    await nvim.lua("probe.start(...)", session)
    await nvim.wait_lua("probe.ended()")
    return str(session)


async def buffer(nvim: Nvim) -> str:
    return "\n".join(await nvim.call("nvim_buf_get_lines", 1, 0, -1, True)) + "\n"


async def is_dirty(nvim: Nvim) -> bool:
    return bool(await nvim.lua("return vim.bo[1].modified"))


async def ours(nvim: Nvim) -> None:
    """Connect our client, and hear its events."""
    await nvim.lua(
        PROBE
        + "require('kova.client').on('event', function(e) table.insert(probe.events, e) end)\n"
        + "require('kova.client').start(function() end)"
    )
    await nvim.wait_lua("require('kova.client').state == 'ready'")


def setup(house: House) -> dict[str, Any]:
    return {
        "cwd": house.file.parent,
        "env": house.env,
        "files": ("main.py",),
        "setup": f"{{ cmd = {{ {sys.executable!r}, '-m', 'kova_ls' }} }}",
    }


async def test_unsaved_text_is_edited_in_the_buffer_as_one_undo_step(house: House) -> None:
    house.script(EDIT, DONE)
    async with open_nvim(house.top / "h", **setup(house)) as nvim:
        await ours(nvim)
        await nvim.input("Omine = 0<Esc>")
        await turn(nvim)
        assert await buffer(nvim) == "mine = 0\n" + OLD.replace("x = 1\n", "x = 100\n")
        assert await is_dirty(nvim)
        assert house.file.read_text() == OLD
        await nvim.input("u")
        await nvim.wait_lua("vim.api.nvim_buf_get_lines(1, 2, 3, true)[1] == 'x = 1'")
        assert await buffer(nvim) == f"mine = 0\n{OLD}"


async def test_a_clean_buffer_is_saved_and_a_hunk_goes_back(house: House) -> None:
    house.script(EDIT, DONE)
    async with open_nvim(house.top / "h", **setup(house)) as nvim:
        await ours(nvim)
        session = await turn(nvim)
        assert house.file.read_text() == OLD.replace("x = 1\n", "x = 100\n")
        assert not await is_dirty(nvim)
        await nvim.input("Gomine = 0<Esc>")
        await nvim.lua(
            "probe.ask('kova/changes/decide', {sessionId = ..., decision = 'revert'}, 'd')", session
        )
        await nvim.wait_lua("probe.answers.d ~= nil")
        assert await nvim.lua("return probe.answers.d.error") is None
        assert await nvim.lua("return #probe.answers.d.refused") == 0
        assert await buffer(nvim) == f"{OLD}mine = 0\n"


async def test_a_command_changes_an_open_file_and_the_buffer_follows(house: House) -> None:
    command = {"name": "bash", "arguments": {"command": "echo new > main.py"}}
    house.script({"calls": [command]}, DONE)
    async with open_nvim(house.top / "h", **setup(house)) as nvim:
        await ours(nvim)
        await nvim.lua("vim.cmd.enew()")  # the buffer is hidden: Neovim itself would not look
        create = "probe.ask('kova/session/create', {level = 'auto'}, 's')"
        await nvim.lua(create)
        await nvim.wait_lua("probe.answers.s ~= nil")
        await nvim.lua("probe.start(probe.answers.s.sessionId)")
        await nvim.wait_lua("probe.ended()")
        assert house.file.read_text() == "new\n"
        assert await buffer(nvim) == "new\n"


async def test_a_plain_client_is_edited_and_judged_by_what_it_shows(house: House) -> None:
    house.script(EDIT, DONE)
    options = setup(house)
    command = f"local CMD = {{ {sys.executable!r}, '-m', 'kova_ls' }}\n"
    async with open_nvim(house.top / "h", **options) as nvim:
        await nvim.lua(command + PLAIN)
        await nvim.input("Omine = 0<Esc>")
        session = await turn(nvim)
        assert await buffer(nvim) == "mine = 0\n" + OLD.replace("x = 1\n", "x = 100\n")
        assert house.file.read_text() == OLD
        await nvim.lua(
            "probe.ask('kova/changes/decide', {sessionId = ..., decision = 'revert'}, 'd')", session
        )
        await nvim.wait_lua("probe.answers.d ~= nil")
        assert await buffer(nvim) == f"mine = 0\n{OLD}"
