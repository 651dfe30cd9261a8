"""Room on the disk that is kept for the end of a turn."""

from kova_ls.engine.reserve import Reserve


def test_what_is_kept_is_given_up_once_and_kept_again(tmp_path):
    place = tmp_path / "reserve"
    reserve = Reserve(place)
    reserve.give_up()
    reserve.keep()
    kept = place.read_bytes()
    assert len(kept) == 64 * 1024
    assert place.stat().st_mode & 0o077 == 0
    Reserve(place).keep()
    assert place.read_bytes() == kept
    reserve.give_up()
    assert not place.exists()
    reserve.keep()
    assert place.exists()


def test_what_a_full_disk_left_of_it_is_made_whole(tmp_path):
    place = tmp_path / "reserve"
    place.touch()
    Reserve(place).keep()
    assert place.stat().st_size == 64 * 1024


def test_where_nothing_can_be_kept_nothing_is_said(tmp_path):
    reserve = Reserve(tmp_path / "missing" / "reserve")
    reserve.keep()
    reserve.give_up()
