import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kova_ls.llm import STREAM_FORMATS, decode, decode_http_error
from kova_ls.llm._decoding import MADE_ID, OpenCall, settle
from tests.llm import anthropic_wire, chat_wire, gemini_wire, responses_wire
from tests.llm.wire import data, decoded, named

STREAMS = Path(__file__).parents[2].parent / "shared" / "streams"


def recordings() -> list[dict[str, Any]]:
    manifest = STREAMS / "manifest.jsonl"
    if not manifest.exists():
        return []
    return [json.loads(line) for line in manifest.read_text().splitlines()]


def test_the_recordings_are_there_in_ci():
    if not recordings() and not os.environ.get("CI"):
        pytest.skip("no recordings beside this folder")
    assert len(recordings()) >= 12


@pytest.mark.parametrize("recording", recordings(), ids=lambda one: one["file"])
def test_a_recording_decodes_to_what_it_says(recording: dict[str, Any]):
    body = (STREAMS / recording["file"]).read_bytes()
    if recording["format"] == "http-error":
        got = decode_http_error(json.loads(body)["body_text"].encode())
    else:
        got = decoded(recording["format"], body)
    expected = {"incomplete_tool_calls": [], **recording["expected"]}
    assert got == {key: expected.get(key, got[key]) for key in got}


def test_calls_are_parted_by_whether_their_arguments_are_whole():
    calls = [
        OpenCall("a", "read", ['{"x"', ":1}"]),
        OpenCall("b", "read", []),
        OpenCall("c", "read", ['{"x']),
        OpenCall("d", "read", ["[1]"]),
        OpenCall("e", "", ["{}"]),
        OpenCall("f", "read", [" "]),
    ]
    complete, incomplete = settle(calls, was_cut=False)
    assert [(call.id, call.arguments) for call in complete] == [
        ("a", '{"x":1}'),
        ("b", ""),
        ("f", " "),
    ]
    assert [call.id for call in incomplete] == ["c", "d", "e"]
    assert [call.id for call in settle(calls, was_cut=True)[1]] == ["c", "d", "e", "f"]


def test_a_call_without_an_id_is_given_one():
    (call,), _ = settle([OpenCall("", "read", ["{}"])], was_cut=False)
    assert call.id.startswith(MADE_ID)


@pytest.mark.parametrize("form", STREAM_FORMATS)
def test_a_page_instead_of_a_stream_is_no_answer(form: str):
    got = decoded(form, b"<!DOCTYPE html>\n<html>\n<p>Log in</p>\n</html>")
    assert got["outcome"] == "error"
    assert got["error"] == {"message": "<!DOCTYPE html> <html> <p>Log in</p> </html>"}


@pytest.mark.parametrize("form", STREAM_FORMATS)
def test_an_error_as_plain_json_is_an_error(form: str):
    body = json.dumps({"error": {"code": 503, "message": "Loading"}}, indent=1).encode()
    got = decoded(form, body)
    assert (got["outcome"], got["error"]) == ("error", {"code": 503, "message": "Loading"})


@pytest.mark.parametrize("form", STREAM_FORMATS)
def test_an_empty_body_is_truncated(form: str):
    got = decoded(form, b"")
    assert (got["outcome"], got["error"], got["tool_calls"]) == ("truncated", None, [])


@pytest.mark.parametrize("form", STREAM_FORMATS)
@pytest.mark.parametrize(
    "odd",
    [
        {"choices": [7]},
        {"choices": [{"delta": {"tool_calls": [3]}}]},
        {"type": "content_block_delta", "delta": 4},
        {"type": "response.output_text.delta"},
        {"type": "response.output_item.added", "item": "x"},
        {"candidates": [{"content": {"parts": ["x"]}}]},
        {"candidates": 5},
    ],
)
def test_an_unforeseen_shape_never_raises(form: str, odd: Any):
    assert decode(form, [data(odd)])["outcome"] in ("error", "truncated")


def test_an_error_line_is_an_error():
    got = decoded("openai-chat", b'error: {"code":500,"message":"boom"}\n\n')
    assert (got["outcome"], got["error"]) == ("error", {"code": 500, "message": "boom"})


def test_words_between_the_events_are_passed_over():
    good = data({"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]})
    got = decoded("openai-chat", b"data: keep-alive\n\n" + good + b"data:\n\n")
    assert (got["text"], got["outcome"]) == ("a", "complete")
    assert decoded("openai-chat", b"data: keep-alive\n\n")["outcome"] == "error"


def test_an_event_that_is_broken_json_is_an_error():
    got = decoded("openai-chat", data({"choices": []}) + b'data: {"choices":\n\n')
    assert (got["outcome"], got["error"]) == ("error", {"message": '{"choices":'})


def test_an_event_that_breaks_off_is_no_error():
    assert decoded("openai-chat", b'data: {"choices":')["outcome"] == "truncated"


def test_half_a_surrogate_pair_does_not_break_the_stream():
    body = b'data: {"choices":[{"delta":{"content":"a\\ud83d"},"finish_reason":"stop"}]}\n\n'
    assert decoded("openai-chat", body)["text"] == "a?"
    assert decoded("openai-chat", body.removeprefix(b"data: "))["text"] == "a?"


def test_json_lines_are_read_and_what_breaks_off_is_no_page():
    lines = [{"choices": [{"delta": {"content": one}}]} for one in "ab"]
    body = "\n".join(map(json.dumps, lines)).encode()
    assert decoded("openai-chat", body)["text"] == "ab"
    for rest in (b'\n{"choices": [{"delta"', b"\nodd words"):
        got = decoded("openai-chat", body + rest)
        assert (got["text"], got["outcome"]) == ("ab", "truncated")
    for start in (b'{"choices": [', b"[", b'[{"error'):
        assert decoded("openai-chat", start)["outcome"] == "truncated"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 600) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "choices delta content tool_calls function arguments name id index error type "
                "message usage item response output candidates parts text functionCall".split()
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(STREAM_FORMATS), st.lists(VALUES, max_size=4))
def test_no_stream_of_json_ever_raises(form: str, values: list[Any]):
    assert decode(form, [data(*values)])["outcome"]


WORDS = "naïve 日本 👩\u200d💻\u2028"
BODIES = {
    "openai-chat": data(
        chat_wire.chunk({"content": WORDS}),
        chat_wire.chunk(chat_wire.piece(0, "c", "read", '{"p":"é"}'), "tool_calls"),
    )
    + chat_wire.DONE,
    "openai-responses": named(
        responses_wire.START,
        responses_wire.text(0, WORDS),
        responses_wire.done(1, **responses_wire.CALL, arguments='{"p":"é"}'),
        responses_wire.DONE,
    ),
    "anthropic": named(
        anthropic_wire.START,
        *anthropic_wire.said(0, WORDS),
        *anthropic_wire.called(1, "c", '{"p":"é"}'),
        anthropic_wire.end("tool_use"),
        anthropic_wire.STOP,
    ),
    "gemini": data(
        gemini_wire.chunk({"text": WORDS}),
        gemini_wire.chunk(gemini_wire.called("read", p="é"), finish="STOP"),
    ),
}
FRAMINGS: dict[str, Callable[[bytes], bytes]] = {
    "CRLF": lambda body: body.replace(b"\n", b"\r\n"),
    "CR": lambda body: body.replace(b"\n", b"\r"),
    "BOM": lambda body: b"\xef\xbb\xbf" + body,
    "comments": lambda body: b": hi\n\n" + body.replace(b"data:", b":\n: still there\ndata:"),
    "no space": lambda body: body.replace(b"data: ", b"data:"),
    "ids": lambda body: b"retry: 10\n\n" + body.replace(b"data:", b"id: 7\ndata:"),
    "no last line end": lambda body: body.rstrip(b"\n"),
}


def _raw(body: bytes) -> bytes:
    lines = [
        b"data: " + json.dumps(json.loads(line[6:]), ensure_ascii=False).encode()
        if line.startswith(b"data: {")
        else line
        for line in body.split(b"\n")
    ]
    return b"\n".join(lines)


@pytest.mark.parametrize("framing", FRAMINGS.values(), ids=FRAMINGS)
@pytest.mark.parametrize("form", STREAM_FORMATS)
def test_the_framing_changes_nothing(form: str, framing: Callable[[bytes], bytes]):
    plain = decoded(form, BODIES[form])
    assert (plain["text"], plain["outcome"], plain["error"]) == (WORDS, "complete", None)
    assert [one["arguments"] for one in plain["tool_calls"]] == [{"p": "é"}]
    assert decoded(form, framing(BODIES[form])) == plain
    assert decoded(form, framing(_raw(BODIES[form]))) == plain
