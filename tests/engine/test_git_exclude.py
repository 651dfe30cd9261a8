import os
import subprocess

import pytest

from kova_ls.engine import git_exclude

NAME = ".kova/permissions.local.json"
ENV = {
    "PATH": os.environ.get("PATH", os.defpath),
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
}
IDENTITY = ["-c", "user.name=x", "-c", "user.email=x@example.invalid"]


def git(folder, *args):
    env = {**ENV, "GIT_CONFIG_GLOBAL": "/dev/null"}
    command = ["git", *IDENTITY, "-c", "protocol.file.allow=always", *args]
    subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True)


@pytest.fixture
def repo(tmp_path):
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


def plant(workspace):
    (workspace / ".kova").mkdir(parents=True, exist_ok=True)
    (workspace / NAME).write_text("{}")


def is_ignored(workspace):
    command = ["git", "check-ignore", "-q", NAME]
    return subprocess.run(command, cwd=workspace, env=ENV, check=False).returncode == 0


def exclude(workspace):
    place = git_exclude.find(str(workspace))
    assert place is not None
    return git_exclude.exclude(str(workspace), NAME, place)


def test_line_is_added_once(repo):
    plant(repo)
    assert not is_ignored(repo)
    assert exclude(repo) is None
    before = (repo / ".git/info/exclude").read_bytes()
    assert exclude(repo) is None
    assert (repo / ".git/info/exclude").read_bytes() == before
    assert before.endswith(b"\n/.kova/permissions.local.json\n")
    assert is_ignored(repo)


def test_last_line_without_an_end_stays_whole(repo):
    (repo / ".git/info/exclude").write_bytes(b"*.log")
    assert exclude(repo) is None
    assert (repo / ".git/info/exclude").read_bytes() == b"*.log\n/.kova/permissions.local.json\n"


@pytest.mark.parametrize("name", ["sub/folder", "odd [x] *?", "back\\slash", "ümlaut"])
def test_workspace_below_the_repository(repo, name):
    plant(repo / name)
    assert exclude(repo / name) is None
    assert is_ignored(repo / name)


def test_worktree_shares_the_exclude_file(repo, tmp_path):
    git(repo, "worktree", "add", "-q", str(tmp_path / "tree"))
    plant(tmp_path / "tree")
    assert exclude(tmp_path / "tree") is None
    assert "/.kova/permissions.local.json" in (repo / ".git/info/exclude").read_text()
    assert is_ignored(tmp_path / "tree")


def test_submodule_has_its_own_exclude_file(repo, tmp_path):
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q")
    git(outer, "submodule", "add", "-q", str(repo), "inner")
    plant(outer / "inner")
    assert exclude(outer / "inner") is None
    assert "kova" in (outer / ".git/modules/inner/info/exclude").read_text()
    assert is_ignored(outer / "inner")


def test_folder_without_git_has_no_place(tmp_path):
    (tmp_path / ".git").write_text("gitdir: elsewhere")
    assert git_exclude.find(str(tmp_path)) is None


def test_pointer_to_a_folder_that_is_no_repository_is_not_followed(tmp_path):
    (tmp_path / "victim/info").mkdir(parents=True)
    (tmp_path / "w").mkdir()
    (tmp_path / "w/.git").write_text("gitdir: ../victim")
    assert git_exclude.find(str(tmp_path / "w")) is None


def test_exclude_file_that_is_a_link_is_left_alone(repo, tmp_path):
    (tmp_path / "profile").write_text("mine\n")
    (repo / ".git/info/exclude").unlink()
    (repo / ".git/info/exclude").symlink_to(tmp_path / "profile")
    assert "could not be excluded" in (exclude(repo) or "")
    assert (tmp_path / "profile").read_text() == "mine\n"


def test_unwritable_exclude_is_a_notice(repo):
    (repo / ".git/info/exclude").unlink()
    (repo / ".git/info/exclude").mkdir()
    notice = exclude(repo)
    assert notice is not None
    assert "Add the line '/.kova/permissions.local.json'" in notice


@pytest.mark.parametrize("path", [ENV["PATH"], "/nonexistent"], ids=["git", "no-git"])
def test_tracked_file_is_told(repo, path):
    env = {**ENV, "PATH": path}
    plant(repo)
    place = git_exclude.find(str(repo))
    assert place is not None
    assert git_exclude.tracked(str(repo), NAME, place, env) is None
    git(repo, "add", "-f", NAME)
    assert git_exclude.tracked(str(repo), NAME, place, env) == "it is tracked by git"


def test_short_index_without_git_counts_as_tracked(repo):
    (repo / "a").write_text("")
    git(repo, "add", "a")
    git(repo, "update-index", "--index-version", "4")
    place = git_exclude.find(str(repo))
    assert place is not None
    found = git_exclude.tracked(str(repo), NAME, place, {"PATH": "/nonexistent"})
    assert found == "git is not installed and its index has a form that needs it"


def test_broken_index_counts_as_tracked(repo):
    (repo / ".git/index").write_bytes(b"nonsense, and long enough to be looked at by git")
    place = git_exclude.find(str(repo))
    assert place is not None
    assert "git cannot say" in (git_exclude.tracked(str(repo), NAME, place, ENV) or "")


def test_nothing_that_the_repository_configures_runs(repo, tmp_path):
    hook = tmp_path / "hook"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    (repo / "a").write_text("")
    git(repo, "add", "a")
    git(repo, "config", "core.fsmonitor", str(hook))
    place = git_exclude.find(str(repo))
    assert place is not None
    git_exclude.tracked(str(repo), NAME, place, ENV)
    assert not (tmp_path / "ran").exists()


def test_remembered_repository_is_looked_for_again(repo):
    finder = git_exclude.Finder()
    inner = repo / "inner"
    inner.mkdir()
    first = finder.find(str(inner))
    assert first is not None
    assert first.top == str(repo)
    assert finder.find(str(inner)) is first
    git(inner, "init", "-q")
    second = finder.find(str(inner))
    assert second is not None
    assert second.top == str(inner)
