"""A real Neovim with the client, before a server that the test plays."""

import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.support.fake_engine import FakeEngine, open_fake_engine
from tests.support.nvim import Nvim, open_nvim

EMPTY = "ask something"


@asynccontextmanager
async def editor(
    tmp_path: Path,
    workspace: Path,
    *,
    settings: str = "",
    files: tuple[str, ...] = ("main.py",),
    trusted: bool | None = True,
    **options: Any,
) -> AsyncIterator[tuple[Nvim, FakeEngine]]:
    """Both of them; the folder is trusted unless told otherwise."""
    socket = tmp_path / "s"
    home = tmp_path / "h"
    if trusted is not None:
        store = home / "state" / "nvim" / "kova" / "trust.json"
        store.parent.mkdir(parents=True)
        store.write_text(json.dumps({"folders": {str(workspace.resolve()): trusted}}))
    setup = f"{{ cmd = vim.lsp.rpc.connect({str(socket)!r}), {settings} }}"
    async with (
        open_fake_engine(socket) as engine,
        open_nvim(home, cwd=workspace, setup=setup, files=files, **options) as nvim,
    ):
        yield nvim, engine


async def begin(nvim: Nvim, engine: FakeEngine, prompt: str = "hello") -> None:
    """Open the conversation and send a first prompt."""
    await nvim.command("Kova")
    await nvim.wait(EMPTY)
    await nvim.input(f"{prompt}<C-s>")
    await engine.wait_for("kova/turn/start")
    engine.event("turn.started", turnId="t1")
    engine.item(user("u1", prompt))
    await nvim.wait(f"❯ {prompt}")
    await nvim.wait("queues")


def user(item_id: str, text: str) -> dict[str, Any]:
    return {"kind": "userMessage", "itemId": item_id, "input": [{"type": "text", "text": text}]}


def reply(item_id: str, text: str = "", status: str = "running") -> dict[str, Any]:
    return {"kind": "reply", "itemId": item_id, "status": status, "text": text}


def call(item_id: str, title: str, status: str, **more: Any) -> dict[str, Any]:
    return {
        "kind": "toolCall",
        "itemId": item_id,
        "callId": item_id,
        "tool": "bash",
        "args": {},
        "title": title,
        "verdict": {"decision": "allow"},
        "status": status,
    } | more


async def transcript(nvim: Nvim) -> list[str]:
    code = "return vim.api.nvim_buf_get_lines(require('kova.transcript').buffer(), 0, -1, false)"
    return await nvim.lua(code)


def sha(text: str) -> str:
    """The hash of a text as guards carry it."""
    return hashlib.sha256(text.encode()).hexdigest()
