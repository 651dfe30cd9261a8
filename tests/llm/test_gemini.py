import json
from typing import Any

import httpx
import pytest

from kova_ls.llm import decode
from kova_ls.llm._base import AssistantMessage, ModelCall
from kova_ls.llm.gemini import open_adapter, usage_of
from kova_ls.values import Usage
from tests.llm.wire import READ, Played, bodies, call, conversation, data, decoded, settings

USAGE = {"promptTokenCount": 10, "candidatesTokenCount": 2, "totalTokenCount": 12}


def chunk(*parts: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], **more}


def called(name: str, identity: str | None = None, **args: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": args, **({"id": identity} if identity else {})}}


def read(*chunks: Any) -> dict[str, Any]:
    return decoded("gemini", data(*chunks))


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
