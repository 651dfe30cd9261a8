"""Talk to OpenAI's Responses API.

Nothing is stored at the provider: reasoning comes encrypted and goes back as it came, in the
order of the items it belongs to.
Source: OpenAI API reference, "Responses" and "Streaming events".
"""

import hashlib
import re
from typing import Any

import orjson

from kova_ls.config import ModelSettings
from kova_ls.errors import AdapterFailure
from kova_ls.llm._array import GrowingArray
from kova_ls.llm._base import (
    AssistantMessage,
    Message,
    ModelCall,
    ModelReply,
    ModelRequest,
    OnRetry,
    Sink,
    TextContent,
    ToolSpec,
    UserMessage,
)
from kova_ls.llm._http import HttpCaller, join_url
from kova_ls.llm._responses_answer import Decoder
from kova_ls.llm._stale import StaleReasoning

APIS = ("openai-responses",)

_DEFAULT_BASE = "https://api.openai.com/v1"


class ResponsesAdapter:
    """One model behind a responses endpoint."""

    api = "openai-responses"

    def __init__(self, settings: ModelSettings, caller: HttpCaller) -> None:
        self._settings = settings
        self._caller = caller
        self._dropped: set[str] = set()
        self._array = GrowingArray()
        self._stale = StaleReasoning(b'"encrypted_content"', _without_reasoning)
        if re.match(r"gpt-(?:3|4)|chatgpt", settings.model):
            self._dropped |= {"include", "summary"}
        self._head: tuple[str, tuple[ToolSpec, ...], frozenset[str], bytes] | None = None

    def encode(self, message: Message) -> bytes:
        """Return the input items of one message as JSON."""
        if isinstance(message, UserMessage):
            return orjson.dumps({"role": "user", "content": _content(message)})
        if isinstance(message, AssistantMessage):
            return self._encode_assistant(message)
        return b",".join(
            orjson.dumps(
                {
                    "type": "function_call_output",
                    "call_id": _id(output.call_id),
                    "output": output.text,
                }
            )
            for output in message.outputs
        )

    async def run(self, request: ModelRequest, sink: Sink, on_retry: OnRetry) -> ModelReply:
        """Call the model once."""
        return await self._caller.call(
            lambda: self._body(request), Decoder, sink, on_retry, adapt=self._adapt
        )

    async def close(self) -> None:
        """Give back connections."""
        await self._caller.close()

    def _encode_assistant(self, message: AssistantMessage) -> bytes:
        items: list[dict[str, Any]] = []
        rest = message.text
        calls = {call.id: call for call in message.calls}
        marks = message.opaque if message.api == self.api else ()
        for mark in marks:
            if mark.get("type") == "message":
                said, rest = rest[: mark["n_chars"]], rest[mark["n_chars"] :]
                extra = {"phase": mark["phase"]} if "phase" in mark else {}
                if said:
                    items.append(_said(said, extra))
            elif mark.get("type") == "function_call":
                if (call := calls.pop(mark["call_id"], None)) is not None:
                    items.append(_called(call))
            else:
                items.append(mark)
        # The API refuses reasoning that its item does not follow, such as a call that was cut off.
        while items and items[-1].get("type") == "reasoning" and not rest and not calls:
            items.pop()
        if rest:
            items.append(_said(rest, {}))
        items.extend(_called(call) for call in calls.values())
        return b",".join(orjson.dumps(item) for item in items)

    def _body(self, request: ModelRequest) -> bytes:
        tail = b"]}"
        if request.session_id and "prompt_cache_key" not in self._dropped:
            tail = b'],"prompt_cache_key":' + orjson.dumps(request.session_id) + b"}"
        messages = self._stale.sent(request.messages)
        return self._array.enclosed(self._head_of(request), messages, tail)

    def _head_of(self, request: ModelRequest) -> bytes:
        key = (request.system, request.tools, frozenset(self._dropped))
        if self._head is not None and self._head[:3] == key:
            return self._head[3]
        settings = self._settings
        reasoning = {
            "effort": settings.reasoning_effort,
            "summary": None if "summary" in self._dropped else "auto",
        }
        head: dict[str, Any] = {
            "model": settings.model,
            "stream": True,
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "reasoning": {name: value for name, value in reasoning.items() if value} or None,
            "max_output_tokens": settings.max_output_tokens or None,
            "temperature": settings.temperature,
            "instructions": request.system or None,
            "tools": [
                {
                    "type": "function",
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.schema,
                    "strict": False,
                }
                for tool in request.tools
            ]
            or None,
        }
        kept = {
            name: value
            for name, value in head.items()
            if value is not None and name not in self._dropped
        }
        encoded = orjson.dumps(kept)[:-1] + b',"input":['
        self._head = (*key, encoded)
        return encoded

    def _adapt(self, failure: AdapterFailure) -> bool:
        """Leave out what this model does not know and names in its refusal."""
        said = failure.message
        if ("ncrypted content" in said or "of type 'reasoning'" in said) and self._stale.refuse():
            return True
        for marks, name in (
            (("ncrypted content", "encrypted_content", "'include'"), "include"),
            (("reasoning.summary", "reasoning summar"), "summary"),
            (("prompt_cache_key",), "prompt_cache_key"),
            (("temperature",), "temperature"),
            (("reasoning.effort", "'reasoning'"), "reasoning"),
        ):
            if any(mark in said for mark in marks) and name not in self._dropped:
                self._dropped.add(name)
                return True
        return False


def _without_reasoning(message: bytes) -> bytes:
    """Take the reasoning out of encoded input items."""
    items = [one for one in orjson.loads(b"[" + message + b"]") if one.get("type") != "reasoning"]
    return orjson.dumps(items)[1:-1]


def _said(text: str, extra: dict[str, Any]) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text}]
    return {"type": "message", "role": "assistant", "content": content, **extra}


def _called(call: ModelCall) -> dict[str, Any]:
    return {
        "type": "function_call",
        "call_id": _id(call.id),
        "name": call.name,
        "arguments": call.arguments or "{}",
    }


def _id(identity: str) -> str:
    """Shorten the ids of other providers, of which OpenAI takes 64 characters."""
    if len(identity) > 64:
        return "call_" + hashlib.sha256(identity.encode()).hexdigest()[:32]
    return identity


def _content(message: UserMessage) -> list[dict[str, Any]]:
    return [
        {"type": "input_text", "text": part.text}
        if isinstance(part, TextContent)
        else {
            "type": "input_image",
            "detail": "auto",
            "image_url": f"data:{part.mime_type};base64,{part.data}",
        }
        for part in message.content
    ]


def open_adapter(settings: ModelSettings, api_key: str | None, **seams: Any) -> ResponsesAdapter:
    """Open the adapter. `seams`: `transport`, `sleep`, `jitter` of HttpCaller, for tests."""
    caller = HttpCaller(
        settings,
        join_url(settings.base_url or _DEFAULT_BASE, "responses"),
        api_key=api_key,
        key_header=("authorization", "Bearer "),
        needs_key=settings.base_url is None,
        **seams,
    )
    return ResponsesAdapter(settings, caller)
