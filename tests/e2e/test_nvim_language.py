"""The Neovim client's own words: each has its Chinese, and is shown in it."""

import re
from pathlib import Path

import pytest

from tests.support.nvim_client import editor

LUA = Path(__file__).parents[2] / "editors" / "nvim" / "lua" / "kova"
LITERAL = r'"((?:[^"\\]|\\.)*)"'
ENTRY = re.compile(rf"^  \[{LITERAL}\] = {LITERAL},$", re.MULTILINE)
HOLE = re.compile(r"%[-0-9.]*[a-z%=]")
# What a person reads goes through one of these; only what is in the table may stand there bare.
SHOWN = re.compile(
    r"(?:text\.say|\bfail|page:add|page:heading|\bheading)\(\(*"
    r"|(?:\blabel|\bhelp|\bprompt|\bdesc) = \(*"
)
BARE = {"Kova: ", "Kova settings: ", "Kova ", "Kova", "Kova %s%s", "Fix this problem."}
"""The product's name, settings for who writes them, and what is said to the model."""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    (folder / ".git").mkdir(parents=True)
    (folder / "main.py").write_text("x = 1\n")
    return folder


def sources() -> dict[str, str]:
    skipped = ("types.lua", "health.lua", "config.lua")
    return {
        path.name: "\n".join(
            line for line in path.read_text().splitlines() if not line.lstrip().startswith("--")
        )
        for path in LUA.glob("*.lua")
        if path.name not in skipped
    }


def table() -> dict[str, str]:
    return dict(ENTRY.findall((LUA / "l10n_zh_cn.lua").read_text()))


def test_every_word_has_its_entry_and_every_entry_its_word() -> None:
    used = {
        word for source in sources().values() for word in re.findall(rf"\bt\({LITERAL}\)", source)
    }
    assert used == table().keys()
    assert len(used) > 200


@pytest.mark.parametrize(("english", "chinese"), table().items())
def test_an_entry_keeps_the_holes_and_the_edges(english: str, chinese: str) -> None:
    assert HOLE.findall(chinese) == HOLE.findall(english)
    assert chinese.startswith("Kova: ") == english.startswith("Kova: ")
    assert chinese.startswith(" ") <= english.startswith(" ")


def test_nothing_is_shown_that_is_not_in_the_table() -> None:
    bare = {
        f"{name}: {word}"
        for name, source in sources().items()
        for match in SHOWN.finditer(source)
        for word in re.findall(rf"^{LITERAL}", source[match.end() :])
        if re.search(r"[A-Za-z]{2}", word) and word not in BARE
    }
    assert bare == set()


@pytest.mark.e2e
async def test_a_chinese_window_is_chinese(tmp_path: Path, workspace: Path) -> None:
    async with editor(tmp_path, workspace, settings="locale = 'zh-cn'") as (nvim, _):
        await nvim.command("Kova")
        await nvim.wait("新的对话")
        await nvim.wait("提问；<C-s> 发送")
        chinese = ("zh_CN.UTF-8", "zh-Hans-HK", "zh", "ZH-sg")
        others = ("zh_TW.UTF-8", "zh-hk", "zh-Hant", "en_US.UTF-8", "C", "")
        for locales, expected in ((chinese, True), (others, False)):
            for locale in locales:
                code = f"return require('kova.l10n').is_chinese('{locale}')"
                assert await nvim.lua(code) is expected, locale
