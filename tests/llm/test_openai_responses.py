import json
from typing import Any

import httpx
import pytest

from kova_ls.llm._base import AssistantMessage, ModelCall
from kova_ls.llm.openai_responses import open_adapter
from tests.llm.responses_wire import (
    DONE,
    REASONING,
    THOUGHT_AND_CALL,
    text,
)
from tests.llm.wire import Played, bodies, call, conversation, named, settings


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
