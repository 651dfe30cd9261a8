"""What changes between a card and its answer, or between an answer and the deed; on real files."""

import json
import os
import subprocess
import sys

import pytest

from kova_ls.journal import records as r
from kova_ls.journal.store import Stored
from kova_ls.vocabulary import ItemStatus, Mode
from tests.support.play import play
from tests.support.stage import Stage, call, say

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
END = say("Done.")
AGAIN = "What this call would change is not what was approved: review again."


def edit(path="a.txt"):
    return call("edit", path=path, old_string="one", new_string="1")


def answer(stage, session, decision="once"):
    stage.respond(session, session.state.approvals[0].approval_id, decision)


def then_yes(change):
    """Change something while the card is open, then say yes."""

    def do(stage, session):
        change(stage)
        answer(stage, session)

    return do


def outside(stage):
    place = stage.root / "outside"
    place.mkdir(exist_ok=True)
    (place / "a.txt").write_text("one\n")
    return place


def link_file(stage):
    target = outside(stage) / "a.txt"
    (stage.workspace / "d/a.txt").unlink()
    (stage.workspace / "d/a.txt").symlink_to(target)


def link_folder(stage):
    target = outside(stage)
    (stage.workspace / "d").rename(stage.workspace / "old")
    (stage.workspace / "d").symlink_to(target)


def link_inside(stage):
    stage.put("other/a.txt", "one\n")
    (stage.workspace / "d/a.txt").unlink()
    (stage.workspace / "d/a.txt").symlink_to("../other/a.txt")


def link_to_settings(stage):
    (stage.workspace / ".git").mkdir()
    stage.put(".git/config", "one\n")
    (stage.workspace / "d/a.txt").unlink()
    (stage.workspace / "d/a.txt").symlink_to("../.git/config")


@pytest.mark.parametrize("change", [link_file, link_folder, link_inside, link_to_settings])
def test_a_target_that_became_a_link_is_reviewed_again(change):
    kept = []

    def look(stage, _session):
        kept.extend(path.read_text() for path in stage.root.rglob("a.txt"))

    transcript = play(
        [edit("d/a.txt"), END],
        files={"d/a.txt": "one\n"},
        level="ask",
        answers=[then_yes(change), "deny"],
        after=look,
        only=("card", "notice", "call ok"),
    )
    assert transcript.count("card tool") == 2
    assert AGAIN in transcript
    assert "call ok" not in transcript
    assert set(kept) == {"one\n"}


@pytest.mark.parametrize("tool", ["edit", "write"])
async def test_a_target_that_becomes_a_link_after_the_answer_is_not_written(tmp_path, tool):
    step = edit("d/a.txt") if tool == "edit" else call("write", path="d/a.txt", content="1\n")
    stage = Stage(tmp_path, [step, END], files={"d/a.txt": "one\n"})
    session = stage.create(level="ask")

    def swap(fact):
        record = fact.record if isinstance(fact, Stored) else None
        # The last thing that is recorded before the tool runs.
        if isinstance(record, r.ItemUpdated) and record.status is ItemStatus.RUNNING:
            link_file(stage)

    session.stream.subscribe(swap)
    stage.prompt(session, "Go.")
    stage.respond(session, await stage.waiting(session), "once")
    await stage.idle(session)
    assert (stage.root / "outside/a.txt").read_text() == "one\n"
    assert (stage.workspace / "d/a.txt").is_symlink()
    ended = [record for record in stage.records() if isinstance(record, r.ItemCompleted)]
    assert any(record.item.status is ItemStatus.ERROR for record in ended if record.result)
    await stage.close()


def test_a_folder_that_a_command_would_run_in_is_part_of_the_answer():
    def move(stage):
        outside(stage)
        (stage.workspace / "d").rename(stage.workspace / "old")
        (stage.workspace / "d").symlink_to(stage.root / "outside")

    transcript = play(
        [call("bash", command="touch made", cwd="d"), END],
        files={"d/x": ""},
        answers=[then_yes(move), "deny"],
        after=lambda stage, _: outside(stage).joinpath("made").exists() and pytest.fail("it ran"),
        only=("card", "notice"),
    )
    assert transcript.count("card tool") == 2
    assert AGAIN in transcript


def test_a_document_that_was_edited_meanwhile_is_reviewed_again():
    def open_document(stage, _session):
        stage.editor.opened.open(str(stage.workspace.resolve() / "a.txt"), "one\n", version=1)

    def type_more(stage):
        stage.editor.opened.open(str(stage.workspace.resolve() / "a.txt"), "one\nmore\n", version=2)

    transcript = play(
        [edit(), END],
        files={"a.txt": "one\n"},
        level="ask",
        before=open_document,
        answers=[then_yes(type_more), "deny"],
        only=("card", "notice", "call ok"),
    )
    assert transcript.count("card tool") == 2
    assert AGAIN in transcript


def test_a_mode_that_changes_while_the_card_is_open_counts():
    def look_only(stage, session):
        session.configure("tester", mode=Mode.ASK)

    transcript = play(
        [edit(), END],
        files={"a.txt": "one\n"},
        level="ask",
        answers=[look_only],
        after=lambda stage, _: (
            (stage.workspace / "a.txt").read_text() == "one\n" or pytest.fail("it was written")
        ),
        only=("answer", "call blocked"),
    )
    assert transcript.startswith("  answer blocked by mode\n  call blocked")


def test_a_deny_rule_that_came_meanwhile_beats_the_answer():
    def forbid(stage):
        (stage.root / "kova/permissions.json").write_text('{"deny": ["Write(*.txt)"]}')

    transcript = play(
        [edit(), END],
        files={"a.txt": "one\n"},
        level="ask",
        answers=[then_yes(forbid)],
        only=("answer", "call '", "call blocked"),
    )
    assert "answer once" in transcript
    assert "The deny rule `Write(*.txt)` forbids it." in transcript


def test_what_the_person_wrote_while_the_card_was_open_survives_remember():
    def add(stage):
        stage.put(
            ".kova/permissions.local.json", '{"mine": 1, "deny": ["Read(x)"], "allow": ["npm *"]}'
        ).chmod(0o600)

    def change_and_remember(stage, session):
        add(stage)
        answer(stage, session, "remember")

    seen = []

    def look(stage, _session):
        grants = stage.engine.grants.load(stage.editor.folders[0])
        seen.append([rule.text for rule in grants.allow])
        seen.append([rule.text for rule in grants.deny])
        seen.append(json.loads((stage.workspace / ".kova/permissions.local.json").read_text()))

    play([call("bash", command="make -v"), END], answers=[change_and_remember], after=look)
    assert seen == [
        ["make *"],
        ["Read(x)"],
        {"mine": 1, "deny": ["Read(x)"], "allow": ["npm *", "make *"]},
    ]


def test_a_file_that_broke_while_the_card_was_open_is_left_and_told():
    def break_and_remember(stage, session):
        stage.put(".kova/permissions.local.json", '{"allow": [').chmod(0o600)
        answer(stage, session, "remember")

    kept = []
    transcript = play(
        [call("bash", command="make -v"), END],
        answers=[break_and_remember, "deny"],
        after=lambda stage, _: kept.append(
            (stage.workspace / ".kova/permissions.local.json").read_text()
        ),
        only=("notice", "answer"),
    )
    assert "Allowed once, but not remembered" in transcript
    assert kept == ['{"allow": [']


REMEMBERING = """
import asyncio, os, sys
from pathlib import Path
from tests.support.stage import Stage, call, say

async def main(root, name):
    stage = Stage(Path(root))
    steps = [call("bash", command=f"{name} x"), call("bash", command="./wait.sh"), say("Done.")]
    stage.script(name, steps)
    session = stage.create(level="workspace-write", model=name)
    stage.prompt(session, "Go.")
    card = await stage.waiting(session)
    print("card", flush=True)
    sys.stdin.readline()
    stage.respond(session, card, "remember")
    await stage.idle(session)
    grants = stage.engine.grants.load(os.path.realpath(stage.workspace))
    print(*sorted(rule.text for rule in grants.allow), grants.pending_local, sep=",", flush=True)
    sys.stdin.readline()
    await stage.close()

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="who wrote is told by Linux only")
def test_engines_that_remember_at_once_lose_nothing(tmp_path):
    names = ("toola", "toolb", "toolc")
    stage = Stage(tmp_path)
    # A command of each runs until the others remembered too.
    is_there = " && ".join(f"grep -q {name} .kova/permissions.local.json" for name in names)
    stage.put("wait.sh", f"until {is_there}; do sleep 0.02; done\n").chmod(0o755)
    stage.engine.grants.remember(os.path.realpath(stage.workspace), ["./wait.sh"])
    engines: list[subprocess.Popen[str]] = []
    for name in names:
        engine = subprocess.Popen(
            [sys.executable, "-c", REMEMBERING, tmp_path, name],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        engines.append(engine)
        assert engine.stdout.readline() == "card\n"
    for engine in engines:
        engine.stdin.write("go\n")
        engine.stdin.flush()
    wanted = "./wait.sh," + "".join(f"{name} x *," for name in names) + "None\n"
    assert [engine.stdout.readline() for engine in engines] == [wanted] * len(names)
    for engine in engines:
        engine.communicate()
    grants = stage.engine.grants.load(os.path.realpath(stage.workspace))
    assert len(grants.allow) == len(names) + 1
