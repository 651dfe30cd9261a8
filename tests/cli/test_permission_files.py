import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from kova_ls.cli import permission_files
from kova_ls.cli.arguments import UsageFault
from kova_ls.engine.grants import Grants
from kova_ls.errors import RequestFailed

ROOT = Path(__file__).parents[2]


class Desk:
    def __init__(self, root, screen):
        self.root = root
        self.workspace = root / "w"
        self.workspace.mkdir()
        self.screen = screen
        self.home = root / "h"
        (self.home / ".kova").mkdir(parents=True)
        self.user = self.home / ".kova/permissions.json"
        self.local = self.workspace / ".kova/permissions.local.json"
        self.shared = self.workspace / ".kova/permissions.json"
        self.seen = None

    def run(self, *argv, find=lambda _env: None):
        self.seen = self.screen(cwd=self.workspace)
        return permission_files.main(argv, self.seen.console, find)

    @property
    def out(self):
        return self.seen.out.replace(str(self.root), "")

    @property
    def err(self):
        return self.seen.err.replace(str(self.root), "")

    def grants(self):
        return Grants(self.home / ".kova", self.root / "data", home=self.home).load(
            str(self.workspace.resolve())
        )

    def put(self, path, **fields):
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(fields))
        path.chmod(0o600)


@pytest.fixture
def desk(tmp_path, screen):
    return Desk(tmp_path.resolve(), screen)


def test_rules_and_folders_come_and_go(desk):
    (desk.root / "lib").mkdir()
    assert desk.run("add", "make *") == 0
    assert desk.out == "in force, /w/.kova/permissions.local.json: make *\n"
    assert desk.run("add", "make *") == 0
    assert desk.out.startswith("already in force")
    assert desk.run("add", "--deny", "Read(secret/**)") == 0
    assert desk.run("add", "--root", "../lib") == 0
    assert desk.run("add", "--user", "git log *") == 0
    found = desk.grants()
    assert [(rule.text, rule.source.value) for rule in found.allow] == [
        ("git log *", "user"),
        ("make *", "local"),
    ]
    assert [rule.text for rule in found.deny] == ["Read(secret/**)"]
    assert [root.path for root in found.roots] == [str(desk.root / "lib")]
    assert desk.run("remove", "make *") == 0
    assert desk.run("remove", "--deny", "Read(secret/**)") == 0
    assert desk.run("remove", "--root", "../lib") == 0
    assert desk.run("remove", "--user", "git log *") == 0
    found = desk.grants()
    assert (found.allow, found.deny, found.roots) == ((), (), ())
    assert json.loads(desk.local.read_text()) == {
        "version": 1,
        "allow": [],
        "deny": [],
        "writableRoots": [],
    }


def test_what_is_not_there_cannot_be_removed(desk):
    assert desk.run("remove", "make *") == 1
    assert "is not in" in desk.err
    assert not desk.local.exists()


def test_what_is_too_wide_is_refused(desk):
    for argv in (("add", "rm *"), ("add", "*"), ("add", "--root", "/"), ("add", "--root", "~")):
        with pytest.raises(RequestFailed):
            desk.run(*argv)
    assert not desk.local.exists()


def test_a_free_pass_is_said_to_be_one(desk):
    assert desk.run("add", "--user", "rm *") == 0
    assert "permanent free pass" in desk.err
    assert desk.run("list") == 0
    assert "'rm *' is a permanent free pass" in desk.out


def test_a_relative_folder_has_no_place_in_the_users_file(desk):
    with pytest.raises(UsageFault, match="in full"):
        desk.run("add", "--user", "--root", "lib")


def test_the_list_says_what_waits_and_what_is_wrong(desk):
    desk.put(desk.user, allow=["git*"])
    desk.put(desk.local, allow=["npm test"])
    desk.put(desk.shared, allow=["make *", "rm *"], deny=["Read(x)"])
    assert desk.run("list") == 0
    assert desk.out.splitlines()[:3] == [
        "allowed without asking: nothing",
        "denied whatever the level: nothing",
        "writable folders: none",
    ]
    assert "`kova-ls permission accept 'make *'` puts it into force." in desk.out
    assert "`kova-ls permission accept --deny 'Read(x)'` puts it into force." in desk.out
    assert "only the user's own file may hold it" in desk.out
    assert "Nobody confirmed what is new in /w/.kova/permissions.local.json:" in desk.out
    assert "/h/.kova/permissions.json:1:12: 'git*'" in desk.out


def test_an_empty_list_says_how_to_begin(desk):
    assert desk.run("list") == 0
    assert desk.out.splitlines()[-1].startswith("`kova-ls permission add 'git log *'` adds a rule")


def test_what_waits_is_listed_once(desk):
    desk.put(desk.local, allow=["npm test"])
    assert desk.run("list") == 0
    assert desk.out.count("npm test") == 1
    assert "`kova-ls permission adopt` puts all of it into force, `accept` one of it." in desk.out


def test_an_exact_rule_and_other_kinds_are_named_as_what_they_are(desk):
    (desk.root / "lib").mkdir()
    desk.run("add", "npm test")
    assert "It covers exactly this line" in desk.out
    desk.run("add", "--deny", "git push *")
    assert desk.out.endswith(": deny git push *\n")
    assert desk.run("remove", "git push *") == 1
    assert "add --deny" in desk.err
    desk.run("add", "--root", "../lib")
    assert desk.out.endswith(": write in ../lib\n")
    # The list shows where it leads.
    assert desk.run("remove", "--root", str(desk.root / "lib")) == 0
    assert desk.grants().roots == ()


def test_the_list_as_json(desk):
    desk.put(desk.local, allow=["npm test"])
    desk.put(desk.shared, allow=["make *"])
    desk.run("add", "--user", "git log *")
    assert desk.run("list", "--json") == 0
    found = json.loads(desk.seen.out)
    assert found["allow"] == [{"rule": "git log *", "source": "user", "isFreePass": False}]
    assert [(one["kind"], one["value"]) for one in found["proposed"]] == [
        ("allow", "make *"),
        ("allow", "npm test"),
    ]
    assert found["pending"][0]["lines"] == ["allow npm test"]


def test_hostile_text_is_spelled_out(desk):
    desk.put(desk.shared, allow=["make \x1b[2J\u202e *"])
    desk.put(desk.local, deny=["Read(\x1b]0;x\x07)"])
    assert desk.run("list") == 0
    assert "\x1b" not in desk.out
    assert "\u202e" not in desk.out


def test_adopting_is_one_step(desk):
    (desk.root / "lib").mkdir()
    desk.put(desk.local, allow=["make *"], writableRoots=["../lib"])
    assert desk.run("adopt") == 0
    assert desk.out.splitlines() == [
        "in force, /w/.kova/permissions.local.json: allow make *",
        "in force, /w/.kova/permissions.local.json: write in ../lib (/lib)",
    ]
    assert [rule.text for rule in desk.grants().allow] == ["make *"]
    assert desk.run("adopt") == 0
    assert "waits to be confirmed" in desk.out
    assert desk.run("adopt", "--user") == 0


def test_wishes_are_accepted_one_at_a_time(desk):
    desk.put(desk.shared, allow=["make *", "npm *", "lib"], writableRoots=["lib"])
    (desk.workspace / "lib").mkdir()
    assert desk.run("accept", "make *") == 0
    assert [rule.text for rule in desk.grants().allow] == ["make *"]
    assert desk.run("accept", "make *") == 1
    with pytest.raises(UsageFault, match="several ways"):
        desk.run("accept", "lib")
    assert desk.run("accept", "--root", "lib") == 0
    assert [root.path for root in desk.grants().roots] == [str(desk.workspace / "lib")]


def test_a_running_engine_is_nudged(desk, fake_engine):
    engine = fake_engine(engine_status=lambda _: {})
    assert desk.run("add", "make *", find=lambda _env: engine.far) == 0
    assert [name for name, _ in engine.heard] == [
        "initialize",
        "initialized",
        "kova/engine/status",
    ]


def test_an_engine_that_cannot_be_asked_is_no_obstacle(desk, fake_engine):
    engine = fake_engine()
    assert desk.run("add", "make *", find=lambda _env: engine.far) == 0
    assert [rule.text for rule in desk.grants().allow] == ["make *"]


def test_an_unknown_folder_is_named(desk):
    with pytest.raises(UsageFault, match="no folder"):
        desk.run("list", "--workspace", "nowhere")


def test_a_command_of_the_agent_is_refused_however_it_is_started(desk):
    """A grandchild of a process that says of itself that its commands run."""
    env = {
        **desk.screen(cwd=desk.workspace).console.env,
        "PYTHONPATH": str(ROOT),
    }
    cli = shlex.join([sys.executable, "-m", "kova_ls", "permission"])
    tries = [
        f"{cli} add 'touch *'",
        f"{cli} adopt",
        f"setsid {cli} add --user 'touch *'",
        f'sh -c "{cli} add --root ../lib" & wait',
    ]
    engine = f"""
import subprocess, sys
from pathlib import Path
from kova_ls.engine.grants import Grants
grants = Grants(Path({str(desk.home / ".kova")!r}), Path({str(desk.root / "data")!r}))
grants.command_started({str(desk.workspace)!r})
for command in {tries!r}:
    ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    sys.stdout.write(ran.stderr)
grants.command_finished({str(desk.workspace)!r})
"""
    (desk.root / "lib").mkdir()
    desk.put(desk.local, allow=["touch *"])
    ran = subprocess.run(
        [sys.executable, "-c", engine],
        env=env,
        cwd=desk.workspace,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.count("may not change permissions") == len(tries), ran
    found = desk.grants()
    assert (found.allow, found.roots) == ((), ())
    assert not os.path.exists(desk.user)


ENGINE = """
import sys
from pathlib import Path
from kova_ls.engine.grants import Grants
home, data, workspace = map(Path, sys.argv[1:])
grants = Grants(home / ".kova", data, home=home)
grants.command_started(str(workspace))
for line in sys.stdin:
    if line == "finish\\n":
        grants.command_finished(str(workspace))
    grants.hear()
    print(*sorted(rule.text for rule in grants.load(str(workspace)).allow), sep=",", flush=True)
"""


class Engine:
    """Another process whose command runs."""

    def __init__(self, desk):
        self.child = subprocess.Popen(
            [sys.executable, "-c", ENGINE, desk.home, desk.root / "data", desk.workspace],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.ask("look")

    def ask(self, word):
        self.child.stdin.write(f"{word}\n")
        self.child.stdin.flush()
        return self.child.stdout.readline().strip()

    def hear(self, _env):
        """Stand for the wire: the command says something, and the engine looks."""
        self.ask("look")

    def end(self):
        self.child.communicate()


@pytest.fixture
def engine(desk):
    engine = Engine(desk)
    yield engine
    engine.end()


@pytest.mark.parametrize("flags", [(), ("--user",)])
def test_a_change_while_a_command_runs_that_no_engine_heard_of_is_told_not_to_count(
    desk, engine, flags
):
    assert desk.run("add", *flags, "git log *") == 1
    assert f"permission adopt{' --user' if flags else ''}` once" in desk.err
    assert engine.ask("look") == ""
    assert desk.grants().allow == ()
    engine.ask("finish")
    assert desk.run("adopt", *flags) == 0
    assert engine.ask("look") == "git log *"


@pytest.mark.skipif(sys.platform != "linux", reason="who wrote is told by Linux only")
def test_a_change_in_a_terminal_counts_at_once_while_a_command_runs(desk, engine):
    assert desk.run("add", "git log *", find=engine.hear) == 0
    assert desk.run("add", "--user", "npm test", find=engine.hear) == 0
    assert engine.ask("look") == "git log *,npm test"
    # What the command writes beside is not covered by it.
    desk.put(desk.local, allow=["git log *", "touch *"])
    assert engine.ask("look") == "git log *,npm test"
    assert desk.run("adopt", find=engine.hear) == 0
    assert engine.ask("look") == "git log *,npm test,touch *"
    assert desk.run("remove", "touch *", find=engine.hear) == 0
    assert engine.ask("finish") == "git log *,npm test"
    assert [rule.text for rule in desk.grants().allow] == ["npm test", "git log *"]
