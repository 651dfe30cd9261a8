import json
import os
import subprocess
import sys

import pytest

from kova_ls.engine import grant_file
from kova_ls.engine.grant_file import Content, Fault
from kova_ls.errors import RequestFailed


def parse(text):
    return grant_file.parse(text.encode() if isinstance(text, str) else text, "P")


def test_entries_carry_their_place():
    content = parse('{\n  "x": [1, {"allow": ["no"]}],\n  "allow": ["git log *",\n    "é", "b"]\n}')
    assert isinstance(content, Content)
    found = [(entry.value, entry.line_no, entry.column_no) for entry in content.allow]
    assert found == [("git log *", 3, 13), ("é", 4, 5), ("b", 4, 10)]


@pytest.mark.parametrize(
    ("raw", "start"),
    [
        ("", "P:1:1: is broken"),
        ('{\n  "allow": ["a",]\n}', "P:2:1"),
        ('{"allow": [] // why\n}', "P:1:14: is broken"),
        ("[]", "P:1:1: is no JSON object"),
        ('{\n "allow": "a"}', "P:2:11: 'allow' is no list"),
        ('{"version": 2}', "P:1:13: has a version that is not 1"),
        ('{"version": true}', "P:1:13: has a version that is not 1"),
        ('{"strictRedirects": 1}', "P:1:21: is neither true nor false"),
        ('{"deny": ["x"],\n "deny": []}', "P:2:2: has 'deny' twice"),
        ('{"x": NaN}', "P:1:1: holds a value"),
        ("[" * 100_000, "P:1:1: holds a value"),
        (b'{"allow":\n ["\xff"]}', "P:2:4: is not UTF-8"),
        ('{"allow": []}'.encode("utf-16"), "P:1:1: is not UTF-8"),
        (b" " * (grant_file.MAX_BYTES + 1), "P: is larger than 1,000,000 bytes"),
    ],
)
def test_broken_file_is_named_with_its_place(raw, start):
    fault = parse(raw)
    assert isinstance(fault, Fault)
    assert fault.message.startswith(start)
    assert "nothing in it is in force" in fault.message


def test_entry_that_is_no_string_is_a_problem_and_the_rest_holds():
    content = parse('{"allow": [1,\n "a"]}')
    assert isinstance(content, Content)
    assert [entry.value for entry in content.allow] == ["a"]
    assert content.problems[0].startswith("P:1:12: an entry of 'allow' is no string")


def test_form_of_the_file_is_kept():
    raw = b'\xef\xbb\xbf{\r\n\t"mine": {"b": 1, "a": "\xc3\xa9"},\r\n\t"allow": ["a"]\r\n}\r\n'
    content = parse(raw)
    assert isinstance(content, Content)
    after = grant_file.edited(content, {"allow": ["b", "a", "b"], "deny": ["c"]}, {})
    assert after.startswith(b'\xef\xbb\xbf{\r\n\t"mine": {\r\n')
    assert b"\n" not in after.replace(b"\r\n", b"")
    assert list(json.loads(after.decode("utf-8-sig")).items()) == [
        ("mine", {"b": 1, "a": "é"}),
        ("allow", ["a", "b"]),
        ("deny", ["c"]),
    ]


def test_new_file_says_its_version():
    raw = grant_file.edited(None, {"allow": ["a"]}, {})
    assert raw == b'{\n  "version": 1,\n  "allow": [\n    "a"\n  ]\n}\n'


def test_lone_surrogate_survives():
    content = parse('{"x": "\\ud800", "allow": ["a"]}')
    assert isinstance(content, Content)
    assert b"\\ud800" in grant_file.edited(content, {}, {"allow": ["a"]})


def test_new_file_is_private_and_an_old_one_keeps_its_mode(tmp_path):
    grant_file.write_inside(str(tmp_path), "f", b"1")
    path = tmp_path / ".kova/f"
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o644)
    grant_file.write_inside(str(tmp_path), "f", b"2")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"2", 0o644)
    assert os.listdir(tmp_path / ".kova") == ["f"]


def test_link_of_the_user_stays_a_link(tmp_path):
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "dotfiles/p").write_bytes(b"{}")
    (tmp_path / "p").symlink_to("dotfiles/p")
    grant_file.write(str(tmp_path / "p"), b"new")
    assert (tmp_path / "p").is_symlink()
    assert (tmp_path / "dotfiles/p").read_bytes() == b"new"


def test_linked_folder_is_not_written_through(tmp_path):
    (tmp_path / "victim").mkdir()
    (tmp_path / "w").mkdir()
    (tmp_path / "w/.kova").symlink_to("../victim")
    with pytest.raises(OSError):
        grant_file.write_inside(str(tmp_path / "w"), "f", b"1")
    assert os.listdir(tmp_path / "victim") == []


def test_failed_write_leaves_no_trace(tmp_path):
    (tmp_path / ".kova/f").mkdir(parents=True)
    with pytest.raises(OSError):
        grant_file.write_inside(str(tmp_path), "f", b"1")
    assert os.listdir(tmp_path / ".kova") == ["f"]


def test_pipe_does_not_stop_the_reader(tmp_path):
    (tmp_path / ".kova").mkdir()
    os.mkfifo(tmp_path / ".kova/f")
    found = grant_file.read_inside(str(tmp_path), "f", is_private=True)
    assert isinstance(found, Fault)
    assert "is no ordinary file" in found.message


def test_missing_file_is_none(tmp_path):
    assert grant_file.read(str(tmp_path / "p")) is None
    assert grant_file.read_inside(str(tmp_path), "p", is_private=True) is None


def test_lock_that_is_held_fails_with_a_message(tmp_path, monkeypatch):
    monkeypatch.setattr(grant_file, "_LOCK_TRIES", 2)
    with (
        grant_file.locked(tmp_path / "lock"),
        pytest.raises(RequestFailed, match="held by another process"),
        grant_file.locked(tmp_path / "lock"),
    ):
        pass
    with grant_file.locked(tmp_path / "lock"):
        pass


def test_lock_goes_with_its_process(tmp_path):
    script = (
        "import os, pathlib, sys\nfrom kova_ls.engine import grant_file\n"
        "held = grant_file.locked(pathlib.Path(sys.argv[1]))\nheld.__enter__()\nos._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", script, tmp_path / "lock"], check=True, cwd=_ROOT)
    with grant_file.locked(tmp_path / "lock"):
        pass


_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
