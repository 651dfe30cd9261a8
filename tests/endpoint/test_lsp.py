"""What an editor without a Kova client is offered, and what that costs."""

import subprocess
import sys

from kova_ls.endpoint import lsp
from tests.support.plain import PlainEditor


async def test_only_a_plain_editor_hears_of_the_commands(stage, wire):
    answer = await PlainEditor(stage).open()
    assert answer["capabilities"]["executeCommandProvider"] == {"commands": list(lsp.COMMANDS)}
    assert answer["capabilities"]["codeActionProvider"]
    assert answer["capabilities"]["codeLensProvider"] == {"resolveProvider": False}
    error = await wire.error("workspace/executeCommand", {"command": "kova.ask"})
    assert error["code"] == -32601


def test_pygls_is_imported_only_when_it_is_needed():
    code = (
        "import sys, kova_ls.endpoint.server, kova_ls.endpoint.handlers, kova_ls.engine;"
        "sys.exit(any(name in sys.modules for name in ('pygls', 'lsprotocol')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
