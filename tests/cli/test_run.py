import json
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from kova_ls.cli import run, trust
from kova_ls.cli.arguments import UsageFault
from kova_ls.cli.ask import Nobody
from kova_ls.errors import DaemonUnavailable

DONE = {"stopReason": "done", "usage": {}}


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "work"
    path.mkdir()
    (path / "a.py").write_text("x\n")
    return path.resolve()


@pytest.fixture
def engine(fake_engine, snapshot_json):
    """Make an engine whose turns end at once."""

    def make(**handlers):
        def start(_params):
            return {"turnId": "t1", "status": "started"}, lambda: made.event("turn.completed", DONE)

        made = fake_engine(
            **{
                "session_create": lambda params: snapshot_json(**params),
                "session_attach": lambda _: {"snapshot": snapshot_json(notices=["Careful."])},
                "turn_start": start,
                **handlers,
            }
        )
        return made

    return make


def heard(engine, method):
    return [params for name, params in engine.heard if name == method]


def play(engine, seen, *argv):
    return run.main(argv, seen.console, lambda _env: engine.far)


def test_a_prompt_becomes_a_turn_in_a_session_of_this_folder(engine, screen, folder):
    made, seen = engine(), screen(cwd=folder)
    assert play(made, seen, "look at", "@a.py", "--level", "auto", "--model", "work") == 0
    (shake,) = heard(made, "initialize")
    assert shake["workspaceFolders"] == [{"uri": folder.as_uri(), "name": "work"}]
    assert shake["initializationOptions"]["kova"]["trusted"] is False
    assert heard(made, "kova/session/create") == [
        {"workspace": folder.as_uri(), "level": "auto", "model": "work"}
    ]
    assert heard(made, "kova/turn/start") == [
        {
            "sessionId": "s1",
            "input": [
                {"type": "text", "text": "look at @a.py"},
                {"type": "file", "uri": (folder / "a.py").as_uri()},
            ],
            "whenBusy": "reject",
        }
    ]


@pytest.mark.parametrize("argv", [("-",), ()])
def test_a_prompt_may_come_from_stdin(engine, screen, folder, argv):
    made, seen = engine(), screen(cwd=folder, stdin="explain\n")
    assert play(made, seen, *argv) == 0
    assert heard(made, "kova/turn/start")[0]["input"] == [{"type": "text", "text": "explain"}]


def test_stdin_may_follow_the_prompt(engine, screen, folder):
    made, seen = engine(), screen(cwd=folder, stdin="diff\n")
    assert play(made, seen, "review", "-") == 0
    assert heard(made, "kova/turn/start")[0]["input"][0]["text"] == "review\n\ndiff"


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("x", "--level", "none"), "invalid choice"),
        (("x", "--workspace", "gone"), "is no folder"),
        (("x", "--session", "a", "--continue"), "not allowed with"),
        (("-",), "The prompt is empty"),
    ],
)
def test_wrong_usage_says_what_to_do(engine, screen, folder, argv, message):
    with pytest.raises(UsageFault, match=message):
        play(engine(), screen(cwd=folder), *argv)


def test_a_terminal_without_a_prompt_is_told_how(engine, screen, folder):
    with pytest.raises(UsageFault, match="Say what to do"):
        play(engine(), screen(cwd=folder, terminal=True))


def test_continue_takes_the_last_session_of_the_folder(engine, screen, folder):
    listed = {"sessions": [{"sessionId": "s1"}]}
    made = engine(session_list=lambda _: listed, session_configure=lambda _: {"mode": "plan"})
    seen = screen(cwd=folder)
    assert play(made, seen, "go on", "--continue", "--mode", "plan") == 0
    assert heard(made, "kova/session/list") == [{"workspace": folder.as_uri(), "limit": 1}]
    assert heard(made, "kova/session/attach") == [{"sessionId": "s1"}]
    assert heard(made, "kova/session/configure") == [{"sessionId": "s1", "mode": "plan"}]
    assert seen.err == "! Careful.\n"


def test_continue_without_a_session_is_wrong_usage(engine, screen, folder):
    made = engine(session_list=lambda _: {"sessions": []})
    with pytest.raises(UsageFault, match="no session yet"):
        play(made, screen(cwd=folder), "go on", "--continue")


def test_a_queued_prompt_is_told(engine, screen, folder):
    def queue(_params):
        return {"turnId": "t1", "status": "queued"}, lambda: made.event("turn.completed", DONE)

    made, seen = engine(turn_start=queue), screen(cwd=folder)
    assert play(made, seen, "x") == 0
    assert seen.err == "A turn is running in this session; yours follows it.\n"


def test_a_turn_that_waits_is_taken_up_without_a_prompt(
    engine, screen, folder, snapshot_json, approval_json, monkeypatch
):
    waiting = snapshot_json(approvals=[approval_json()], turnId="t1", state="waiting")
    made = engine(
        session_attach=lambda _: {"snapshot": waiting},
        approval_respond=lambda _: ({}, lambda: made.event("turn.completed", DONE)),
    )
    monkeypatch.setattr(run, "Person", lambda console, _keys, _folder: Nobody(console))
    seen = screen(cwd=folder, terminal=True)
    assert play(made, seen, "--session", "s1", "--trust") == 3
    assert heard(made, "kova/turn/start") == []


def test_nothing_to_take_up_is_wrong_usage(engine, screen, folder):
    with pytest.raises(UsageFault, match="No turn runs"):
        play(engine(), screen(cwd=folder, terminal=True), "--session", "s1", "--trust")


def test_json_prints_events_only(engine, screen, folder):
    seen = screen(cwd=folder)
    assert play(engine(), seen, "x", "--json") == 0
    assert [json.loads(line)["type"] for line in seen.out.splitlines()] == ["turn.completed"]


def trusted(made):
    return heard(made, "initialize")[0]["initializationOptions"]["kova"]["trusted"]


def test_a_person_is_asked_once_whether_the_folder_is_trusted(engine, screen, folder, tmp_path):
    made, seen = engine(), screen(cwd=folder, terminal=True, env={"TERM": "dumb"})
    typed = iter("xy")
    keys = SimpleNamespace(key=lambda: next(typed), by_key=nullcontext)
    assert run.ask_trust(str(folder), seen.console, keys) is True
    trust.remember(tmp_path / "data", str(folder), is_trusted=True)
    assert play(made, seen, "x") == 0
    assert trusted(made) is True


def test_trust_is_given_for_this_run_without_a_terminal(engine, screen, folder, tmp_path):
    made = engine()
    assert play(made, screen(cwd=folder), "x", "--trust") == 0
    assert trusted(made) is True
    assert trust.remembered(tmp_path / "data", str(folder)) is None


def test_trust_given_at_a_terminal_is_remembered(engine, screen, folder, tmp_path):
    made = engine()
    assert play(made, screen(cwd=folder, terminal=True), "x", "--trust") == 0
    assert trusted(made) is True
    assert trust.remembered(tmp_path / "data", str(folder)) is True


def test_the_home_folder_is_never_trusted(engine, screen, folder):
    made, seen = engine(), screen(cwd=folder, env={"HOME": str(folder)})
    assert play(made, seen, "x", "--trust") == 0
    assert trusted(made) is False
    assert "never trusted" in seen.err


def test_a_missing_mention_is_told(engine, screen, folder):
    seen = screen(cwd=folder)
    assert play(engine(), seen, "see @no/such.py") == 0
    assert seen.err == "@no/such.py: no such file; it stays text\n"


def test_an_engine_that_cannot_start_is_an_error(screen, folder):
    def connect(_env):
        raise DaemonUnavailable("It did not start. Read the log.")

    with pytest.raises(DaemonUnavailable):
        run.main(["x"], screen(cwd=folder).console, connect)
