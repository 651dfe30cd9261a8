"""Which folders config.toml trusts for editors that cannot say it themselves."""

import pytest

from kova_ls.endpoint.lsp_trust import is_trusted


@pytest.mark.parametrize(
    ("folder", "pattern", "expected"),
    [
        ("/h/u/src/a", "~/src/**", True),
        ("/h/u/src/a/b", "~/src/**", True),
        ("/h/u/src", "~/src/**", True),
        ("/h/u/src", "~/src", True),
        ("/h/u/src/a", "~/src", False),
        ("/h/u/src/a", "~/src/*", True),
        ("/h/u/src/a/b", "~/src/*", False),
        ("/h/u/src/x-1", "/h/u/src/x-*", True),
        ("/h/u/src/.x", "~/src/[.]x", False),
        ("/h/u/srcshop", "~/src/**", False),
        ("/h/u/Work/a", "~/src/**", False),
        ("/h/u/src/a", "work/**", False),
        ("/h/u/src/a", "", False),
        ("/h/u/src/a", "**", False),
        ("/h/u", "~", False),
        ("/h/u", "~/**", False),
        ("/h/u/a", "~/**", True),
        ("/", "/**", False),
        ("/srv/x", "/**", True),
    ],
)
def test_only_what_is_named_is_trusted(folder, pattern, expected):
    assert is_trusted(folder, [pattern], "/h/u") is expected


def test_a_link_in_a_pattern_is_followed(tmp_path):
    (tmp_path / "real" / "a").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    folder = str((tmp_path / "real" / "a").resolve())
    assert is_trusted(folder, [f"{tmp_path}/link/**"], "/h/u")
    assert not is_trusted(folder, [], "/h/u")
