import os
import subprocess
import sys

import pytest

from kova_ls.engine.ledger import Confirmed
from kova_ls.engine.vouch import Vouching

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOME = Confirmed(allow=frozenset({"make *"}), roots=frozenset({("../lib", "/lib")}))
NOTHING = Confirmed()
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="holders are told by Linux only")

HOLD = """
import pathlib, sys
from kova_ls.engine.ledger import Confirmed
from kova_ls.engine.vouch import Vouching
vouching = Vouching(pathlib.Path(sys.argv[1]))
some = Confirmed(allow=frozenset({"make *"}), roots=frozenset({("../lib", "/lib")}))
vouching.give("/w", some)
print("ready", flush=True)
for line in sys.stdin:
    vouching.take_back("/w", some)
    print("gone", flush=True)
"""


class Holder:
    """Another process that vouches for `SOME` in `/w`."""

    def __init__(self, folder, command=()):
        self.child = subprocess.Popen(
            [*command, sys.executable, "-c", HOLD, folder],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self.child.stdout.readline() == b"ready\n"

    def take_back(self):
        self.child.stdin.write(b"\n")
        self.child.stdin.flush()
        assert self.child.stdout.readline() == b"gone\n"

    def end(self):
        self.child.communicate()


@pytest.fixture
def holder(tmp_path):
    holder = Holder(tmp_path)
    yield holder
    holder.end()


def test_an_entry_counts_as_long_as_somebody_who_wrote_it_lives(tmp_path, holder):
    vouching = Vouching(tmp_path)
    more = SOME.add(Confirmed(frozenset({"npm *"}), roots=frozenset({("../lib", "/else")})))
    assert vouching.among("/w", more, {1}) == NOTHING
    engines = {2**22 + 5}
    assert vouching.among("/w", more, engines) == SOME
    assert vouching.among("/other", SOME, engines) == NOTHING
    holder.take_back()
    assert vouching.among("/w", SOME, engines) == NOTHING


def test_the_end_of_the_holder_ends_its_word(tmp_path):
    holder, vouching = Holder(tmp_path), Vouching(tmp_path)
    assert vouching.among("/w", SOME, ()) == SOME
    holder.end()
    assert vouching.among("/w", SOME, ()) == NOTHING


@pytest.mark.parametrize("command", [(), ("/bin/sh", "-c", '"$@"; true', "sh")])
def test_a_program_that_an_engine_started_vouches_for_nothing(tmp_path, command):
    holder, vouching = Holder(tmp_path, command), Vouching(tmp_path)
    assert vouching.among("/w", SOME, {os.getpid()}) == NOTHING
    assert vouching.among("/w", SOME, {os.getppid()}) == NOTHING
    holder.end()


def test_a_process_believes_its_own_word_until_it_takes_it_back(tmp_path):
    vouching = Vouching(tmp_path / "deep/adopted")
    vouching.give("/w", SOME)
    assert vouching.among("/w", SOME, {os.getpid()}) == SOME
    vouching.take_back("/w", SOME)
    assert vouching.among("/w", SOME, {os.getpid()}) == NOTHING


def test_a_file_that_others_put_in_its_place_only_takes_words_away(tmp_path, holder):
    (tmp_path / "vouched").unlink()
    os.mkfifo(tmp_path / "vouched")
    assert Vouching(tmp_path).among("/w", SOME, ()) == NOTHING
    (tmp_path / "vouched").unlink()
    (tmp_path / "vouched").symlink_to("/dev/null")
    assert Vouching(tmp_path).among("/w", SOME, ()) == NOTHING


def test_an_engine_vouches_while_its_own_commands_run(tmp_path, holder):
    assert Vouching(tmp_path).among("/w", SOME, {holder.child.pid}) == SOME
