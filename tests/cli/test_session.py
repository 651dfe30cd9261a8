"""Earlier conversations on the command line."""

import json
import re
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from kova_ls.cli import session
from kova_ls.cli.arguments import UsageFault


def play(engine, seen, *argv):
    return session.main(argv, seen.console, lambda _env: engine.far)


def listed(number, title, **more):
    return {
        "sessionId": f"s{number}",
        "title": title,
        "workspace": "file:///w",
        "mode": "agent",
        "level": "ask",
        "model": "m",
        "state": "idle",
        "createdAt": 1.0,
        "updatedAt": 1_700_000_000.0 + number,
        **more,
    }


TWO = {"sessions": [listed(2, "Fix\x07", state="waiting"), listed(1, "", workspace=None)]}


def dateless(text):
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "DATE", text)


def test_the_folders_sessions_are_listed(fake_engine, screen):
    engine, seen = fake_engine(session_list=lambda _: TWO), screen()
    assert play(engine, seen) == 0
    assert dateless(seen.out) == snapshot(
        "DATE  waiting s2  Fix<U+0007>\nDATE  idle    s1  (untitled)\n"
    )
    params = dict(engine.heard)["kova/session/list"]
    assert params == {"limit": 50, "workspace": Path(seen.console.cwd).as_uri()}


def test_those_of_all_folders_name_theirs(fake_engine, screen):
    more = {**TWO, "nextCursor": "2"}
    engine, seen = fake_engine(session_list=lambda _: more), screen()
    assert play(engine, seen, "--all", "--find", "fix", "--limit", "2") == 0
    assert dict(engine.heard)["kova/session/list"] == {"limit": 2, "query": "fix"}
    assert dateless(seen.out) == snapshot(
        "DATE  waiting s2  Fix<U+0007>  /w\nDATE  idle    s1  (untitled)  no folder\n"
    )
    assert "raise --limit" in seen.err


def test_no_session_is_said(fake_engine, screen):
    seen = screen()
    assert play(fake_engine(session_list=lambda _: {"sessions": []}), seen) == 0
    assert "`kova-ls session --all`" in seen.err


def item(kind, **fields):
    return {"itemId": kind, "kind": kind, **fields}


ITEMS = [
    item("userMessage", input=[{"type": "text", "text": "Read\x1b it."}]),
    item("reasoning", text="Hm.", status="ok"),
    item(
        "toolCall",
        callId="c",
        tool="read",
        args={},
        title="Read a.txt",
        verdict={"decision": "allow", "reasons": [{"code": "r", "text": "inside"}]},
        status="ok",
    ),
    item("reply", text="It says x.\nDone.", status="ok"),
    item("notice", level="warning", text="Careful."),
]


def paged(params):
    newest_first = ITEMS[::-1]
    if params.get("before") is None:
        return {"items": newest_first[:3], "before": 7}
    assert params["before"] == 7
    return {"items": newest_first[3:]}


def test_a_session_is_printed_oldest_first_on_one_stream(fake_engine, screen):
    seen = screen()
    assert play(fake_engine(session_read=paged), seen, "s1") == 0
    assert seen.err == ""
    assert seen.out == snapshot("""\

> Read<U+001B> it.

✓ Read a.txt  allowed: inside
It says x.
Done.
Careful.
""")


def test_json_is_what_the_engine_says(fake_engine, screen):
    one, other = screen(), screen()
    assert play(fake_engine(session_read=paged), one, "s1", "--json") == 0
    assert json.loads(one.out)["items"] == ITEMS
    assert play(fake_engine(session_list=lambda _: TWO), other, "--json") == 0
    assert [entry["sessionId"] for entry in json.loads(other.out)["sessions"]] == ["s2", "s1"]


def test_a_session_and_what_to_list_exclude_each_other(fake_engine, screen):
    with pytest.raises(UsageFault):
        play(fake_engine(), screen(), "s1", "--all")
