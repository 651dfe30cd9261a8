"""Write answers of openai_chat, event by event."""

from typing import Any

from tests.llm.wire import data, decoded

DONE = b"data: [DONE]\n\n"
USAGE = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> Any:
    return {"choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish}], **more}


def piece(index: int | None, identity: Any, name: Any, arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    call = {"index": index, "id": identity, "type": "function", "function": function}
    return {"tool_calls": [{key: value for key, value in call.items() if value is not None}]}


def read(*chunks: Any, end: bytes = DONE) -> dict[str, Any]:
    return decoded("openai-chat", data(*chunks) + end)


def called(identity: str | None, name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": identity, "name": name, "arguments": arguments}
