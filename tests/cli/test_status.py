import json

import pytest
from inline_snapshot import snapshot

from kova_ls.cli import status

FULL = {
    "pid": 42,
    "version": "0.1",
    "startedAt": 1.0,
    "uptimeS": 3725.0,
    "editors": [
        {"name": "kova.nvim", "version": "1", "id": "w", "trusted": True, "sessions": ["s1"]},
        {"name": "kova-ls", "version": "0.1"},
    ],
    "sessions": [
        {"sessionId": "s1", "title": "Fix\x07", "state": "waiting", "workspace": "file:///w"},
        {"sessionId": "s2", "title": "", "state": "idle"},
    ],
}


def play(engine, seen, *argv, others=()):
    return status.main(
        argv,
        seen.console,
        lambda _env: engine and engine.far,
        lambda _env: iter([other.far for other in others]),
    )


def test_a_running_engine_is_described(fake_engine, screen):
    seen = screen()
    assert play(fake_engine(engine_status=lambda _: FULL), seen) == 0
    assert seen.out == snapshot(
        """\
engine 0.1, pid 42, up 1 h 2 min
editors
  kova.nvim 1, trusted, follows 1
sessions
  waiting  s1  Fix<U+0007>  /w
  idle     s2  (untitled)  no folder
"""
    )


def test_without_an_engine_it_says_so_and_starts_none(screen):
    seen = screen()
    assert play(None, seen) == 1
    assert seen.out == "No engine is running; `kova-ls run` or an editor starts one.\n"


def test_json_is_the_same_in_full(fake_engine, screen):
    seen, none = screen(), screen()
    assert play(fake_engine(engine_status=lambda _: FULL), seen, "--json") == 0
    assert play(None, none, "--json") == 1
    assert json.loads(seen.out)["engine"]["pid"] == 42
    assert json.loads(none.out) == {"running": False, "engine": None, "others": []}


def test_engines_of_other_versions_are_named_too(fake_engine, screen):
    seen, raw = screen(), screen()
    idle = {"pid": 41, "version": "0.0.9", "startedAt": 1.0, "uptimeS": 60.0}
    older, broken = fake_engine(engine_status=lambda _: idle), fake_engine()
    assert play(None, seen, others=[older, broken]) == 1
    assert seen.out == snapshot("""\
No engine is running; `kova-ls run` or an editor starts one.

Of another version or installation, on the same folders:
engine 0.0.9, pid 41, up 1 min 0 s
no editor is attached
no session is loaded
`kova-ls stop --all` ends the engines of other versions too.
""")
    again = fake_engine(engine_status=lambda _: idle)
    assert play(None, raw, "--json", others=[again]) == 1
    assert [other["pid"] for other in json.loads(raw.out)["others"]] == [41]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (61, "1 min 1 s"), (3600, "1 h 0 min"), (90_000, "1 d 1 h")],
)
def test_durations_have_two_units(seconds, text):
    assert status.duration(seconds) == text
