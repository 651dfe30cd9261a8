"""Ways round the permission files: over git, links, moves and odd files; nothing is gained by any.

Each is played by the model through the real engine on real files, at the level most people have.
"""

import json
import os
import subprocess

import pytest

from tests.support.play import play
from tests.support.stage import call, say

END = say("Done.")
TOUCH = call("bash", command="touch gained")
WISHES = json.dumps({"allow": ["touch *"], "writableRoots": ["/srv"]})
LOCAL = ".kova/permissions.local.json"


def bash(command):
    return call("bash", command=command)


def git(stage, *argv):
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "-C", stage.workspace, *who, *argv], check=True, capture_output=True)


def workspace(stage):
    return os.path.realpath(stage.workspace)


def attempt(*calls, rules=(), files=None, before=None):
    """Play calls and then a command that no rule covers; return what was recorded."""
    gained = []

    def prepare(stage, _session):
        for name, content in (files or {}).items():
            stage.put(name, content).chmod(0o755)
        if before is not None:
            before(stage)
        if rules:
            stage.engine.grants.remember(workspace(stage), rules)

    def look(stage, _session):
        grants = stage.engine.grants.load(workspace(stage))
        gained.extend(rule.text for rule in grants.allow if rule.text not in rules)
        gained.extend(root.path for root in grants.roots)
        if (stage.workspace / "gained").exists():
            gained.append("gained")

    transcript = play(
        [*calls, TOUCH, END],
        before=prepare,
        answers=["deny"] * 6,
        after=look,
        only=("call '", "card", "notice"),
    )
    assert gained == []
    assert "card tool '$ touch gained'" in transcript
    return transcript


def with_history(stage):
    """A repository whose history holds a local file."""
    git(stage, "init", "-q")
    stage.put(LOCAL, WISHES).chmod(0o600)
    git(stage, "add", "-f", ".")
    git(stage, "commit", "-qm", "with")
    git(stage, "rm", "-qr", "--cached", ".kova")
    git(stage, "commit", "-qm", "without")
    (stage.workspace / LOCAL).unlink()


def with_stash(stage):
    git(stage, "init", "-q")
    stage.put("a", "")
    git(stage, "add", ".")
    git(stage, "commit", "-qm", "a")
    stage.put(LOCAL, WISHES)
    git(stage, "stash", "-q", "-u")


@pytest.mark.parametrize(
    ("command", "before"),
    [
        ("git checkout HEAD~1 -- .kova", with_history),
        ("git restore --source=HEAD~1 .kova", with_history),
        ("git stash pop", with_stash),
        ("git mv x .kova", lambda stage: (git(stage, "init", "-q"), git(stage, "add", "."))),
    ],
)
def test_what_git_brings_is_inert(command, before):
    rule = f"{' '.join(command.split()[:2])} *"
    attempt(bash(command), rules=(rule,), files={"x/permissions.local.json": WISHES}, before=before)


@pytest.mark.parametrize(
    "command",
    [
        "git config core.worktree ..",
        "git config core.hooksPath .",
        "tar xf a.tar",
        "unzip a.zip",
        "patch -p1 -i a.patch",
        "git apply a.patch",
        "kova-ls permission add 'touch *'",
        "curl --unix-socket ../run/x.sock http://x/",
    ],
)
def test_what_would_write_at_will_asks_each_time(command):
    program, word = command.split()[:2]
    transcript = attempt(bash(command), before=lambda stage: git(stage, "init", "-q"))
    assert f"card tool '$ {program} {word}" in transcript.replace('"', "'")


@pytest.mark.parametrize(
    "path",
    [".git/hooks/pre-commit", ".envrc", ".husky/pre-commit", ".KOVA/permissions.local.json"],
)
def test_what_runs_or_grants_later_is_written_with_a_yes_only(path):
    transcript = attempt(
        call("write", path=path, content="touch gained\n"),
        before=lambda stage: git(stage, "init", "-q"),
    )
    assert transcript.count("card tool") == 2


SCRIPTS = {
    "a second name": f"mkdir -p .kova; echo '{WISHES}' > x; chmod 600 x; ln x {LOCAL}",
    "a link to the folder": f"mkdir y; echo '{WISHES}' > y/permissions.local.json; ln -s y .kova",
    "another folder in the workspace's place": (
        f"mkdir -p ../new/.kova; echo '{WISHES}' > ../new/{LOCAL}; chmod 600 ../new/{LOCAL}; "
        "cd ..; mv ws old; mv new ws"
    ),
    "a link in the workspace's place": (
        f"mkdir -p ../new/.kova; echo '{WISHES}' > ../new/{LOCAL}; chmod 600 ../new/{LOCAL}; "
        "cd ..; mv ws old; ln -s new ws"
    ),
    "a pipe": f"mkdir -p .kova; rm -f {LOCAL}; mkfifo {LOCAL}",
    "a very large file": f"mkdir -p .kova; truncate -s 100M {LOCAL}",
    "a byte order mark": f"mkdir -p .kova; printf '\\357\\273\\277' > {LOCAL}; echo '{WISHES}' >> {LOCAL}",
    "a key twice": f'mkdir -p .kova; echo \'{{"allow": [], "allow": ["touch *"]}}\' > {LOCAL}',
    "no ledger any more": f"rm -rf ../data/adopted; mkdir -p .kova; echo '{WISHES}' > {LOCAL}",
    "a folder in the ledger's place": "rm -rf ../data/adopted; echo > ../data/adopted",
    "the user's file over a link": f"echo '{WISHES}' > u; ln -sf $PWD/u ../kova/permissions.json",
    "the time put back": (
        f"echo '{WISHES}' > ../kova/permissions.json; touch -d @1 ../kova/permissions.json"
    ),
    "a session of its own": "setsid sh -c 'cat wishes > ../kova/permissions.json'",
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_what_a_remembered_script_does_to_the_files_gains_nothing(script):
    files = {"evil.sh": f"{script}\n", "wishes": WISHES}
    seen = attempt(bash("./evil.sh"), rules=("./evil.sh",), files=files)
    assert "call '$ ./evil.sh' allow" in seen


def test_a_remembered_build_runs_what_its_script_says():
    """That is what the rule means: it was given for the command, not for one text of it."""
    transcript = play(
        [call("edit", path="Makefile", old_string="true", new_string="touch made"), bash("make t")],
        files={"Makefile": "t:\n\ttrue\n"},
        before=lambda stage, _: stage.engine.grants.remember(workspace(stage), ["make t"]),
        only=("call '", "card"),
    )
    assert transcript.count("allow") == 2


def test_settings_that_a_command_wrote_are_not_read():
    script = "printf 'shell=\"/bin/false\"\\n' > ../kova/config.toml\n"
    transcript = attempt(bash("./evil.sh"), rules=("./evil.sh",), files={"evil.sh": script})
    assert "config.toml changed while a command of the agent ran" in transcript
