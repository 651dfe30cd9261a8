"""Old shapes are lifted; the first version is as it was."""

from pathlib import Path

import orjson

from kova_ls.journal.records import VERSION
from kova_ls.journal.store import Journal
from kova_ls.journal.upgrade import upgrade

GOLDEN = Path(__file__).parents[1] / "golden/journals"


def test_version_1_is_taken_as_it_is():
    raw = {"type": "session.renamed", "title": "x", "by": "y"}
    assert upgrade(dict(raw)) == raw


def test_every_version_has_a_golden_journal_that_loads_for_ever(tmp_path):
    folders = sorted(GOLDEN.iterdir())
    assert [folder.name for folder in folders] == [f"v{n}" for n in range(1, VERSION + 1)]
    for folder in folders:
        for place in sorted(folder.glob("*.jsonl")):
            copy = tmp_path / f"{folder.name}-{place.name}"
            copy.write_bytes(place.read_bytes())
            journal, stored = Journal.open(copy)
            journal.close()
            assert len(stored) == len(place.read_bytes().splitlines())
            assert copy.read_bytes() == place.read_bytes()


def test_the_golden_journals_hold_every_kind_of_record():
    import typing

    from kova_ls.journal import records as r

    kinds = {
        orjson.loads(line)["type"]
        for place in sorted(GOLDEN.glob("*/*.jsonl"))
        for line in place.read_bytes().splitlines()
    }
    union = typing.get_args(typing.get_args(r.AnyRecord)[0])
    assert kinds == {kind.model_fields["type"].default for kind in union}
