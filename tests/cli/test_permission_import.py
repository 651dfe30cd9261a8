import json
import os
from pathlib import Path

import pytest

from kova_ls.cli import permission_import
from kova_ls.cli.arguments import UsageFault
from kova_ls.engine.grants import Grants

REAL = Path(__file__).parents[3] / "shared" / "corpus" / "real-rules.jsonl"
SETTINGS = {
    "permissions": {
        "allow": ["Bash(git log:*)", "Bash(rm:*)", "Bash(git log:*)", "Bash(npm test)"],
        "deny": ["Bash(git push:*)", "Read(./.env)"],
        "ask": ["Bash(make:*)"],
    }
}


class Desk:
    def __init__(self, root, screen):
        self.root = root
        self.screen = screen
        self.workspace = root / "w"
        self.workspace.mkdir()
        self.home = root / "h"
        (self.home / ".kova").mkdir(parents=True)
        self.settings = root / "settings.json"
        self.settings.write_text(json.dumps(SETTINGS))

    def run(self, *argv, typed=None):
        self.seen = self.screen(cwd=self.workspace, terminal=typed is not None)
        if typed is not None:
            self.seen.type(typed)
        return permission_import.main(("import", *argv), self.seen.console, lambda _env: None)

    def grants(self):
        return Grants(self.home / ".kova", self.root / "data", home=self.home).load(
            str(self.workspace)
        )

    def rules(self):
        found = self.grants()
        return [rule.text for rule in found.allow], [rule.text for rule in found.deny]


@pytest.fixture
def desk(tmp_path, screen):
    return Desk(tmp_path.resolve(), screen)


def test_without_write_it_only_says_what_each_entry_becomes(desk):
    assert desk.run(str(desk.settings)) == 0
    lines = desk.seen.out.splitlines()
    assert lines[:2] == ["allow Bash(git log:*)", "    -> `git log *`"]
    assert "too wide" in lines[3]
    assert lines[-2:] == [
        "5 of 7 entries have a rule here.",
        "Nothing was written; --write puts these rules into force here.",
    ]
    assert list(desk.workspace.iterdir()) == []
    assert desk.run(str(desk.settings), "--json") == 0
    assert [json.loads(line)["rule"] for line in desk.seen.out.splitlines()][:2] == [
        "git log *",
        None,
    ]


def test_what_was_confirmed_is_written_and_in_force(desk):
    assert desk.run(str(desk.settings), "--write", typed="y\n") == 0
    shown = desk.seen.out
    assert shown.index("  allow git log *") < shown.index("  deny git push *")
    assert "4 rules are in" in shown
    assert desk.rules() == (["git log *", "npm test"], ["git push *", "Read(.env)"])
    assert desk.run(str(desk.settings), "--write", "--yes") == 0
    assert "nothing to write" in desk.seen.err


@pytest.mark.parametrize("typed", ["n\n", "\n", "what\n"])
def test_without_a_yes_nothing_is_written(desk, typed):
    assert desk.run(str(desk.settings), "--write", typed=typed) == 1
    assert desk.rules() == ([], [])


def test_where_nobody_can_be_asked_yes_has_to_be_said_before(desk):
    assert desk.run(str(desk.settings), "--write") == 2
    assert "Add --yes" in desk.seen.err
    assert desk.rules() == ([], [])
    assert desk.run(str(desk.settings), "--write", "--yes") == 0
    assert desk.rules()[0] == ["git log *", "npm test"]


@pytest.mark.parametrize(
    ("raw", "said"),
    [(None, "No such file"), (b"{}", "no list"), (b"\xff\xfe", "not UTF-8"), (b"{", "neither")],
)
def test_what_cannot_be_read_is_named(desk, raw, said):
    if raw is None:
        desk.settings.unlink()
    else:
        desk.settings.write_bytes(raw)
    assert desk.run(str(desk.settings)) == 1
    assert said in desk.seen.err


def test_an_unknown_folder_is_named(desk):
    with pytest.raises(UsageFault, match="no folder"):
        desk.run("x", "--workspace", "nowhere")


def test_every_real_entry_gets_an_answer_and_what_it_becomes_can_be_written(desk):
    if not REAL.exists():
        if os.environ.get("CI") == "true":
            pytest.fail(f"{REAL} is missing")
        pytest.skip("the corpus is not here")
    wishes = {"allow": [], "deny": [], "ask": []}
    for line in REAL.read_text("utf-8").splitlines():
        real = json.loads(line)
        wishes[real["list"] if real["list"] in wishes else "ask"].append(real["rule"])
    desk.settings.write_text(json.dumps({"permissions": wishes}))
    assert desk.run(str(desk.settings), "--json", "--write", "--yes") == 0
    answers = [json.loads(line) for line in desk.seen.out.splitlines() if line.startswith("{")]
    assert len(answers) >= sum(map(len, wishes.values()))
    assert all((one["rule"] is None) != (one["problem"] is None) for one in answers)
    found = desk.grants()
    assert not found.problems
    assert {rule.text for rule in found.allow} == {
        one["rule"] for one in answers if one["list"] == "allow" and one["rule"]
    }
