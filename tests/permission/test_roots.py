import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kova_ls.permission.facts import Root
from kova_ls.permission.roots import (
    expand_root,
    find_root,
    is_clean,
    is_inside,
    paths_of,
    root_problem,
)
from kova_ls.vocabulary import RootSource
from tests.support.permit import WORKSPACE, facts


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/a/b", True),
        ("/a/b/c", True),
        ("/a/bc", False),
        ("/a", False),
        ("/a/b/../c", False),
        ("/a/b/./c", False),
        ("/a//b", False),
        ("a/b", False),
        ("/a/b/c\0", False),
        ("", False),
        ("/A/B", False),
    ],
)
def test_a_path_is_inside_only_in_its_clean_form(path: str, expected: bool) -> None:
    assert is_inside(path, "/a/b") is expected


def test_case_counts_as_the_disk_has_it() -> None:
    assert is_inside("/A/b/C", "/a/B", case_folds=True)
    assert not is_inside("/A/b/C", "/a/B")
    assert is_inside("/Caf\u0065\u0301/x", "/caf\u00e9", case_folds=True)


@given(st.lists(st.sampled_from(["a", "b", "..", ".", "", "w", "A"]), max_size=8))
def test_no_spelling_is_inside_when_its_target_is_outside(parts: list[str]) -> None:
    path = "/" + "/".join(parts)
    target = os.path.normpath(path)
    target = "/" + target.lstrip("/")
    if is_inside(path, "/w"):
        assert target == "/w" or target.startswith("/w/")
        assert is_clean(path)


def test_links_and_dots_never_lead_out_of_a_root(tmp_path: Path) -> None:
    inside = tmp_path / "in"
    outside = tmp_path / "out"
    (inside / "sub").mkdir(parents=True)
    outside.mkdir()
    (inside / "link").symlink_to(outside)
    (inside / "back").symlink_to(inside / "sub")
    (outside / "in").symlink_to(inside)
    root = os.path.realpath(inside)
    for spelling in ("link/f", "link/../f", "sub/../../out/f", "./link/./f", "back/../../out/f"):
        target = os.path.realpath(inside / spelling)
        assert is_inside(target, root) == (Path(root) in Path(target).parents), spelling
    assert is_inside(os.path.realpath(outside / "in" / "f"), root)
    assert not is_inside(os.path.realpath(inside / "link" / "f"), root)


def test_the_root_that_holds_a_path_is_found() -> None:
    given_facts = facts(roots=(Root("/srv/data", RootSource.USER),))
    assert find_root(f"{WORKSPACE}/a", given_facts) == WORKSPACE
    assert find_root("/srv/data/a", given_facts) == "/srv/data"
    assert find_root("/srv/database", given_facts) is None
    assert paths_of(given_facts.roots) == ("/srv/data",)


@pytest.mark.parametrize("path", ["/", "/home", "/home/u", "x", "/a/../b", ""])
def test_roots_that_hold_too_much_are_refused(path: str) -> None:
    problem = root_problem(path, home="/home/u")
    assert problem is not None
    assert problem.endswith(".")


def test_roots_are_relative_to_the_workspace() -> None:
    assert expand_root("../lib", workspace="/w/a", home="/h") == "/w/lib"
    assert expand_root("~/x", workspace="/w", home="/h") == "/h/x"
    assert expand_root("/srv//x/./y", workspace=None, home="/h") == "/srv/x/y"
    assert expand_root("x", workspace=None, home="/h") == ""
    assert root_problem("/srv/x", home="/h") is None
