"""Write answers of anthropic, event by event."""

from typing import Any

from tests.llm.wire import decoded, named

USAGE = {"input_tokens": 10, "cache_read_input_tokens": 4, "output_tokens": 1}
START = {"type": "message_start", "message": {"role": "assistant", "usage": USAGE}}
PING = {"type": "ping"}
STOP = {"type": "message_stop"}
EPHEMERAL = {"cache_control": {"type": "ephemeral"}}


def start(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **more}}


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def end(reason: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "message_delta",
        "delta": {"stop_reason": reason, **more},
        "usage": {"output_tokens": 7},
    }


def said(index: int, *pieces: str) -> list[dict[str, Any]]:
    deltas = [delta(index, "text_delta", text=piece) for piece in pieces]
    return [start(index, type="text", text=""), *deltas, stop(index)]


def called(index: int, identity: str, *pieces: str) -> list[dict[str, Any]]:
    deltas = [delta(index, "input_json_delta", partial_json=piece) for piece in pieces]
    return [start(index, type="tool_use", id=identity, name="read", input={}), *deltas, stop(index)]


def read(*events: dict[str, Any]) -> dict[str, Any]:
    return decoded("anthropic", named(*events))


THINKING = [
    start(0, type="thinking", thinking="", signature=""),
    delta(0, "thinking_delta", thinking="So "),
    delta(0, "thinking_delta", thinking="what."),
    delta(0, "signature_delta", signature="c2ln"),
    stop(0),
    start(1, type="redacted_thinking", data="ZGF0YQ=="),
    stop(1),
]
