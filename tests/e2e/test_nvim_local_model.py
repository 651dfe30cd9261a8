"""The same work with a real model server: real HTTP, a real stream, whatever a small model says."""

import json

import pytest

from tests.e2e.conftest import ModelServer
from tests.e2e.test_nvim import House, house, start

__all__ = ["house"]

pytestmark = [pytest.mark.e2e, pytest.mark.local_model, pytest.mark.timeout(180)]


async def test_a_model_over_http_writes_a_file_after_a_yes(
    house: House, model_server: ModelServer
) -> None:
    (house.top / "k" / "config.toml").write_text(
        f'default_model = "local"\n[models.local]\napi = "openai-chat"\n'
        f"base_url = {json.dumps(model_server.base_url)}\nmodel = {json.dumps(model_server.model)}\n"
        "context_window = 8192\ntemperature = 0\n"
    )
    async with house.open(files=()) as nvim:
        await start(nvim, "Create a file a.txt containing the word yes", level="ask")
        await nvim.wait("new file  a.txt", timeout=60)
        await nvim.wait("+yes")
        await nvim.wait_lua("require('kova.card_window').is_armed()")
        assert not (house.workspace / "a.txt").exists()
        await nvim.input("o")
        await nvim.wait("✓ idle", timeout=60)
        assert (house.workspace / "a.txt").read_text().strip() == "yes"
