import json
from typing import Any

import pytest

from kova_ls.llm._chat_answer import usage_of
from kova_ls.values import Usage
from tests.llm.chat_wire import DONE, USAGE, called, chunk, piece, read
from tests.llm.wire import data, decoded


def test_text_reasoning_and_usage_are_collected():
    got = read(
        {"choices": [], "prompt_filter_results": []},
        chunk({"role": "assistant", "content": ""}),
        chunk({"content": None, "reasoning_content": "hm"}),
        chunk({"content": "a"}),
        chunk({"content": "b"}, usage=None),
        chunk({}, "stop"),
        {"choices": [], "usage": USAGE},
    )
    assert got == {
        "text": "ab",
        "reasoning": "hm",
        "tool_calls": [],
        "incomplete_tool_calls": [],
        "finish_reason": "stop",
        "usage": USAGE,
        "error": None,
        "outcome": "complete",
    }


@pytest.mark.parametrize(
    "deltas",
    [
        [piece(1, "c", "read", ""), piece(1, None, None, '{"p"'), piece(1, None, None, ":1}")],
        [piece(0, "c", "read", '{"p":'), piece(0, "", "", "1}")],
        [piece(None, "c", "read", '{"p":'), piece(None, None, None, "1}")],
        [piece(None, "c", "read", '{"p":'), piece(None, "c", None, "1}")],
        [piece(0, "c", "read", {"p": 1})],
        [piece(0, "c", "re", ""), piece(0, None, "ad", '{"p":1}')],
        [piece(0, "c", "read", '{"p"'), piece(0, "other", None, ":1}")],
    ],
)
def test_one_call_in_every_dialect(deltas: list[dict[str, Any]]):
    got = read(*map(chunk, deltas), chunk({}, "tool_calls"))
    assert got["tool_calls"] == [called("c", "read", p=1)]
    assert got["outcome"] == "complete"


@pytest.mark.parametrize(
    "deltas",
    [
        [piece(0, "a", "x", "{}"), piece(1, "b", "y", "")],
        [piece(0, "a", "x", ""), piece(0, "b", "y", "")],
        [piece(None, "a", "x", "{}"), piece(None, "b", "y", "{}")],
        [piece(3, "a", "x", ""), piece(5, "b", "y", ""), piece(3, None, None, "{}")],
        [
            {
                "tool_calls": piece(0, "a", "x", "{}")["tool_calls"]
                + piece(1, "b", "y", "{}")["tool_calls"]
            }
        ],
    ],
)
def test_two_calls_in_every_dialect(deltas: list[dict[str, Any]]):
    got = read(*map(chunk, deltas), chunk({}, "stop"))
    assert got["tool_calls"] == [called("a", "x"), called("b", "y")]


def test_a_call_without_an_id_is_told_without_one():
    assert read(chunk(piece(0, None, "x", "{}"), "tool_calls"))["tool_calls"] == [called(None, "x")]


def test_the_old_function_call_is_a_call():
    got = read(
        chunk({"function_call": {"name": "x", "arguments": "{"}}),
        chunk({"function_call": {"arguments": "}"}}, "function_call"),
    )
    assert got["tool_calls"] == [called(None, "x")]


@pytest.mark.parametrize("finish", ["length", None, "tool_calls"])
def test_a_call_cut_off_in_its_arguments_is_incomplete(finish: str | None):
    got = read(chunk(piece(0, "a", "x", '{"p": "ha')), chunk({}, finish), end=b"")
    assert got["tool_calls"] == []
    assert got["incomplete_tool_calls"] == [{"id": "a", "name": "x", "arguments": '{"p": "ha'}]
    assert got["outcome"] == {"length": "length", None: "truncated"}.get(finish, "complete")


def test_only_the_last_call_of_an_answer_cut_off_may_lack_its_arguments():
    got = read(chunk(piece(0, "a", "x", "")), chunk(piece(1, "b", "y", "")), end=b"")
    assert [one["id"] for one in got["tool_calls"]] == ["a"]
    assert [one["id"] for one in got["incomplete_tool_calls"]] == ["b"]


@pytest.mark.parametrize(
    ("chunks", "end", "outcome"),
    [
        ([chunk({"content": "a"})], b"", "truncated"),
        ([chunk({"content": "a"})], DONE, "complete"),
        ([chunk({"content": "a"}, "stop")], b"", "complete"),
        ([chunk({"content": "a"}, "length")], DONE, "length"),
        ([chunk({"content": "a"}, "content_filter")], DONE, "refused"),
        ([chunk({"content": "a"}, "error")], DONE, "error"),
        ([chunk({"content": "a"}, "insufficient_system_resource")], DONE, "error"),
        ([chunk({"content": "a"}, "function_call_filter: MALFORMED_FUNCTION_CALL")], b"", "error"),
        ([chunk({"content": "a"}, "content_filter: PROHIBITED_CONTENT")], DONE, "refused"),
        ([chunk({"content": "a"}, "MAX_TOKENS")], DONE, "length"),
        ([chunk({"content": "a"}, "abort")], DONE, "error"),
        ([chunk({"content": "a"}, "")], b"", "truncated"),
        ([chunk({"content": "a"}, "eos")], b"", "complete"),
    ],
)
def test_the_outcome_follows_the_end(chunks: list[Any], end: bytes, outcome: str):
    got = read(*chunks, end=end)
    assert (got["outcome"], got["text"], got["error"]) == (outcome, "a", None)


ERROR = {"code": 502, "message": "upstream"}


@pytest.mark.parametrize(
    "body",
    [
        data(chunk({"content": "a"}, "length"), {"error": ERROR}) + DONE,
        data(chunk({"content": "a"}, "length"), chunk({}, "error", error=ERROR)),
        data(chunk({"content": "a"}, "length")) + b"event: error\n" + data({"error": ERROR}),
        data(chunk({"content": "a"}, "length")) + b"event: error\n" + data(ERROR),
        data(chunk({"content": "a"}, "length"), {"choices": [], "x_groq": {"error": ERROR}}),
        data(chunk({"content": "a"}, "length")) + b'{"error":\n {"code":502,"message":"upstream"}}',
    ],
)
def test_an_error_within_the_stream_wins(body: bytes):
    got = decoded("openai-chat", body)
    assert (got["outcome"], got["error"], got["text"]) == ("error", ERROR, "a")
    assert got["finish_reason"] in ("length", "error")


@pytest.mark.parametrize(
    "said",
    [
        {"detail": "Not found"},
        {"message": "Not found", "code": 40},
        {"error_code": 17, "error_msg": "Not found"},
        {"detail": [{"loc": ["body"], "msg": "Not found", "type": "missing"}]},
    ],
)
def test_a_lone_complaint_is_an_error(said: dict[str, Any]):
    for body in (data(said), json.dumps(said, indent=1).encode(), data({"choices": []}, said)):
        got = decoded("openai-chat", body)
        assert (got["error"], got["outcome"]) == (said, "error")


def test_a_complaint_beside_an_answer_is_none():
    assert read({"message": "warming up"}, chunk({"content": "a"}), end=b"")["error"] is None
    assert read(chunk({"content": "a"}), {"message": "odd"}, end=b"")["outcome"] == "truncated"


def test_an_error_may_stand_in_the_choice_or_in_the_base_response():
    choice = {"index": 0, "delta": {"content": ""}, "finish_reason": "error", "error": ERROR}
    assert read({"choices": [choice]})["error"] == ERROR
    base = {"status_code": 1004, "status_msg": "login fail"}
    assert read({"choices": None, "base_resp": base})["error"] == base
    fine = {"status_code": 0, "status_msg": ""}
    assert read(chunk({"content": "a"}, "stop", base_resp=fine))["outcome"] == "complete"


def test_an_error_that_names_itself_is_an_error():
    said = {"object": "error", "message": "too long", "code": 400}
    assert read(said)["error"] == said


def test_a_refusal_is_no_text():
    got = read(chunk({"refusal": "I can't"}), chunk({"refusal": " do that."}), chunk({}, "stop"))
    assert (got["outcome"], got["text"], got["error"]) == ("refused", "", None)


def test_usage_may_hide_under_another_name():
    got = read(chunk({"content": "a"}, "stop", x_groq={"id": "1", "usage": USAGE}))
    assert got["usage"] == USAGE
    assert read(chunk({}, "stop", usage=USAGE))["usage"] == USAGE


def test_usage_may_stand_in_the_choice():
    choice = {"index": 0, "delta": {}, "finish_reason": "stop", "usage": USAGE}
    assert read({"choices": [choice]})["usage"] == USAGE
    assert read({"choices": [choice], "usage": {"prompt_tokens": 1}})["usage"] == {
        "prompt_tokens": 1
    }
    assert read({"choices": [choice]}, {"choices": [], "usage": None})["usage"] == USAGE


def test_only_the_first_of_several_answers_is_read():
    def of(index: int, text: str, finish: str | None = None) -> dict[str, Any]:
        return {"index": index, "delta": {"content": text}, "finish_reason": finish}

    got = read(
        {"choices": [of(0, "a"), of(1, "x")]},
        {"choices": [of(1, "y", "length")]},
        {"choices": [of(1, "z"), of(0, "b", "stop")]},
    )
    assert (got["text"], got["finish_reason"]) == ("ab", "stop")


def test_events_that_no_blank_line_parts_are_read():
    lines = data(chunk({"content": "a"}), chunk({"content": "b"}, "stop")).replace(b"\n\n", b"\n")
    for end in (b"", b"data: [DONE]", b"data: [DONE]\n\n", b'data: {"choices": [{"del'):
        got = decoded("openai-chat", lines + end)
        assert (got["text"], got["finish_reason"], got["error"]) == ("ab", "stop", None)


@pytest.mark.parametrize("arguments", ["null", "[]", '""', "", "{}", None])
def test_no_arguments_are_written_in_many_ways(arguments: str | None):
    got = read(chunk(piece(0, "c", "read", arguments)), chunk({}, "tool_calls"))
    assert got["tool_calls"] == [called("c", "read")]


def test_arguments_are_mended_or_never_run():
    got = read(
        chunk(piece(0, "a", "x", '{"p": "one\ntwo"}')),
        chunk(piece(1, "b", "x", '"{\\"p\\": 1}"')),
        chunk(piece(2, "c", "x", '{"p": nope}')),
        chunk({}, "tool_calls"),
    )
    assert got["tool_calls"] == [called("a", "x", p="one\ntwo"), called("b", "x", p=1)]
    assert got["incomplete_tool_calls"] == [{"id": "c", "name": "x", "arguments": '{"p": nope}'}]


def test_reasoning_comes_under_many_names():
    details = [{"type": "reasoning.text", "index": 0, "text": "hm"}]
    for delta in (
        {"reasoning": "hm", "reasoning_details": details},
        {"reasoning_details": details},
        {"reasoning_content": "hm", "reasoning": "hm"},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]},
    ):
        assert read(chunk(delta), chunk({"content": [{"type": "text", "text": "a"}]}, "stop")) == {
            "text": "a",
            "reasoning": "hm",
            "tool_calls": [],
            "incomplete_tool_calls": [],
            "finish_reason": "stop",
            "usage": None,
            "error": None,
            "outcome": "complete",
        }


def test_an_answer_in_one_piece_is_read():
    message = {"role": "assistant", "content": "a", **piece(None, "c", "x", "{}")}
    whole = {"object": "chat.completion", "usage": USAGE}
    whole["choices"] = [{"index": 0, "message": message, "finish_reason": "tool_calls"}]
    got = decoded("openai-chat", json.dumps(whole).encode())
    assert (got["text"], got["tool_calls"], got["usage"]) == ("a", [called("c", "x")], USAGE)


def test_usage_of_every_dialect():
    assert usage_of({**USAGE, "prompt_tokens_details": {"cached_tokens": 3}, "cost": 0.5}) == Usage(
        input_tokens=5, output_tokens=2, cached_tokens=3, context_tokens=7, cost=0.5
    )
    assert usage_of({**USAGE, "prompt_cache_hit_tokens": 4}).cached_tokens == 4
    assert usage_of({**USAGE, "cached_tokens": 4}).cached_tokens == 4


@pytest.mark.parametrize("deltas", [[{"content": "a"}], [{"reasoning_content": "hm"}]])
def test_a_whole_message_at_the_end_repeats_the_pieces(deltas: list[dict[str, Any]]):
    pieces = [*deltas, {"content": "b"}, piece(0, "c", "x", "{}")]
    message = {"role": "assistant", "content": "ab", **piece(0, "c", "x", "{}")}
    whole = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    got = read(
        *map(chunk, pieces), {"object": "chat.completion", "choices": [whole], "usage": USAGE}
    )
    assert got["text"] == "".join(delta.get("content", "") for delta in deltas) + "b"
    assert got["tool_calls"] == [called("c", "x")]
    assert (got["finish_reason"], got["usage"]) == ("tool_calls", USAGE)


def test_a_lone_call_may_come_without_its_list():
    one = piece(0, "c", "x", '{"p":1}')["tool_calls"][0]
    got = read(chunk({"role": "assistant", "tool_calls": one}), chunk({}, "tool_calls"))
    assert got["tool_calls"] == [called("c", "x", p=1)]


def test_a_summary_among_the_parts_is_reasoning():
    part = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}
    got = read(chunk({"content": [part]}), chunk({"content": "a"}, "stop"))
    assert (got["reasoning"], got["text"]) == ("hm", "a")


def test_one_answer_may_come_in_several_parts_of_one_number():
    call = {"index": 0, "delta": piece(0, "c", "x", "{}"), "finish_reason": "tool_calls"}
    got = read({"choices": [{"index": 0, "delta": {"content": "a"}}, call]})
    assert (got["text"], got["finish_reason"]) == ("a", "tool_calls")
    assert got["tool_calls"] == [called("c", "x")]
