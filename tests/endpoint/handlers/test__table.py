"""Who may do what."""

import pytest

from kova_ls.endpoint.handlers import HANDLERS
from kova_ls.protocol.methods import METHODS
from tests.support.stage import call, say

ACTS = {
    "kova/turn/start": {"input": [{"type": "text", "text": "Go."}]},
    "kova/turn/steer": {"expectedTurnId": "t", "input": [{"type": "text", "text": "Go."}]},
    "kova/turn/withdraw": {"promptId": "p"},
    "kova/turn/interrupt": {},
    "kova/session/configure": {"level": "auto"},
    "kova/session/cycleLevel": {},
    "kova/session/rename": {"title": "Mine"},
    "kova/session/archive": {},
    "kova/session/delete": {},
}
READS = {
    "kova/session/attach": {},
    "kova/session/read": {},
    "kova/session/detach": {},
    "kova/approval/list": {},
    "kova/question/list": {},
    "kova/permission/list": {},
    "kova/permission/explain": {"tool": "read", "input": {"path": "a"}},
    "kova/tool/list": {},
    "kova/model/list": {},
}


def test_every_method_of_the_client_has_its_handler():
    wanted = {name for name, row in METHODS.items() if row.sender == "client" and row.result}
    assert HANDLERS.keys() == wanted


@pytest.mark.parametrize("method", ACTS)
async def test_an_untrusted_editor_does_not_act_in_a_trusted_session(desk, join, method):
    _, wire = await desk([say("Done.")])
    session = await wire.create()
    other = await join(wire, "stranger", trusted=False)
    error = await other.error(method, {"sessionId": session, **ACTS[method]})
    assert error["data"]["code"] == "notTrusted"


@pytest.mark.parametrize("method", READS)
async def test_an_untrusted_editor_may_read_along(desk, join, method):
    _, wire = await desk([say("Done.")])
    session = await wire.create()
    other = await join(wire, "stranger", trusted=False)
    await other.result(method, {"sessionId": session, **READS[method]})


async def test_an_untrusted_editor_answers_no_card_of_a_trusted_session(desk, join):
    stage, wire = await desk([call("bash", command="make")])
    session = await wire.create()
    await wire.start(session)
    card = (await wire.event("approval.requested"))["payload"]["approval"]
    other = await join(wire, "stranger", trusted=False)
    answer = {"approvalId": card["approvalId"], "decision": "once"}
    error = await other.error("kova/approval/respond", answer)
    assert error["data"]["code"] == "notTrusted"
    assert stage.engine.get(session).state.approvals != ()


async def test_an_untrusted_editor_raises_no_session_of_its_own(desk):
    _, wire = await desk([say("Done.")], trusted=False)
    for level in ("workspace-write", "auto-edit", "auto"):
        error = await wire.error("kova/session/create", {"level": level})
        assert error["data"]["code"] == "notTrusted"
    created = await wire.result("kova/session/create", {})
    assert created["level"] == "ask"
    session = created["sessionId"]
    for method, params in (
        ("kova/session/configure", {"level": "auto"}),
        ("kova/session/cycleLevel", {}),
    ):
        error = await wire.error(method, {"sessionId": session, **params})
        assert error["data"]["code"] == "notTrusted"
    assert (await wire.result("kova/session/configure", {"sessionId": session, "mode": "plan"}))[
        "mode"
    ] == "plan"


async def test_an_untrusted_editor_grants_no_roots(desk, tmp_path):
    _, wire = await desk([say("Done.")], trusted=False)
    (tmp_path / "more").mkdir()
    folder = {"uri": (tmp_path / "more").as_uri(), "name": "more"}
    wire.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [folder]}})
    session = await wire.create()
    listed = await wire.result("kova/permission/list", {"sessionId": session})
    assert [root for root in listed["roots"] if root["source"] == "editor"] == []
