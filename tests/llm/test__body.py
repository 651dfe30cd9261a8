"""What h11 makes of the same bytes is what is expected."""

from itertools import pairwise

import h11
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kova_ls.llm._body import BadBody, Body

CHUNKED = [(b"transfer-encoding", b"chunked")]

contents = st.lists(st.binary(min_size=1, max_size=40), max_size=5)
extensions = st.sampled_from([b"", b" ", b";a", b';a="b;c"', b"\t"])
trailers = st.lists(st.sampled_from([b"x-a: 1\r\n", b"x-b: two words\r\n"]), max_size=2)


@st.composite
def chunked(draw: st.DrawFn) -> bytes:
    pieces = [
        b"%s%s\r\n%s\r\n" % (draw(st.sampled_from([b"%x", b"%X", b"0%x"])) % len(one), ext, one)
        for one in draw(contents)
        for ext in [draw(extensions)]
    ]
    return b"".join(pieces) + b"0\r\n" + b"".join(draw(trailers)) + b"\r\n"


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    whole = draw(chunked())
    at = draw(st.integers(0, len(whole) - 1))
    how = draw(st.sampled_from([b"", b"x", b"\r\n", b"\n", b"\x00", b"ff"]))
    return whole[:at] + how + whole[at + draw(st.integers(0, 2)) :]


def split(data: bytes, places: list[int]) -> list[bytes]:
    cuts = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[a:b] for a, b in pairwise(cuts) if a < b]


def read(status: int, headers: list[tuple[bytes, bytes]], pieces: list[bytes]) -> bytes | None:
    """What we make of an answer's body; None when it is refused."""
    body = Body(status, headers)
    try:
        content = b"".join([body.feed(piece) for piece in pieces])
        body.end()
    except BadBody:
        return None
    return content


def h11_reads(status: int, headers: list[tuple[bytes, bytes]], data: bytes) -> bytes | None:
    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method="POST", target="/", headers=[("host", "x")]))
    connection.send(h11.EndOfMessage())
    lines = b"".join(b"%s: %s\r\n" % field for field in headers)
    connection.receive_data(b"HTTP/1.1 %d OK\r\n%s\r\n%s" % (status, lines, data))
    connection.receive_data(b"")
    content = b""
    try:
        while not isinstance(event := connection.next_event(), h11.EndOfMessage):
            if isinstance(event, h11.Data):
                content += bytes(event.data)
    except h11.RemoteProtocolError:
        return None
    return content


@given(chunked(), st.lists(st.integers(0, 400), max_size=6))
def test_chunks_are_read_as_h11_reads_them(data: bytes, places: list[int]):
    expected = h11_reads(200, CHUNKED, data)
    assert expected is not None
    assert read(200, CHUNKED, split(data, places)) == expected


@given(damaged(), st.lists(st.integers(0, 400), max_size=6))
@example(b"1\r\nab\r\n0\r\n\r\n", [])
@example(b"g\r\n", [])
def test_what_h11_refuses_is_refused_and_no_more_is_read_of_it(data: bytes, places: list[int]):
    found = read(200, CHUNKED, split(data, places))
    assert found is None or found == h11_reads(200, CHUNKED, data)


@given(st.binary(max_size=60), st.integers(0, 60), st.lists(st.integers(0, 60), max_size=4))
def test_a_body_with_a_length_ends_there(data: bytes, length: int, places: list[int]):
    headers = [(b"content-length", b"%d" % length)]
    expected = data[:length] if len(data) >= length else None
    assert read(200, headers, split(data, places)) == expected
    assert h11_reads(200, headers, data) == expected


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=4))
def test_a_body_without_a_length_ends_with_its_connection(data: bytes, places: list[int]):
    assert read(200, [], split(data, places)) == data


@pytest.mark.parametrize("status", [204, 304])
def test_some_answers_have_no_body(status: int):
    body = Body(status, CHUNKED)
    assert body.is_ended
    assert body.feed(b"0\r\n\r\n") == b""
    assert body.has_surplus


@pytest.mark.parametrize(
    ("headers", "data"),
    [(CHUNKED, b"1\r\na\r\n0\r\n\r\n"), ([(b"content-length", b"1")], b"a")],
)
def test_what_follows_the_body_is_noticed(headers: list[tuple[bytes, bytes]], data: bytes):
    together, apart = Body(200, headers), Body(200, headers)
    assert together.feed(data + b"HTTP") == apart.feed(data) == b"a"
    assert together.is_ended
    assert together.has_surplus
    assert not apart.has_surplus
    apart.feed(b"x")
    assert apart.has_surplus


def test_a_line_without_end_is_refused():
    body = Body(200, CHUNKED)
    assert body.feed(b"1;" + b"x" * 10_000) == b""
    with pytest.raises(BadBody):
        body.feed(b"x" * 10_000)
