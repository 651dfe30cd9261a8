import json
from typing import Any

import httpx
import pytest

from kova_ls.llm._base import AssistantMessage, ModelCall, TextContent, UserMessage
from kova_ls.llm.anthropic import Decoder, open_adapter
from tests.llm.anthropic_wire import (
    EPHEMERAL,
    START,
    STOP,
    THINKING,
    called,
    delta,
    end,
    said,
    start,
    stop,
)
from tests.llm.wire import Played, bodies, call, conversation, named, settings


async def test_the_request_of_a_conversation():
    opaque = (
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "n_chars": 2},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "tool_use", "id": "call_1"},
    )
    server = Played(named(START, *said(0, "a"), end("end_turn"), STOP))
    adapter = open_adapter(settings("anthropic", temperature=0.5), "k-secret", **server.seams)
    await call(adapter, conversation("anthropic", opaque))
    request = server.requests[0]
    assert str(request.url) == "https://models.example/v1/messages"
    assert request.headers["x-api-key"] == "k-secret"
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert server.body() == {
        "model": "m-1",
        "stream": True,
        "max_tokens": 32000,
        "temperature": 0.5,
        "tools": [
            {
                "name": "read",
                "description": "Read a file.",
                "input_schema": {
                    "type": "object",
                    "properties": {"path": {"type": "string"}},
                    "required": ["path"],
                },
            }
        ],
        "system": [{"type": "text", "text": "Be brief.", **EPHEMERAL}],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is this?"},
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": "aGk="},
                    },
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "s"},
                    {"type": "text", "text": "I "},
                    {"type": "redacted_thinking", "data": "x"},
                    {"type": "tool_use", "id": "call_1", "name": "read", "input": {"path": "a"}},
                    {"type": "text", "text": "look."},
                    {"type": "tool_use", "id": "call_2", "name": "read", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "call_1", "content": "alpha"},
                    {
                        "type": "tool_result",
                        "tool_use_id": "call_2",
                        "content": "no path given",
                        "is_error": True,
                        **EPHEMERAL,
                    },
                ],
            },
            {"role": "assistant", "content": [{"type": "text", "text": "It is alpha."}]},
            {"role": "user", "content": [{"type": "text", "text": "Thanks.", **EPHEMERAL}]},
        ],
    }


async def test_thinking_makes_the_round():
    server = Played(
        named(START, *THINKING, *said(2, "I look."), *called(3, "t1", "{}"), end("tool_use"), STOP),
        named(START, end("end_turn"), STOP),
    )
    made = await call(open_adapter(settings("anthropic"), "k", **server.seams))
    assert made.reply
    message = AssistantMessage(made.reply.text, made.reply.calls, made.reply.opaque, "anthropic")
    await call(open_adapter(settings("anthropic"), "k", **server.seams), [message])
    assert server.body()["messages"][0]["content"] == [
        {"type": "thinking", "thinking": "So what.", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "ZGF0YQ=="},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "t1", "name": "read", "input": {}},
    ]


def refused(message: str) -> httpx.Response:
    error = {"type": "invalid_request_error", "message": message}
    return httpx.Response(400, json={"type": "error", "error": error})


async def test_the_thinking_of_another_model_is_left_out_once_it_is_refused():
    server = Played(
        refused("messages.0.content.0: Invalid `signature` in `thinking` block"),
        named(START, end("end_turn"), STOP),
        refused("messages.0.content.0: Invalid `signature` in `thinking` block"),
    )
    opaque = ({"type": "thinking", "thinking": "hm", "signature": "theirs"},)
    message = AssistantMessage("", (ModelCall("t1", "read", "{}"),), opaque, "anthropic")
    adapter = open_adapter(settings("anthropic"), "k", **server.seams)
    made = await call(adapter, [message])
    assert made.reply
    assert [one["type"] for one in server.body()["messages"][0]["content"]] == ["tool_use"]
    again = await call(adapter, [message])
    assert again.failure
    assert again.failure.code == "badRequest"
    assert [one["type"] for one in server.body()["messages"][0]["content"]] == ["tool_use"]


async def test_thinking_that_a_server_misses_is_filled_in():
    server = Played(
        refused("The `content[].thinking` in the thinking mode must be passed back to the API."),
        named(START, end("end_turn"), STOP),
    )
    own = ({"type": "thinking", "thinking": "hm", "signature": "s"},)
    calls = (ModelCall("t1", "read", "{}"),)
    messages = [
        AssistantMessage("", calls, own, "anthropic"),
        AssistantMessage("", calls),
        AssistantMessage("done"),
    ]
    made = await call(open_adapter(settings("anthropic"), "k", **server.seams), messages)
    assert made.reply
    first = [one["content"][0] for one in server.body()["messages"]]
    assert [one.get("thinking") for one in first] == ["hm", "", None]


async def test_a_model_that_misses_thinking_is_asked_without():
    server = Played(
        refused("Expected `thinking` or `redacted_thinking`, but found `tool_use`."),
        named(START, end("end_turn"), STOP),
    )
    model = settings("anthropic", reasoning_effort="medium")
    made = await call(open_adapter(model, "k", **server.seams))
    assert made.reply
    assert ("thinking" in server.body(0), "thinking" in server.body()) == (True, False)


def test_unsigned_thinking_goes_back_to_those_who_do_not_sign():
    events = (*START_THINKING, *called(1, "t1", "{}"), end("tool_use"), STOP)
    decoder = Decoder()
    decoder.feed(named(START, *events))
    reply = decoder.finish()
    message = AssistantMessage(reply.text, reply.calls, reply.opaque, "anthropic")
    kept = json.loads(open_adapter(settings("anthropic"), "k").encode(message))["content"]
    assert kept[0] == {"type": "thinking", "thinking": "hm"}
    strict = settings("anthropic", base_url=None)
    kept = json.loads(open_adapter(strict, "k").encode(message))["content"]
    assert [one["type"] for one in kept] == ["tool_use"]
    cut = Decoder()
    cut.feed(named(START, *START_THINKING[:-1]))
    assert cut.finish().opaque == ()


START_THINKING = (
    start(0, type="thinking", thinking="", signature=""),
    delta(0, "thinking_delta", thinking="hm"),
    stop(0),
)


def test_thinking_that_nothing_follows_and_blank_text_are_left_out():
    adapter = open_adapter(settings("anthropic"), "k")
    opaque = ({"type": "thinking", "thinking": "hm", "signature": "s"},)
    assert adapter.encode(AssistantMessage(" ", (), opaque, "anthropic")) == b""
    assert adapter.encode(UserMessage((TextContent("\n"),))) == b""


def test_the_ids_of_other_providers_are_made_to_fit():
    adapter = open_adapter(settings("anthropic"), "k")
    encoded = json.loads(adapter.encode(AssistantMessage("", (ModelCall("a:b", "r", ""),))))
    assert encoded["content"][0]["id"].startswith("toolu_")


async def test_without_a_system_text_the_tools_carry_the_cache_mark():
    answer = named(START, end("end_turn"), STOP)
    body = await bodies(open_adapter, settings("anthropic"), answer, [], system="")
    assert body["tools"][-1]["cache_control"] == {"type": "ephemeral"}
    assert "system" not in body


@pytest.mark.parametrize(
    ("changes", "limit", "thinking"),
    [
        ({"model": "claude-3-haiku"}, 4096, None),
        ({"model": "claude-3-5-sonnet"}, 8192, None),
        ({"reasoning_effort": "low"}, 32000, {"type": "enabled", "budget_tokens": 4096}),
        (
            {"reasoning_effort": "high", "max_output_tokens": 2000},
            2000,
            {"type": "enabled", "budget_tokens": 1999},
        ),
        ({"reasoning_effort": "high", "max_output_tokens": 500}, 500, None),
        ({"reasoning_effort": "none"}, 32000, None),
    ],
)
async def test_limits_and_thinking_follow_the_settings(
    changes: dict[str, Any], limit: int, thinking: Any
):
    model = settings("anthropic", **changes)
    body = await bodies(open_adapter, model, named(START, end("end_turn")), [])
    assert (body["max_tokens"], body.get("thinking")) == (limit, thinking)


@pytest.mark.parametrize(
    ("refusal", "field", "value"),
    [
        ("max_tokens: 32000 > 8192, which is the maximum allowed", "max_tokens", 8192),
        ("thinking.type.enabled is not supported; use adaptive", "thinking", {"type": "adaptive"}),
        ("thinking is not supported by this model", "thinking", None),
    ],
)
async def test_what_a_model_refuses_is_changed(refusal: str, field: str, value: Any):
    refused = httpx.Response(
        400, json={"type": "error", "error": {"type": "invalid_request_error", "message": refusal}}
    )
    server = Played(refused, named(START, *said(0, "a"), end("end_turn"), STOP))
    model = settings("anthropic", reasoning_effort="medium")
    made = await call(open_adapter(model, "k", **server.seams))
    assert made.reply
    assert server.body().get(field) == value
