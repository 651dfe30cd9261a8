"""Buffers of every kind, changed by the agent and by the person at once, in a real Neovim."""

import random
from pathlib import Path
from typing import Any

import pytest

from kova_ls.endpoint.text_edits import apply_change, edits, to_lsp
from tests.support.fake_engine import FakeEngine
from tests.support.nvim_client import begin, editor, sha

pytestmark = pytest.mark.e2e


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    (folder / ".git").mkdir(parents=True)
    return folder


async def change(engine: FakeEngine, uri: str, old: str, new: str) -> dict[str, Any]:
    """Change a document as the engine does, by the smallest edits; return the answer."""
    wired = to_lsp(old, edits(old, new))
    edit = {"documentChanges": [{"textDocument": {"uri": uri, "version": 0}, "edits": wired}]}
    guard = {"textHash": sha(old), "newTextHash": sha(new)}
    return await engine.ask("workspace/applyEdit", {"edit": edit, "kova": guard})


async def state(engine: FakeEngine, uri: str) -> dict[str, Any]:
    return (await engine.ask("kova/editor/state", {"uris": [uri]}))["documents"][0]


async def save(engine: FakeEngine, uri: str) -> bool:
    return (await engine.ask("kova/editor/save", {"uris": [uri]}))["saved"] == [uri]


FORMS = {
    "CRLF": (b"a\r\nb\r\n", "a\r\nX\r\nb\r\n", b"a\r\nX\r\nb\r\n", ("utf-8", "\r\n", False)),
    "BOM": (b"\xef\xbb\xbfa\nb\n", "a\nX\nb\n", b"\xef\xbb\xbfa\nX\nb\n", ("utf-8", "\n", True)),
    "latin1": (b"caf\xe9\nb\n", "café\nü\nb\n", b"caf\xe9\n\xfc\nb\n", ("latin1", "\n", False)),
    "UTF-16": (
        "a\nb\n".encode("utf-16"),
        "a\n漢😀\nb\n",
        "a\n漢😀\nb\n".encode("utf-16"),
        ("utf-16le", "\n", True),
    ),
    "mixed": (b"a\r\nb\nc\n", "a\r\nb\nX\nc\n", b"a\r\nb\nX\nc\n", ("utf-8", "\n", False)),
    "form feed": (b"a\x0cb\nc\n", "a\x0cb\nX\nc\n", b"a\x0cb\nX\nc\n", ("utf-8", "\n", False)),
    "empty": (b"", "X\n", b"X\n", ("utf-8", "\n", False)),
}


@pytest.mark.parametrize("form", FORMS)
async def test_a_file_keeps_its_form(tmp_path: Path, workspace: Path, form: str) -> None:
    before, wanted, after, told = FORMS[form]
    file = workspace / "a.txt"
    file.write_bytes(before)
    async with editor(tmp_path, workspace, files=("a.txt",)) as (nvim, engine):
        await begin(nvim, engine)
        uri = file.as_uri()
        opened = await engine.wait_for("textDocument/didOpen")
        text = opened["textDocument"]["text"]
        now = await state(engine, uri)
        assert (now["encoding"], now["eol"], now["bom"]) == told
        assert (await change(engine, uri, text, wanted))["applied"] is True
        assert await save(engine, uri)
        assert file.read_bytes() == after
        await nvim.lua(
            "vim.api.nvim_buf_call(vim.fn.bufnr('a.txt'), function() vim.cmd('undo') end)"
        )
        assert (await state(engine, uri))["textHash"] in (sha(text), sha(text.rstrip("\n")))


async def test_a_missing_last_line_end_stays_missing_where_the_person_wants_so(
    tmp_path: Path, workspace: Path
) -> None:
    file = workspace / "a.txt"
    file.write_bytes(b"a\nb")
    async with editor(
        tmp_path, workspace, files=("a.txt",), before="vim.o.fixendofline = false"
    ) as (nvim, engine):
        await begin(nvim, engine)
        assert (await change(engine, file.as_uri(), "a\nb", "a\nX\nb"))["applied"] is True
        assert await save(engine, file.as_uri())
        assert file.read_bytes() == b"a\nX\nb"


async def test_text_that_the_encoding_cannot_hold_is_not_written(
    tmp_path: Path, workspace: Path
) -> None:
    file = workspace / "a.txt"
    file.write_bytes(b"caf\xe9\n")
    async with editor(tmp_path, workspace, files=("a.txt",)) as (nvim, engine):
        await begin(nvim, engine)
        assert (await change(engine, file.as_uri(), "café\n", "café\n漢\n"))["applied"] is True
        assert not await save(engine, file.as_uri())
        assert file.read_bytes() == b"caf\xe9\n"
        assert (await state(engine, file.as_uri()))["dirty"] is True


async def test_a_hidden_buffer_and_closed_folds_stay_as_they_are(
    tmp_path: Path, workspace: Path
) -> None:
    file = workspace / "a.txt"
    lines = [f"line {n}" for n in range(40)]
    old = "\n".join(lines) + "\n"
    file.write_text(old)
    (workspace / "b.txt").write_text("b\n")
    async with editor(tmp_path, workspace, files=("a.txt",)) as (nvim, engine):
        await nvim.command("set foldmethod=manual | 10,20fold | 30")
        await begin(nvim, engine)
        new = old.replace("line 5\n", "line 5\nnew\n")
        assert (await change(engine, file.as_uri(), old, new))["applied"] is True
        where = "local w = vim.fn.bufwinid('a.txt') return { vim.fn.line('.', w),"
        where += " vim.api.nvim_win_call(w, function() return vim.fn.foldclosed(11) end) }"
        assert await nvim.lua(where) == [31, 11]
        await nvim.input("<Esc><C-w>h")
        await nvim.command("set hidden | edit b.txt")
        newer = new + "end\n"
        assert (await change(engine, file.as_uri(), new, newer))["applied"] is True
        assert await save(engine, file.as_uri())
        assert file.read_text() == newer
        assert await nvim.lua("return vim.fn.expand('%')") == "b.txt"
        file.write_text("from elsewhere\n")
        await nvim.command("set noautoread")
        answer = await engine.ask("kova/editor/reload", {"uris": [file.as_uri()]})
        assert answer == {"reloaded": [file.as_uri()], "dirty": []}
        assert (await state(engine, file.as_uri()))["textHash"] == sha("from elsewhere\n")
        assert await nvim.lua("return vim.o.autoread") is False


@pytest.mark.parametrize("option", ["nomodifiable", "readonly"])
async def test_what_may_not_be_changed_is_not(tmp_path: Path, workspace: Path, option: str) -> None:
    file = workspace / "a.txt"
    file.write_text("a\n")
    async with editor(tmp_path, workspace, files=("a.txt",)) as (nvim, engine):
        await nvim.command(f"setlocal {option}")
        await begin(nvim, engine)
        answer = await change(engine, file.as_uri(), "a\n", "b\n")
        assert (answer["applied"], answer["kova"]["reason"]) == (False, "readonly")
        assert (await state(engine, file.as_uri()))["textHash"] == sha("a\n")


async def test_what_a_formatter_makes_of_it_on_saving_is_what_counts(
    tmp_path: Path, workspace: Path
) -> None:
    file = workspace / "a.txt"
    file.write_text("a\n")
    async with editor(tmp_path, workspace, files=("a.txt",)) as (nvim, engine):
        await nvim.command("autocmd BufWritePre a.txt silent! %s/ \\+$//e")
        await begin(nvim, engine)
        assert (await change(engine, file.as_uri(), "a\n", "a\nb   \n"))["applied"] is True
        assert await save(engine, file.as_uri())
        assert file.read_text() == "a\nb\n"
        now = await state(engine, file.as_uri())
        assert (now["textHash"], now["dirty"]) == (sha("a\nb\n"), False)


async def test_a_swap_file_asks_nothing(tmp_path: Path, workspace: Path) -> None:
    (workspace / "a.txt").write_text("a\n")
    swaps = tmp_path / "swaps"
    swaps.mkdir()
    await nvim_dies_with(tmp_path, workspace, swaps)
    assert list(swaps.iterdir())
    (workspace / "b.txt").write_text("b\n")
    async with editor(tmp_path, workspace, files=("b.txt",)) as (nvim, engine):
        await nvim.command(f"set swapfile directory={swaps}//")
        await begin(nvim, engine)
        params = {"uri": (workspace / "a.txt").as_uri(), "takeFocus": False}
        assert (await engine.ask("window/showDocument", params))["success"] is True
        assert (await nvim.lua("return vim.api.nvim_get_mode()"))["blocking"] is False


async def nvim_dies_with(tmp_path: Path, workspace: Path, swaps: Path) -> None:
    """Leave a swap file of a.txt behind, as a killed Neovim does."""
    from tests.support.nvim import open_nvim

    async with open_nvim(tmp_path / "other", cwd=workspace) as nvim:
        await nvim.command(f"set swapfile directory={swaps}// | edit a.txt")
        await nvim.input("onew<Esc>")
        await nvim.command("preserve")


async def test_typing_and_an_edit_are_undone_one_by_one(tmp_path: Path, workspace: Path) -> None:
    file = workspace / "a.txt"
    file.write_text("one\ntwo\nthree\n")
    async with editor(tmp_path, workspace, files=("a.txt",)) as (nvim, engine):
        await begin(nvim, engine)
        await nvim.input("<Esc><C-w>hGA typed")
        typed = "one\ntwo\nthree typed\n"
        await engine.wait_for("textDocument/didChange")
        answer = await change(engine, file.as_uri(), typed, "ONE\ntwo\nthree typed\n")
        while not answer["applied"]:
            assert answer["kova"]["reason"] in ("typing", "stale")
            answer = await change(engine, file.as_uri(), typed, "ONE\ntwo\nthree typed\n")
        await nvim.input(" more<Esc>")
        found = "return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '|')"
        assert await nvim.lua(found) == "ONE|two|three typed more"
        steps = ["ONE|two|three typed", "one|two|three typed", "one|two|three"]
        for step in steps:
            await nvim.input("u")
            assert await nvim.lua(found) == step


PIECES = [
    "a",
    "bc",
    " ",
    "é",
    "漢",
    "😀",
    "👩\u200d💻",
    "e\u0301",
    "\n",
    "\n\n",
    "\u2028",
    "\x0c",
    "\t",
]
TYPE = """
local buf, row, col, stop_row, stop_col, lines = ...
vim.api.nvim_buf_set_text(buf, row, col, stop_row, stop_col, lines)
"""


def place(text: str, offset: int) -> tuple[int, int]:
    """Row and byte column of a character, as Neovim counts them."""
    before = text[:offset].split("\n")
    return len(before) - 1, len(before[-1].encode())


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_random_edits_of_both_lose_nothing_without_saying_so(
    tmp_path: Path, workspace: Path, seed: int
) -> None:
    """Beside the buffer runs what the engine knows of it, made of text sync alone."""
    dice = random.Random(seed)
    file = workspace / "a.txt"
    text = "".join(dice.choice(PIECES) for _ in range(40)) + "\n"
    file.write_text(text)
    refused = applied = 0
    async with editor(tmp_path, workspace, files=("a.txt",)) as (nvim, engine):
        await begin(nvim, engine)
        uri = file.as_uri()
        await engine.wait_for("textDocument/didOpen")
        buf = await nvim.lua("return vim.fn.bufnr('a.txt')")
        known = text
        told = 0
        for _ in range(120):
            start = dice.randrange(len(text))
            stop = min(len(text) - 1, start + dice.choice([0, 0, 1, 4]))
            put = "".join(dice.choice(PIECES) for _ in range(dice.randrange(4)))
            wanted = text[:start] + put + text[max(start, stop) :]
            if dice.random() < 0.5:
                row, col = place(text, start)
                await nvim.lua(TYPE, buf, row, col, *place(text, max(start, stop)), put.split("\n"))
                text = wanted
            else:
                base = text if dice.random() < 0.7 else text + "moved on"
                answer = await change(engine, uri, base, wanted)
                assert answer["applied"] is (base == text)
                applied, refused = applied + answer["applied"], refused + (not answer["applied"])
                text = wanted if answer["applied"] else text
                assert answer["kova"]["textHash"] == sha(text)
            now = await state(engine, uri)
            assert now["textHash"] == sha(text)
            sent = [params for name, params in engine.requests if name == "textDocument/didChange"]
            for params in sent[told:]:
                for one in params["contentChanges"]:
                    known = apply_change(known, one)
            told = len(sent)
            assert known == text
    assert applied > 20
    assert refused > 5
