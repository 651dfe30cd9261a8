"""Fixtures of the end-to-end tests: real processes, on 127.0.0.1 or Unix sockets only."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.support import tools
from tests.support.vscode import MAIN_PY, Workbench, open_workbench

HERE = Path(__file__).parent


@dataclass(frozen=True)
class ModelServer:
    """A running OpenAI-compatible server."""

    base_url: str
    """With `/v1`, as a client's settings want it."""
    model: str
    pid: int


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark these tests."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.e2e)


@pytest.fixture(scope="session")
def model_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    """A llama.cpp server with a very small model that can call read, write and bash.

    One thread and no prompt cache: the same request gets the same answer.
    """
    log = tmp_path_factory.mktemp("model") / "server.log"
    command = [
        sys.executable,
        str(tools.ROOT / "tests/support/serve_model.py"),
        str(tools.model_weights()),
        str(tools.model_template()),
    ]
    with log.open("wb") as sink:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=sink,
            text=True,
            env={**os.environ, "PYTHONPATH": str(tools.model_engine())},
        )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        url = process.stdout.readline().strip()
        if not url:
            pytest.fail(f"the model server ended before it was ready:\n{log.read_text()}", False)
        health = httpx.get(f"{url}/health", trust_env=False, timeout=30)
        assert health.json() == {"status": "ok"}
        yield ModelServer(f"{url}/v1", "smollm2-135m", process.pid)
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


@pytest.fixture(scope="module")
def window() -> Iterator[Workbench]:
    """One VS Code for all tests of a file: opening it takes most of the time."""
    with open_workbench() as opened:
        (opened.workspace / "main.py").write_text(MAIN_PY)
        opened.script({"text": "Hello."})
        opened.open_chat()
        yield opened


@pytest.fixture
def chat(window: Workbench) -> Workbench:
    """A new conversation over fresh files, the keyboard in its prompt."""
    (window.workspace / "main.py").write_text(MAIN_PY)
    window.new_chat()
    return window
