import json
from typing import Any

import httpx
import pytest

from kova_ls.llm._base import (
    AssistantMessage,
    ModelCall,
    TextContent,
    ToolOutput,
    ToolOutputs,
    UserMessage,
)
from kova_ls.llm.openai_chat import open_adapter
from tests.llm.chat_wire import chunk, piece
from tests.llm.wire import Played, bodies, call, conversation, data, settings


async def test_the_request_of_a_conversation():
    model = settings("openai-chat", max_output_tokens=100, temperature=0.5)
    opaque = ({"reasoning_content": "hm"},)
    body = await bodies(
        open_adapter, model, data(chunk({}, "stop")), conversation("openai-chat", opaque)
    )
    arguments = ['{"path":"a"}', "{}"]
    assert body == {
        "model": "m-1",
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.5,
        "max_tokens": 100,
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "read",
                    "description": "Read a file.",
                    "parameters": {
                        "type": "object",
                        "properties": {"path": {"type": "string"}},
                        "required": ["path"],
                    },
                },
            }
        ],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is this?"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
                ],
            },
            {
                "role": "assistant",
                "content": "I look.",
                "tool_calls": [
                    {
                        "id": f"call_{at}",
                        "type": "function",
                        "function": {"name": "read", "arguments": arguments[at - 1]},
                    }
                    for at in (1, 2)
                ],
                "reasoning_content": "hm",
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "alpha"},
            {"role": "tool", "tool_call_id": "call_2", "content": "no path given"},
            {"role": "assistant", "content": "It is alpha."},
            {"role": "user", "content": "Thanks."},
        ],
    }


async def test_the_reasoning_of_another_api_stays_away():
    opaque = ({"reasoning_content": "hm"},)
    body = await bodies(
        open_adapter,
        settings("openai-chat"),
        data(chunk({}, "stop")),
        conversation("gemini", opaque),
    )
    assert "reasoning_content" not in str(body)


async def test_reasoning_and_call_extras_make_the_round():
    deltas = [
        {"reasoning": "h", "reasoning_details": [{"type": "t", "index": 0, "text": "h"}]},
        {"reasoning_details": [{"type": "t", "index": 0, "text": "m", "signature": "s"}]},
        {"reasoning_details": [{"type": "e", "index": 1, "data": "x"}]},
        {"tool_calls": [{**piece(0, "c", "x", "{}")["tool_calls"][0], "extra_content": {"g": 1}}]},
    ]
    server = Played(data(*map(chunk, deltas), chunk({}, "tool_calls")), data(chunk({}, "stop")))
    made = await call(open_adapter(settings("openai-chat"), "k", **server.seams))
    assert made.reply
    assert made.deltas == [("reasoning", "hm")]
    reply = made.reply
    said = AssistantMessage(reply.text, reply.calls, reply.opaque, "openai-chat")
    await call(open_adapter(settings("openai-chat"), "k", **server.seams), [said])
    assert server.body()["messages"][1] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "c",
                "type": "function",
                "function": {"name": "x", "arguments": "{}"},
                "extra_content": {"g": 1},
            }
        ],
        "reasoning_details": [
            {"type": "t", "index": 0, "text": "hm", "signature": "s"},
            {"type": "e", "index": 1, "data": "x"},
        ],
    }


async def test_openai_itself_gets_its_own_words():
    model = settings("openai-chat", base_url=None, max_output_tokens=9)
    long = "x" * 60
    said = AssistantMessage("", (ModelCall(long, "read", "{}"),))
    body = await bodies(open_adapter, model, data(chunk({}, "stop")), [said], session_id="s-1")
    assert (body["max_completion_tokens"], body["prompt_cache_key"]) == (9, "s-1")
    assert len(body["messages"][1]["tool_calls"][0]["id"]) == 37


async def test_an_empty_conversation_and_empty_answers_leave_no_gap():
    answer = data(chunk({}, "stop"))
    empty = [AssistantMessage(""), UserMessage((TextContent("a"),)), AssistantMessage("")]
    body = await bodies(open_adapter, settings("openai-chat"), answer, empty, system="", tools=())
    assert body["messages"] == [{"role": "user", "content": "a"}]
    assert "tools" not in body
    body = await bodies(open_adapter, settings("openai-chat"), answer, [])
    assert body["messages"] == [{"role": "system", "content": "Be brief."}]


@pytest.mark.parametrize(
    ("said", "gone", "there"),
    [
        ("Unknown parameter: 'stream_options'", "stream_options", None),
        ("'temperature' does not support 0.5", "temperature", None),
        (
            "Use 'max_completion_tokens' instead of 'max_tokens'",
            "max_tokens",
            "max_completion_tokens",
        ),
    ],
)
async def test_what_a_server_refuses_is_left_out(said: str, gone: str, there: str | None):
    refused = httpx.Response(400, json={"error": {"message": said}})
    server = Played(refused, data(chunk({"content": "a"}, "stop")))
    model = settings("openai-chat", temperature=0.5, max_output_tokens=7)
    made = await call(open_adapter(model, "k", **server.seams))
    assert made.reply
    assert made.reply.text == "a"
    assert made.retries == []
    assert gone in server.body(0)
    assert gone not in server.body(1)
    assert there is None or there in server.body(1)


async def test_the_reasoning_that_a_server_refuses_is_taken_out():
    refused = httpx.Response(400, json={"error": {"message": "'reasoning_content' is unsupported"}})
    server = Played(refused, data(chunk({"content": "a"}, "stop")))
    messages = conversation("openai-chat", ({"reasoning_content": "hm"},))
    made = await call(open_adapter(settings("openai-chat"), "k", **server.seams), messages)
    assert made.reply
    assert "reasoning_content" in str(server.body(0))
    assert "reasoning_content" not in str(server.body(1))


async def test_calls_that_miss_a_signature_are_marked_as_another_models():
    message = "Function call is missing a thought_signature in functionCall parts."
    server = Played(
        httpx.Response(400, json=[{"error": {"code": 400, "message": message}}]),
        data(chunk({"content": "a"}, "stop")),
    )
    calls = (
        ModelCall("1", "x", "{}", {"extra_content": {"google": {"thought_signature": "old"}}}),
        ModelCall("2", "x", "{}"),
    )
    said = AssistantMessage("", calls, (), "openai-chat")
    made = await call(open_adapter(settings("openai-chat"), "k", **server.seams), [said])
    assert made.reply
    assert [one.get("extra_content") for one in server.body()["messages"][-1]["tool_calls"]] == [
        {"google": {"thought_signature": "skip_thought_signature_validator"}},
        None,
    ]


async def test_reasoning_that_a_server_misses_is_filled_in():
    message = "thinking is enabled but reasoning_content is missing in assistant tool call message"
    server = Played(
        httpx.Response(400, json={"error": {"message": message}}),
        data(chunk({"content": "a"}, "stop")),
        httpx.Response(400, json={"error": {"message": message}}),
    )
    calls = (ModelCall("1", "read", "{}"),)
    messages = [
        AssistantMessage("", calls, ({"reasoning_content": "hm"},), "openai-chat"),
        AssistantMessage("", calls, ({"reasoning": "so"},), "openai-chat"),
        AssistantMessage("", calls, (), "anthropic"),
        AssistantMessage("done"),
        UserMessage((TextContent("hi"),)),
    ]
    adapter = open_adapter(settings("openai-chat"), "k", **server.seams)
    assert (await call(adapter, messages)).reply
    assert [one.get("reasoning_content") for one in server.body()["messages"][1:]] == [
        "hm",
        "so",
        "I use read.",
        "I answer.",
        None,
    ]
    assert "reasoning" not in server.body()["messages"][2]
    assert (await call(adapter, messages)).failure


@pytest.mark.parametrize(
    "changes", [{"model": "devstral-2"}, {"base_url": "https://mistral.example"}]
)
def test_mistral_gets_ids_of_nine_letters(changes: dict[str, Any]):
    adapter = open_adapter(settings("openai-chat", **changes), "k")
    calls = (ModelCall("aB3dE6gH9", "x", "{}"), ModelCall("call_0123456789", "x", "{}"))
    asked = json.loads(adapter.encode(AssistantMessage("", calls)))["tool_calls"]
    told = b"[" + adapter.encode(
        ToolOutputs((ToolOutput("aB3dE6gH9", "x", ""), ToolOutput("call_0123456789", "x", "")))
    )
    ids = [one["id"] for one in asked]
    assert ids == [one["tool_call_id"] for one in json.loads(told + b"]")]
    assert ids[0] == "aB3dE6gH9"
    assert (len(ids[1]), ids[1].isalnum()) == (9, True)


async def test_a_refusal_that_nothing_can_be_done_about_is_an_error():
    refused = httpx.Response(400, json={"error": {"message": "stream_options, still"}})
    server = Played(refused, refused)
    made = await call(open_adapter(settings("openai-chat"), "k", **server.seams))
    assert made.failure
    assert made.failure.code == "badRequest"
    assert len(server.requests) == 2
