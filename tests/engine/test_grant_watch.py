import os
import subprocess
import sys

from kova_ls.engine.grant_watch import USER, Watch
from kova_ls.engine.ledger import Confirmed

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BEFORE = {USER: Confirmed(frozenset({"a"}), digest="d")}


def test_idle_engine_leaves_no_file(tmp_path):
    Watch(tmp_path / "adopted").save()
    assert not (tmp_path / "adopted").exists()


def test_another_engine_sees_what_stood_before(tmp_path):
    one, two = Watch(tmp_path), Watch(tmp_path)
    one.before = dict(BEFORE)
    one.save()
    assert list(two.others()) == [(os.getpid(), BEFORE)]
    assert (list(one.others()), list(two.crashed())) == ([], [])
    one.before = {}
    one.save()
    assert list(two.others()) == []


def test_dead_engine_is_told_from_a_living_one(tmp_path):
    script = (
        "import os, pathlib, sys\nfrom kova_ls.engine.grant_watch import Watch\n"
        "from kova_ls.engine.ledger import Confirmed\nwatch = Watch(pathlib.Path(sys.argv[1]))\n"
        "watch.before = {'': Confirmed(frozenset({'a'}), digest='d')}\nwatch.save()\nos._exit(9)\n"
    )
    subprocess.run([sys.executable, "-c", script, tmp_path], check=False, cwd=ROOT)
    watch = Watch(tmp_path)
    assert list(watch.others()) == []
    assert [snapshot for _, snapshot in watch.crashed()] == [BEFORE]


def test_marker_that_cannot_be_read_says_that_nothing_was_in_force(tmp_path):
    (tmp_path / "running-1-x.json").write_text("{")
    ((_, snapshot),) = Watch(tmp_path).crashed()
    assert snapshot[USER].allow == frozenset()
    assert snapshot[USER].digest == "unreadable"
