import json
import os
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from kova_ls.cli import run, trust
from kova_ls.cli.arguments import UsageFault
from kova_ls.cli.ask import Nobody
from kova_ls.cli.client import Refused
from kova_ls.errors import DaemonUnavailable
from tests.support.pseudo_terminal import PseudoTerminal

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "kova_ls"]

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
    assert play(made, seen, "look at", "@a.py", "--level", "ask", "--model", "work") == 0
    (shake,) = heard(made, "initialize")
    assert shake["workspaceFolders"] == [{"uri": folder.as_uri(), "name": "work"}]
    assert shake["initializationOptions"]["kova"]["trusted"] is False
    assert heard(made, "kova/session/create") == [
        {"workspace": folder.as_uri(), "level": "ask", "model": "work"}
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
        (("x", "--level", "auto"), "needs a trusted folder. Add --trust"),
        (("x", "--workspace", "gone"), "is no folder"),
        (("x", "--session", "a", "--continue"), "not allowed with"),
        (("-",), "The prompt is empty"),
    ],
)
def test_wrong_usage_says_what_to_do(engine, screen, folder, argv, message):
    with pytest.raises(UsageFault, match=message):
        play(engine(), screen(cwd=folder), *argv)


@pytest.mark.parametrize(("more", "gone"), [([], ["s1"]), (["--session", "s1"], [])])
def test_a_prompt_that_is_refused_leaves_no_empty_session(engine, screen, folder, more, gone):
    refusal = {"error": {"code": -32034, "message": "No.", "data": {"code": "x"}}}
    made = engine(turn_start=lambda _: refusal, session_delete=lambda _: {})
    with pytest.raises(Refused):
        play(made, screen(cwd=folder), "hi", *more)
    assert [params["sessionId"] for params in heard(made, "kova/session/delete")] == gone


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


def test_a_queued_prompt_that_is_taken_back_is_not_waited_for(engine, screen, folder):
    def queue(_params):
        def tell():
            made.event("queue.updated", {"queue": [{"turnId": "t0"}, {"turnId": "t1"}]})
            made.event("queue.updated", {"queue": [{"turnId": "t0"}]})

        return {"turnId": "t1", "status": "queued"}, tell

    made, seen = engine(turn_start=queue), screen(cwd=folder)
    assert play(made, seen, "x") == 1
    assert "taken back by an editor" in seen.err


def test_a_queued_prompt_whose_turn_begins_leaves_the_queue(engine, screen, folder):
    def queue(_params):
        def tell():
            made.event("turn.started", {"promptId": "p"})
            made.event("queue.updated", {"queue": []})
            made.event("turn.completed", DONE)

        return {"turnId": "t1", "status": "queued"}, tell

    made, seen = engine(turn_start=queue), screen(cwd=folder)
    assert play(made, seen, "x") == 0


def test_a_turn_that_waits_is_taken_up_without_a_prompt(
    engine, screen, folder, snapshot_json, approval_json, monkeypatch
):
    waiting = snapshot_json(approvals=[approval_json()], turnId="t1", state="waiting")
    made = engine(
        session_attach=lambda _: {"snapshot": waiting},
        approval_respond=lambda _: ({}, lambda: made.event("turn.completed", DONE)),
    )
    monkeypatch.setattr(run, "Person", lambda console, _keys, _folder, _read: Nobody(console))
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


# -- the program itself, over a real engine -----------------------------------------------------


@pytest.fixture
def program(tmp_path, folder):
    """Prepare a home with a scripted model; returns the environment. The engine is ended."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    env = {
        "HOME": str(tmp_path / "h"),
        "KOVA_HOME": str(home),
        "KOVA_DATA_DIR": str(tmp_path / "data"),
        "KOVA_RUNTIME_DIR": str(tmp_path / "run"),
        "PATH": os.environ.get("PATH", ""),
        "PYTHONPATH": str(ROOT),
        "LANG": "C.UTF-8",
        "TERM": "xterm",
        "NO_COLOR": "1",
    }

    def make(*steps):
        (home / "script.json").write_text(json.dumps({"steps": steps}))
        (home / "config.toml").write_text(
            f'[models.script]\napi = "scripted"\nscript = "{home}/script.json"\n'
        )
        return env

    yield make
    subprocess.run([*COMMAND, "stop", "--force"], env=env, capture_output=True, check=False)


def execute(env, cwd, *argv, stdin=""):
    return subprocess.run(
        [*COMMAND, *argv],
        env=env,
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )


def call(name, **arguments):
    return {"calls": [{"name": name, "arguments": arguments}]}


@pytest.mark.e2e
def test_a_whole_turn_through_pipes(program, folder):
    env = program(call("read", path="a.py"), {"text": ["Read", " it.\x1b[2J"]})
    done = execute(env, folder, "run", "read", "@a.py")
    assert (done.returncode, done.stdout) == (0, "Read it.<U+001B>[2J\n")
    assert "✓ Read a.py" in done.stderr
    again = execute(env, folder, "run", "and again", "--continue", "--json")
    events = [json.loads(line) for line in again.stdout.splitlines()]
    assert (again.returncode, events[-1]["type"]) == (0, "turn.completed")
    seqs = [event["seq"] for event in events if "seq" in event]
    assert seqs == list(range(seqs[0], seqs[0] + len(seqs)))


@pytest.mark.e2e
def test_without_a_terminal_a_change_is_denied_and_the_model_is_told(program, folder):
    env = program(
        call("write", path="b.py", content="y\n"),
        {"text": "I could not write.", "expect": ["Nobody watches this run"]},
    )
    done = execute(env, folder, "run", "-", stdin="write b.py")
    assert (done.returncode, done.stdout) == (3, "I could not write.\n")
    assert "denied, as nobody watches this run: Write b.py\n  At level `ask`" in done.stderr
    assert not (folder / "b.py").exists()


@pytest.mark.e2e
def test_a_run_that_nobody_watches_has_a_level_of_its_own(program, folder, tmp_path):
    """The session is at `auto`; runs without a terminal are not, but for the one that is named."""
    make = call("bash", command="touch made")
    env = program({"text": "Hi."}, make, {"text": "Denied."}, make, {"text": "Made."})
    assert execute(env, folder, "run", "x", "--trust", "--level", "auto").returncode == 0
    with (tmp_path / "home" / "config.toml").open("a") as file:
        file.write('[automation.levels]\nnightly = "auto"\n')
    done = execute(env, folder, "run", "x", "--continue", "--trust")
    assert (done.returncode, done.stdout) == (3, "Denied.\n")
    assert "denied, as nobody watches this run: $ touch made" in done.stderr
    assert "`kova-ls permission add 'touch *'` would allow it beforehand" in done.stderr
    assert not (folder / "made").exists()
    done = execute(env, folder, "run", "x", "--continue", "--trust", "--automation", "nightly")
    assert (done.returncode, done.stdout) == (0, "Made.\n")
    assert (folder / "made").exists()


@pytest.mark.e2e
def test_a_trusted_folder_lets_an_edit_through(program, folder):
    env = program(call("write", path="b.py", content="y\n"), {"text": "Written."})
    done = execute(env, folder, "run", "write b.py", "--trust")
    assert (done.returncode, done.stdout) == (0, "Written.\n")
    assert (folder / "b.py").read_text() == "y\n"


@pytest.mark.e2e
def test_no_model_is_an_error_that_says_what_to_do(program, folder, tmp_path):
    env = program()
    (tmp_path / "home" / "config.toml").unlink()
    done = execute(env, folder, "run", "x")
    assert done.returncode == 1
    assert "kova-ls doctor" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.e2e
def test_at_a_terminal_trust_is_asked_once_and_a_card_is_answered(program, folder):
    env = program(call("bash", command="true &&\nprintf two > out.txt"), {"text": "It said two."})
    terminal = PseudoTerminal([*COMMAND, "run", "go"], env, folder)
    try:
        terminal.wait_for("Do you trust")
        terminal.wait_for(r"\[n\]o yes\n", typing="y")
        terminal.wait_for(r"> printf two > out\.txt")
        terminal.wait_for(r" once\n", typing="o")
        terminal.wait_for("It said two")
        assert terminal.wait_for_end() == 0
    finally:
        terminal.close()
    assert (folder / "out.txt").read_text() == "two"
    second = PseudoTerminal([*COMMAND, "run", "again"], env, folder)
    try:
        second.wait_for("run this command")
        assert "Do you trust" not in second.seen
        second.wait_for(r" deny\n", typing="d")
        assert second.wait_for_end() == 0
    finally:
        second.close()


@pytest.mark.e2e
def test_ctrl_c_stops_what_runs_and_says_so(program, folder):
    env = program(call("bash", command="sleep 1000"), {"text": "never"})
    terminal = PseudoTerminal([*COMMAND, "run", "go", "--level", "auto", "--trust"], env, folder)
    try:
        terminal.wait_for(r"\$ sleep 1000")
        terminal.type("\x03")
        terminal.wait_for(r"interrupted; stopped: .*sleep 1000")
        assert terminal.wait_for_end() == 130
    finally:
        terminal.close()


@pytest.mark.e2e
def test_a_closed_pipe_stops_the_turn_quietly(program, folder):
    env = program({"text": ["word\n"] * 20_000})
    process = subprocess.Popen(
        [*COMMAND, "run", "go"],
        env=env,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.readline()
    process.stdout.close()
    stderr = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), stderr) == (141, b"")


@pytest.mark.e2e
def test_status_and_stop_see_the_engine(program, folder):
    env = program({"text": "Hi."})
    assert execute(env, folder, "status").returncode == 1
    assert execute(env, folder, "run", "x").returncode == 0
    status = execute(env, folder, "status")
    assert (status.returncode, status.stdout.startswith("engine ")) == (0, True)
    assert execute(env, folder, "stop").stdout == "The engine has ended.\n"
    assert execute(env, folder, "status").returncode == 1


@pytest.mark.e2e
def test_a_killed_engine_is_started_again_and_the_card_is_offered_again(program, folder):
    env = program(call("bash", command="echo x > out.txt"), {"text": "All done."})
    terminal = PseudoTerminal([*COMMAND, "run", "go", "--trust"], env, folder)
    try:
        terminal.wait_for(r"\[d\]eny .*\[o\]nce")
        engine = json.loads(execute(env, folder, "status", "--json").stdout)["engine"]
        os.kill(engine["pid"], signal.SIGKILL)
        terminal.wait_for("run this command")
        terminal.wait_for(r" once\n", typing="o")
        terminal.wait_for("All done")
        assert terminal.wait_for_end() == 0
    finally:
        terminal.close()
    assert (folder / "out.txt").read_text() == "x\n"


def test_a_notice_is_broken_between_words(engine, screen, folder, snapshot_json):
    words = "Nobody confirmed what is new in that file.".split() * 5
    made = engine(session_attach=lambda _: {"snapshot": snapshot_json(notices=[" ".join(words)])})
    seen = screen(terminal=True, cwd=folder, env={"TERM": "dumb"})
    assert play(made, seen, "--session", "s1", "--trust", "hi") == 0
    lines = [line for line in seen.out.splitlines() if set(line.split()) <= {"!", *words}]
    assert len(lines) > 1
    assert " ".join(lines).split() == ["!", *words]
