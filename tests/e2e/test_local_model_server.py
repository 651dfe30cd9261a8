"""The local model server answers as providers do: over HTTP, in a stream, with tool calls."""

import json

import httpx
import pytest

from tests.e2e.conftest import ModelServer

pytestmark = [pytest.mark.local_model, pytest.mark.timeout(180)]


def tool(name: str, **arguments: str) -> dict[str, object]:
    properties = {key: {"type": "string", "description": text} for key, text in arguments.items()}
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": f"{name} something",
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": list(properties),
            },
        },
    }


TOOLS = [
    tool("read", path="file to read"),
    tool("bash", command="command to run"),
    tool("write", path="file to write", content="its text"),
]
PROMPT = {"role": "user", "content": "Read the file notes.txt and tell me what it says"}


def stream(server: ModelServer, messages: list[dict[str, object]]) -> list[dict[str, object]]:
    body = {
        "model": server.model,
        "messages": messages,
        "tools": TOOLS,
        "temperature": 0,
        "max_tokens": 128,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    url = f"{server.base_url}/chat/completions"
    with (
        httpx.Client(trust_env=False, timeout=150) as client,
        client.stream("POST", url, json=body) as response,
    ):
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        data = [line[6:] for line in response.iter_lines() if line.startswith("data: ")]
    assert data.pop() == "[DONE]"
    return [json.loads(line) for line in data]


def test_a_request_for_a_file_is_answered_by_a_streamed_call(model_server: ModelServer) -> None:
    chunks = stream(model_server, [PROMPT])
    choices = [choice for chunk in chunks for choice in chunk["choices"]]
    calls = [call for choice in choices for call in choice["delta"].get("tool_calls") or []]
    name = "".join(call["function"].get("name") or "" for call in calls)
    arguments = "".join(call["function"].get("arguments") or "" for call in calls)
    assert len(calls) > 1, "the arguments came in one piece"
    assert (name, json.loads(arguments)) == ("read", {"path": "notes.txt"})
    assert [c["finish_reason"] for c in choices if c["finish_reason"]] == ["tool_calls"]
    assert any((chunk.get("usage") or {}).get("completion_tokens") for chunk in chunks)


def test_the_result_of_the_call_is_answered_in_words(model_server: ModelServer) -> None:
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "read", "arguments": '{"path": "notes.txt"}'},
    }
    chunks = stream(
        model_server,
        [
            PROMPT,
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "content": "Buy milk on Tuesday."},
        ],
    )
    choices = [choice for chunk in chunks for choice in chunk["choices"]]
    assert "".join(choice["delta"].get("content") or "" for choice in choices).strip()
