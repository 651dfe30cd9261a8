from types import SimpleNamespace

import pytest

from kova_ls.engine import outputs


@pytest.fixture
def session(tmp_path):
    return SimpleNamespace(id="s1", folder=tmp_path)


def test_what_is_kept_is_found_under_its_reference(session):
    ref, path = outputs.keep(session, "diff", b"text")
    session_id, _, name = ref.partition("/")
    assert session_id == "s1"
    place = outputs.find(session, name)
    assert (str(place), place.read_bytes()) == (path, b"text")
    assert place.stat().st_mode & 0o777 == 0o600
    assert place.parent.stat().st_mode & 0o777 == 0o700


def test_the_same_data_has_the_same_reference_and_is_written_once(session):
    ref, path = outputs.keep(session, "diff", b"text")
    before = outputs.find(session, ref.partition("/")[2]).stat().st_mtime_ns
    assert outputs.keep(session, "diff", b"text") == (ref, path)
    assert outputs.find(session, ref.partition("/")[2]).stat().st_mtime_ns == before
    assert outputs.keep(session, "diff", b"other")[0] != ref


def test_a_reserved_place_is_nobody_elses(session):
    places = {outputs.reserve(session, "output") for _ in range(3)}
    assert len(places) == 3
    assert all(ref.startswith("s1/output-") for ref, _ in places)


@pytest.mark.parametrize(
    "name", ["", ".", "..", ".hidden", "../journal.jsonl", "a/b", "/etc/hosts"]
)
def test_a_name_that_leads_elsewhere_is_no_output(session, name):
    with pytest.raises(FileNotFoundError):
        outputs.find(session, name)
