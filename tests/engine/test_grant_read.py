import os
import subprocess

import pytest

from kova_ls.engine.grants import Grants
from kova_ls.permission.facts import Root, Rule
from kova_ls.vocabulary import RootSource


def refuse_some(text, source, kind):
    return "It is too wide." if text == "rm *" and source is not RootSource.USER else None


class Desk:
    def __init__(self, tmp_path):
        self.root = tmp_path
        self.home = tmp_path / "home"
        self.workspace = self.home / "w"
        self.workspace.mkdir(parents=True)
        self.grants = self.restart()

    def restart(self):
        self.grants = Grants(
            self.home / ".kova", self.root / "data", home=self.home, check_rule=refuse_some
        )
        return self.grants

    def load(self):
        return self.grants.load(str(self.workspace))

    def put(self, name, text):
        path = self.home / ".kova/permissions.json" if name == "user" else None
        path = path or self.workspace / ".kova" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o600)
        return path

    def git(self, *args):
        subprocess.run(["git", *args], cwd=self.workspace, check=True, capture_output=True)


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path)


LOCAL = "permissions.local.json"
SHARED = "permissions.json"


def allowed(grants):
    return [rule.text for rule in grants.allow]


def test_without_files_nothing_is_in_force(desk):
    grants = desk.load()
    assert (grants.allow, grants.deny, grants.roots, grants.problems) == ((), (), (), ())
    assert not (desk.root / "data").exists()
    assert not (desk.workspace / ".kova").exists()


def test_user_file_counts_as_it_stands(desk):
    (desk.root / "lib").mkdir()
    desk.put(
        "user",
        '{"allow": ["a", "rm *"], "deny": ["d"], "writableRoots": ["../../lib"],'
        ' "strictRedirects": true}',
    )
    grants = desk.load()
    assert grants.allow == (Rule("a", RootSource.USER), Rule("rm *", RootSource.USER))
    assert grants.deny == (Rule("d", RootSource.USER),)
    assert grants.roots == (Root(str(desk.root / "lib"), RootSource.USER),)
    assert grants.strict_redirects
    assert allowed(desk.grants.load(None)) == ["a", "rm *"]


def test_shared_file_only_proposes(desk):
    path = desk.put(
        SHARED,
        '{"allow": ["git push *", "rm *"], "deny": ["x"], "writableRoots": ["/"],'
        ' "strictRedirects": true}',
    )
    grants = desk.load()
    assert (grants.allow, grants.deny, grants.roots) == ((), (), ())
    assert not grants.strict_redirects
    assert [(one.sentence, one.refusal is None) for one in grants.proposals] == [
        ("This project requests to allow git push * without asking.", True),
        ("This project requests to allow rm * without asking.", False),
        ("This project requests to deny x.", True),
        ("This project requests to write in the folder /.", False),
    ]
    assert {one.path for one in grants.proposals} == {str(path)}


def test_what_is_in_force_is_not_proposed(desk):
    desk.put("user", '{"allow": ["a"]}')
    desk.put(SHARED, '{"allow": ["a", "b"]}')
    assert [one.value for one in desk.load().proposals] == ["b"]


def test_home_as_workspace_does_not_propose_the_users_own_rules(desk):
    desk.put("user", '{"allow": ["a"]}')
    grants = desk.grants.load(str(desk.home))
    assert (allowed(grants), grants.proposals) == (["a"], ())


def test_local_file_written_by_others_is_pending(desk):
    path = desk.put(LOCAL, '{"allow": ["git push *"], "deny": ["d"]}')
    grants = desk.load()
    assert grants.allow == ()
    assert grants.deny == (Rule("d", RootSource.LOCAL),)
    assert grants.pending_local is not None
    assert grants.pending_local.path == str(path)
    assert grants.pending_local.allow == ("git push *",)
    assert [one.source for one in grants.proposals] == ["local"]


def adopted(desk):
    desk.put(LOCAL, '{"allow": ["a"]}')
    assert desk.grants.adopt(str(desk.workspace)) == ("allow a",)
    assert allowed(desk.load()) == ["a"]


@pytest.mark.parametrize("is_folder", [True, False])
def test_local_file_behind_a_link_counts_for_nothing(desk, is_folder):
    adopted(desk)
    path = desk.workspace / ".kova" if is_folder else desk.workspace / ".kova" / LOCAL
    path.rename(desk.root / "moved")
    path.symlink_to(desk.root / "moved")
    grants = desk.load()
    assert grants.allow == ()
    assert "is reached through a link" in grants.problems[-1]


def test_local_file_with_a_second_name_counts_for_nothing(desk):
    adopted(desk)
    os.link(desk.workspace / ".kova" / LOCAL, desk.root / "second")
    grants = desk.load()
    assert grants.allow == ()
    assert "hard link" in grants.problems[0]


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_local_file_that_others_may_write_counts_for_nothing(desk, mode):
    adopted(desk)
    (desk.workspace / ".kova" / LOCAL).chmod(mode)
    grants = desk.load()
    assert grants.allow == ()
    assert "may be written by others" in grants.problems[0]


def test_local_file_of_another_user_counts_for_nothing(desk, monkeypatch):
    adopted(desk)
    (desk.workspace / ".kova" / LOCAL).touch()
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert "belongs to another user" in desk.restart().load(str(desk.workspace)).problems[0]


def test_tracked_local_file_counts_for_nothing_from_the_moment_it_is_tracked(desk):
    desk.git("init", "-q")
    adopted(desk)
    desk.git("add", "-f", f".kova/{LOCAL}")
    grants = desk.load()
    assert grants.allow == ()
    assert "it is tracked by git" in grants.problems[0]
    desk.git("rm", "-q", "--cached", f".kova/{LOCAL}")
    assert allowed(desk.load()) == ["a"]


def test_tracked_file_in_a_worktree_is_told(desk):
    desk.git("init", "-q")
    who = ["-c", "user.name=x", "-c", "user.email=x@example.invalid"]
    desk.git(*who, "commit", "-q", "--allow-empty", "-m", "first")
    desk.git("worktree", "add", "-q", str(desk.home / "tree"))
    desk.workspace = desk.home / "tree"
    adopted(desk)
    desk.git("add", "-f", f".kova/{LOCAL}")
    assert desk.load().allow == ()


def test_changed_file_is_read_again_at_once(desk):
    desk.put("user", '{"allow": ["aa"]}')
    assert allowed(desk.load()) == ["aa"]
    desk.put("user", '{"allow": ["bb"]}')
    assert allowed(desk.load()) == ["bb"]
    (desk.home / ".kova/permissions.json").unlink()
    assert allowed(desk.load()) == []


def test_users_file_behind_a_link_is_followed_live(desk):
    (desk.home / ".kova").mkdir()
    (desk.home / "dotfile").write_text('{"allow": ["a"]}')
    (desk.home / ".kova/permissions.json").symlink_to("../dotfile")
    assert allowed(desk.load()) == ["a"]
    (desk.home / "dotfile").write_text('{"allow": ["b"]}')
    assert allowed(desk.load()) == ["b"]


def test_broken_file_grants_nothing_and_the_others_count(desk):
    desk.put("user", '{"allow": ["a"], "deny": ["d"]}')
    assert allowed(desk.load()) == ["a"]
    path = desk.put("user", '{"allow": ["a"]\n "deny": ["d"]}')
    desk.put(LOCAL, '{"allow": ["b"]}')
    desk.grants.adopt(str(desk.workspace))
    grants = desk.load()
    assert allowed(grants) == ["b"]
    assert [rule.text for rule in grants.deny] == ["d"]
    assert grants.problems[0].startswith(f"{path}:2:2: is broken")


def test_root_that_appears_later_counts_without_a_change_of_the_file(desk):
    desk.put("user", '{"writableRoots": ["../lib"]}')
    grants = desk.load()
    assert grants.roots == ()
    assert "cannot be resolved" in grants.problems[0]
    (desk.home / "lib").mkdir()
    assert desk.load().roots == (Root(str(desk.home / "lib"), RootSource.USER),)


def test_entry_that_the_person_took_out_by_hand_needs_a_new_yes(desk):
    adopted(desk)
    desk.put(LOCAL, '{"allow": []}')
    assert desk.load().allow == ()
    desk.put(LOCAL, '{"allow": ["a"]}')
    assert desk.load().allow == ()
    (desk.workspace / ".kova" / LOCAL).unlink()
    assert desk.load().allow == ()


def test_broken_ledger_confirms_nothing_and_is_named(desk):
    adopted(desk)
    (ledger,) = (desk.root / "data/adopted").glob("*.json")
    ledger.write_text("{")
    grants = desk.load()
    assert grants.allow == ()
    assert str(ledger) in grants.problems[0]


def test_unchanged_files_are_not_read_again(desk):
    desk.git("init", "-q")
    adopted(desk)
    later = Grants(desk.home / ".kova", desk.root / "data", home=desk.home, now_ns=lambda: 1 << 62)
    workspace = str(desk.workspace)
    first = later.load(workspace)
    assert later.load(workspace) is first


def test_file_that_may_change_within_its_time_stamp_is_read_again(desk):
    desk.put("user", '{"allow": ["a"]}')
    young = Grants(desk.home / ".kova", desk.root / "data", home=desk.home, now_ns=lambda: 0)
    assert young.load(None) is not young.load(None)
