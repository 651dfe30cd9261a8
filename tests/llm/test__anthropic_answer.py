import json
from typing import Any

import pytest

from kova_ls.llm._anthropic_answer import usage_of
from kova_ls.values import Usage
from tests.llm.anthropic_wire import (
    PING,
    START,
    STOP,
    THINKING,
    USAGE,
    called,
    delta,
    end,
    read,
    said,
    start,
    stop,
)
from tests.llm.wire import decoded


def test_everything_of_an_answer_is_collected():
    got = read(
        START,
        PING,
        *THINKING,
        *said(2, "I ", "look."),
        *called(3, "t1", "", '{"path"', ':"a"}'),
        *called(4, "t2", ""),
        end("tool_use"),
        STOP,
    )
    assert got == {
        "text": "I look.",
        "reasoning": "So what.",
        "tool_calls": [
            {"id": "t1", "name": "read", "arguments": {"path": "a"}},
            {"id": "t2", "name": "read", "arguments": {}},
        ],
        "incomplete_tool_calls": [],
        "finish_reason": "tool_use",
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 4, "output_tokens": 7},
        "error": None,
        "outcome": "complete",
    }


def test_a_repeated_start_changes_nothing_but_the_usage():
    again = {"type": "message_start", "message": {"usage": {"input_tokens": 11}}}
    got = read(START, START, *said(0, "a"), again, *said(0, "b"), end("end_turn"), STOP)
    assert got["text"] == "ab"
    assert got["usage"]["input_tokens"] == 11


def test_blocks_of_the_servers_own_tools_and_unknown_ones_are_passed_over():
    got = read(
        START,
        start(0, type="server_tool_use", id="s", name="web_search", input={}),
        delta(0, "input_json_delta", partial_json='{"q":1}'),
        stop(0),
        start(1, type="web_search_tool_result", tool_use_id="s", content=[{"x": 1}]),
        stop(1),
        start(2, type="novelty", stuff=1),
        delta(2, "novel_delta", stuff=2),
        stop(2),
        *said(3, "a"),
        delta(3, "citations_delta", citation={}),
        end("end_turn"),
        STOP,
    )
    assert (got["text"], got["tool_calls"], got["outcome"]) == ("a", [], "complete")


def test_a_block_without_a_start_is_read():
    assert read(START, delta(0, "text_delta", text="a"), end("end_turn"))["text"] == "a"


def test_arguments_may_stand_in_the_start():
    begun = start(0, type="tool_use", id="t", name="read", input={"path": "a"})
    got = read(START, begun, stop(0), end("tool_use"), STOP)
    assert got["tool_calls"] == [{"id": "t", "name": "read", "arguments": {"path": "a"}}]
    both = [
        begun,
        delta(0, "input_json_delta", partial_json='{"path":'),
        delta(0, "input_json_delta", partial_json='"b"}'),
    ]
    got = read(START, *both, stop(0), end("tool_use"), STOP)
    assert got["tool_calls"][0]["arguments"] == {"path": "b"}


OVERLOADED = {"type": "overloaded_error", "message": "Overloaded"}


@pytest.mark.parametrize(
    ("rest", "outcome", "error"),
    [
        ([], "truncated", None),
        ([end("end_turn")], "complete", None),
        ([end("stop_sequence"), STOP], "complete", None),
        ([end("pause_turn"), STOP], "complete", None),
        ([end("max_tokens"), STOP], "length", None),
        ([end("model_context_window_exceeded"), STOP], "length", None),
        ([end("refusal", stop_details={"explanation": "no"}), STOP], "refused", None),
        ([{"type": "error", "error": OVERLOADED}], "error", OVERLOADED),
    ],
)
def test_the_outcome_follows_the_end(rest: list[dict[str, Any]], outcome: str, error: Any):
    got = read(START, *said(0, "a"), *rest)
    assert (got["outcome"], got["error"], got["text"]) == (outcome, error, "a")


def test_a_call_cut_off_in_its_arguments_is_incomplete():
    cut = {"id": "t", "name": "read", "arguments": '{"pa'}
    for rest in ([end("max_tokens"), STOP], [{"type": "error", "error": OVERLOADED}], []):
        got = read(START, *called(0, "w", "{}"), *called(1, "t", '{"pa')[:-1], *rest)
        assert [one["id"] for one in got["tool_calls"]] == ["w"]
        assert got["incomplete_tool_calls"] == [cut]


def test_a_call_without_arguments_may_be_cut_off_by_the_length():
    got = read(START, *called(0, "t"), end("max_tokens"), STOP)
    assert (got["tool_calls"], len(got["incomplete_tool_calls"])) == ([], 1)
    got = read(START, *called(0, "t"))
    assert (len(got["tool_calls"]), got["outcome"]) == (1, "truncated")


def test_an_answer_in_one_piece_is_read():
    whole = {
        "type": "message",
        "content": [
            {"type": "text", "text": "a"},
            {"type": "tool_use", "id": "t", "name": "read", "input": {}},
        ],
        "stop_reason": "tool_use",
        "usage": USAGE,
    }
    got = decoded("anthropic", json.dumps(whole).encode())
    assert (got["text"], len(got["tool_calls"]), got["outcome"]) == ("a", 1, "complete")


def test_usage_counts_cached_tokens_as_read():
    assert usage_of({**USAGE, "cache_creation_input_tokens": 2}) == Usage(
        input_tokens=16, output_tokens=1, cached_tokens=4, cache_write_tokens=2, context_tokens=17
    )


def test_a_whole_message_at_the_end_repeats_the_pieces():
    whole = {"type": "message", "content": [{"type": "text", "text": "ab"}]}
    got = read(START, *said(0, "a", "b"), end("end_turn"), {**whole, "usage": USAGE})
    assert (got["text"], got["finish_reason"], got["outcome"]) == ("ab", "end_turn", "complete")
