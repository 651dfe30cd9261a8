import pytest

from kova_ls.engine import ledger
from kova_ls.engine.ledger import Confirmed

SOME = Confirmed(
    frozenset({"a", "b"}), frozenset({"c"}), frozenset({("../x", "/x")}), True, "digest"
)


def test_what_is_saved_is_loaded(tmp_path):
    path = ledger.workspace_path(tmp_path / "deep/adopted", "/w")
    ledger.save(path, SOME, workspace="/w")
    assert ledger.load(path) == SOME
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_workspaces_do_not_share_a_file(tmp_path):
    assert ledger.workspace_path(tmp_path, "/w") != ledger.workspace_path(tmp_path, "/w/")


@pytest.mark.parametrize(
    "raw", [b"", b"[]", b"{}", b'{"allow": 1, "deny": [], "roots": []}', b"\xff", b"[" * 100_000]
)
def test_broken_file_confirms_nothing(tmp_path, raw):
    (tmp_path / "f").write_bytes(raw)
    assert ledger.load(tmp_path / "f") is None


def test_common_never_loosens():
    other = Confirmed(frozenset({"a"}), frozenset({"d"}), frozenset({("../x", "/elsewhere")}))
    assert SOME.common(other) == Confirmed(
        frozenset({"a"}), frozenset({"c", "d"}), frozenset(), True, "digest"
    )


def test_add_and_drop_are_opposites():
    more = Confirmed(frozenset({"n"}), frozenset({"m"}), frozenset({("r", "/r")}))
    assert SOME.add(more).drop(more) == SOME
