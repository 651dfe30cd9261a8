"""Frames and envelopes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kova_ls.endpoint import framing
from kova_ls.endpoint.framing import BadFrame, Framer, frame

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(st.lists(st.binary(max_size=50), max_size=5), st.lists(st.integers(1, 40)))
def test_bodies_come_whole_however_the_bytes_are_cut(bodies, sizes):
    framer, data, out = Framer(), b"".join(map(frame, bodies)), []
    for size in [*sizes, len(data) or 1]:
        out.extend(framer.feed(data[:size]))
        data = data[size:]
    assert out == bodies[: len(out)]
    out.extend(framer.feed(data))
    assert out == bodies


def test_other_headers_and_any_case_are_fine():
    head = b"Content-Type: x; charset=utf-8\r\ncontent-LENGTH:  2 \r\n\r\n{}"
    assert list(Framer().feed(head)) == [b"{}"]


@pytest.mark.parametrize(
    "data",
    [
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: two\r\n\r\n",
        b"Length: 2\r\n\r\n{}",
        b"Content-Length: 999999999999\r\n\r\n",
        b"x" * 9_000,
    ],
)
def test_a_header_that_says_no_length_ends_it(data):
    with pytest.raises(BadFrame):
        list(Framer().feed(data))


@given(JSON)
def test_json_comes_back_as_it_went(value):
    assert framing.parse(framing.dump(value)) == json.loads(json.dumps(value))


@pytest.mark.parametrize("body", [b'"\\ud800"', b'{"a":"\\udfff\\ud800"}'])
def test_legal_json_that_the_fast_parser_refuses_is_read(body):
    value = framing.parse(body)
    assert json.loads(framing.dump(value)) == json.loads(body)


@pytest.mark.parametrize("body", [b"NaN", b"[Infinity]", b"{", b"", b"\xff", b'{"a":1}x'])
def test_what_is_not_json_is_refused(body):
    with pytest.raises(ValueError):
        framing.parse(body)


def test_a_nested_jsonrpc_key_is_data():
    value = {"jsonrpc": "2.0", "id": 1, "method": "m", "params": {"jsonrpc": "2.0", "id": 2}}
    assert framing.parse(framing.dump(value)) == value


def test_envelopes_are_json_rpc():
    bodies = [
        framing.result("a", b"{}"),
        framing.error(1, -1, "no", {"code": "x"}),
        framing.error(None, -2, "no"),
        framing.notification("m", b"[]"),
        framing.request("k", "m", b"{}"),
    ]
    assert [framing.parse(body) for body in Framer().feed(b"".join(bodies))] == [
        {"jsonrpc": "2.0", "id": "a", "result": {}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "no", "data": {"code": "x"}}},
        {"jsonrpc": "2.0", "id": None, "error": {"code": -2, "message": "no"}},
        {"jsonrpc": "2.0", "method": "m", "params": []},
        {"jsonrpc": "2.0", "id": "k", "method": "m", "params": {}},
    ]
