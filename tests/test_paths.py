"""Where things live."""

import os
import tempfile
from pathlib import Path

import pytest

from kova_ls import paths


def test_everything_can_be_placed():
    env = {
        "KOVA_HOME": "/h",
        "KOVA_DATA_DIR": "/d",
        "KOVA_RUNTIME_DIR": "/r",
        "HOME": "/nonexistent",
    }
    assert (paths.home(env), paths.data_dir(env), paths.runtime_dir(env)) == ("/h", "/d", "/r")
    assert paths.log_path(env) == "/d/log/engine.log"


def test_the_defaults_are_the_users_own(tmp_path):
    env = {"HOME": "/nonexistent"}
    assert paths.home(env) == "/nonexistent/.kova"
    assert paths.data_dir(env) == "/nonexistent/.local/share/kova-ls"
    assert paths.data_dir({**env, "XDG_DATA_HOME": "/x"}) == "/x/kova-ls"
    assert paths.runtime_dir(env) == f"/tmp/kova-ls-{os.getuid()}"
    assert paths.runtime_dir({**env, "XDG_RUNTIME_DIR": str(tmp_path)}) == f"{tmp_path}/kova-ls"
    assert paths.runtime_dir({**env, "XDG_RUNTIME_DIR": "/gone"}) == paths.runtime_dir(env)


def test_other_settings_are_another_engine():
    env = {"HOME": "/nonexistent", "KOVA_RUNTIME_DIR": "/r"}
    names = {
        paths.socket_path(env, "one"),
        paths.socket_path(env, "two"),
        paths.socket_path({**env, "KOVA_HOME": "/other"}, "one"),
        paths.socket_path({**env, "KOVA_DATA_DIR": "/other"}, "one"),
    }
    assert len(names) == 4
    assert paths.socket_path(env, "one") == paths.socket_path(dict(env), "one")


@pytest.fixture
def run():
    """A folder whose name leaves room for a socket's, however deep the tests' own lie."""
    with tempfile.TemporaryDirectory(prefix="kp", dir="/tmp") as folder:
        yield Path(folder, "run")


def test_engines_of_other_builds_on_the_same_folders_are_found(run):
    env = {"HOME": "/nonexistent", "KOVA_RUNTIME_DIR": str(run)}
    assert paths.other_builds(env) == []
    run.mkdir()
    elsewhere = {**env, "KOVA_DATA_DIR": "/other"}
    for build, of in (("one", env), ("two", elsewhere), (paths.build_id(), env)):
        open(paths.socket_path(of, build), "w").close()
    open(paths.socket_path(env, "three").replace(".sock", ".port"), "w").close()
    open(paths.socket_path(env, "four") + ".lock", "w").close()
    assert paths.other_builds(env) == ["one", "three"]


def test_a_path_too_long_for_a_socket_moves():
    env = {"HOME": "/nonexistent", "KOVA_RUNTIME_DIR": "/" + "x" * 120}
    path = paths.socket_path(env, paths.build_id())
    assert path.startswith(f"/tmp/kova-ls-{os.getuid()}/")
    assert len(path) <= 100


def test_the_build_changes_with_its_files(tmp_path, monkeypatch):
    package = tmp_path / "kova_ls"
    (package / "__pycache__").mkdir(parents=True)
    module = package / "paths.py"
    module.write_text("")
    monkeypatch.setattr(paths, "__file__", str(module))
    first = paths.build_id()
    assert paths.build_id() == first
    (package / "__pycache__" / "x.pyc").write_text("")
    assert paths.build_id() == first
    os.utime(module, ns=(1, 2**60))
    assert paths.build_id() != first


def test_a_private_folder_is_made_or_closed(tmp_path):
    made = tmp_path / "a" / "b"
    paths.private_folder(str(made))
    assert made.stat().st_mode & 0o777 == 0o700
    made.chmod(0o755)
    paths.private_folder(str(made))
    assert made.stat().st_mode & 0o777 == 0o700


def test_a_link_is_no_private_folder(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(PermissionError, match="remove it or set KOVA_RUNTIME_DIR"):
        paths.private_folder(str(tmp_path / "link"))


def test_a_private_file_is_for_its_user_alone(tmp_path):
    place = tmp_path / "f"
    with open(place, "wb", opener=paths.private_opener) as file:
        file.write(b"x")
    assert place.stat().st_mode & 0o777 == 0o600
