"""Write answers of openai_responses, event by event."""

from typing import Any

from tests.llm.wire import decoded, named

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
