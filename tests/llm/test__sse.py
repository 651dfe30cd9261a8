from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kova_ls.llm._sse import Event, EventCutter


def cut(pieces: list[bytes]) -> list[Event]:
    cutter = EventCutter()
    return [event for piece in pieces for event in cutter.feed(piece)] + cutter.finish()


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_every_line_end_cuts_the_same_events(end: bytes):
    stream = b"event: a\ndata: 1\n\n: comment\n\ndata:2\nid: 7\nretry: 1\n\n".replace(b"\n", end)
    assert cut([stream]) == [(b"a", b"1"), (b"", b"2")]


def test_data_lines_are_joined_and_only_one_space_is_taken():
    assert cut([b"data:  a\ndata\ndata:b\n\n"]) == [(b"", b" a\nb")]


def test_an_event_without_its_blank_line_counts_at_the_end():
    assert cut([b"data: 1\n\ndata: 2"]) == [(b"", b"1"), (b"", b"2")]


def test_a_byte_order_mark_is_skipped_however_it_is_split():
    stream = b"\xef\xbb\xbfdata: 1\n\n"
    assert cut([stream]) == cut([stream[at : at + 1] for at in range(len(stream))]) == [(b"", b"1")]


def test_a_field_name_that_breaks_off_is_dropped():
    cutter = EventCutter()
    assert cutter.feed(b"data: 1\n\neve") + cutter.finish() == [(b"", b"1")]
    assert cutter.stray == []


def test_a_name_without_data_is_forgotten():
    assert cut([b"event: ping\n\ndata: 1\n\n"]) == [(b"", b"1")]


def test_a_line_end_split_in_two_is_one_line_end():
    assert cut([b"data: a\r", b"\ndata: b\r\n\r", b"\n"]) == [(b"", b"a\nb")]


def test_an_empty_piece_changes_nothing():
    assert cut([b"data: 1\r", b"", b"\n\r\n"]) == [(b"", b"1")]


def test_lines_that_are_no_fields_are_kept_apart():
    cutter = EventCutter()
    assert cutter.feed(b'{"error":\n "x"}\n') == []
    assert cutter.stray == [b'{"error":', b' "x"}']


LINES = st.sampled_from(
    [b"data: \xf0\x9f\x8c\x8d", b"data:x", b"event: e", b": c", b"", b"", b"junk", b"data"]
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


@given(
    st.lists(st.tuples(LINES, ENDS), max_size=20),
    st.lists(st.integers(0, 200), max_size=12),
    st.binary(max_size=3),
)
def test_the_split_never_matters(lines: list[tuple[bytes, bytes]], cuts: list[int], tail: bytes):
    stream = b"".join(line + end for line, end in lines) + tail
    points = [0, *sorted(min(cut_at, len(stream)) for cut_at in cuts), len(stream)]
    pieces = [stream[a:b] for a, b in pairwise(points)]
    assert cut(pieces) == cut([stream])
