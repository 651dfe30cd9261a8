"""The help file and the client say the same: no command, map, setting or colour more or less."""

import re
from pathlib import Path

import pytest

from tests.support.nvim import PLUGIN, open_nvim

pytestmark = pytest.mark.e2e

HELP = (PLUGIN / "doc" / "kova.txt").read_text()

PLUGS = """
local names = {}
for _, mode in ipairs({ 'n', 'i', 'x' }) do
  for _, map in ipairs(vim.api.nvim_get_keymap(mode)) do
    table.insert(names, map.lhs:match('^<Plug>%(kova%-(.*)%)$'))
  end
end
return names
"""
SETTINGS = """
local names = {}
local function walk(prefix, settings)
  for name, value in pairs(settings) do
    table.insert(names, prefix .. name)
    if type(value) == 'table' and not vim.islist(value) then walk(prefix .. name .. '.', value) end
  end
end
walk('', require('kova.config').defaults)
return names
"""
MAPPED = """
local found = {}
for _, mode in ipairs({ 'n', 'i', 'x', 's', 'o', 'c', 't' }) do
  for _, map in ipairs(vim.api.nvim_get_keymap(mode)) do
    local desc = map.desc or ''
    if not map.lhs:find('^<Plug>') and (desc:find('Kova') or tostring(map.rhs):find('[Kk]ova')) then
      table.insert(found, map.lhs)
    end
  end
end
return found
"""

GROUPS = "require('kova.highlights').setup() return vim.fn.getcompletion('Kova', 'highlight')"


def tags(pattern: str) -> set[str]:
    return set(re.findall(rf"\*{pattern}\*", HELP))


def documented_settings() -> set[str]:
    """What the block of defaults names, `a.b` for what is nested."""
    block = HELP.split('require("kova").setup({', 1)[1].split("\n<", 1)[0]
    found: set[str] = set()
    path: list[str] = []
    for line in block.splitlines():
        code = line.split("--")[0].strip()
        if match := re.match(r"(\w+) = (.*)", code):
            found.add(".".join([*path, match[1]]))
            if match[2].strip() == "{":
                path.append(match[1])
            elif match[2].startswith("{") and "=" in match[2]:
                found |= {f"{match[1]}.{name}" for name in re.findall(r"(\w+) =", match[2])}
        elif code.startswith("}") and path:
            path.pop()
    return found


async def test_commands_maps_settings_and_colours_are_all_in_the_help(tmp_path: Path) -> None:
    async with open_nvim(tmp_path / "h", cwd=tmp_path) as nvim:
        assert await nvim.lua(MAPPED) == []
        plugs = set(await nvim.lua(PLUGS))
        assert plugs == tags(r"<Plug>\(kova-([^)]*)\)")
        commands = set(await nvim.lua("return vim.tbl_keys(require('kova.commands').commands)"))
        assert commands == tags(":Kova-([a-z]+)")
        without_map = {c for c in commands if c not in plugs}
        assert without_map == set()
        settings = set(await nvim.lua(SETTINGS)) | {"root", "locale"}  # nil by default
        assert {s for s in settings if "." not in s} == tags("kova-setting-([a-z_]+)")
        assert documented_settings() - settings == set()
        undocumented = {s for s in settings - documented_settings() if not s.startswith("icons")}
        assert undocumented == set()
        icons = {s.removeprefix("icons.") for s in settings if s.startswith("icons.")}
        about_icons = HELP.split("*kova-setting-icons*", 1)[1].split("====", 1)[0]
        assert {name for name in icons if not re.search(rf"\b{name}\b", about_icons)} == set()
        groups = set(await nvim.lua(GROUPS))
        section = HELP.split("*kova-highlights*", 1)[1].split("====", 1)[0]
        assert groups == set(re.findall(r"Kova[A-Z]\w+", section))


async def test_every_link_of_the_help_leads_somewhere(tmp_path: Path) -> None:
    async with open_nvim(tmp_path / "h", cwd=tmp_path) as nvim:
        own = set(re.findall(r"\*([^*\s]+)\*", HELP))
        links = set(re.findall(r"\|([^|\s]+)\|", HELP)) - own
        code = "local t = ... local ok = pcall(vim.cmd.help, t) return ok"
        assert [link for link in sorted(links) if not await nvim.lua(code, link)] == []


async def test_functions_that_the_help_names_exist(tmp_path: Path) -> None:
    async with open_nvim(tmp_path / "h", cwd=tmp_path) as nvim:
        section = HELP.split("*kova-functions*", 1)[1].split("====", 1)[0]
        named = set(re.findall(r"\b([a-z_]+)\(\)", section)) | {"setup", "ask"}
        has = set(await nvim.lua("return vim.tbl_keys(require('kova'))"))
        assert named == has


LEVEL_OF_0_10 = 12


async def test_no_function_is_newer_than_the_oldest_version(tmp_path: Path) -> None:
    sources = "\n".join(path.read_text() for path in sorted(PLUGIN.glob("**/*.lua")))
    used = set(re.findall(r"vim\.api\.(nvim_\w+)", sources))
    assert len(used) > 20
    async with open_nvim(tmp_path / "h", cwd=tmp_path) as nvim:
        code = "return vim.tbl_map(function(f) return { f.name, f.since } end, vim.fn.api_info().functions)"
        since = dict(await nvim.lua(code))
    assert {name for name in used if since.get(name, 99) > LEVEL_OF_0_10} == set()
