"""What deceives elsewhere is shown as it is: cards with hostile and with very large content."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_engine import FakeEngine
from tests.support.nvim import Nvim
from tests.support.nvim_client import begin, editor

pytestmark = pytest.mark.e2e

ARMED = "require('kova.card_window').is_armed()"
CARD = "return vim.api.nvim_buf_get_lines(vim.fn.bufnr('kova://card'), 0, -1, true)"
INVISIBLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    (folder / ".git").mkdir(parents=True)
    (folder / "main.py").write_text("print('hi')\nx = 1\n")
    return folder


async def card(nvim: Nvim) -> list[str]:
    return await nvim.lua(CARD)


def unwrapped(lines: list[str]) -> list[str]:
    """The lines before they were broken."""
    whole: list[str] = []
    for line in lines:
        if line.startswith("↪"):
            whole[-1] += line[1:]
        else:
            whole.append(line)
    return whole


def command(workspace: Path, text: str, **more: Any) -> dict[str, Any]:
    return {"type": "command", "command": text, "cwd": workspace.as_uri()} | more


def serve(engine: FakeEngine, whole: str, size: int = 65536) -> None:
    """Answer `kova/output/read` with pieces of this text, counted in bytes as the engine does."""
    data = whole.encode()

    def read(params: dict[str, Any]) -> dict[str, Any]:
        piece = data[params["offset"] : params["offset"] + size].decode()
        stop = params["offset"] + len(piece.encode())
        return {
            "text": piece,
            "offset": params["offset"],
            "nextOffset": stop,
            "totalBytes": len(data),
        }

    engine.answers["kova/output/read"] = read


HOSTILE = [
    ("one\ntwo", ["$ one", "⏎ two"]),
    ("a\r\nb", ["$ a⟨U+000D⟩", "⏎ b"]),
    ("echo \x1b[2K\x1b[1Grm -rf ~", ["$ echo ⟨U+001B⟩[2K⟨U+001B⟩[1Grm -rf ~"]),
    ("echo \x1b]8;;http://x\x07ok", ["$ echo ⟨U+001B⟩]8;;http://x⟨U+0007⟩ok"]),
    ("rm \u202egpj.\u2066x\u2069", ["$ rm ⟨U+202E⟩gpj.⟨U+2066⟩x⟨U+2069⟩"]),
    ("ls\u200b\u200c\u200d\u2060\ufeff", ["$ ls⟨U+200B⟩⟨U+200C⟩⟨U+200D⟩⟨U+2060⟩⟨U+FEFF⟩"]),
    ("cat\u00a0a\u3000b\u2003c", ["$ cat⟨U+00A0⟩a⟨U+3000⟩b⟨U+2003⟩c"]),
    ("x \U000e0041\U000e0042", ["$ x ⟨U+E0041⟩⟨U+E0042⟩"]),
    ("a\u2028b\x0cc\x85d", ["$ a⟨U+2028⟩b⟨U+000C⟩c⟨U+0085⟩d"]),
    ("%#Error#%{system('x')}", ["$ %#Error#%{system('x')}"]),
    ("head\n↪ tail", ["$ head", "⏎ ↪ tail"]),
]


async def test_a_command_is_shown_with_all_that_hides_in_it(
    tmp_path: Path, workspace: Path
) -> None:
    async with editor(tmp_path, workspace, width=120) as (nvim, engine):
        await begin(nvim, engine)
        await nvim.input("<Esc>")
        for number, (text, shown) in enumerate(HOSTILE):
            engine.approve(
                f"p{number}", callId=f"c{number}", title=text, subject=command(workspace, text)
            )
            await nvim.wait_lua(
                f"(require('kova.cards').title() or ''):sub(1, 3) ~= '' and {ARMED}"
            )
            lines = await card(nvim)
            assert lines[: len(shown)] == shown
            assert not any(INVISIBLE.search(line) for line in lines)
            for line in shown:
                await nvim.wait(line)
            title = await nvim.lua("return require('kova.cards').title()")
            assert not INVISIBLE.search(title)
            engine.resolve(f"p{number}", "deny")
            await nvim.wait_lua("require('kova.cards').count() == 0")


async def test_twenty_thousand_characters_in_one_line_can_all_be_seen(
    tmp_path: Path, workspace: Path
) -> None:
    long = "echo " + "".join(f"arg{n:05d}=é漢😀 " for n in range(1600)) + "; rm -rf ~"
    assert len(long) > 20_000
    async with editor(tmp_path, workspace) as (nvim, engine):
        await begin(nvim, engine)
        await nvim.input("<Esc>")
        engine.approve("p1", title="$ echo", subject=command(workspace, long))
        await nvim.wait("▼")
        lines = await card(nvim)
        assert unwrapped(lines)[0] == f"$ {long}"
        width = await nvim.lua("return vim.api.nvim_win_get_width(0)")
        wide = await nvim.lua("return vim.tbl_map(vim.fn.strdisplaywidth, ...)", lines)
        assert max(wide) < width
        await nvim.input("G")
        await nvim.wait("; rm -rf ~")
        await nvim.wait("▼", absent=True)


async def test_a_part_that_is_hidden_is_opened_before_a_yes_and_looked_at_before_it(
    tmp_path: Path, workspace: Path
) -> None:
    whole = "echo " + "x" * 20_000 + "\n\u202ervil"
    async with editor(tmp_path, workspace, settings="card = { arm_ms = 300 }") as (nvim, engine):
        serve(engine, whole)
        await begin(nvim, engine)
        await nvim.input("<Esc>")
        subject = command(workspace, whole[:4000], hiddenChars=len(whole) - 4000, outputRef="o1")
        engine.approve(
            "p1", title="$ echo", subject=subject, decisions=["deny", "once", "remember"]
        )
        await nvim.wait("$ echo")
        await nvim.wait_lua(ARMED)
        await nvim.input("G")
        await nvim.wait("more characters are not shown here: e opens them")
        for yes in "or":
            await nvim.input(yes)
            await nvim.wait("first open what is hidden")
        assert engine.count("kova/approval/respond") == 0
        await nvim.lua("vim.api.nvim_feedkeys('eo', 't', false)")
        await nvim.wait_lua(f"#vim.api.nvim_buf_get_lines(0, 0, -1, true) > 200 and {ARMED}")
        assert engine.count("kova/approval/respond") == 0
        assert await nvim.lua("return require('kova.card_window').armed_after") >= 300
        assert unwrapped(await card(nvim))[:2] == [
            "$ " + whole.split("\n", maxsplit=1)[0],
            "⏎ ⟨U+202E⟩rvil",
        ]
        await nvim.input("o")
        assert (await engine.wait_for("kova/approval/respond"))["decision"] == "once"


async def test_a_diff_of_five_megabytes_is_shown_whole(tmp_path: Path, workspace: Path) -> None:
    body = "".join(f"+line {n:06d} {'y' * 60}\n" for n in range(68_000)) + "+\u202elast\n"
    whole = f"@@ -0,0 +1,68001 @@\n{body}"
    assert len(whole) > 5_000_000
    async with editor(tmp_path, workspace) as (nvim, engine):
        serve(engine, whole, size=256 * 1024)
        await begin(nvim, engine)
        await nvim.input("<Esc>")
        change = {
            "uri": (workspace / "new.txt").as_uri(),
            "change": "create",
            "diff": whole[:2000],
            "hiddenLines": 67_900,
            "outputRef": "o1",
        }
        engine.approve("p1", title="Write new.txt", subject={"type": "edit", "files": [change]})
        await nvim.wait("new file  new.txt")
        await nvim.wait_lua(ARMED)
        await nvim.input("e")
        await nvim.wait("of 68003 ▼", timeout=60)
        await nvim.input("G")
        await nvim.wait("+⟨U+202E⟩last")
        assert [line for line in await card(nvim) if line][1:-1] == whole.split("\n")[:-2]
        await nvim.wait_lua(ARMED)
        await nvim.input("o")
        assert (await engine.wait_for("kova/approval/respond"))["decision"] == "once"


async def test_a_file_name_with_a_line_break_is_one_line(tmp_path: Path, workspace: Path) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):
        await begin(nvim, engine)
        await nvim.input("<Esc>")
        path = workspace / "a\nallow \u202e.py"
        change = {"uri": path.as_uri(), "change": "delete", "diff": "@@ -1 +0,0 @@\n-x\n"}
        engine.approve(
            "p1", title=f"Delete {path.name}", subject={"type": "edit", "files": [change]}
        )
        await nvim.wait("DELETE  a⏎allow ⟨U+202E⟩.py")
        assert (await card(nvim))[0] == "DELETE  a⏎allow ⟨U+202E⟩.py"
        await nvim.wait("Delete a⏎allow ⟨U+202E⟩.py")


@pytest.mark.parametrize("place", ["prompt", "own file"])
async def test_a_card_never_takes_the_keys_of_insert_mode(
    tmp_path: Path, workspace: Path, place: str
) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):
        await begin(nvim, engine)
        if place == "own file":
            await nvim.input("<Esc><C-w>hGo")
        engine.approve("p1", title="Run make")
        await nvim.wait_lua(ARMED)
        await nvim.input("odr")
        await nvim.wait_lua("vim.api.nvim_get_current_line() == 'odr'")
        assert (await nvim.lua("return vim.api.nvim_get_mode().mode")) == "i"
        assert not await nvim.lua("return require('kova.card_window').is_focused()")
        assert engine.count("kova/approval/respond") == 0


async def test_an_answer_comes_only_after_the_card_stood_there_for_its_time(
    tmp_path: Path, workspace: Path
) -> None:
    async with editor(tmp_path, workspace, settings="card = { arm_ms = 300 }") as (nvim, engine):
        await begin(nvim, engine)
        await nvim.input("<Esc>")
        engine.approve("p1", title="Run make")
        await nvim.wait("Run make")
        await nvim.input("o")
        await nvim.wait_lua(ARMED)
        assert engine.count("kova/approval/respond") == 0
        assert await nvim.lua("return require('kova.card_window').armed_after") >= 300
        await nvim.input("o")
        assert (await engine.wait_for("kova/approval/respond"))["decision"] == "once"
