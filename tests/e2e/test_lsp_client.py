"""An independent LSP client, pytest-lsp's, over the real relay: Kova in LSP's own words."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient
from pytest_lsp.client import make_test_lsp_client

ROOT = Path(__file__).parents[2]


def environment(top: Path) -> dict[str, str]:
    return os.environ | {
        "KOVA_HOME": str(top / "k"),
        "KOVA_DATA_DIR": str(top / "d"),
        "KOVA_RUNTIME_DIR": str(top / "r"),
        "PYTHONPATH": str(ROOT),
    }


@pytest.fixture
def top() -> Any:
    """Folders of one test, short enough for a Unix socket."""
    top = Path(tempfile.mkdtemp(prefix="kova", dir="/tmp")).resolve()
    for name in ("ws", "k"):
        (top / name).mkdir(parents=True)
    (top / "ws/note.txt").write_text("one\n")
    edit = {"path": "note.txt", "old_string": "one", "new_string": "two"}
    steps = [{"calls": [{"name": "edit", "arguments": edit}]}, {"text": "Now it is two."}]
    script = top / "k/script.json"
    script.write_text(json.dumps({"steps": steps}))
    (top / "k/config.toml").write_text(
        'default_model = "demo"\n[models.demo]\napi = "scripted"\n'
        f"script = {json.dumps(str(script))}\n"
    )
    yield top
    command = [sys.executable, "-m", "kova_ls", "stop", "--force"]
    subprocess.run(command, env=environment(top), capture_output=True, check=False)
    shutil.rmtree(top)


@pytest.fixture
async def client(top: Path) -> AsyncIterator[LanguageClient]:
    """A client that shows what it is asked to show, and chooses to allow."""
    client = make_test_lsp_client()

    @client.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)
    def _(params: types.ShowMessageRequestParams) -> types.MessageActionItem:
        assert params.actions is not None
        return params.actions[-1]

    await client.start_io(sys.executable, "-m", "kova_ls", env=environment(top), cwd=top)
    window = types.WindowClientCapabilities(
        work_done_progress=True, show_document=types.ShowDocumentClientCapabilities(support=True)
    )
    params = types.InitializeParams(
        capabilities=types.ClientCapabilities(window=window),
        workspace_folders=[types.WorkspaceFolder(uri=(top / "ws").as_uri(), name="ws")],
    )
    result = await client.initialize_session(params)
    assert result.capabilities.execute_command_provider is not None
    yield client
    await client.shutdown_session()
    await client.stop()


async def until(holds: Any) -> None:
    while not holds():
        await asyncio.sleep(0.01)


async def execute(client: LanguageClient, command: str, *arguments: Any) -> Any:
    params = types.ExecuteCommandParams(command=command, arguments=list(arguments))
    return await client.workspace_execute_command_async(params)


async def test_ask_see_the_progress_answer_and_read_the_page(
    top: Path, client: LanguageClient
) -> None:
    await execute(client, "kova.ask", "Change one to two.")
    await until(lambda: any("Kova waits" in said.message for said in client.messages))
    assert (top / "ws/note.txt").read_text() == "one\n"
    await execute(client, "kova.pending")
    await until(lambda: client.shown_documents)
    assert (top / "ws/note.txt").read_text() == "two\n"
    page = Path(client.shown_documents[0].uri.removeprefix("file://"))
    await until(lambda: "Now it is two." in page.read_text())
    [token] = client.progress_reports
    await until(lambda: isinstance(client.progress_reports[token][-1], types.WorkDoneProgressEnd))
    first = client.progress_reports[token][0]
    assert isinstance(first, types.WorkDoneProgressBegin)
    assert first.title == "Kova: Change one to two."
