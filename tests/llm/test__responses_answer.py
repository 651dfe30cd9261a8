import json
from typing import Any

import pytest

from kova_ls.llm._responses_answer import usage_of
from kova_ls.values import Usage
from tests.llm.responses_wire import (
    BEGUN,
    CALL,
    DONE,
    P1,
    START,
    THOUGHT_AND_CALL,
    USAGE,
    added,
    done,
    event,
    read,
    response,
    text,
)
from tests.llm.wire import decoded


def test_reasoning_text_and_call_are_collected():
    assert read(*THOUGHT_AND_CALL) == {
        "text": "I look.",
        "reasoning": "",
        "reasoning_summary": "So.",
        "tool_calls": [{"id": "c1", "name": "read", "arguments": {"path": "a"}}],
        "incomplete_tool_calls": [],
        "finish_reason": "completed",
        "usage": USAGE,
        "error": None,
        "outcome": "complete",
    }


def test_the_models_own_reasoning_is_no_summary():
    got = read(
        START,
        event("reasoning_text.delta", output_index=0, delta="hm"),
        done(0, type="reasoning", content=[{"type": "reasoning_text", "text": "hm"}], summary=[]),
        DONE,
    )
    assert (got["reasoning"], "reasoning_summary" in got) == ("hm", False)


def test_two_summaries_are_two_paragraphs():
    parts = [
        part
        for index in (0, 1)
        for part in (
            event("reasoning_summary_part.added", output_index=0, summary_index=index),
            event("reasoning_summary_text.delta", output_index=0, delta=f"{index}"),
        )
    ]
    assert read(*parts, DONE)["reasoning_summary"] == "0\n\n1"


def test_items_that_come_whole_are_read_once():
    whole = [
        {"type": "reasoning", "summary": [{"text": "a"}, {"text": "b"}], "encrypted_content": "x"},
        {"type": "message", "content": [{"type": "output_text", "text": "hi"}]},
        {**CALL, "arguments": "{}"},
    ]
    for got in (
        read(*(done(at, **item) for at, item in enumerate(whole)), DONE),
        read(response("completed", output=whole)),
        decoded(
            "openai-responses",
            json.dumps({"object": "response", "status": "completed", "output": whole}).encode(),
        ),
    ):
        assert (got["text"], got["reasoning_summary"]) == ("hi", "a\n\nb")
        assert got["tool_calls"] == [{"id": "c1", "name": "read", "arguments": {}}]


ERROR = {"code": "server_error", "message": "boom"}


@pytest.mark.parametrize(
    ("end", "outcome", "finish", "error"),
    [
        ([], "truncated", None, None),
        ([response("failed", error=ERROR)], "error", "failed", ERROR),
        ([response("failed")], "error", "failed", None),
        (
            [response("incomplete", incomplete_details={"reason": "max_output_tokens"})],
            "length",
            "incomplete",
            None,
        ),
        (
            [response("incomplete", incomplete_details={"reason": "content_filter"})],
            "refused",
            "incomplete",
            None,
        ),
        (
            [{"type": "error", "sequence_number": 3, **ERROR}],
            "error",
            None,
            ERROR,
        ),
        ([{"type": "error", "error": ERROR}], "error", None, ERROR),
        (
            [{"type": "error", "error": ERROR}, response("failed", error={"code": "x"})],
            "error",
            "failed",
            ERROR,
        ),
    ],
)
def test_the_outcome_follows_the_end(
    end: list[dict[str, Any]], outcome: str, finish: str | None, error: Any
):
    got = read(START, text(0, "a"), *end)
    assert (got["outcome"], got["finish_reason"], got["error"], got["text"]) == (
        outcome,
        finish,
        error,
        "a",
    )


def test_a_refusal_is_no_text():
    got = read(
        added(0, type="message", content=[]),
        event("refusal.delta", output_index=0, delta="No."),
        done(0, type="message", content=[{"type": "refusal", "refusal": "No."}]),
        DONE,
    )
    assert (got["outcome"], got["text"], got["error"]) == ("refused", "", None)


def test_a_call_cut_off_in_its_arguments_is_incomplete():
    begun = (
        added(0, **CALL, arguments=""),
        event("function_call_arguments.delta", output_index=0, delta='{"pa'),
    )
    for end in ((), (response("incomplete", incomplete_details={"reason": "max_output_tokens"}),)):
        got = read(*begun, *end)
        assert got["tool_calls"] == []
        assert got["incomplete_tool_calls"] == [{"id": "c1", "name": "read", "arguments": '{"pa'}]
    assert read(added(0, **CALL, arguments=""))["tool_calls"] == []


@pytest.mark.parametrize(
    "events",
    [
        [
            {"type": "response.function_call_arguments.delta", "item_id": "f1", "delta": '{"p":1}'},
        ],
        [
            {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{"},
            {"type": "response.function_call_arguments.done", "item_id": "f1", "arguments": P1},
        ],
        [done(0, type="function_call", id="other", call_id="c1", name="x", arguments=P1)],
        [{"type": "response.output_item.done", "item": {**BEGUN, "arguments": P1}}],
    ],
)
def test_a_call_is_known_by_its_place_or_its_id(events: list[dict[str, Any]]):
    got = read(added(0, **BEGUN), *events, response("completed"))
    assert got["tool_calls"] == [{"id": "c1", "name": "x", "arguments": {"p": 1}}]
    assert got["incomplete_tool_calls"] == []


def test_items_that_share_a_place_are_told_apart():
    second = {**BEGUN, "id": "f2", "call_id": "c2"}
    got = read(
        added(0, type="message", id="m1"),
        text(0, "a"),
        added(0, **BEGUN),
        {"type": "response.function_call_arguments.delta", "item_id": "f1", "delta": P1},
        added(0, **second),
        done(0, **{**BEGUN, "arguments": P1}),
        done(0, **{**second, "arguments": "{}"}),
        done(0, type="message", id="m1", content=[{"type": "output_text", "text": "a"}]),
        response("completed"),
    )
    assert got["text"] == "a"
    assert [(one["id"], one["arguments"]) for one in got["tool_calls"]] == [
        ("c1", {"p": 1}),
        ("c2", {}),
    ]


def test_what_only_the_end_holds_is_read():
    whole = [
        {"type": "message", "id": "m1", "content": [{"type": "output_text", "text": "a"}]},
        {**BEGUN, "arguments": P1},
        {**BEGUN, "id": "f2", "call_id": "c2", "arguments": "{}"},
    ]
    got = read(
        added(0, type="message", id="m1"),
        text(0, "a"),
        added(1, **{**BEGUN, "arguments": P1}),
        response("completed", output=whole),
    )
    assert got["text"] == "a"
    assert [one["id"] for one in got["tool_calls"]] == ["c1", "c2"]


def test_a_text_that_only_its_end_holds_is_read_once():
    finished = {"type": "response.output_text.done", "output_index": 0, "text": "a"}
    part = [{"type": "output_text", "text": "a"}]
    rest = [done(0, type="message", id="m1", content=part), response("completed")]
    assert read(finished, *rest)["text"] == "a"
    assert read(text(0, "a"), finished, *rest)["text"] == "a"
    refused = {"type": "response.refusal.done", "output_index": 0, "refusal": "no"}
    assert read(refused, response("completed"))["outcome"] == "refused"


def test_other_items_and_events_are_passed_over():
    got = read(
        added(0, type="web_search_call", id="ws"),
        event("web_search_call.searching", output_index=0),
        done(0, type="web_search_call", id="ws", status="completed"),
        event("something.new", value=1),
        text(1, "a"),
        DONE,
    )
    assert (got["text"], got["tool_calls"], got["outcome"]) == ("a", [], "complete")


def test_usage_is_translated():
    assert usage_of(USAGE) == Usage(
        input_tokens=10, output_tokens=3, cached_tokens=4, context_tokens=13
    )


@pytest.mark.parametrize("word", ["completed", "incomplete", "failed"])
def test_the_event_may_be_all_that_says_how_it_ended(word: str):
    got = read(text(0, "a"), {"type": f"response.{word}", "response": {"id": "r", "usage": USAGE}})
    assert (got["finish_reason"], got["usage"]) == (word, USAGE)
    assert got["outcome"] == {"incomplete": "length", "failed": "error"}.get(word, "complete")
