import json
import os
import subprocess
import sys

import pytest

from kova_ls.engine import ledger
from kova_ls.engine.grants import Grants
from kova_ls.errors import RequestFailed
from kova_ls.permission.facts import Root, Rule
from kova_ls.vocabulary import RootSource

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
USER, LOCAL = RootSource.USER, RootSource.LOCAL


def refuse_some(text, source, kind):
    return "It is too wide." if text == "rm *" and source is not USER and kind == "allow" else None


class Desk:
    def __init__(self, tmp_path):
        self.root = tmp_path
        self.home = tmp_path / "home"
        self.workspace = self.home / "w"
        self.w = str(self.workspace)
        self.workspace.mkdir(parents=True)
        (self.home / ".kova").mkdir()
        self.user = self.home / ".kova/permissions.json"
        self.local = self.workspace / ".kova/permissions.local.json"
        self.shared = self.workspace / ".kova/permissions.json"
        self.restart()

    def restart(self):
        self.grants = self.another()

    def another(self):
        return Grants(
            self.home / ".kova", self.root / "data", home=self.home, check_rule=refuse_some
        )

    def load(self):
        return self.grants.load(self.w)

    def allowed(self):
        return [rule.text for rule in self.load().allow]

    def denied(self):
        return [rule.text for rule in self.load().deny]

    def put(self, path, **fields):
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(fields))
        path.chmod(0o600)


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path)


# -- changing


def test_remembered_rule_is_in_force_in_the_local_file_alone(desk):
    desk.put(desk.user, allow=["u"])
    desk.put(desk.shared, allow=["s"])
    before = desk.user.read_bytes(), desk.shared.read_bytes()
    assert desk.grants.remember(desk.w, ["git log *", "ls *", "ls *"]) == desk.local
    assert json.loads(desk.local.read_text()) == {"version": 1, "allow": ["git log *", "ls *"]}
    assert desk.local.stat().st_mode & 0o777 == 0o600
    assert desk.load().allow == (
        Rule("u", USER),
        Rule("git log *", LOCAL),
        Rule("ls *", LOCAL),
    )
    assert (desk.user.read_bytes(), desk.shared.read_bytes()) == before


def test_adoption_outlives_a_restart(desk):
    desk.grants.remember(desk.w, ["a"])
    desk.put(desk.user, allow=["u"])
    desk.restart()
    assert desk.allowed() == ["u", "a"]


def test_remembering_does_not_adopt_what_others_wrote(desk):
    desk.put(desk.local, allow=["git push *"], mine={"x": 1})
    desk.grants.remember(desk.w, ["a"])
    assert desk.allowed() == ["a"]
    assert desk.load().pending_local.allow == ("git push *",)
    assert json.loads(desk.local.read_text()) == {"allow": ["git push *", "a"], "mine": {"x": 1}}


def test_local_file_of_another_workspace_is_not_believed(desk):
    desk.grants.remember(desk.w, ["a"])
    other = desk.home / "other"
    (desk.workspace).rename(other)
    assert desk.grants.load(str(other)).allow == ()


def test_remember_excludes_the_file_from_git(desk):
    subprocess.run(["git", "init", "-q", desk.w], check=True)
    desk.grants.remember(desk.w, ["a"])
    desk.grants.remember(desk.w, ["b"])
    lines = (desk.workspace / ".git/info/exclude").read_text().splitlines()
    assert lines.count("/.kova/permissions.local.json") == 1


def test_unwritable_exclude_is_told_and_the_rule_counts(desk):
    subprocess.run(["git", "init", "-q", desk.w], check=True)
    (desk.workspace / ".git/info/exclude").unlink()
    (desk.workspace / ".git/info/exclude").mkdir()
    edit = desk.grants.add_rule(desk.w, LOCAL, "a")
    assert "could not be excluded from git" in edit.notices[0]
    assert desk.allowed() == ["a"]
    assert desk.load().problems == edit.notices


@pytest.mark.parametrize(
    "raw", [b"{", b'{"allow": ["\xff"]}', b'{"version": 9}', b" " * 1_000_001, b""]
)
def test_file_that_cannot_be_read_is_never_overwritten(desk, raw):
    for path, layer in ((desk.local, LOCAL), (desk.user, USER)):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(raw)
        path.chmod(0o600)
        with pytest.raises(RequestFailed, match="It was left as it is") as caught:
            desk.grants.add_rule(desk.w, layer, "a")
        assert str(path) in caught.value.message
        assert path.read_bytes() == raw


def test_linked_folder_is_neither_read_nor_written_through(desk):
    (desk.root / "victim").mkdir()
    (desk.workspace / ".kova").symlink_to(desk.root / "victim")
    with pytest.raises(RequestFailed):
        desk.grants.remember(desk.w, ["a"])
    assert os.listdir(desk.root / "victim") == []


def test_tracked_file_is_not_written(desk):
    subprocess.run(["git", "init", "-q", desk.w], check=True)
    desk.put(desk.local, allow=[])
    subprocess.run(["git", "add", "-f", str(desk.local)], cwd=desk.w, check=True)
    with pytest.raises(RequestFailed, match="tracked by git"):
        desk.grants.remember(desk.w, ["a"])


def test_folder_that_cannot_be_written_is_told(desk):
    (desk.workspace / ".kova").write_text("no folder")
    with pytest.raises(RequestFailed) as caught:
        desk.grants.remember(desk.w, ["a"])
    assert ".kova" in caught.value.message
    assert desk.load().allow == ()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="rights do not bind root")
def test_read_only_folder_is_told(desk):
    desk.put(desk.local, allow=[])
    desk.local.parent.chmod(0o500)
    try:
        with pytest.raises(RequestFailed, match="cannot be written"):
            desk.grants.remember(desk.w, ["a"])
    finally:
        desk.local.parent.chmod(0o700)


def test_refused_rule_is_not_written(desk):
    with pytest.raises(RequestFailed, match=r"'rm \*' was not written. It is too wide."):
        desk.grants.remember(desk.w, ["a", "rm *"])
    assert not desk.local.exists()


def test_permission_room_is_asked_by_default(desk):
    grants = Grants(desk.home / ".kova", desk.root / "data", home=desk.home)
    for rule in ("*", "git*", "rm *", "node *"):
        with pytest.raises(RequestFailed):
            grants.remember(desk.w, [rule])
    grants.remember(desk.w, ["git log *"])
    assert [rule.text for rule in grants.load(desk.w).allow] == ["git log *"]


def test_rules_and_roots_go_as_they_came(desk):
    (desk.home / "lib").mkdir()
    for layer in (USER, LOCAL):
        assert desk.grants.add_rule(desk.w, layer, "a").added == ("a",)
        assert desk.grants.add_rule(desk.w, layer, "a").added == ()
        assert desk.grants.add_rule(desk.w, layer, "d", "deny").added == ("d",)
        assert desk.grants.add_root(desk.w, layer, "../lib").added == ("../lib",)
        lib = Root(str(desk.home / "lib"), layer)
        grants = desk.load()
        assert (grants.allow, grants.deny, grants.roots) == (
            (Rule("a", layer),),
            (Rule("d", layer),),
            (lib,),
        )
        assert desk.grants.remove_rule(desk.w, layer, "a").removed == ("a",)
        assert desk.grants.remove_rule(desk.w, layer, "a").removed == ()
        assert desk.grants.remove_rule(desk.w, layer, "d", "deny").removed == ("d",)
        assert desk.grants.remove_root(desk.w, layer, "../lib").removed == ("../lib",)
        grants = desk.load()
        assert (grants.allow, grants.deny, grants.roots) == ((), (), ())


def test_root_that_is_too_wide_is_not_written(desk):
    for root in ("/", "~", "..", "missing"):
        with pytest.raises(RequestFailed, match="was not written"):
            desk.grants.add_root(desk.w, LOCAL, root)
    assert not desk.local.exists()


def test_local_layer_needs_a_workspace(desk):
    with pytest.raises(RequestFailed) as caught:
        desk.grants.add_rule(None, LOCAL, "a")
    assert caught.value.code == "noWorkspace"
    with pytest.raises(RequestFailed, match="layer must be"):
        desk.grants.add_rule(None, RootSource.EDITOR, "a")


def test_project_wishes_are_accepted_one_at_a_time(desk):
    (desk.home / "lib").mkdir()
    desk.put(desk.shared, allow=["a", "b", "rm *"], deny=["d"], writableRoots=["../lib"])
    a, b, rm, d, lib = desk.load().proposals
    desk.grants.accept(desk.w, b)
    desk.grants.accept(desk.w, lib)
    desk.grants.accept(desk.w, d)
    grants = desk.load()
    assert grants.allow == (Rule("b", LOCAL),)
    assert grants.roots == (Root(str(desk.home / "lib"), LOCAL),)
    assert grants.proposals == (a, rm)
    with pytest.raises(RequestFailed, match="It is too wide"):
        desk.grants.accept(desk.w, rm)
    with pytest.raises(RequestFailed, match="no longer proposed"):
        desk.grants.accept(desk.w, b)


def test_accepted_folder_is_the_one_that_was_shown(desk):
    for name in ("one", "two"):
        (desk.home / name).mkdir()
    (desk.home / "lib").symlink_to("one")
    desk.put(desk.shared, writableRoots=["../lib"])
    (lib,) = desk.load().proposals
    (desk.home / "lib").unlink()
    (desk.home / "lib").symlink_to("two")
    with pytest.raises(RequestFailed, match=r"no longer proposed|leads elsewhere"):
        desk.grants.accept(desk.w, lib)
    assert desk.load().roots == ()


def test_folder_that_moved_behind_a_remembered_list_is_not_accepted(desk):
    for name in ("one", "two"):
        (desk.home / name).mkdir()
    (desk.home / "lib").symlink_to("one")
    desk.put(desk.shared, writableRoots=["../lib"])
    grants = Grants(desk.home / ".kova", desk.root / "data", home=desk.home, now_ns=lambda: 1 << 62)
    (lib,) = grants.load(desk.w).proposals
    (desk.home / "lib").unlink()
    (desk.home / "lib").symlink_to("two")
    assert grants.load(desk.w).proposals == (lib,)
    with pytest.raises(RequestFailed, match="leads elsewhere"):
        grants.accept(desk.w, lib)


def test_adopting_confirms_what_was_shown_and_nothing_else(desk):
    desk.put(desk.local, allow=["a"])
    shown = desk.load().pending_local
    desk.put(desk.local, allow=["a", "git push *"])
    with pytest.raises(RequestFailed, match="changed since it was shown"):
        desk.grants.adopt(desk.w, shown=shown)
    assert desk.allowed() == []
    shown = desk.load().pending_local
    assert desk.grants.adopt(desk.w, shown=shown) == ("allow a", "allow git push *")
    assert desk.allowed() == ["a", "git push *"]
    assert desk.grants.adopt(desk.w) == ()


def test_one_pending_entry_can_be_accepted(desk):
    desk.put(desk.local, allow=["a", "b"])
    desk.grants.accept(desk.w, desk.load().proposals[1])
    assert desk.allowed() == ["b"]
    assert json.loads(desk.local.read_text()) == {"allow": ["a", "b"]}


def test_written_deny_rule_holds_until_its_loss_is_adopted(desk):
    desk.grants.add_rule(desk.w, LOCAL, "git push *", "deny")
    desk.local.unlink()
    desk.restart()
    assert desk.denied() == ["git push *"]
    assert desk.load().pending_local.lost_deny == ("git push *",)
    assert desk.grants.adopt(desk.w) == ("drop the deny rule git push *",)
    assert desk.denied() == []


REMEMBER = """
import pathlib, sys
from kova_ls.engine.grants import Grants
from kova_ls.vocabulary import RootSource
root, name = pathlib.Path(sys.argv[1]), sys.argv[2]
grants = Grants(root / "home/.kova", root / "data", home=root / "home",
                check_rule=lambda *_: None)
print("ready", flush=True)
sys.stdin.readline()
for number in range(15):
    grants.remember(str(root / "home/w"), [f"{name}{number} *"])
    grants.add_rule(None, RootSource.USER, f"{name}{number} *")
"""


def test_two_processes_lose_no_rule(desk):
    both = [
        subprocess.Popen(
            [sys.executable, "-c", REMEMBER, desk.root, name],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for name in "ab"
    ]
    assert [one.stdout.readline() for one in both] == [b"ready\n", b"ready\n"]
    for one in both:
        one.stdin.write(b"go\n")
        one.stdin.flush()
    for one in both:
        one.communicate()
    assert [one.returncode for one in both] == [0, 0]
    wanted = {f"{name}{number} *" for name in "ab" for number in range(15)}
    assert set(json.loads(desk.local.read_text())["allow"]) == wanted
    assert {(rule.text, rule.source) for rule in desk.load().allow} == {
        (text, layer) for text in wanted for layer in (USER, LOCAL)
    }


# -- while commands run


def test_command_that_adds_a_local_rule_gains_nothing(desk):
    desk.grants.remember(desk.w, ["a"])
    desk.grants.command_started(desk.w)
    desk.put(desk.local, allow=["a", "git push *"])
    assert desk.allowed() == ["a"]
    (notice,) = desk.grants.command_finished(desk.w)
    assert str(desk.local) in notice
    assert "allow git push *" in notice
    desk.restart()
    assert desk.allowed() == ["a"]


def test_command_that_changes_the_users_file_gains_nothing(desk):
    desk.put(desk.user, allow=["a", "b"], deny=["d"], strictRedirects=True)
    desk.grants.command_started(desk.w)
    desk.put(desk.user, allow=["a", "git push *"], writableRoots=["/usr"])
    for _ in range(2):
        grants = desk.load()
        assert (desk.allowed(), desk.denied(), grants.roots) == (["a"], ["d"], ())
        assert grants.strict_redirects
    (notice,) = desk.grants.command_finished(desk.w)
    assert all(
        text in notice
        for text in (str(desk.user), "allow git push *", "write in /usr", "deny rule d")
    )
    desk.restart()
    assert (desk.allowed(), desk.denied()) == (["a"], ["d"])
    pending = desk.load().pending_user
    assert pending is not None
    assert len(desk.grants.adopt(desk.w, USER, pending)) == 4
    assert (desk.allowed(), desk.denied()) == (["a", "git push *"], [])
    desk.restart()
    assert desk.allowed() == ["a", "git push *"]


def test_users_file_made_by_a_command_is_inert_also_for_the_next_hand_edit(desk):
    desk.grants.command_started(None)
    desk.put(desk.user, allow=["git push *"])
    assert len(desk.grants.command_finished(None)) == 1
    desk.put(desk.user, allow=["git push *", "a"])
    assert desk.allowed() == []
    assert desk.load().pending_user.allow == ("git push *", "a")


def test_users_file_put_back_counts_again(desk):
    desk.put(desk.user, allow=["a"])
    desk.grants.command_started(desk.w)
    desk.put(desk.user, allow=["x"])
    desk.grants.command_finished(desk.w)
    assert desk.allowed() == []
    desk.put(desk.user, allow=["a"])
    assert desk.allowed() == ["a"]


def test_next_command_does_not_launder_what_the_last_one_wrote(desk):
    desk.grants.command_started(desk.w)
    desk.put(desk.user, allow=["x"])
    desk.grants.command_finished(desk.w)
    desk.grants.command_started(desk.w)
    assert desk.grants.command_finished(desk.w) == ()
    desk.restart()
    assert desk.allowed() == []


def test_edit_by_hand_while_nothing_runs_counts(desk):
    desk.grants.command_started(desk.w)
    assert desk.grants.command_finished(desk.w) == ()
    desk.put(desk.user, allow=["a"])
    assert desk.allowed() == ["a"]


def test_what_only_tightens_is_no_matter_for_a_notice(desk):
    desk.put(desk.user, allow=["a", "b"])
    desk.grants.remember(desk.w, ["c"])
    desk.grants.command_started(desk.w)
    desk.put(desk.user, allow=["a"], deny=["d"])
    desk.local.unlink()
    assert desk.grants.command_finished(desk.w) == ()
    assert (desk.allowed(), desk.denied()) == (["a"], ["d"])


def test_hand_written_deny_rule_survives_a_command_that_removes_it(desk):
    desk.put(desk.local, deny=["d"])
    desk.grants.command_started(desk.w)
    desk.local.unlink()
    assert desk.denied() == ["d"]
    (notice,) = desk.grants.command_finished(desk.w)
    assert "drop the deny rule d" in notice
    desk.restart()
    assert desk.denied() == ["d"]


def test_file_broken_by_a_command_is_named_and_keeps_denying(desk):
    desk.put(desk.user, allow=["a"], deny=["d"])
    desk.grants.command_started(desk.w)
    desk.user.write_text("{")
    (notice,) = desk.grants.command_finished(desk.w)
    assert f"{desk.user}:1:2: is broken" in notice
    desk.restart()
    assert (desk.allowed(), desk.denied()) == ([], ["d"])


def test_person_may_remember_while_a_background_task_runs(desk):
    desk.put(desk.user, allow=["u"])
    desk.grants.command_started(desk.w)
    desk.grants.remember(desk.w, ["a"])
    desk.grants.add_rule(desk.w, USER, "v")
    assert desk.allowed() == ["u", "v", "a"]
    assert desk.grants.command_finished(desk.w) == ()
    desk.restart()
    assert desk.allowed() == ["u", "v", "a"]


def test_own_edit_does_not_cover_what_a_command_wrote_before(desk):
    desk.put(desk.user, allow=["u"])
    desk.grants.command_started(desk.w)
    desk.put(desk.user, allow=["u", "x"])
    desk.grants.add_rule(desk.w, USER, "v")
    assert desk.allowed() == ["u", "v"]
    assert "allow x" in desk.grants.command_finished(desk.w)[0]
    assert desk.allowed() == ["u", "v"]
    desk.grants.add_rule(desk.w, USER, "y")
    assert desk.allowed() == ["u", "v", "y"]


def test_overlapping_commands_are_told_once_and_end_together(desk):
    desk.grants.command_started(desk.w)
    desk.grants.command_started(desk.w)
    desk.put(desk.user, allow=["x"])
    assert len(desk.grants.command_finished(desk.w)) == 1
    assert desk.allowed() == []
    assert desk.grants.command_finished(desk.w) == ()
    assert desk.allowed() == []


CRASH = """
import os, pathlib, sys
from kova_ls.engine.grants import Grants
root = pathlib.Path(sys.argv[1])
grants = Grants(root / "home/.kova", root / "data", home=root / "home",
                check_rule=lambda *_: None)
grants.command_started(str(root / "home/w"))
(root / "home/.kova/permissions.json").write_text('{"allow": ["x"]}')
os._exit(9)
"""


def test_end_of_the_engine_does_not_revive_what_its_command_wrote(desk):
    desk.put(desk.user, allow=["a"], deny=["d"])
    assert desk.allowed() == ["a"]
    subprocess.run([sys.executable, "-c", CRASH, desk.root], cwd=ROOT, check=False)
    assert (desk.allowed(), desk.denied()) == ([], ["d"])
    desk.restart()
    assert (desk.allowed(), desk.denied()) == ([], ["d"])
    assert desk.load().pending_user.allow == ("x",)


def test_another_engine_does_not_believe_what_changes_while_commands_run(desk):
    desk.put(desk.user, allow=["a"])
    other = desk.another()
    desk.grants.command_started(desk.w)
    desk.put(desk.user, allow=["x"])
    assert other.load(desk.w).allow == ()
    desk.grants.command_finished(desk.w)
    assert other.load(desk.w).allow == ()


ADOPT = """
import pathlib, sys
from kova_ls.engine.grants import Grants
from kova_ls.errors import RequestFailed
root = pathlib.Path(sys.argv[1])
try:
    Grants(root / "home/.kova", root / "data", home=root / "home",
           check_rule=lambda *_: None).adopt(str(root / "home/w"))
except RequestFailed as error:
    print(error.code)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="descent is read from /proc")
def test_command_of_the_agent_cannot_adopt(desk):
    desk.put(desk.local, allow=["x"])
    desk.grants.command_started(desk.w)
    command = [sys.executable, "-c", ADOPT, str(desk.root)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    assert done.stdout.strip() == b"notTrusted"
    assert len(desk.grants.command_finished(desk.w)) == 0
    assert desk.allowed() == []


def test_change_that_cannot_be_recorded_stays_inert_while_the_engine_runs(desk, monkeypatch):
    desk.put(desk.user, allow=["a"])
    desk.grants.command_started(desk.w)
    desk.put(desk.user, allow=["x"])

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(ledger, "save", fail)
        (notice,) = desk.grants.command_finished(desk.w)
    assert "could not be recorded" in notice
    assert desk.allowed() == []
    desk.grants.command_started(desk.w)
    desk.grants.command_finished(desk.w)
    desk.restart()
    assert desk.allowed() == []


def test_command_is_not_started_when_that_cannot_be_noted(desk):
    (desk.root / "data").write_text("no folder")
    with pytest.raises(RequestFailed, match="The command was not started"):
        desk.grants.command_started(desk.w)
    assert desk.grants.command_finished(desk.w) == ()


def test_what_a_command_wrote_is_not_taken_for_the_persons_when_it_comes_back(desk):
    desk.put(desk.user, allow=["a"])
    for rule in ("x", "y"):
        desk.grants.command_started(desk.w)
        desk.put(desk.user, allow=["a", rule])
        desk.grants.command_finished(desk.w)
        assert desk.allowed() == ["a"]
    desk.put(desk.user, allow=["a", "x"])
    assert desk.allowed() == ["a"]


@pytest.mark.parametrize("root", ["../later", "~/later", "/nonexistent-root"])
def test_folder_that_a_command_lists_is_inert_also_when_it_is_made_later(desk, root):
    desk.grants.command_started(desk.w)
    desk.put(desk.user, writableRoots=[root])
    (notice,) = desk.grants.command_finished(desk.w)
    assert "folders that cannot be resolved now" in notice
    (desk.home / "later").mkdir()
    desk.restart()
    assert desk.load().roots == ()
    assert desk.grants.load(str(desk.home / "other")).roots == ()


def test_hold_that_cannot_be_read_still_holds(desk):
    desk.grants.command_started(desk.w)
    desk.put(desk.user, allow=["x"])
    desk.grants.command_finished(desk.w)
    (desk.root / "data/adopted/user.json").write_text("{")
    desk.restart()
    assert desk.allowed() == []


def test_a_command_that_removes_what_holds_the_users_file_frees_nothing(desk):
    desk.grants.command_started(desk.w)
    desk.put(desk.user, allow=["touch *"])
    assert desk.grants.command_finished(desk.w)
    desk.grants.command_started(desk.w)
    (desk.root / "data/adopted/user.json").unlink()
    assert desk.allowed() == []
    desk.grants.command_finished(desk.w)
    assert desk.allowed() == []
    desk.restart()
    assert desk.allowed() == []
    desk.grants.adopt(desk.w, USER)
    assert desk.allowed() == ["touch *"]


def test_adopting_while_a_command_runs_frees_what_was_held(desk):
    desk.grants.command_started(desk.w)
    desk.put(desk.user, allow=["touch *"])
    desk.grants.command_finished(desk.w)
    desk.grants.command_started(desk.w)
    desk.grants.adopt(desk.w, USER)
    assert desk.allowed() == ["touch *"]
    assert desk.grants.command_finished(desk.w) == ()
    assert desk.allowed() == ["touch *"]
