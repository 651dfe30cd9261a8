import os
from types import SimpleNamespace

import pytest

from kova_ls.engine.places import path_dirs, path_of, workspace_path
from kova_ls.errors import RequestFailed


def test_links_and_escapes_of_a_uri_are_resolved(tmp_path):
    (tmp_path / "a b").mkdir()
    (tmp_path / "link").symlink_to("a b")
    real = os.path.realpath(tmp_path / "a b")
    assert path_of((tmp_path / "a b").as_uri()) == real
    assert path_of((tmp_path / "link").as_uri()) == real
    assert path_of(str(tmp_path / "link")) == real
    assert path_of(None) is None


@pytest.mark.parametrize(
    ("uri", "says"),
    [
        ("https://example.org/x", "is no file: URI"),
        ("file:///%ff", "is not UTF-8"),
        ("file:///a%00b", "is no file: URI"),
        ("file://[/x", "is no file: URI"),
    ],
)
def test_what_names_no_folder_is_refused(uri, says):
    with pytest.raises(RequestFailed, match=says) as caught:
        path_of(uri)
    assert caught.value.code == "noWorkspace"


def test_the_workspace_is_that_of_the_state(tmp_path):
    session = SimpleNamespace(state=SimpleNamespace(workspace=tmp_path.as_uri()))
    assert workspace_path(session) == os.path.realpath(tmp_path)


def test_the_folders_of_a_path_are_resolved_and_told_once(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path)
    real = os.path.realpath(tmp_path)
    assert path_dirs(f"{tmp_path}:{tmp_path / 'link'}::bin:/") == (real,)
