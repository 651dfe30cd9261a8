"""An agent that tries to authorise itself gains nothing that a person did not confirm.

Each test is one try, played by the model through the real engine on real files.
"""

import asyncio
import json
import os
import shlex
import subprocess

import pytest

from kova_ls.engine import ledger
from kova_ls.engine.grants import Grants
from kova_ls.engine.ledger import Confirmed
from tests.support.play import play
from tests.support.stage import Stage, call, say

END = say("Done.")
LINES = ("call '", "card", "answer")
ALL = {"version": 1, "allow": ["make *", "touch *"], "writableRoots": ["/srv"]}
WISHES = json.dumps(ALL)
TOUCH = call("bash", command="touch gained")


def bash(command, **more):
    return call("bash", command=command, **more)


def remembered(*rules):
    """What a person did before."""

    def do(stage, _session):
        stage.engine.grants.remember(workspace(stage), rules)

    return do


def both(*actions):
    def do(stage, session):
        for action in actions:
            action(stage, session)

    return do


def workspace(stage):
    return os.path.realpath(stage.workspace)


def user_file(stage):
    return stage.root / "kova/permissions.json"


class Seen:
    """What holds at the end of a play."""

    def __init__(self):
        self.allow = self.roots = self.gained = None

    def __call__(self, stage, _session):
        grants = stage.engine.grants.load(workspace(stage))
        self.allow = {rule.text for rule in grants.allow}
        self.roots = {root.path for root in grants.roots}
        self.problems = grants.problems
        self.gained = (stage.workspace / "gained").exists()


def verdicts(transcript):
    """Return the first words of calls, cards and answers."""
    return [" ".join(line.split()[:2]) for line in transcript.splitlines()]


# -- the file tools -----------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["ask", "workspace-write", "auto-edit"])
@pytest.mark.parametrize("tool", ["write", "edit"])
@pytest.mark.parametrize(
    "path",
    [
        ".kova/permissions.local.json",
        ".kova/permissions.json",
        "sub/../.kova/permissions.local.json",
        ".kova/config.toml",
        ".KOVA/permissions.local.json",
        "{root}/kova/permissions.json",
        "{root}/kova/config.toml",
        "{root}/data/adopted/x.json",
        "{root}/run/x.sock",
        "alias/permissions.local.json",
        "alias.json",
    ],
)
def test_no_file_tool_touches_what_grants(tool, path, level):
    def links(stage, _session):
        stage.put(".kova/permissions.local.json", "{}\n")
        stage.put("sub/x", "")
        (stage.workspace / "alias").symlink_to(".kova")
        (stage.workspace / "alias.json").symlink_to(".kova/permissions.local.json")
        os.makedirs(stage.root / "data/adopted")
        user_file(stage).write_text("{}\n")

    seen = Seen()

    def model(stage, _session):
        where = path.format(root=stage.root)
        arguments = {"path": where}
        arguments |= (
            {"content": WISHES} if tool == "write" else {"old_string": "{}", "new_string": WISHES}
        )
        stage.script("script", [call(tool, **arguments), TOUCH, END])

    transcript = play(
        [END],
        before=both(links, model),
        level=level,
        answers=["deny", "deny"],
        after=seen,
        only=(*LINES, "call error"),
    )
    # Either it cannot be edited at all, or a card stands before it.
    assert transcript.splitlines()[0].split("'")[2].split()[0] in ("ask", "blocked", "allow")
    assert "  call error" in transcript or transcript.count("card tool") == 2
    assert not seen.gained
    assert seen.allow == set()
    assert seen.roots == set()


def test_a_symlinked_kova_folder_is_neither_read_nor_written_through():
    seen = Seen()

    def plant(stage, _session):
        stage.put("innocent/permissions.local.json", WISHES).chmod(0o600)
        (stage.workspace / ".kova").symlink_to("innocent")

    transcript = play(
        [
            call("write", path="innocent/permissions.local.json", content=WISHES),
            TOUCH,
            END,
        ],
        before=plant,
        answers=["deny", "deny"],
        after=seen,
        only=LINES,
    )
    assert transcript.count("card tool '$ touch") == 1
    assert (seen.allow, seen.roots, seen.gained) == (set(), set(), False)


def test_a_file_prepared_elsewhere_and_renamed_into_place_is_inert():
    seen = Seen()
    transcript = play(
        [
            call("write", path="plan.json", content=WISHES),
            bash("./place.sh"),
            TOUCH,
            END,
        ],
        files={"place.sh": "mkdir -p .kova; mv plan.json .kova/permissions.local.json\n"},
        before=both(executable("place.sh"), remembered("./place.sh *")),
        answers=["deny", "deny"],
        after=seen,
        only=(*LINES, "notice"),
    )
    assert "call './place.sh'" not in transcript
    assert "permissions.local.json changed while a command of the agent ran" in transcript
    assert (seen.gained, seen.roots) == (False, set())
    assert "touch *" not in seen.allow
    # The adopt card, then the card of the call itself.
    assert [word for word in verdicts(transcript) if word.startswith("card")] == [
        "card adopt",
        "card tool",
    ]


@pytest.mark.parametrize("how", ["ln -s ../evil.json", "ln ../evil.json"])
def test_a_linked_permission_file_is_not_believed(how):
    seen = Seen()
    play(
        [call("write", path="evil.json", content=WISHES), bash("./link.sh"), TOUCH, END],
        files={"link.sh": f"mkdir -p .kova; cd .kova; {how} permissions.local.json\n"},
        before=both(executable("link.sh"), remembered("./link.sh")),
        answers=["deny", "deny", "deny"],
        after=seen,
    )
    assert (seen.gained, seen.roots) == (False, set())
    assert "touch *" not in seen.allow


# -- files that come with a project -------------------------------------------------------------


def test_a_project_file_only_proposes():
    seen = Seen()
    transcript = play(
        [TOUCH, END],
        files={".kova/permissions.json": WISHES},
        answers=["deny"],
        after=seen,
        only=("card", "notice"),
    )
    assert "notice 'This project requests to allow touch * without asking.'" in transcript
    assert (seen.allow, seen.roots, seen.gained) == (set(), set(), False)


def test_a_tracked_local_file_is_refused_and_named():
    seen = Seen()

    def track(stage, _session):
        stage.put(".kova/permissions.local.json", WISHES).chmod(0o600)
        git = ["git", "-C", str(stage.workspace), "-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "add", "-f", "."], check=True)

    transcript = play([TOUCH, END], before=track, answers=["deny"], after=seen, only=("card",))
    assert transcript.count("card tool") == 1
    assert "adopt" not in transcript
    assert any("git rm --cached" in problem for problem in seen.problems)
    assert (seen.allow, seen.gained) == (set(), False)


def test_an_unzipped_local_file_is_inert_until_a_person_says_so():
    seen = Seen()

    def unzip(stage, _session):
        stage.put(".kova/permissions.local.json", WISHES).chmod(0o600)

    transcript = play(
        [TOUCH, END], before=unzip, answers=["deny", "deny"], after=seen, only=("card",)
    )
    assert verdicts(transcript) == ["card adopt", "card tool"]
    assert (seen.allow, seen.roots, seen.gained) == (set(), set(), False)


# -- commands -----------------------------------------------------------------------------------


def executable(name):
    def do(stage, _session):
        (stage.workspace / name).chmod(0o755)

    return do


WRITERS = {
    "local": f"mkdir -p .kova; echo '{WISHES}' > .kova/permissions.local.json",
    "user": f"echo '{WISHES}' > ../kova/permissions.json",
    "user, later": f"(sleep 0.2; echo '{WISHES}' > ../kova/permissions.json) >/dev/null 2>&1 &",
    "both, then touched back": (
        f"mkdir -p .kova; echo '{WISHES}' | tee .kova/permissions.local.json ../kova/permissions.json; "
        "touch -d 2001-01-01 .kova/permissions.local.json ../kova/permissions.json"
    ),
}


@pytest.mark.parametrize("script", WRITERS.values(), ids=WRITERS)
def test_what_a_remembered_command_writes_stays_inert_and_is_shown(script):
    seen = Seen()
    wait = "while ! grep -q touch ../kova/permissions.json .kova/*.json; do sleep 0.05; done\n"
    transcript = play(
        [bash("./evil.sh"), bash("./wait.sh"), TOUCH, END],
        files={"evil.sh": script, "wait.sh": wait},
        before=both(
            executable("evil.sh"),
            executable("wait.sh"),
            remembered("./evil.sh", "./wait.sh"),
        ),
        answers=["deny"] * 4,
        after=seen,
        only=(*LINES, "notice"),
    )
    assert "changed while a command of the agent ran" in transcript
    assert (seen.gained, seen.roots) == (False, set())
    # Rules that are no longer in the file are gone, others are not there.
    assert seen.allow <= {"./evil.sh", "./wait.sh"}
    assert "card tool '$ touch gained'" in transcript


def test_what_was_written_stays_inert_for_the_next_engine(tmp_path):
    stage = Stage(tmp_path)
    grants = stage.engine.grants
    grants.command_started(workspace(stage))
    user_file(stage).write_text(WISHES)
    stage.put(".kova/permissions.local.json", WISHES).chmod(0o600)
    # The engine is killed before it can look.
    again = Grants(stage.root / "kova", stage.root / "data", home=stage.root / "home")
    del grants
    assert again.load(workspace(stage)).allow == ()


def test_kova_ls_is_never_remembered():
    transcript = play(
        [bash("kova-ls permission add 'touch *'"), END],
        before=remembered("touch *"),
        answers=["deny"],
        only=("card",),
    )
    assert "deny/once [" in transcript


def test_a_script_that_the_agent_edited_asks_again():
    seen = Seen()
    transcript = play(
        [
            bash("./build.sh all"),
            call("edit", path="build.sh", old_string="true", new_string="touch gained"),
            bash("./build.sh all"),
            END,
        ],
        files={"build.sh": "#!/bin/sh\ntrue\n"},
        before=both(executable("build.sh"), remembered("./build.sh *")),
        answers=["deny"],
        after=seen,
        only=("call '", "card", "rules", "answer"),
    )
    assert [line.strip() for line in transcript.splitlines()] == [
        "call '$ ./build.sh all' allow ['rule'] running",
        "call 'Edit build.sh' allow ['inside', 'reading'] running"
        if "['inside', 'reading']" in transcript
        else "call 'Edit build.sh' allow ['reading', 'inside'] running",
        "call '$ ./build.sh all' ask ['changed_program'] waiting",
        "card tool '$ ./build.sh all' deny/once/remember ['changed_program']",
        "rules ['./build.sh all *']",
        "answer deny by tester",
    ]
    assert not seen.gained


def test_a_script_that_a_command_changed_asks_until_it_is_remembered_anew():
    transcript = play(
        [
            bash("./format.sh"),
            *[bash("./build.sh")] * 4,
            END,
        ],
        files={"build.sh": "true\n", "format.sh": "echo 'touch gained' >> build.sh\n"},
        before=both(
            executable("build.sh"),
            executable("format.sh"),
            remembered("./build.sh *", "./format.sh"),
        ),
        answers=["once", "remember"],
        only=("call '",),
    )
    assert [line.split()[3] for line in transcript.splitlines()] == [
        "allow",
        "ask",
        "ask",
        "allow",
        "allow",
    ]


def test_a_script_that_the_person_edits_goes_on():
    def edit(stage, _session):
        (stage.workspace / "build.sh").write_text("true true\n")

    transcript = play(
        [bash("./build.sh"), bash("./build.sh"), END],
        files={"build.sh": "true\n"},
        before=both(executable("build.sh"), remembered("./build.sh *")),
        on={"call ok": edit},
        only=("call '",),
    )
    assert transcript.count("allow ['rule']") == 2


def test_what_an_interrupted_command_wrote_is_inert_and_told():
    async def stop(stage, session):
        while not (stage.workspace / "written").exists():
            await asyncio.sleep(0.01)
        await session.interrupt(None)

    seen = Seen()
    transcript = play(
        [bash("./evil.sh"), END],
        files={"evil.sh": f"echo '{WISHES}' > ../kova/permissions.json; touch written; sleep 60\n"},
        before=both(executable("evil.sh"), remembered("./evil.sh")),
        on={"call '$ ./evil.sh'": stop},
        after=seen,
        only=("notice", "turn"),
    )
    assert "changed while a command of the agent ran" in transcript
    assert "interrupted" in transcript
    assert seen.allow == {"./evil.sh"}


def test_a_command_that_removes_what_holds_a_file_back_frees_nothing():
    seen = Seen()
    transcript = play(
        [bash("./evil.sh"), bash("./evil.sh"), TOUCH, END],
        files={
            "evil.sh": f"rm -rf ../data/adopted/user.json; echo '{WISHES}' > "
            "../kova/permissions.json\n"
        },
        before=both(executable("evil.sh"), remembered("./evil.sh")),
        answers=["deny", "deny"],
        after=seen,
        only=("card",),
    )
    assert "card tool '$ touch gained'" in transcript
    assert (seen.allow, seen.gained) == ({"./evil.sh"}, False)


# -- what is kept about consent -----------------------------------------------------------------


def forged(stage, rules=("touch *",)):
    """Return shell lines that confirm rules in the name of the person."""
    confirmed = Confirmed(allow=frozenset(rules), roots=frozenset({("/srv", "/srv")}))
    where = ledger.workspace_path(stage.root / "data/adopted", workspace(stage))
    body = json.dumps({"version": 1, "workspace": workspace(stage), **confirmed.to_json()})
    wishes = json.dumps({"allow": sorted(rules), "writableRoots": ["/srv"]})
    return (
        f"mkdir -p .kova\necho '{wishes}' > .kova/permissions.local.json\n"
        f"chmod 600 .kova/permissions.local.json\necho '{body}' > {shlex.quote(str(where))}\n"
    )


@pytest.mark.parametrize("later", [False, True])
def test_a_forged_ledger_confirms_nothing(later):
    def plant(stage, _session):
        lines = forged(stage)
        # The second way is a process that is left behind, and is alive at the next call.
        planted = f"{lines}touch made\n"
        script = f"( {planted}sleep 60 ) >/dev/null 2>&1 &\n" if later else planted
        stage.put("evil.sh", f"{script}until [ -e made ]; do :; done\n")
        executable("evil.sh")(stage, _session)
        stage.engine.grants.remember(workspace(stage), ["./evil.sh"])

    seen = Seen()
    transcript = play(
        [bash("./evil.sh"), TOUCH, END],
        before=plant,
        answers=["deny"] * 3,
        after=seen,
        only=(*LINES, "notice"),
    )
    assert "changed while a command of the agent ran" in transcript
    assert "card tool '$ touch gained'" in transcript
    assert (seen.gained, seen.roots) == (False, set())
    assert "touch *" not in seen.allow


def test_a_forged_ledger_of_another_workspace_confirms_nothing_there(tmp_path):
    stage = Stage(tmp_path)
    other = stage.root / "other"
    (other / ".kova").mkdir(parents=True)
    grants = stage.engine.grants
    grants.command_started(workspace(stage))
    local = other / ".kova/permissions.local.json"
    local.write_text(WISHES)
    local.chmod(0o600)
    path = ledger.workspace_path(stage.root / "data/adopted", str(other))
    ledger.save(path, Confirmed(allow=frozenset({"touch *"})), workspace=str(other))
    grants.command_finished(workspace(stage))
    assert grants.load(str(other)).allow == ()
    again = Grants(stage.root / "kova", stage.root / "data", home=stage.root / "home")
    assert again.load(str(other)).allow == ()


def test_a_hold_that_is_made_to_grant_more_grants_nothing(tmp_path):
    stage = Stage(tmp_path)
    grants = stage.engine.grants
    grants.command_started(None)
    user_file(stage).write_text(WISHES)
    assert grants.command_finished(None)
    hold = ledger.load(stage.root / "data/adopted/user.json")
    grants.command_started(None)
    digest = grants.load(None).pending_user.digest
    for forgery in (hold.add(Confirmed(allow=frozenset({"touch *"}))), Confirmed(digest=digest)):
        ledger.save(stage.root / "data/adopted/user.json", forgery)
        assert grants.load(None).allow == ()
    grants.command_finished(None)
    assert grants.load(None).allow == ()


def test_a_pipe_in_the_place_of_what_is_kept_stops_nobody(tmp_path):
    stage = Stage(tmp_path)
    grants = stage.engine.grants
    grants.remember(workspace(stage), ["make *"])
    grants.command_started(workspace(stage))
    folder = stage.root / "data/adopted"
    for name in (ledger.workspace_path(folder, workspace(stage)).name, "user.json", "vouched"):
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)
    os.mkfifo(folder / "running-1-x.json")
    (stage.workspace / ".kova/permissions.json").unlink(missing_ok=True)
    os.mkfifo(stage.workspace / ".kova/permissions.json")
    assert grants.load(workspace(stage)).allow == ()
    grants.command_finished(workspace(stage))
    again = Grants(stage.root / "kova", stage.root / "data", home=stage.root / "home")
    assert again.load(workspace(stage)).allow == ()
