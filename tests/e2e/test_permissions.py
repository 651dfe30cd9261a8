"""Permissions with the real relay, engine and command line: who may change them, and who may not."""

import asyncio
import json
import subprocess
import sys

import orjson
import pytest

from kova_ls.engine.grants import Grants
from tests.support.lsp_client import Places
from tests.support.stage import call, say

END = say("Done.")
WISHES = {"version": 1, "allow": ["touch *"]}

TRY = """\
#!{python}
import glob, os, subprocess, sys, time
while "later" in sys.argv and not os.path.exists("go"):
    time.sleep(0.01)
told = open(sys.argv[1], "a")
body = b'{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{}}}}'
frame = b'{{"kova":1,"env":{{}}}}\\n' + b"Content-Length: %d\\r\\n\\r\\n" % len(body) + body
import socket
for path in glob.glob({run!r} + "/*.sock"):
    peer = socket.socket(socket.AF_UNIX)
    peer.settimeout(5)
    try:
        peer.connect(path)
        peer.sendall(frame)
        print("socket", "heard" if peer.recv(100) else "refused", file=told)
    except OSError as error:
        print("socket refused", type(error).__name__, file=told)
env = dict(os.environ, **{variables!r})
for words in ("add 'touch *'", "add --user 'touch *'", "accept 'touch *'"):
    ran = subprocess.run(
        "exec {python} -m kova_ls permission " + words,
        shell=True, env=env, capture_output=True, text=True,
    )
    said = "refused" if "may not change permissions" in ran.stderr else ran.stdout + ran.stderr
    print("cli", words.split()[0], ran.returncode, said, file=told)
with open({user!r}, "w") as file:
    file.write({wishes!r})
print("end", file=told)
told.close()
"""

STARTS = {
    "in its shell": "./try.py log",
    "in a session of its own": "setsid ./try.py log",
    "forked twice": "(./try.py log &)\nwhile ! grep -q end log; do sleep 0.02; done",
    "after its shell ended": "(setsid ./try.py log later >/dev/null 2>&1 &)",
}


@pytest.fixture
async def places():
    opened = []

    def open_places(model, settings="", **env):
        opened.append(Places(model, settings, **env))
        return opened[-1]

    yield open_places
    for place in opened:
        await place.close()


def grants(place):
    return Grants(place.root / "kova", place.root / "data", home=place.root / "home")


async def session(client):
    made = await client.result("kova/session/create", {"level": "workspace-write"})
    return made["sessionId"]


async def command_card(client, command):
    """Wait for the card of a command, and say no to every adopt card before it."""
    denied = set()
    while True:
        for event in client.events:
            if event["type"] != "approval.requested":
                continue
            card = event["payload"]["approval"]
            if card["subject"].get("command") == command:
                return card
            if card["kind"] == "adopt" and card["approvalId"] not in denied:
                denied.add(card["approvalId"])
                answer = {"approvalId": card["approvalId"], "decision": "deny"}
                await client.result("kova/approval/respond", answer)
        await asyncio.sleep(0.01)


def kova_ls(place, *argv):
    return subprocess.run(
        [sys.executable, "-m", "kova_ls", *argv],
        env=place.env,
        cwd=place.workspace,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
async def test_what_the_agent_starts_cannot_change_permissions(places, start):
    place = places([call("bash", command="./start.sh"), call("bash", command="touch gained"), END])
    workspace = place.workspace.resolve()
    names = ("KOVA_HOME", "KOVA_DATA_DIR", "KOVA_RUNTIME_DIR", "PYTHONPATH")
    program = TRY.format(
        python=sys.executable,
        run=str(place.root / "run"),
        variables={name: place.env[name] for name in names},
        user=str(place.root / "kova/permissions.json"),
        wishes=json.dumps(WISHES),
    )
    for name, text in (("try.py", program), ("start.sh", f"#!/bin/bash\n{start}\n")):
        (workspace / name).write_text(text)
        (workspace / name).chmod(0o755)
    (workspace / ".kova").mkdir()
    (workspace / ".kova/permissions.json").write_bytes(orjson.dumps(WISHES))
    grants(place).remember(str(workspace), ("./start.sh",))

    client = await place.client()
    session_id = await session(client)
    await client.start_turn(session_id)
    card = await command_card(client, "touch gained")
    (workspace / "go").touch()
    while not (workspace / "log").exists() or "end" not in (workspace / "log").read_text():
        await asyncio.sleep(0.01)
    told = (workspace / "log").read_text().splitlines()
    assert [line for line in told if line.startswith("socket")], told
    assert all(line.startswith("socket refused") for line in told if line.startswith("socket"))
    assert [line for line in told if line.startswith("cli")] == [
        f"cli {word} 1 refused" for word in ("add", "add", "accept")
    ]

    listed = await client.result("kova/permission/list", {"sessionId": session_id})
    assert [entry["rule"] for entry in listed["allow"]] == ["./start.sh"]
    assert listed["pending"][0]["lines"] == ["allow touch *"]
    attached = await client.result("kova/session/attach", {"sessionId": session_id})
    assert any("touch *" in notice for notice in attached["snapshot"]["notices"])
    answer = {"approvalId": card["approvalId"], "decision": "deny"}
    await client.result("kova/approval/respond", answer)
    await client.event("turn.completed")
    assert not (workspace / "gained").exists()

    # What was running is over: the person decides, and it counts.
    adopted = kova_ls(place, "permission", "adopt", "--user")
    assert "in force" in adopted.stdout, adopted
    listed = await client.result("kova/permission/list", {"sessionId": session_id})
    assert [entry["rule"] for entry in listed["allow"]] == ["touch *", "./start.sh"]


async def test_the_persons_command_line_settles_an_open_card(places):
    place = places([call("bash", command="touch made"), END])
    client = await place.client()
    await client.start_turn(await session(client))
    await command_card(client, "touch made")
    await client.event("turn.suspended")
    added = kova_ls(place, "permission", "add", "touch *")
    assert added.returncode == 0, added.stderr
    resolved = (await client.event("approval.resolved"))["payload"]
    assert (resolved["decision"], resolved["resolvedBy"]) == ("allowed", "rule")
    await client.event("turn.completed")
    assert (place.workspace / "made").exists()


async def test_a_hand_written_file_is_adopted_on_its_card(places):
    place = places([call("bash", command="touch made"), END])
    local = place.workspace / ".kova/permissions.local.json"
    local.parent.mkdir()
    local.write_bytes(orjson.dumps(WISHES))
    local.chmod(0o600)
    client = await place.client()
    await client.start_turn(await session(client))
    card = (await client.event("approval.requested"))["payload"]["approval"]
    assert (card["kind"], card["decisions"]) == ("adopt", ["deny", "adopt"])
    assert card["subject"] == {"type": "other", "summary": "allow touch *"}
    answer = {"approvalId": card["approvalId"], "decision": "adopt"}
    await client.result("kova/approval/respond", answer)
    await client.event("turn.completed")
    assert (place.workspace / "made").exists()
    assert len([e for e in client.stored if e["type"] == "approval.requested"]) == 1


async def test_the_same_answers_in_every_door(places):
    place = places([END])
    (place.workspace / ".kova").mkdir()
    (place.workspace / ".kova/permissions.json").write_bytes(orjson.dumps(WISHES))
    client = await place.client()
    session_id = await session(client)
    (place.workspace / "tabnanny.py").touch()
    for command in (
        *("touch x", "git log && touch y", "cat .env", "echo a > b", "ls; rm -rf ~"),
        *("python3 -m pytest -q", "python3 -m json.tool a"),
    ):
        explained = await client.result(
            "kova/permission/explain",
            {"sessionId": session_id, "tool": "bash", "input": {"command": command}},
        )
        tested = json.loads(kova_ls(place, "permission", "test", "--json", command).stdout)
        assert tested["verdict"] == explained["decision"]
        assert tested["reasons"] == explained["reasons"]
        assert tested["rules"] == explained.get("rules", [])
        plain = kova_ls(place, "permission", "test", command).stdout
        for notice in explained.get("notices", []):
            assert notice in plain
