"""Requests about permissions."""

import json

import pytest

from tests.support.stage import call, say


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


MAKE = call("bash", command="make -v")


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    path.chmod(0o600)


def local(stage):
    return stage.workspace / ".kova/permissions.local.json"


def user(stage):
    return stage.root / "kova/permissions.json"


async def at_a_card(desk, *steps):
    stage, wire = await desk([*(steps or (MAKE,)), say("Done.")])
    session = await wire.create()
    await wire.start(session)
    await wire.event("turn.suspended")
    return stage, wire, session


async def resolution(wire):
    payload = (await wire.event("approval.resolved"))["payload"]
    return payload["decision"], payload["resolvedBy"]


async def test_the_list_says_everything_there_is_to_know(desk):
    stage, wire = await desk()
    put(user(stage), {"allow": ["rm *", "ls *", "git*"], "deny": ["Read(secret/**)"]})
    put(local(stage), {"allow": ["npm test"], "writableRoots": ["/"]})
    put(stage.workspace / ".kova/permissions.json", {"allow": ["make *", "rm *"]})
    session = await wire.create()
    listed = await wire.result("kova/permission/list", {"sessionId": session})
    assert [(e["rule"], e["source"], e["isFreePass"]) for e in listed["allow"]] == [
        ("rm *", "user", True),
        ("ls *", "user", False),
    ]
    assert [(e["rule"], e["isFreePass"]) for e in listed["deny"]] == [("Read(secret/**)", False)]
    assert [(e["kind"], e["value"], e["source"]) for e in listed["proposed"]] == [
        ("allow", "make *", "project"),
        ("allow", "npm test", "local"),
    ]
    assert listed["pending"][0]["lines"] == ["allow npm test"]
    assert listed["pending"][0]["layer"] == "local"
    assert any(f"{user(stage)}:1:28: 'git*'" in problem for problem in listed["problems"])
    assert any("'/'" in problem for problem in listed["problems"])


async def test_a_broken_file_is_named_with_its_place(desk):
    stage, wire = await desk()
    put(user(stage), '{\n  "allow": [,]\n}')
    session = await wire.create()
    listed = await wire.result("kova/permission/list", {"sessionId": session})
    assert any(f"{user(stage)}:2:13" in problem for problem in listed["problems"])
    refused = await wire.error(
        "kova/permission/addRule", {"sessionId": session, "layer": "user", "rule": "make *"}
    )
    assert "left as it is" in refused["message"]
    assert user(stage).read_text() == '{\n  "allow": [,]\n}'


@pytest.mark.parametrize(
    ("method", "params", "decision"),
    [
        ("addRule", {"layer": "local", "rule": "make *"}, "allowed"),
        ("addRule", {"layer": "user", "rule": "make *", "kind": "deny"}, "blocked"),
    ],
)
async def test_a_change_settles_open_cards(desk, method, params, decision):
    _, wire, session = await at_a_card(desk)
    changed = await wire.result(f"kova/permission/{method}", {"sessionId": session, **params})
    assert changed["changed"] == ["make *"]
    assert await resolution(wire) == (decision, "rule")
    assert (await wire.event("turn.completed"))["payload"]["stopReason"] == "done"


async def test_a_root_settles_the_card_of_a_write(desk):
    stage, wire, session = await at_a_card(desk, call("write", path="../lib/a", content="x"))
    (stage.root / "lib").mkdir()
    params = {"sessionId": session, "layer": "local", "root": "../lib"}
    await wire.result("kova/permission/addRoot", params)
    assert await resolution(wire) == ("allowed", "rule")
    await wire.event("turn.completed")
    assert (stage.root / "lib/a").read_text() == "x"
    removed = await wire.result("kova/permission/removeRoot", params)
    assert removed["changed"] == ["../lib"]


async def test_a_change_in_one_session_settles_the_card_of_another(desk):
    _, wire, _ = await at_a_card(desk)
    other = await wire.create()
    params = {"sessionId": other, "layer": "local", "rule": "make *"}
    await wire.result("kova/permission/addRule", params)
    assert await resolution(wire) == ("allowed", "rule")


@pytest.mark.parametrize(
    ("text", "decision"),
    [('{"allow": ["make *"]}', "allowed"), ('{"deny": ["make *"]}', "blocked")],
)
async def test_a_file_edited_by_hand_settles_an_open_card(desk, text, decision):
    stage, wire, _ = await at_a_card(desk)
    put(user(stage), text)
    # Whatever an editor says next, here that the file was saved.
    document = {"uri": user(stage).as_uri()}
    wire.notify("textDocument/didSave", {"textDocument": document})
    assert await resolution(wire) == (decision, "rule")


async def test_a_deny_rule_added_meanwhile_beats_the_answer(desk):
    stage, wire, _ = await at_a_card(desk)
    card = (await wire.event("approval.requested"))["payload"]["approval"]
    put(user(stage), '{"deny": ["make *"]}')
    answer = {"approvalId": card["approvalId"], "decision": "once"}
    assert (await wire.result("kova/approval/respond", answer))["status"] == "resolved"
    ended = await wire.event("item.completed", 2)
    assert ended["payload"]["item"]["status"] == "blocked"
    assert "deny rule `make *`" in ended["payload"]["item"]["error"]


async def test_a_no_counts_although_the_files_allow_it_by_now(desk):
    stage, wire, _ = await at_a_card(desk)
    card = (await wire.event("approval.requested"))["payload"]["approval"]
    put(user(stage), '{"allow": ["make *"]}')
    answer = {"approvalId": card["approvalId"], "decision": "deny"}
    said = await wire.result("kova/approval/respond", answer)
    assert (said["status"], said["decision"]) == ("resolved", "deny")


async def test_a_free_pass_is_said_to_be_one(desk):
    _, wire = await desk()
    session = await wire.create()
    params = {"sessionId": session, "layer": "user", "rule": "rm *"}
    changed = await wire.result("kova/permission/addRule", params)
    assert "permanent free pass" in changed["notices"][0]
    refused = await wire.error("kova/permission/addRule", {**params, "layer": "local"})
    assert refused["data"]["code"] == "invalidParams"
    removed = await wire.result("kova/permission/removeRule", params)
    assert removed["changed"] == ["rm *"]


async def test_what_a_project_requests_is_accepted_one_at_a_time(desk):
    stage, wire = await desk()
    put(stage.workspace / ".kova/permissions.json", {"allow": ["make *", "npm *"]})
    session = await wire.create()
    listed = await wire.result("kova/permission/list", {"sessionId": session})
    proposal = {p["value"]: p["proposalId"] for p in listed["proposed"]}
    params = {"sessionId": session, "proposalId": proposal["make *"]}
    assert (await wire.result("kova/permission/accept", params))["changed"] == ["make *"]
    assert (await wire.error("kova/permission/accept", params))["data"]["code"] == "invalidParams"
    listed = await wire.result("kova/permission/list", {"sessionId": session})
    assert [e["rule"] for e in listed["allow"]] == ["make *"]
    assert [p["value"] for p in listed["proposed"]] == ["npm *"]


async def test_only_what_was_shown_is_adopted(desk):
    stage, wire = await desk()
    put(local(stage), {"allow": ["make *"]})
    session = await wire.create()
    listed = await wire.result("kova/permission/list", {"sessionId": session})
    params = {"sessionId": session, "digest": listed["pending"][0]["digest"]}
    put(local(stage), {"allow": ["make *", "npm *"]})
    error = await wire.error("kova/permission/adopt", params)
    assert "changed since it was shown" in error["message"]
    listed = await wire.result("kova/permission/list", {"sessionId": session})
    assert listed["allow"] == []
    params["digest"] = listed["pending"][0]["digest"]
    adopted = await wire.result("kova/permission/adopt", params)
    assert adopted["changed"] == ["allow make *", "allow npm *"]
    assert (await wire.result("kova/permission/adopt", {"sessionId": session}))["changed"] == []


CHANGES = {
    "addRule": {"layer": "user", "rule": "touch *"},
    "removeRule": {"layer": "user", "rule": "Read(x)", "kind": "deny"},
    "addRoot": {"layer": "local", "root": ".."},
    "removeRoot": {"layer": "local", "root": "x"},
    "accept": {"proposalId": "x"},
    "adopt": {"layer": "local"},
}


@pytest.mark.parametrize("method", CHANGES)
async def test_an_editor_without_trust_changes_nothing(desk, join, method):
    stage, wire = await desk()
    put(user(stage), {"deny": ["Read(x)"]})
    put(local(stage), {"allow": ["touch *"]})
    session = await wire.create()
    other = await join(wire, "other", trusted=False)
    own = (await other.result("kova/session/create", {}))["sessionId"]
    for session_id in (session, own):
        params = {"sessionId": session_id, **CHANGES[method]}
        error = await other.error(f"kova/permission/{method}", params)
        assert error["data"]["code"] == "notTrusted"
    assert json.loads(user(stage).read_text()) == {"deny": ["Read(x)"]}
    listed = await wire.result("kova/permission/list", {"sessionId": session})
    assert (listed["allow"], [e["rule"] for e in listed["deny"]]) == ([], ["Read(x)"])


async def test_an_editor_without_trust_may_not_act_for_another(desk, join):
    _, wire, session = await at_a_card(desk)
    other = await join(wire, "other", trusted=False)
    card = (await wire.event("approval.requested"))["payload"]["approval"]
    own = (await other.result("kova/session/create", {}))["sessionId"]
    text = [{"type": "text", "text": "x"}]
    tries = [
        ("kova/approval/respond", {"approvalId": card["approvalId"], "decision": "once"}),
        ("kova/session/configure", {"sessionId": session, "level": "auto"}),
        ("kova/session/configure", {"sessionId": session, "mode": "agent"}),
        ("kova/session/cycleLevel", {"sessionId": session}),
        ("kova/turn/start", {"sessionId": session, "input": text, "whenBusy": "queue"}),
        ("kova/turn/start", {"sessionId": session, "input": text, "whenBusy": "steer"}),
        ("kova/turn/interrupt", {"sessionId": session}),
        ("kova/session/delete", {"sessionId": session}),
        ("kova/session/cycleLevel", {"sessionId": own}),
        ("kova/session/configure", {"sessionId": own, "level": "workspace-write"}),
        ("kova/session/create", {"level": "auto"}),
    ]
    for method, params in tries:
        error = await other.error(method, params)
        assert error["data"]["code"] == "notTrusted", method
    # It may read along.
    attached = await other.result("kova/session/attach", {"sessionId": session})
    assert [a["approvalId"] for a in attached["snapshot"]["approvals"]] == [card["approvalId"]]
    assert attached["snapshot"]["level"] == "workspace-write"


async def test_an_answer_in_the_wrong_session_answers_nothing(desk):
    _, wire, session = await at_a_card(desk)
    card = (await wire.event("approval.requested"))["payload"]["approval"]
    other = await wire.create()
    forged = card["approvalId"].replace(session, other)
    error = await wire.error("kova/approval/respond", {"approvalId": forged, "decision": "once"})
    assert error["data"]["code"] == "approvalNotFound"
    listed = await wire.result("kova/approval/list", {"sessionId": session})
    assert [a["approvalId"] for a in listed["approvals"]] == [card["approvalId"]]


async def test_the_snapshot_names_what_waits(desk):
    stage, wire = await desk()
    put(local(stage), {"allow": ["make *"]})
    session = await wire.create()
    attached = await wire.result("kova/session/attach", {"sessionId": session})
    assert any("make *" in notice for notice in attached["snapshot"]["notices"])


DOORS = (
    *("touch x", "git log && touch y", "cat .env", "echo a > b", "ls; rm -rf ~"),
    *("python3 -m pytest -q", "python3 -m json.tool a"),
)


async def test_the_card_and_a_run_that_nobody_watches_say_what_explain_says(desk):
    steps = [call("bash", command=command) for command in DOORS]
    stage, wire = await desk([*steps, say("Done."), *steps, say("Done.")])
    put(stage.workspace / ".kova/permissions.json", {"version": 1, "allow": ["touch *"]})
    session = await wire.create()
    explained = [
        await wire.result(
            "kova/permission/explain",
            {"sessionId": session, "tool": "bash", "input": {"command": command}},
        )
        for command in DOORS
    ]
    assert {found["decision"] for found in explained} == {"ask"}
    await wire.start(session)
    for number, found in enumerate(explained, 1):
        card = (await wire.event("approval.requested", number))["payload"]["approval"]
        assert card["reasons"] == found["reasons"]
        assert card["subject"]["segments"] == found["segments"]
        assert card.get("rules", []) == found.get("rules", [])
        assert set(found.get("notices", [])) <= set(card.get("notices", []))
        answer = {"approvalId": card["approvalId"], "decision": "deny"}
        await wire.result("kova/approval/respond", answer)
    await wire.event("turn.completed")
    unwatched = {
        "sessionId": session,
        "input": [{"type": "text", "text": "Go."}],
        "automation": "nightly",
    }
    await wire.result("kova/turn/start", unwatched)
    await wire.event("turn.completed", 2)
    ended = [event["payload"]["item"] for event in wire.events if event["type"] == "item.completed"]
    verdicts = [item["verdict"] for item in ended if item["kind"] == "toolCall"][len(DOORS) :]
    for verdict, found in zip(verdicts, explained, strict=True):
        assert (verdict["decision"], verdict["reasons"][0]["code"]) == ("deny", "unattended")
        assert verdict["reasons"][1:] == found["reasons"]
        assert verdict.get("rules", []) == found.get("rules", [])
