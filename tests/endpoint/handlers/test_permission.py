"""Requests about permissions."""

import pytest


async def test_a_verdict_is_explained_and_nothing_runs(desk):
    stage, wire = await desk()
    session = await wire.create()
    params = {
        "sessionId": session,
        "tool": "bash",
        "input": {"command": "cat a && touch made"},
    }
    explained = await wire.result("kova/permission/explain", params)
    assert explained["decision"] == "ask"
    assert [segment["text"] for segment in explained["segments"]] == ["cat a", "touch made"]
    assert not (stage.workspace / "made").exists()


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [("nope", {}, "tool"), ("read", {"path": 5}, "input"), ("read", {"path": "a\0b"}, "input")],
)
async def test_what_cannot_be_explained_names_its_field(desk, tool, arguments, field):
    _, wire = await desk()
    session = await wire.create()
    params = {"sessionId": session, "tool": tool, "input": arguments}
    error = await wire.error("kova/permission/explain", params)
    assert error["code"] == -32602
    assert error["message"].startswith(field)
    assert "errors.pydantic" not in error["message"]


async def test_rules_are_listed_with_their_files(desk):
    stage, wire = await desk()
    session = await wire.create()
    workspace = stage.editor.folders[0]
    stage.engine.grants.remember(workspace, ("make *",))
    listed = await wire.result("kova/permission/list", {"sessionId": session})
    (rule,) = [entry for entry in listed["allow"] if entry["rule"] == "make *"]
    assert rule["source"] == "local"
    assert rule["path"].startswith("file://")
