import os
import subprocess
import sys

import pytest

from kova_ls.engine import grant_disk
from kova_ls.engine.grant_file import Fault
from kova_ls.errors import RequestFailed


def test_new_file_is_private_and_an_old_one_keeps_its_mode(tmp_path):
    grant_disk.write_inside(str(tmp_path), "f", b"1")
    path = tmp_path / ".kova/f"
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o644)
    grant_disk.write_inside(str(tmp_path), "f", b"2")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"2", 0o644)
    assert os.listdir(tmp_path / ".kova") == ["f"]


def test_link_of_the_user_stays_a_link(tmp_path):
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "dotfiles/p").write_bytes(b"{}")
    (tmp_path / "p").symlink_to("dotfiles/p")
    grant_disk.write(str(tmp_path / "p"), b"new")
    assert (tmp_path / "p").is_symlink()
    assert (tmp_path / "dotfiles/p").read_bytes() == b"new"


def test_linked_folder_is_not_written_through(tmp_path):
    (tmp_path / "victim").mkdir()
    (tmp_path / "w").mkdir()
    (tmp_path / "w/.kova").symlink_to("../victim")
    with pytest.raises(OSError):
        grant_disk.write_inside(str(tmp_path / "w"), "f", b"1")
    assert os.listdir(tmp_path / "victim") == []


def test_failed_write_leaves_no_trace(tmp_path):
    (tmp_path / ".kova/f").mkdir(parents=True)
    with pytest.raises(OSError):
        grant_disk.write_inside(str(tmp_path), "f", b"1")
    assert os.listdir(tmp_path / ".kova") == ["f"]


def test_pipe_does_not_stop_the_reader(tmp_path):
    (tmp_path / ".kova").mkdir()
    os.mkfifo(tmp_path / ".kova/f")
    found = grant_disk.read_inside(str(tmp_path), "f", is_private=True)
    assert isinstance(found, Fault)
    assert "is no ordinary file" in found.message


def test_missing_file_is_none(tmp_path):
    assert grant_disk.read(str(tmp_path / "p")) is None
    assert grant_disk.read_inside(str(tmp_path), "p", is_private=True) is None


def test_lock_that_is_held_fails_with_a_message(tmp_path, monkeypatch):
    monkeypatch.setattr(grant_disk, "_LOCK_TRIES", 2)
    with (
        grant_disk.locked(tmp_path / "lock"),
        pytest.raises(RequestFailed, match="held by another process"),
        grant_disk.locked(tmp_path / "lock"),
    ):
        pass
    with grant_disk.locked(tmp_path / "lock"):
        pass


def test_lock_goes_with_its_process(tmp_path):
    script = (
        "import os, pathlib, sys\nfrom kova_ls.engine import grant_disk\n"
        "held = grant_disk.locked(pathlib.Path(sys.argv[1]))\nheld.__enter__()\nos._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", script, tmp_path / "lock"], check=True, cwd=_ROOT)
    with grant_disk.locked(tmp_path / "lock"):
        pass


_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def test_only_plain_files_of_a_bearable_size_are_read(tmp_path):
    (tmp_path / "f").write_bytes(b"12345")
    assert grant_disk.read_raw(tmp_path / "f", 5) == b"12345"
    os.mkfifo(tmp_path / "pipe")
    for path, limit in ((tmp_path / "f", 4), (tmp_path / "pipe", 5), ("/dev/zero", 5)):
        with pytest.raises(OSError, match=r"ordinary|large"):
            grant_disk.read_raw(path, limit)
