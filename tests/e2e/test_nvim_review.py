"""Review in a real Neovim with the real engine: hunks are seen, listed, put back, kept."""

import json
import os
import shutil
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

from tests.support.nvim import PLUGIN, Nvim, find_nvim, open_nvim

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
TEXT = "".join(f"line {n}\n" for n in range(1, 13))
MAPS = """
for lhs, name in pairs({ [']k'] = 'next-hunk', ['[k'] = 'prev-hunk', gk = 'keep', gr = 'revert' }) do
  vim.keymap.set('n', lhs, '<Plug>(kova-' .. name .. ')')
end
"""


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

    def stop(self) -> None:
        subprocess.run(
            [sys.executable, "-m", "kova_ls", "stop", "--force"],
            env=os.environ | self.env,
            cwd=self.top,
            capture_output=True,
            check=False,
        )

    def open(self, **options: Any) -> AbstractAsyncContextManager[Nvim]:
        setup = f"{{ cmd = {{ {sys.executable!r}, '-m', 'kova_ls' }} }}"
        defaults: dict[str, Any] = {
            "files": ("main.txt",),
            "env": self.env,
            "setup": setup,
            "before": MAPS,
            "width": 120,
        }
        return open_nvim(self.top / "h", cwd=self.workspace, **(defaults | options))


@pytest.fixture
def house() -> Iterator[House]:
    made = House(Path(tempfile.mkdtemp(prefix="kova", dir="/tmp")).resolve())
    (made.workspace / ".git").mkdir(parents=True)
    (made.workspace / "main.txt").write_text(TEXT)
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
    made.stop()
    shutil.rmtree(made.top)


def edit(old: str, new: str, path: str = "main.txt") -> dict[str, Any]:
    return {"name": "edit", "arguments": {"path": path, "old_string": old, "new_string": new}}


READ = {"calls": [{"name": "read", "arguments": {"path": "main.txt"}}]}
TWO_HUNKS = {
    "calls": [
        edit("line 3\n", "LINE 3\nLINE 3b\n"),
        edit("line 9\nline 10\n", "LINE 9\n"),
    ]
}


async def ask(nvim: Nvim, prompt: str, answer: str) -> None:
    """Let the agent work, then go back to the file."""
    await nvim.command("Kova level auto-edit")
    await nvim.command("Kova")
    await nvim.wait("agent · auto-edit")
    await nvim.input(f"{prompt}<Esc><CR>")
    await nvim.wait(answer)
    await nvim.wait("✓ idle")
    await nvim.command("Kova close")
    await nvim.wait("✓ idle", absent=True)


async def lines(nvim: Nvim) -> list[str]:
    return await nvim.lua(
        "return vim.api.nvim_buf_get_lines(vim.fn.bufnr('main.txt'), 0, -1, false)"
    )


async def listed(nvim: Nvim) -> list[str]:
    return await nvim.lua(
        """
        return vim.tbl_map(function(entry)
          return ('%s:%d %s'):format(vim.fn.bufname(entry.bufnr), entry.lnum, entry.text)
        end, vim.fn.getqflist())
        """
    )


def hunks(count: int) -> str:
    return f"#require('kova.hunks').placed(vim.fn.bufnr('main.txt')) == {count}"


async def test_hunks_in_an_unsaved_buffer_are_shown_put_back_listed_and_kept(house: House) -> None:
    house.script(READ, TWO_HUNKS, {"text": "Both are done."})
    async with house.open(height=24) as nvim:
        await nvim.input("ggOunsaved<Esc>")
        await ask(nvim, "change it", "Both are done.")
        await nvim.wait_lua(hunks(2))
        await nvim.wait("Kova +1 -2")
        assert nvim.grid.lines[:17] == snapshot(
            [
                "  unsaved",
                "  line 1",
                "  line 2",
                "  line 3",
                "▎ LINE 3 Kova +2 -1",
                "▎ LINE 3b",
                "  line 4",
                "  line 5",
                "  line 6",
                "  line 7",
                "  line 8",
                "  line 9",
                "  line 10",
                "▎ LINE 9 Kova +1 -2",
                "  line 11",
                "  line 12",
                "~",
            ]
        )
        assert await nvim.lua("return vim.bo.modified")
        await nvim.input("gg]k")
        assert (await nvim.call("nvim_win_get_cursor", 0))[0] == 4
        await nvim.input("]k")
        assert (await nvim.call("nvim_win_get_cursor", 0))[0] == 11
        await nvim.input("[k")
        await nvim.input("gr")
        await nvim.wait("Kova: reverted; 1 change waits for review.")
        await nvim.wait_lua(hunks(1))
        assert (await lines(nvim))[:5] == ["unsaved", "line 1", "line 2", "line 3", "line 4"]
        assert (house.workspace / "main.txt").read_text() == TEXT
        await nvim.input("u")
        assert (await lines(nvim))[3:5] == ["LINE 3", "LINE 3b"]
        await nvim.input("<C-r>")
        assert (await lines(nvim))[3:5] == ["line 3", "line 4"]
        await nvim.command("Kova changes")
        await nvim.wait("Kova: 1 change in 1 file")
        assert await listed(nvim) == snapshot(["main.txt:10 +1 -2  LINE 9"])
        await nvim.command("Kova keep all")
        await nvim.wait("Kova: kept; nothing more waits for review.")
        await nvim.wait_lua(hunks(0))
        assert await listed(nvim) == []
        assert "LINE 9" in await lines(nvim)


async def test_what_is_unreviewed_is_there_after_a_restart(house: House) -> None:
    house.script(READ, TWO_HUNKS, {"text": "Both are done."})
    async with house.open() as nvim:
        await ask(nvim, "change it", "Both are done.")
        await nvim.wait_lua(hunks(2))
    house.stop()
    async with house.open() as nvim:
        await nvim.command("Kova changes")
        await nvim.wait("Kova: 2 changes in 1 file")
        await nvim.wait_lua(hunks(2))
        # From the list, the line under the cursor is meant.
        await nvim.input("gg")
        await nvim.command("Kova revert")
        await nvim.wait("Kova: reverted; 1 change waits for review.")
        assert (await lines(nvim))[2] == "line 3"
        await nvim.wait("Kova: 1 change in 1 file")
        assert len(await listed(nvim)) == 1


async def test_lines_at_the_end_of_a_file_are_added_removed_and_put_back(house: House) -> None:
    more = edit("line 12\n", "line 12\nline 13\n\nline 15\n")
    house.script(READ, {"calls": [more]}, {"text": "Longer."})
    async with house.open() as nvim:
        await ask(nvim, "add to it", "Longer.")
        await nvim.wait_lua(hunks(1))
        assert (await lines(nvim))[-4:] == ["line 12", "line 13", "", "line 15"]
        assert (house.workspace / "main.txt").read_text() == f"{TEXT}line 13\n\nline 15\n"
        await nvim.input("gg]kgr")
        await nvim.wait_lua(hunks(0))
        assert await lines(nvim) == TEXT.splitlines()
        assert (house.workspace / "main.txt").read_text() == TEXT


async def test_removed_lines_are_found_from_both_sides(house: House) -> None:
    calls = [edit("line 1\n", ""), edit("line 6\nline 7\n", ""), edit("line 12\n", "")]
    house.script(READ, {"calls": calls}, {"text": "Shorter."})
    async with house.open(height=24) as nvim:
        await ask(nvim, "shorten it", "Shorter.")
        await nvim.wait_lua(hunks(3))
        await nvim.wait("line 12")
        assert nvim.grid.lines[:12] == snapshot(
            [
                "  line 1",
                "▔ line 2",
                "  line 3",
                "  line 4",
                "  line 5",
                "  line 6",
                "  line 7",
                "▔ line 8",
                "  line 9",
                "  line 10",
                "▁ line 11",
                "  line 12",
            ]
        )
        for line, diff in ((1, "-line 1"), (4, "-line 6"), (5, "-line 6"), (8, "-line 12")):
            await nvim.call("nvim_win_set_cursor", 0, [line, 0])
            await nvim.command("Kova hunk")
            await nvim.wait(diff)
            await nvim.input("h<C-w>w<C-w>p<Esc>gg")
            await nvim.wait(diff, absent=True)
        await nvim.call("nvim_win_set_cursor", 0, [3, 0])
        await nvim.command("Kova revert")
        await nvim.wait("Kova: no change of the agent's here; :Kova changes lists 3 changes in 1")
        await nvim.command("3,8Kova revert")
        await nvim.wait("Kova: reverted; 1 change waits for review.")
        await nvim.wait_lua(hunks(1))
        assert await lines(nvim) == TEXT.splitlines()[1:]


async def test_hunks_follow_what_is_typed_and_a_tangled_one_is_not_put_back(house: House) -> None:
    house.script(READ, TWO_HUNKS, {"text": "Both are done."})
    async with house.open() as nvim:
        await ask(nvim, "change it", "Both are done.")
        await nvim.wait_lua(hunks(2))
        await nvim.input("ggOone<CR>two<CR>three<Esc>")
        await nvim.wait_lua("require('kova.hunks').placed(vim.fn.bufnr('main.txt'))[1].first == 5")
        await nvim.input("gg]kA mine<Esc>")
        await nvim.wait("LINE 3 mine Kova +2 -1")
        await nvim.input("gr")
        await nvim.wait("Kova: main.txt, lines 6-7: changed since by someone else, so it was left")
        assert "LINE 3 mine" in await lines(nvim)
        await nvim.wait_lua(hunks(2))
        await nvim.command("Kova revert file")
        await nvim.wait_lua(hunks(1))
        assert (await lines(nvim))[-4:] == ["line 9", "line 10", "line 11", "line 12"]


async def test_all_is_put_back_only_when_confirmed_and_a_new_file_goes(house: House) -> None:
    new = {"name": "write", "arguments": {"path": "new.txt", "content": "a\nb\n"}}
    house.script(READ, {"calls": [*TWO_HUNKS["calls"], new]}, {"text": "All is done."})
    async with house.open() as nvim:
        await ask(nvim, "change it", "All is done.")
        await nvim.wait_lua(hunks(2))
        await nvim.command("Kova changes")
        await nvim.wait("Kova: 3 changes in 2 files")
        assert await listed(nvim) == snapshot(
            ["main.txt:3 +2 -1  LINE 3", "main.txt:10 +1 -2  LINE 9", "new.txt:1 +2  new file"]
        )
        await nvim.input(":Kova revert all<CR>")
        await nvim.wait("Revert 3 changes in 2 files?")
        await nvim.input("1<CR>")
        await nvim.wait("Revert 3 changes", absent=True)
        assert (house.workspace / "new.txt").exists()
        await nvim.command("Kova! revert all")
        await nvim.wait("Kova: reverted; nothing more waits for review.")
        await nvim.wait("Quickfix", absent=True)
        assert await lines(nvim) == TEXT.splitlines()
        assert not (house.workspace / "new.txt").exists()


async def test_a_turn_is_kept(house: House) -> None:
    house.script(
        READ,
        {"calls": [edit("line 3\n", "LINE 3\n")]},
        {"text": "First done."},
        {"calls": [{"name": "write", "arguments": {"path": "new.txt", "content": "a\n"}}]},
        {"text": "Second done."},
    )
    async with house.open() as nvim:
        await ask(nvim, "one", "First done.")
        await nvim.wait_lua(hunks(1))
        await ask(nvim, "two", "Second done.")
        await nvim.wait_lua("#require('kova.review').changes == 2")
        await nvim.command("Kova keep turn")
        await nvim.wait("Kova: kept; 1 change waits for review.")
        await nvim.wait_lua(hunks(0))
        await nvim.command("enew")
        await nvim.command("Kova keep turn")
        await nvim.wait("Kova: kept; nothing more waits for review.")
        assert (house.workspace / "new.txt").read_text() == "a\n"


async def test_diagnostics_go_along_only_when_asked(house: House) -> None:
    house.script({"text": "Fixed.", "expect": ["Fix this problem.", "no such name"]})
    async with house.open() as nvim:
        await nvim.lua(
            """
            local at = vim.api.nvim_create_namespace('test')
            vim.diagnostic.set(at, 0, {
              { lnum = 1, col = 0, end_lnum = 1, end_col = 4, message = 'no such name', severity = 1 },
              { lnum = 4, col = 0, message = 'something else', severity = 2 },
            })
            """
        )
        await nvim.command("Kova fix")
        await nvim.wait("Kova: there is no diagnostic on this line.")
        await nvim.input("2G")
        await nvim.command("Kova fix")
        await nvim.wait("Fixed.")
        screen = await nvim.wait("! main.txt:2 no such name")
        assert "something else" not in screen.split("Fix this problem.")[1]


async def test_permissions_are_listed_accepted_confirmed_and_removed(house: House) -> None:
    asked = {"version": 1, "allow": ["make test"]}
    folder = house.workspace / ".kova"
    folder.mkdir()
    (house.top / "k" / "permissions.json").write_text(json.dumps({"version": 1, "deny": ["rm *"]}))
    (folder / "permissions.json").write_text(json.dumps(asked))
    (folder / "permissions.local.json").write_text(
        json.dumps({"version": 1, "allow": ["git status"]})
    )
    async with house.open(height=50) as nvim:
        await nvim.command("Kova permissions")
        await nvim.wait("Asked for, not in force")
        await nvim.wait("Not confirmed: .kova/permissions.local.json")
        await nvim.input("/make test<CR>a")
        await nvim.wait("✓ make test")
        await nvim.input("gg/git status<CR>a")
        await nvim.wait("✓ git status")
        await nvim.wait("Not confirmed", absent=True)
        await nvim.input("gg/⊘ rm<CR>x")
        await nvim.wait("Remove deny rm *?")
        await nvim.input("1<CR>")
        await nvim.wait("Remove deny", absent=True)
        await nvim.wait("⊘ rm *")
        await nvim.input("x")
        await nvim.wait("Remove deny rm *?")
        await nvim.input("2<CR>")
        await nvim.wait("⊘ rm *", absent=True)
        await nvim.input("x")
        await nvim.wait("Kova: there is nothing to remove on this line.")
    assert "rm *" not in (house.top / "k" / "permissions.json").read_text()
    assert "make test" in (folder / "permissions.local.json").read_text()


async def test_the_cost_is_shown_where_it_is_known(house: House) -> None:
    async with house.open() as nvim:
        bar = await nvim.lua(
            """
            require('kova.session').current = {
              id = 's', mode = 'agent', level = 'ask', model = 'demo', state = 'idle', queue = {},
              usage = { contextTokens = 50000, contextWindow = 100000, cost = 0.0421 },
            }
            return require('kova.status').statusline()
            """
        )
        assert bar.endswith("50%% of 100k · $0.042 · demo")


def test_nothing_is_loaded_at_start(tmp_path: Path) -> None:
    loaded = "vim.tbl_filter(function(m) return m:find('^kova') end, vim.tbl_keys(package.loaded))"
    done = subprocess.run(
        [
            find_nvim(),
            "--clean",
            "--headless",
            *("--cmd", f"set runtimepath^={PLUGIN}"),
            f"+lua io.write(vim.json.encode({{ {loaded}, vim.fn.exists(':Kova') }}))",
            "+qa!",
        ],
        env=os.environ | {"HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == [[], 2]
