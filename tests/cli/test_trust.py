import os

import pytest

from kova_ls.cli import trust


def test_an_answer_is_remembered_for_exactly_this_folder(tmp_path):
    data = tmp_path / "data"
    assert trust.remembered(data, "/w") is None
    trust.remember(data, "/w", is_trusted=True)
    trust.remember(data, "/v", is_trusted=False)
    found = [trust.remembered(data, folder) for folder in ("/w", "/v", "/w/sub", "/")]
    assert found == [True, False, None, None]
    assert (data / "trust.json").stat().st_mode & 0o777 == 0o600


def test_home_and_root_are_never_trusted(tmp_path):
    env = {"HOME": str(tmp_path)}
    assert not trust.may_be_trusted(os.path.realpath(tmp_path), env)
    assert not trust.may_be_trusted("/", env)
    assert trust.may_be_trusted(str(tmp_path / "project"), env)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"folders": []}', '{"folders": {"/w": "yes"}}'])
def test_a_broken_file_counts_as_absent(tmp_path, text):
    (tmp_path / "trust.json").write_text(text)
    (tmp_path / "trust.json").chmod(0o600)
    assert trust.remembered(tmp_path, "/w") is None


def test_a_file_that_others_can_write_counts_as_absent(tmp_path):
    trust.remember(tmp_path, "/w", is_trusted=True)
    (tmp_path / "trust.json").chmod(0o666)
    assert trust.remembered(tmp_path, "/w") is None


def test_a_link_counts_as_absent(tmp_path):
    trust.remember(tmp_path / "real", "/w", is_trusted=True)
    (tmp_path / "trust.json").symlink_to(tmp_path / "real" / "trust.json")
    assert trust.remembered(tmp_path, "/w") is None
