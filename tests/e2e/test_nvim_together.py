"""Two Neovims on one conversation: both see it, the first answer counts, edits go to the asker."""

import pytest

from tests.e2e.test_nvim import EDIT, House, house, start  # noqa: F401 - a fixture
from tests.support.nvim import Nvim

pytestmark = pytest.mark.e2e


async def follow(nvim: Nvim) -> None:
    await nvim.command("Kova")
    await nvim.wait("❯ change it")


async def test_two_editors_share_a_conversation(house: House) -> None:  # noqa: F811
    house.script(EDIT, {"text": "It is done."})
    file = house.workspace / "main.py"
    async with house.open() as one, house.open() as two:
        await start(one, "change it", level="ask")
        await one.wait_lua("require('kova.card_window').is_armed()")
        await follow(two)
        await two.wait_lua("require('kova.cards').count() == 1")
        await two.input("<Esc>")
        await two.command("Kova card")
        await two.wait_lua("require('kova.card_window').is_armed()")
        await two.input("o")
        await one.wait_lua("require('kova.cards').count() == 0")
        await one.wait("It is done.")
        await two.wait("It is done.")
        assert "x = 2" in file.read_text()
        lines = (
            "table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr('main.py'), 0, -1, true), '|')"
        )
        for nvim in (one, two):
            await nvim.wait_lua(f"{lines} == \"print('hi')|x = 2\"")
            assert await nvim.lua("return vim.bo[vim.fn.bufnr('main.py')].modified") is False


async def test_what_the_other_has_not_saved_is_not_lost(house: House) -> None:  # noqa: F811
    house.script(EDIT, {"text": "It is done."})
    async with house.open() as one, house.open() as two:
        await two.input("Omine = 0<Esc>")
        await start(one, "change it", level="auto-edit")
        await one.wait("It is done.")
        lines = "return vim.api.nvim_buf_get_lines(vim.fn.bufnr('main.py'), 0, -1, true)"
        assert await two.lua(lines) == ["mine = 0", "print('hi')", "x = 1"]
        assert await one.lua(lines) == ["print('hi')", "x = 2"]
