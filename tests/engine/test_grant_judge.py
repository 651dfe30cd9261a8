import os

import pytest

from kova_ls.engine import grant_file, grant_judge
from kova_ls.engine.grant_file import Content
from kova_ls.engine.grant_judge import Place, resolve_root
from kova_ls.engine.ledger import Confirmed
from kova_ls.permission.facts import Rule
from kova_ls.vocabulary import RootSource

WHOLE = "The whole machine cannot be a root; name the folder that is needed."
HOME = "The home folder cannot be a root; name a folder inside it."


def refuse_star(text, source, kind):
    return "It is too wide." if text == "*" else None


def judge(tmp_path, text, limit=None, last_deny=()):
    content = grant_file.parse(text.encode(), "P")
    place = Place(RootSource.LOCAL, "P", str(tmp_path), "/home/u", refuse_star)
    return grant_judge.judge(content, place, limit, last_deny)


def test_refused_rule_is_named_with_its_place(tmp_path):
    layer = judge(tmp_path, '{"allow": ["a", "*"],\n "deny": ["*"]}')
    assert layer.allow == [Rule("a", RootSource.LOCAL)]
    assert layer.problems == [
        "P:1:17: '*' in 'allow' counts for nothing. It is too wide.",
        "P:2:11: '*' in 'deny' counts for nothing. It is too wide.",
    ]


def test_limit_holds_grants_back_and_keeps_denies(tmp_path):
    limit = Confirmed(frozenset({"a"}), frozenset({"old"}))
    layer = judge(tmp_path, '{"allow": ["a", "b", "a"], "deny": ["new"]}', limit)
    assert [rule.text for rule in layer.allow] == ["a"]
    assert [rule.text for rule in layer.deny] == ["new", "old"]
    assert layer.pending is not None
    assert layer.pending.lines() == ("allow b", "drop the deny rule old")


def test_broken_file_goes_on_denying(tmp_path):
    last = (Rule("rm *", RootSource.LOCAL),)
    layer = judge(tmp_path, "{", Confirmed(deny=frozenset({"rm *", "dd *"})), last)
    assert [rule.text for rule in layer.deny] == ["rm *", "dd *"]
    assert (layer.allow, layer.pending) == ([], None)


def test_root_is_bound_to_where_it_led(tmp_path):
    for name in ("one", "two", "w"):
        (tmp_path / name).mkdir()
    (tmp_path / "w/lib").symlink_to("../two")
    limit = Confirmed(roots=frozenset({("lib", str(tmp_path / "one"))}))
    layer = judge(tmp_path / "w", '{"writableRoots": ["lib"]}', limit)
    assert layer.roots == []
    assert layer.pending is not None
    assert layer.pending.roots == (("lib", str(tmp_path / "two")),)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "It names no folder; write a path."),
        ("a\0b", "It names no folder; write a path."),
        ("/", WHOLE),
        ("/../..", WHOLE),
        ("~", HOME),
        ("~/", HOME),
        ("~/x/..", HOME),
        ("to-home", HOME),
        ("../..", HOME),
        ("~root/x", "Only ~/ is known; write another user's folder in full."),
        ("missing", "It cannot be resolved (No such file or directory); name an existing folder."),
        (
            "loop",
            "It cannot be resolved (Too many levels of symbolic links); name an existing folder.",
        ),
        ("file", "It is no folder; name an existing folder."),
    ],
)
def test_root_that_is_too_wide_or_not_there_is_refused(tmp_path, text, reason):
    home = tmp_path / "home"
    (home / "x").mkdir(parents=True)
    workspace = home / "w"
    workspace.mkdir()
    (workspace / "to-home").symlink_to(home)
    (workspace / "loop").symlink_to("loop")
    (workspace / "file").write_text("")
    assert resolve_root(text, str(workspace), str(home)) == (None, reason)


def test_root_is_resolved(tmp_path):
    home = tmp_path / "home"
    (home / "w").mkdir(parents=True)
    (tmp_path / "real").mkdir()
    (home / "link").symlink_to(tmp_path / "real")
    real = str(tmp_path / "real")
    for text in ("../link", "~/link", "../../real", real, os.path.join(real, "..", "real")):
        assert resolve_root(text, str(home / "w"), str(home)) == (real, None)
    assert resolve_root("x", None, str(home)) == (
        None,
        "A relative folder needs a workspace; write it in full.",
    )


def test_difference_counts_only_what_changes():
    content = grant_file.parse(b'{"allow": ["a", "b"]}', "P")
    assert isinstance(content, Content)
    found = grant_judge.difference(content, {"allow": ["a", "c", "c"]}, {"allow": ["b", "z"]})
    assert found == (("c",), ("b",))
