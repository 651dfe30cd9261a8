import json
import os

import pytest

from kova_ls.engine import ledger
from kova_ls.engine.ledger import Confirmed
from kova_ls.engine.ledgers import Ledgers
from kova_ls.engine.vouch import Vouching

ME = {os.getpid()}
A, B = Confirmed(allow=frozenset({"a"})), Confirmed(allow=frozenset({"b"}))


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "adopted"


@pytest.fixture
def ledgers(folder):
    return Ledgers(folder, Vouching(folder))


def forge(ledgers, workspace, confirmed):
    ledger.save(ledgers.path(workspace), confirmed, workspace=workspace)


def test_while_nothing_runs_a_ledger_counts_as_it_stands(ledgers):
    assert ledgers.load("/w", ME) is None
    forge(ledgers, "/w", A)
    assert ledgers.load("/w", ME) == A


def test_what_is_new_while_commands_run_counts_for_nothing_and_goes(ledgers):
    ledgers.save("/w", A)
    ledgers.keep()
    root = Confirmed(roots=frozenset({("..", "/")}))
    for workspace in ("/w", "/other"):
        forge(ledgers, workspace, A.add(B).add(root))
    assert ledgers.load("/w", ME) == A
    assert ledgers.load("/other", ME) == Confirmed()
    ledgers.settle(ME)
    assert ledgers.load("/w", ME) == A
    assert ledgers.load("/other", ME) == Confirmed()
    assert json.loads(ledgers.path("/w").read_bytes())["workspace"] == "/w"


def test_what_was_taken_out_does_not_come_back(ledgers):
    ledgers.save("/w", A.add(B))
    ledgers.keep()
    forge(ledgers, "/w", A)
    assert ledgers.load("/w", ME) == A
    forge(ledgers, "/w", A.add(B))
    assert ledgers.load("/w", ME) == A


def test_what_this_engine_decides_counts_at_once_and_stays(ledgers):
    ledgers.keep()
    ledgers.save("/w", A)
    ledgers.keep()
    assert ledgers.load("/w", ME) == A
    ledgers.settle(ME)
    assert ledgers.load("/w", ME) == A


def test_what_somebody_vouches_for_stays_although_its_workspace_is_not_open(folder, ledgers):
    vouching = Vouching(folder)
    here = Ledgers(folder, vouching)
    here.keep()
    vouching.give("/w", A)
    forge(here, "/w", A.add(B))
    here.settle(ME)
    assert here.load("/w", ME) == A


def test_a_label_that_lies_leads_to_nobody(folder):
    vouching = Vouching(folder)
    here = Ledgers(folder, vouching)
    here.keep()
    vouching.give("/w", A)
    ledger.save(here.path("/other"), A, workspace="/w")
    here.settle(ME)
    assert here.load("/other", ME) == Confirmed()


def test_deny_rules_hold_whoever_wrote_them(ledgers):
    ledgers.save("/w", Confirmed(deny=frozenset({"x"})))
    ledgers.keep()
    forge(ledgers, "/w", Confirmed(deny=frozenset({"y"})))
    assert ledgers.load("/w", ME).deny == {"x", "y"}


def test_other_files_of_the_folder_are_left_alone(folder, ledgers):
    ledgers.keep()
    for name in ("user.json", "changed-programs.json", "running-1-x.json"):
        ledger.save(folder / name, A)
    os.mkfifo(ledgers.path("/pipe"))
    ledgers.settle(ME)
    assert ledger.load(folder / "user.json") == A
    assert ledgers.load("/pipe", ME) is None
