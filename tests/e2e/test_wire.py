"""The real relay and engine, spoken to as editors do; the numbers are those of README.md."""

import asyncio
import os
import signal
import subprocess
import sys

import orjson
import pytest

from kova_ls import paths
from kova_ls.engine.process_group import processes
from tests.support.lsp_client import ROOT, Places, gone, kill
from tests.support.stage import call, say

END = say("Done.")


@pytest.fixture
async def places():
    opened = []

    def open_places(model, settings="", **env):
        opened.append(Places(model, settings, **env))
        return opened[-1]

    yield open_places
    for place in opened:
        await place.close()


async def session_at_a_card(place, command="echo ran >> ran.txt"):
    client = await place.client()
    session = (await client.result("kova/session/create", {}))["sessionId"]
    await client.start_turn(session)
    card = (await client.event("approval.requested"))["payload"]["approval"]
    assert card["subject"]["command"] == command
    await client.event("turn.suspended")
    return client, session, card["approvalId"]


def seqs(events):
    return [event["seq"] for event in events]


async def test_w01_two_editors_of_one_session_see_the_same(places):
    place = places([say(["Hel", "lo."]), END])
    one = await place.client("one")
    two = await place.client("two")
    assert one.engine_pid == two.engine_pid
    session = (await one.result("kova/session/create", {}))["sessionId"]
    attached = await two.result("kova/session/attach", {"sessionId": session})
    await one.start_turn(session)
    for client in (one, two):
        await client.event("turn.completed")
    assert one.stored == two.stored
    assert seqs(one.stored) == list(
        range(attached["watermark"]["seq"] + 1, one.stored[-1]["seq"] + 1)
    )


async def test_w02_a_killed_editor_leaves_the_turn_to_the_other(places):
    place = places([call("bash", command="echo ran >> ran.txt"), END])
    one, session, approval = await session_at_a_card(place)
    two = await place.client("two")
    one.kill()
    await one.ended()
    attached = await two.result("kova/session/attach", {"sessionId": session})
    assert [a["approvalId"] for a in attached["snapshot"]["approvals"]] == [approval]
    answer = {"approvalId": approval, "decision": "once"}
    said = await two.result("kova/approval/respond", answer)
    assert (said["status"], said["resolvedBy"]) == ("resolved", "two")
    ended = await two.event("turn.completed")
    assert ended["payload"]["stopReason"] == "done"
    assert (place.workspace / "ran.txt").read_text() == "ran\n"
    again = await two.result("kova/approval/respond", {**answer, "decision": "deny"})
    assert (again["status"], again["decision"]) == ("alreadyResolved", "once")


async def test_w03_a_killed_engine_offers_the_same_card_again(places):
    place = places(
        [call("bash", command="echo ran >> ran.txt"), say("Done.", expect=["exit code"])]
    )
    one, session, approval = await session_at_a_card(place)
    epoch, last = one.stored[-1]["epoch"], one.stored[-1]["seq"]
    kill(one.engine_pid, signal.SIGKILL)
    await gone(one.engine_pid)
    assert await one.ended() == 1
    two = await place.client("two")
    assert two.engine_pid != one.engine_pid
    cursor = {"epoch": epoch, "seq": last}
    attached = await two.result("kova/session/attach", {"sessionId": session, "cursor": cursor})
    assert [a["approvalId"] for a in attached["snapshot"]["approvals"]] == [approval]
    await two.result("kova/approval/respond", {"approvalId": approval, "decision": "once"})
    ended = await two.event("turn.completed")
    assert ended["payload"]["stopReason"] == "done"
    assert (place.workspace / "ran.txt").read_text() == "ran\n"
    seen = [*one.stored, *attached["events"], *two.stored]
    assert seqs(seen) == list(range(one.stored[0]["seq"], seen[-1]["seq"] + 1))
    kinds = [event["type"] for event in seen]
    assert kinds.count("step.started") == 2
    assert kinds.count("model.replied") == 2
    assert kinds.count("approval.requested") == 1
    assert {event["epoch"] for event in seen} == {epoch}


async def test_w04_what_ran_when_the_engine_died_is_not_run_again(places):
    command = "echo ran $$ >> ran.txt; sleep 60"
    place = places([call("bash", command=command), say("Done.", expect=["unknown"])])
    one, session, approval = await session_at_a_card(place, command)
    await one.result("kova/approval/respond", {"approvalId": approval, "decision": "once"})
    ran = place.workspace / "ran.txt"
    while not (ran.exists() and ran.read_text()):
        await asyncio.sleep(0.005)
    group = int(ran.read_text().split()[1])
    kill(one.engine_pid, signal.SIGKILL)
    await gone(one.engine_pid)
    try:
        two = await place.client("two")
        cursor = {"epoch": one.stored[-1]["epoch"], "seq": one.stored[-1]["seq"]}
        attached = await two.result("kova/session/attach", {"sessionId": session, "cursor": cursor})
        while not any(
            event["type"] == "turn.completed" for event in [*attached["events"], *two.stored]
        ):
            await asyncio.sleep(0.005)
        seen = [*one.stored, *attached["events"], *two.stored]
        assert seqs(seen) == list(range(one.stored[0]["seq"], seen[-1]["seq"] + 1))
        calls = [
            event["payload"]["item"]
            for event in seen
            if event["type"] == "item.completed" and event["payload"]["item"]["kind"] == "toolCall"
        ]
        what = f"outcome unknown; process {group} still ran and was stopped"
        assert [(item["status"], item["error"]) for item in calls] == [("interrupted", what)]
        assert not any(is_alive and of == group for _, _, of, is_alive in processes())
        assert seen[-1]["payload"]["stopReason"] == "done"
        assert ran.read_text().count("ran") == 1
    finally:
        # The next engine ends it; when the test fails before, nobody does.
        try:
            os.killpg(group, signal.SIGKILL)
        except ProcessLookupError:
            pass


async def test_w05_attached_is_the_engine_in_one_process(places):
    place = places([END])
    client = await place.client("one", "--attached")
    assert client.engine_pid == client.relay_pid
    session = (await client.result("kova/session/create", {}))["sessionId"]
    await client.start_turn(session)
    assert (await client.event("turn.completed"))["payload"]["stopReason"] == "done"
    assert await client.result("shutdown", None) is None
    client._protocol.send_plain({"method": "exit"})
    assert await client.ended() == 0
    assert not (place.root / "run").exists()


async def test_w06_loopback_tcp_needs_the_secret(places):
    place = places([END], KOVA_TRANSPORT="tcp")
    client = await place.client()
    session = (await client.result("kova/session/create", {}))["sessionId"]
    await client.start_turn(session)
    await client.event("turn.completed")
    (ports,) = (place.root / "run").glob("*.port")
    assert ports.stat().st_mode & 0o777 == 0o600
    port = int(ports.read_text().split()[0])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b'{"kova":1,"env":{},"secret":"guess"}\n')
    assert await reader.read() == b""
    writer.close()


async def test_w07_an_idle_engine_ends_but_never_under_an_editor(places):
    place = places([END], "idle_exit_s = 0.2")
    client = await place.client()
    session = (await client.result("kova/session/create", {}))["sessionId"]
    await client.start_turn(session)
    await client.event("turn.completed")
    assert (await client.result("kova/engine/status", {}))["pid"] == client.engine_pid
    client.kill()
    await client.ended()
    await gone(client.engine_pid)
    assert list((place.root / "run").glob("*.sock")) == []


async def test_w08_an_idle_engine_waits_for_its_turn(places):
    place = places([say(["slow ", "answer"], delay_ms=300), END], "idle_exit_s = 0.1")
    one = await place.client()
    session = (await one.result("kova/session/create", {}))["sessionId"]
    await one.start_turn(session)
    one.kill()
    await one.ended()
    await gone(one.engine_pid)
    two = await place.client("two")
    read = await two.result("kova/session/read", {"sessionId": session})
    assert [item["kind"] for item in read["items"]] == ["reply", "userMessage"]
    assert (read["items"][0]["status"], read["items"][0]["text"]) == ("ok", "slow answer")


async def test_w09_what_the_agent_starts_cannot_answer_its_cards(places):
    program = (
        "import glob, socket, sys\n"
        "(path,) = glob.glob(sys.argv[1] + '/*.sock')\n"
        "peer = socket.socket(socket.AF_UNIX)\n"
        "try:\n"
        "    peer.connect(path)\n"
        '    peer.sendall(b\'{"kova":1,"env":{}}\\n\' + b"Content-Length: 59\\r\\n\\r\\n"\n'
        '    b\'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{} }\')\n'
        "    print('heard', peer.recv(100))\n"
        "except OSError as error:\n"
        "    print('refused', type(error).__name__)\n"
    )
    place = places([])
    (place.workspace / "try.py").write_text(program)
    run = place.root / "run"
    python = f"PYTHONPATH={ROOT} {sys.executable}"
    names = ("KOVA_HOME", "KOVA_DATA_DIR", "KOVA_RUNTIME_DIR")
    variables = " ".join(f"{name}={place.env[name]}" for name in names)
    command = (
        f"{python} try.py {run}; ({python} try.py {run} &) ; sleep 0.3; "
        f"{variables} {python} -m kova_ls status; echo status $?"
    )
    script = place.root / "script.json"
    script.write_bytes(orjson.dumps({"steps": [call("bash", command=command), END]}))
    one, _, approval = await session_at_a_card(place, command)
    await one.result("kova/approval/respond", {"approvalId": approval, "decision": "once"})
    done = await one.event(
        "item.completed", lambda event: event["payload"]["item"]["kind"] == "toolCall"
    )
    output = done["payload"]["item"]["display"][0]["output"]
    assert "heard b'C" not in output
    assert output.count("heard b''") + output.count("refused") == 2
    assert "status 0" not in output
    status = await one.result("kova/engine/status", {})
    assert [editor["name"] for editor in status["editors"]] == ["one"]


async def test_w10_the_runtime_folder_is_private(places):
    place = places([END])
    run = place.root / "run"
    run.mkdir(mode=0o777)
    run.chmod(0o755)
    client = await place.client()
    assert run.stat().st_mode & 0o777 == 0o700
    (socket_path,) = run.glob("*.sock")
    assert socket_path.stat().st_mode & 0o777 == 0o600
    assert client.engine_pid


async def test_w11_a_runtime_folder_that_others_may_write_is_refused(places):
    place = places([END])
    run = place.root / "run"
    run.mkdir()
    run.chmod(0o777)
    ran = subprocess.run(
        [sys.executable, "-m", "kova_ls"],
        env=place.env,
        cwd=place.workspace,
        input=b"",
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 1
    assert b"can be written by others" in ran.stderr
    assert b"Traceback" not in ran.stderr


async def test_w12_relays_that_start_at_once_get_one_engine(places):
    place = places([END])
    clients = await asyncio.gather(*(place.client(name) for name in "abcd"))
    assert len({client.engine_pid for client in clients}) == 1
    status = await clients[0].result("kova/engine/status", {})
    assert sorted(editor["name"] for editor in status["editors"]) == list("abcd")


async def test_w13_stop_ends_the_engine_and_its_relays(places):
    place = places([END])
    client = await place.client()
    assert (await client.result("kova/engine/stop", {}))["stopping"] is True
    assert await client.ended() == 1
    await gone(client.engine_pid)


def test_w14_the_relay_loads_next_to_nothing():
    code = (
        "import sys; before = set(sys.modules); import kova_ls.relay; "
        "print(*sorted(set(sys.modules) - before))"
    )
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.append({str(ROOT)!r}); {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {name.split(".")[0] for name in ran.stdout.split()}
    assert loaded <= {
        *(
            "kova_ls",
            "__future__",
            "_json",
            "_socket",
            "binascii",
            "select",
            "time",
            "os",
            "stat",
            "_stat",
            "posixpath",
        ),
        *("collections", "_collections_abc", "genericpath", "posix", "os.path"),
        *(
            "_weakrefset",
            "itertools",
            "keyword",
            "operator",
            "reprlib",
            "_operator",
            "_collections",
        ),
        *("functools", "_functools", "types"),
    }


def test_w15_the_socket_path_is_short_enough(tmp_path):
    env = {"KOVA_RUNTIME_DIR": str(tmp_path / ("x" * 120)), "HOME": "/nonexistent"}
    assert len(os.fsencode(paths.socket_path(env, paths.build_id()))) <= 100


async def test_w11_engines_of_two_versions_share_what_is_not_in_use(places):
    place = places([say("First."), say("Second."), END])
    old = await place.client("old")
    session = (await old.result("kova/session/create", {}))["sessionId"]
    await old.start_turn(session)
    await old.event("turn.completed")
    place.env["PYTHONPATH"] = str(place.another_build())
    new = await place.client("new")
    assert new.engine_pid != old.engine_pid
    # What an editor of the old one follows stays there, and it is said how to get it.
    refused = (await new.ask("kova/session/attach", {"sessionId": session}))["error"]
    assert refused["data"]["code"] == "sessionInUse"
    assert f"process {old.engine_pid}" in refused["message"]
    assert "kova-ls stop --all" in refused["message"]
    assert (await old.result("kova/session/read", {"sessionId": session}))["items"]
    # Both are named; only `--all` ends the other, and the session goes on here.
    status = await place.command("status", "--json")
    seen = orjson.loads(status.stdout)
    assert (seen["engine"]["pid"], [other["pid"] for other in seen["others"]]) == (
        new.engine_pid,
        [old.engine_pid],
    )
    place.env["PYTHONPATH"] = str(ROOT)
    ended = await place.command("stop")
    assert (ended.returncode, f"pid {new.engine_pid}" in ended.stderr) == (0, True)
    await gone(old.engine_pid)
    await old.ended()
    attached = await new.result("kova/session/attach", {"sessionId": session})
    assert attached["snapshot"]["state"] == "idle"
    await new.start_turn(session)
    await new.event("turn.completed")
    assert (await place.command("stop", "--all")).returncode == 0
    await gone(new.engine_pid)


async def test_w16_a_goal_goes_on_by_itself_but_not_after_stop_or_death(places):
    create = call("goal", action="create", objective="Green.")
    ask = call("bash", command="echo ran >> ran.txt")
    place = places([create, END, ask, ask, END])
    one = await place.client("one")
    session = (await one.result("kova/session/create", {"mode": "goal"}))["sessionId"]
    named = {"sessionId": session}
    await one.start_turn(session)
    waiting = await one.event("turn.suspended")
    first, second = (e["payload"] for e in one.stored if e["type"] == "turn.started")
    assert "goalId" not in first
    assert second["goalId"]
    stopped = await one.result("kova/turn/interrupt", named)
    assert stopped["stopped"][-1] == "the goal: Green."
    goal = (await one.result("kova/goal/get", named))["goal"]
    assert (goal["status"], goal["by"], goal["turns"]) == ("paused", "one", 1)
    await one.result("kova/goal/resume", named)
    await one.event("turn.suspended", lambda event: event["turnId"] != waiting["turnId"])
    cursor = {"epoch": one.stored[-1]["epoch"], "seq": one.stored[-1]["seq"]}
    kill(one.engine_pid, signal.SIGKILL)
    await gone(one.engine_pid)
    two = await place.client("two")
    attached = await two.result("kova/session/attach", {**named, "cursor": cursor})
    goal = attached["snapshot"]["goal"]
    assert (goal["status"], goal["reason"]) == ("paused", "The engine was started anew.")
    [card] = attached["snapshot"]["approvals"]
    answer = {"approvalId": card["approvalId"], "decision": "deny"}
    await two.result("kova/approval/respond", answer)
    await two.event("turn.completed")
    assert (await two.result("kova/goal/cancel", named))["goal"]["status"] == "cancelled"
    told = [*one.stored, *attached["events"], *two.stored]
    assert len([event for event in told if event["type"] == "turn.started"]) == 3
    assert not (place.workspace / "ran.txt").exists()
