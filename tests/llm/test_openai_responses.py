import json
from typing import Any

import httpx
import pytest

from kova_ls.llm._base import AssistantMessage, ModelCall
from kova_ls.llm.openai_responses import open_adapter, usage_of
from kova_ls.values import Usage
from tests.llm.wire import Played, bodies, call, conversation, decoded, named, settings

USAGE = {
    "input_tokens": 10,
    "input_tokens_details": {"cached_tokens": 4},
    "output_tokens": 3,
    "total_tokens": 13,
}


def event(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", **more}


def response(status: str, **more: Any) -> dict[str, Any]:
    return event(status, response={"object": "response", "status": status, "usage": None, **more})


START = event("created", response={"status": "in_progress", "usage": None, "output": []})
DONE = response("completed", usage=USAGE)


def added(index: int, **item: Any) -> dict[str, Any]:
    return event("output_item.added", output_index=index, item=item)


def done(index: int, **item: Any) -> dict[str, Any]:
    return event("output_item.done", output_index=index, item=item)


def text(index: int, said: str) -> dict[str, Any]:
    return event("output_text.delta", output_index=index, item_id="m", delta=said)


BEGUN = {"type": "function_call", "id": "f1", "call_id": "c1", "name": "x", "arguments": ""}
P1 = '{"p":1}'


def read(*events: dict[str, Any]) -> dict[str, Any]:
    return decoded("openai-responses", named(*events))


REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "So."}],
    "encrypted_content": "gAAA",
}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "read"}
THOUGHT_AND_CALL = (
    START,
    added(0, type="reasoning", id="rs_1", summary=[]),
    event("reasoning_summary_part.added", output_index=0, summary_index=0),
    event("reasoning_summary_text.delta", output_index=0, delta="So."),
    done(0, **REASONING),
    added(1, type="message", id="m", content=[], phase="commentary"),
    text(1, "I look."),
    done(
        1,
        type="message",
        id="m",
        content=[{"type": "output_text", "text": "I look."}],
        phase="commentary",
    ),
    added(2, **CALL, arguments="", status="in_progress"),
    event("function_call_arguments.delta", output_index=2, delta='{"path"'),
    event("function_call_arguments.delta", output_index=2, delta=':"a"}'),
    event("function_call_arguments.done", output_index=2, arguments='{"path":"a"}'),
    done(2, **CALL, arguments='{"path":"a"}', status="completed"),
    DONE,
)


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


async def test_the_request_of_a_conversation():
    opaque = (
        REASONING,
        {"type": "message", "n_chars": 2, "phase": "commentary"},
        {"type": "function_call", "call_id": "call_1"},
    )
    body = await bodies(
        open_adapter,
        settings("openai-responses", reasoning_effort="low", max_output_tokens=50),
        named(DONE),
        conversation("openai-responses", opaque),
        session_id="s-1",
    )

    def said(words: str, **more: Any) -> dict[str, Any]:
        content = [{"type": "output_text", "text": words}]
        return {"type": "message", "role": "assistant", "content": content, **more}

    assert body == {
        "model": "m-1",
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"effort": "low", "summary": "auto"},
        "max_output_tokens": 50,
        "instructions": "Be brief.",
        "prompt_cache_key": "s-1",
        "tools": [
            {
                "type": "function",
                "name": "read",
                "description": "Read a file.",
                "parameters": {
                    "type": "object",
                    "properties": {"path": {"type": "string"}},
                    "required": ["path"],
                },
                "strict": False,
            }
        ],
        "input": [
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "What is this?"},
                    {
                        "type": "input_image",
                        "detail": "auto",
                        "image_url": "data:image/png;base64,aGk=",
                    },
                ],
            },
            REASONING,
            said("I ", phase="commentary"),
            {
                "type": "function_call",
                "call_id": "call_1",
                "name": "read",
                "arguments": '{"path":"a"}',
            },
            said("look."),
            {"type": "function_call", "call_id": "call_2", "name": "read", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call_1", "output": "alpha"},
            {"type": "function_call_output", "call_id": "call_2", "output": "no path given"},
            said("It is alpha."),
            {"role": "user", "content": [{"type": "input_text", "text": "Thanks."}]},
        ],
    }


async def test_encrypted_reasoning_makes_the_round():
    server = Played(named(*THOUGHT_AND_CALL), named(DONE))
    made = await call(open_adapter(settings("openai-responses"), "k", **server.seams))
    assert made.deltas == [("reasoning", "So."), ("text", "I look.")]
    assert made.reply
    said = AssistantMessage(
        made.reply.text, made.reply.calls, made.reply.opaque, "openai-responses"
    )
    await call(open_adapter(settings("openai-responses"), "k", **server.seams), [said])
    assert [item["type"] for item in server.body()["input"]] == [
        "reasoning",
        "message",
        "function_call",
    ]
    assert server.body()["input"][0] == REASONING


@pytest.mark.parametrize("is_in_stream", [False, True])
async def test_reasoning_of_another_account_is_left_out_once_it_is_refused(is_in_stream: bool):
    error = {
        "type": "invalid_request_error",
        "code": "invalid_encrypted_content",
        "message": "The encrypted content gAAA...Rg== could not be verified.",
    }
    refused = httpx.Response(400, json={"error": error})
    server = Played(
        named({"type": "error", "error": error}) if is_in_stream else refused, named(DONE)
    )
    opaque = (REASONING, {"type": "function_call", "call_id": "c1"})
    message = AssistantMessage("", (ModelCall("c1", "read", "{}"),), opaque, "openai-responses")
    adapter = open_adapter(settings("openai-responses"), "k", **server.seams)
    made = await call(adapter, [message])
    assert made.reply
    assert [one["type"] for one in server.body(0)["input"]] == ["reasoning", "function_call"]
    assert [one["type"] for one in server.body()["input"]] == ["function_call"]
    assert "include" in server.body()


async def test_reasoning_whose_call_was_cut_off_is_left_out():
    opaque = (REASONING, {"type": "function_call", "call_id": "gone"})
    adapter = open_adapter(settings("openai-responses"), "k")
    assert adapter.encode(AssistantMessage("", (), opaque, "openai-responses")) == b""


def test_a_long_id_of_another_provider_is_shortened():
    adapter = open_adapter(settings("openai-responses"), "k")
    encoded = json.loads(adapter.encode(AssistantMessage("", (ModelCall("x" * 90, "r", ""),))))
    assert len(encoded["call_id"]) == 37


@pytest.mark.parametrize(
    ("said", "gone"),
    [
        ("Encrypted content is not supported with this model.", "include"),
        ("Your organization must be verified to generate reasoning summaries", "reasoning"),
        ("Unsupported parameter: 'temperature'", "temperature"),
        ("Unknown parameter: 'prompt_cache_key'", "prompt_cache_key"),
    ],
)
async def test_what_a_model_refuses_is_left_out(said: str, gone: str):
    refused = httpx.Response(400, json={"error": {"message": said}})
    server = Played(refused, named(text(0, "a"), DONE))
    model = settings("openai-responses", temperature=0.5)
    made = await call(open_adapter(model, "k", **server.seams), session_id="s")
    assert made.reply
    assert (gone in server.body(0), gone in server.body(1)) == (True, False)


async def test_a_model_without_reasoning_is_not_asked_for_it():
    model = settings("openai-responses", model="gpt-4o")
    body = await bodies(open_adapter, model, named(DONE), [])
    assert "include" not in body
    assert "reasoning" not in body
