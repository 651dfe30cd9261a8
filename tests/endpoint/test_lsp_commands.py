"""What a plain editor can execute."""

import asyncio
import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kova_ls.endpoint import lsp
from tests.support.plain import opened
from tests.support.stage import Stage, say


async def test_folders_named_in_the_settings_are_trusted(tmp_path):
    stage = Stage(
        tmp_path, [say("Hi.")], settings=f"trusted_folders = [{json.dumps(str(tmp_path / 'ws'))}]"
    )
    editor = await opened(stage)
    assert (await editor.run("kova.newSession"))["level"] == "workspace-write"
    assert (await editor.run("kova.level", "auto-edit"))["level"] == "auto-edit"
    other = tmp_path / "other"
    other.mkdir()
    folder = {"uri": other.as_uri(), "name": "other"}
    editor.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [folder]}})
    assert (await editor.fails("kova.level", "auto"))["data"]["code"] == "notTrusted"
    assert (await editor.run("kova.newSession"))["level"] == "ask"
    await stage.close()


async def test_broken_settings_trust_nothing(tmp_path):
    stage = Stage(tmp_path, [], settings="trusted_folders = 5")
    editor = await opened(stage)
    assert (await editor.run("kova.newSession"))["level"] == "ask"
    assert (await editor.fails("kova.level", "auto"))["data"]["code"] == "notTrusted"
    await stage.close()


ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["prompt", "uri", "range", "diagnostic", "sessionId", "hunkIds", "start", "message"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(st.lists(st.tuples(st.sampled_from(lsp.COMMANDS), st.lists(ANY, max_size=2)), max_size=5))
def test_no_arguments_make_it_stop_answering(tmp_path_factory, calls):
    async def talk():
        stage = Stage(tmp_path_factory.mktemp("fuzz"), [say("Hi.")] * 8)
        editor = await opened(stage)
        for command, arguments in calls:
            params = {"command": command, "arguments": arguments}
            answer = await asyncio.wait_for(editor.ask("workspace/executeCommand", params), 5)
            assert answer.get("error", {}).get("code") != -32603, answer
        await stage.close()

    asyncio.run(talk())
