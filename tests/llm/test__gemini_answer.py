import json
from typing import Any

import pytest

from kova_ls.llm import decode
from kova_ls.llm._gemini_answer import usage_of
from kova_ls.values import Usage
from tests.llm.gemini_wire import USAGE, called, chunk, read
from tests.llm.wire import data, decoded


def test_everything_of_an_answer_is_collected():
    got = read(
        chunk({"text": "So.", "thought": True}, usageMetadata={"promptTokenCount": 9}),
        chunk({"text": "I "}, {"text": "look."}),
        chunk(called("read", "c1", path="a"), called("read")),
        chunk({"text": "", "thoughtSignature": "s"}, finish="STOP", usageMetadata=USAGE),
    )
    assert got == {
        "text": "I look.",
        "reasoning": "So.",
        "tool_calls": [
            {"id": "c1", "name": "read", "arguments": {"path": "a"}},
            {"id": None, "name": "read", "arguments": {}},
        ],
        "incomplete_tool_calls": [],
        "finish_reason": "STOP",
        "usage": USAGE,
        "error": None,
        "outcome": "complete",
    }


@pytest.mark.parametrize(
    ("finish", "outcome"),
    [
        (None, "truncated"),
        ("STOP", "complete"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "refused"),
        ("RECITATION", "refused"),
        ("PROHIBITED_CONTENT", "refused"),
        ("MALFORMED_FUNCTION_CALL", "error"),
        ("UNEXPECTED_TOOL_CALL", "error"),
    ],
)
def test_the_outcome_follows_the_finish_reason(finish: str | None, outcome: str):
    got = read(chunk({"text": "a"}, finish=finish))
    assert (got["outcome"], got["finish_reason"], got["error"]) == (outcome, finish, None)


def test_a_blocked_prompt_is_refused():
    got = read({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": USAGE})
    assert (got["outcome"], got["usage"]) == ("refused", USAGE)


ERROR = {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}


@pytest.mark.parametrize(
    "body",
    [
        data(chunk({"text": "a"}), {"error": ERROR}),
        data(chunk({"text": "a"})) + b"event: error\n" + data(ERROR),
        data(chunk({"text": "a"})) + json.dumps({"error": ERROR}, indent=2).encode(),
        json.dumps([chunk({"text": "a"}), {"error": ERROR}], indent=2).encode(),
    ],
)
def test_an_error_within_the_stream_is_an_error(body: bytes):
    got = decoded("gemini", body)
    assert (got["outcome"], got["error"], got["text"]) == ("error", ERROR, "a")


@pytest.mark.parametrize("indent", [None, 2])
def test_an_array_instead_of_events_is_read(indent: int | None):
    chunks = [chunk({"text": "a"}), chunk({"text": "b"}, called("read"), finish="STOP")]
    got = decoded("gemini", json.dumps(chunks, indent=indent).encode())
    assert (got["text"], len(got["tool_calls"]), got["outcome"]) == ("ab", 1, "complete")


@pytest.mark.parametrize("indent", [None, 1])
def test_an_array_that_breaks_off_gives_what_it_can(indent: int | None):
    chunks = [chunk({"text": "a"}), chunk(called("read"))]
    whole = json.dumps(chunks, indent=indent)
    first = len(json.dumps(chunks[:1], indent=indent)) - 1
    for end in range(first, len(whole) - 5):
        got = decode("gemini", [whole[:end].encode()])
        assert (got["text"], got["outcome"], got["error"]) == ("a", "truncated", None)
        assert got["tool_calls"] == []


def test_a_call_that_will_continue_is_incomplete():
    part = {"functionCall": {"name": "read", "willContinue": True}}
    got = read(chunk(part), chunk({"text": ""}, finish="STOP"))
    assert (got["tool_calls"], len(got["incomplete_tool_calls"])) == ([], 1)


def test_arguments_in_pieces_are_put_together():
    def going(*pieces: dict[str, Any], **more: Any) -> dict[str, Any]:
        return chunk({"functionCall": {"partialArgs": list(pieces), "willContinue": True, **more}})

    start = chunk({"functionCall": {"name": "read", "willContinue": True}, "thoughtSignature": "s"})
    text = {"jsonPath": "$.path", "stringValue": "a.", "willContinue": True}
    more = {"jsonPath": "$.path", "stringValue": "txt"}
    end = chunk({"functionCall": {}})
    stop = chunk({"text": ""}, finish="STOP")
    got = read(start, going(text), going(more), end, chunk(called("read", p=1)), stop)
    assert [one["arguments"] for one in got["tool_calls"]] == [{"path": "a.txt"}, {"p": 1}]
    got = read(start, going(text), chunk({"text": ""}, finish="MAX_TOKENS"))
    assert got["tool_calls"] == []
    assert got["incomplete_tool_calls"] == [
        {"id": None, "name": "read", "arguments": '{"path":"a."'}
    ]


def test_only_the_first_of_several_answers_is_read():
    other = {"content": {"parts": [{"text": "b"}]}, "finishReason": "MAX_TOKENS", "index": 1}
    first = {"content": {"parts": [{"text": "a"}]}, "finishReason": "STOP", "index": 0}
    got = read({"candidates": [other, first]}, {"candidates": [other]})
    assert (got["text"], got["outcome"]) == ("a", "complete")


def test_usage_counts_thoughts_as_written():
    raw = {**USAGE, "thoughtsTokenCount": 5, "cachedContentTokenCount": 3}
    assert usage_of(raw) == Usage(
        input_tokens=10, output_tokens=7, cached_tokens=3, context_tokens=17
    )
