import json
from typing import Any

import httpx
import pytest

from kova_ls.llm._base import AssistantMessage, ModelCall
from kova_ls.llm.gemini import open_adapter
from tests.llm.gemini_wire import called, chunk
from tests.llm.wire import READ, Played, bodies, call, conversation, data, settings


async def test_the_request_of_a_conversation():
    server = Played(data(chunk({"text": "a"}, finish="STOP")))
    model = settings(
        "gemini", base_url="https://models.example", max_output_tokens=50, temperature=0.5
    )
    opaque = ({"n_chars": 2, "thoughtSignature": "s"},)
    adapter = open_adapter(model, "k-secret", **server.seams)
    await call(adapter, conversation("gemini", opaque))
    request = server.requests[0]
    assert str(request.url) == (
        "https://models.example/v1beta/models/m-1:streamGenerateContent?alt=sse"
    )
    assert request.headers["x-goog-api-key"] == "k-secret"

    def answered(identity: str, **response: str) -> dict[str, Any]:
        return {"functionResponse": {"id": identity, "name": "read", "response": response}}

    assert server.body() == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [
            {
                "functionDeclarations": [
                    {
                        "name": "read",
                        "description": "Read a file.",
                        "parametersJsonSchema": READ.schema,
                    }
                ]
            }
        ],
        "generationConfig": {"maxOutputTokens": 50, "temperature": 0.5},
        "contents": [
            {
                "role": "user",
                "parts": [
                    {"text": "What is this?"},
                    {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
                ],
            },
            {
                "role": "model",
                "parts": [
                    {"text": "I ", "thoughtSignature": "s"},
                    {"text": "look."},
                    called("read", "call_1", path="a"),
                    called("read", "call_2"),
                ],
            },
            {
                "role": "user",
                "parts": [
                    answered("call_1", output="alpha"),
                    answered("call_2", error="no path given"),
                ],
            },
            {"role": "model", "parts": [{"text": "It is alpha."}]},
            {"role": "user", "parts": [{"text": "Thanks."}]},
        ],
    }


async def test_signatures_make_the_round_on_the_very_part():
    parts = [
        {"text": "I really "},
        {"text": "look.", "thoughtSignature": "s1"},
        {**called("read", path="a"), "thoughtSignature": "s2"},
        called("read", path="b"),
    ]
    server = Played(
        data(
            chunk({"text": "I "}),
            chunk({"text": "really "}),
            *map(chunk, parts[1:]),
            chunk({"text": "end"}, finish="STOP"),
        ),
        data(chunk({"text": "a"}, finish="STOP")),
    )
    made = await call(open_adapter(settings("gemini"), "k", **server.seams))
    assert made.reply
    message = AssistantMessage(made.reply.text, made.reply.calls, made.reply.opaque, "gemini")
    await call(open_adapter(settings("gemini"), "k", **server.seams), [message])
    assert server.body()["contents"][0]["parts"] == [*parts, {"text": "end"}]


@pytest.mark.parametrize("message", ["Corrupted thought signature.", "thought_signature invalid"])
async def test_signatures_that_are_refused_are_left_out(message: str):
    error = {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}
    server = Played(
        httpx.Response(400, json={"error": error}), data(chunk({"text": "a"}, finish="STOP"))
    )
    opaque = ({"n_chars": 0, "thoughtSignature": "s"}, {"call": "a"})
    calls = (ModelCall("a", "read", "{}", {"thoughtSignature": "t"}), ModelCall("b", "read", "{}"))
    said = AssistantMessage("", calls, opaque, "gemini")
    model = settings("gemini", model="gemini-3-pro")
    made = await call(open_adapter(model, "k", **server.seams), [said])
    assert made.reply
    parts = server.body()["contents"][0]["parts"]
    assert [part.get("thoughtSignature") for part in parts] == [
        "skip_thought_signature_validator",
        None,
    ]


def test_calls_of_another_model_are_marked_for_gemini_3():
    message = AssistantMessage("", (ModelCall("a", "r", ""), ModelCall("b", "r", "")), (), "x")
    encoded = open_adapter(settings("gemini", model="gemini-3-pro"), "k").encode(message)
    signatures = [part.get("thoughtSignature") for part in json.loads(encoded)["parts"]]
    assert signatures == ["skip_thought_signature_validator", None]
    encoded = open_adapter(settings("gemini", model="gemini-2.5-pro"), "k").encode(message)
    assert b"thoughtSignature" not in encoded


@pytest.mark.parametrize(
    ("changes", "thinking"),
    [
        ({"model": "gemini-2.0-flash"}, None),
        ({"model": "gemini-2.5-pro"}, {"includeThoughts": True}),
        (
            {"model": "gemini-2.5-pro", "reasoning_effort": "low"},
            {"includeThoughts": True, "thinkingBudget": 4096},
        ),
        (
            {"model": "gemini-3-pro", "reasoning_effort": "low"},
            {"includeThoughts": True, "thinkingLevel": "low"},
        ),
    ],
)
async def test_thinking_follows_model_and_settings(changes: dict[str, Any], thinking: Any):
    body = await bodies(open_adapter, settings("gemini", **changes), data(chunk(finish="STOP")), [])
    assert body["generationConfig"].get("thinkingConfig") == thinking


@pytest.mark.parametrize(
    ("refusal", "there"),
    [
        ("This model: thinking is not supported", "parametersJsonSchema"),
        ('Unknown name "parametersJsonSchema"', '"parameters"'),
    ],
)
async def test_what_a_model_refuses_is_changed(refusal: str, there: str):
    refused = httpx.Response(400, json={"error": {"code": 400, "message": refusal}})
    server = Played(refused, data(chunk({"text": "a"}, finish="STOP")))
    model = settings("gemini", model="gemini-2.5-flash")
    made = await call(open_adapter(model, "k", **server.seams))
    assert made.reply
    assert server.body(0) != server.body(1)
    assert there in json.dumps(server.body(1))
