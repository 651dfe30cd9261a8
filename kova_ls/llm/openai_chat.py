"""Talk to OpenAI's chat completions and to everything that speaks them.

Order: reasoning goes back under the name it came with, only beside tool calls, since some
servers demand it there and others refuse it elsewhere.
Source: OpenAI API reference, "Chat Completions"; the dialects of DeepSeek, Groq, Kimi, Mistral,
OpenRouter, Ollama, vLLM and llama.cpp as seen on the wire.
"""

import hashlib
import re
from typing import Any
from urllib.parse import urlsplit

import orjson

from kova_ls.config import ModelSettings
from kova_ls.errors import AdapterFailure
from kova_ls.llm._array import GrowingArray
from kova_ls.llm._base import (
    AssistantMessage,
    ImageContent,
    Message,
    ModelReply,
    ModelRequest,
    OnRetry,
    Sink,
    TextContent,
    ToolSpec,
    UserMessage,
)
from kova_ls.llm._chat_answer import Decoder
from kova_ls.llm._http import HttpCaller, join_url
from kova_ls.llm._stale import StaleReasoning

APIS = ("openai-chat",)

_DEFAULT_BASE = "https://api.openai.com/v1"
_MISTRAL = re.compile(r"(?i)mistral|codestral|devstral|magistral|pixtral")


class ChatAdapter:
    """One model behind a chat completions endpoint."""

    api = "openai-chat"

    def __init__(self, settings: ModelSettings, caller: HttpCaller) -> None:
        self._settings = settings
        self._caller = caller
        self._is_openai = urlsplit(caller.where.url).hostname == "api.openai.com"
        self._limit_field = "max_completion_tokens" if self._is_openai else "max_tokens"
        self._dropped: set[str] = set()
        self._array = GrowingArray()
        self._stale = StaleReasoning(b'"tool_calls"', _unsigned)
        self._fills_reasoning = False
        self._is_mistral = bool(_MISTRAL.search(f"{caller.where.host} {settings.model}"))
        self._head: tuple[str, tuple[ToolSpec, ...], frozenset[str], bytes] | None = None

    def encode(self, message: Message) -> bytes:
        """Return one message, or one per tool result, as JSON."""
        if isinstance(message, UserMessage):
            return orjson.dumps({"role": "user", "content": _content(message)})
        if isinstance(message, AssistantMessage):
            return self._encode_assistant(message)
        return b",".join(
            orjson.dumps(
                {"role": "tool", "tool_call_id": self._id(output.call_id), "content": output.text}
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
        if not message.text and not message.calls:
            return b""
        encoded: dict[str, Any] = {"role": "assistant", "content": message.text or None}
        is_own = message.api == self.api
        if message.calls:
            encoded["tool_calls"] = [
                {
                    "id": self._id(call.id),
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments or "{}"},
                    **((call.opaque or {}) if is_own else {}),
                }
                for call in message.calls
            ]
            if is_own:
                for item in message.opaque:
                    encoded.update(item)
        return orjson.dumps(encoded)

    def _id(self, identity: str) -> str:
        """Make the ids of other providers fit: OpenAI takes 40 characters, Mistral just 9."""
        if self._is_mistral and not re.fullmatch(r"[a-zA-Z0-9]{9}", identity):
            return hashlib.sha256(identity.encode()).hexdigest()[:9]
        if self._is_openai and len(identity) > 40:
            return "call_" + hashlib.sha256(identity.encode()).hexdigest()[:32]
        return identity

    def _body(self, request: ModelRequest) -> bytes:
        tail = b"]}"
        if self._is_openai and request.session_id and "prompt_cache_key" not in self._dropped:
            tail = b'],"prompt_cache_key":' + orjson.dumps(request.session_id) + b"}"
        messages = self._stale.sent(request.messages)
        if self._fills_reasoning:
            messages = [_with_reasoning(one) for one in messages]
        elif "reasoning_content" in self._dropped:
            messages = [_without_reasoning(b",".join(filter(None, messages)))]
        head = self._head_of(request)
        if not any(messages):
            head = head.removesuffix(b",")
        return self._array.enclosed(head, messages, tail)

    def _head_of(self, request: ModelRequest) -> bytes:
        key = (request.system, request.tools, frozenset(self._dropped))
        if self._head is not None and self._head[:3] == key:
            return self._head[3]
        settings = self._settings
        head: dict[str, Any] = {
            "model": settings.model,
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": settings.temperature,
            "reasoning_effort": settings.reasoning_effort,
            self._limit_field: settings.max_output_tokens or None,
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": tool.schema,
                    },
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
        encoded = orjson.dumps(kept)[:-1] + b',"messages":['
        if request.system:
            encoded += orjson.dumps({"role": "system", "content": request.system}) + b","
        self._head = (*key, encoded)
        return encoded

    def _adapt(self, failure: AdapterFailure) -> bool:
        """Leave out what this server does not know and names in its refusal."""
        said = failure.message
        if re.search(r"(?i)thought[_ ]?signature", said):
            return self._stale.refuse()
        if self._limit_field == "max_tokens" and "max_completion_tokens" in said:
            self._limit_field, self._head = "max_completion_tokens", None
            return True
        for name in ("stream_options", "prompt_cache_key", "temperature", "reasoning_effort"):
            if name in said and name not in self._dropped:
                self._dropped.add(name)
                return True
        marks = ("reasoning_content", "reasoning_details", "extra_content", "'reasoning'")
        if any(mark in said for mark in marks) and "reasoning_content" not in self._dropped:
            # DeepSeek and Kimi want one with every step, also with those of another model.
            if "must" in said or "missing" in said:
                was_filled, self._fills_reasoning = self._fills_reasoning, True
                return not was_filled
            self._dropped.add("reasoning_content")
            return True
        return False


def _content(message: UserMessage) -> Any:
    if not any(isinstance(part, ImageContent) for part in message.content):
        return "\n\n".join(
            part.text for part in message.content if isinstance(part, TextContent) and part.text
        )
    return [
        {"type": "text", "text": part.text}
        if isinstance(part, TextContent)
        else {
            "type": "image_url",
            "image_url": {"url": f"data:{part.mime_type};base64,{part.data}"},
        }
        for part in message.content
        if isinstance(part, ImageContent) or part.text
    ]


def _unsigned(message: bytes) -> bytes:
    """Mark a message's calls as another model's, in the words that Gemini takes for that."""
    value = orjson.loads(message)
    value.pop("reasoning_details", None)
    for call in value["tool_calls"]:
        call.pop("extra_content", None)
    value["tool_calls"][0]["extra_content"] = {
        "google": {"thought_signature": "skip_thought_signature_validator"}
    }
    return orjson.dumps(value)


def _with_reasoning(message: bytes) -> bytes:
    """Give an encoded message that lacks reasoning some; no two alike, and not a blank one."""
    is_assistant = message.startswith(b'{"role":"assistant"')
    if not is_assistant or b'"reasoning_content"' in message:
        return message
    value = orjson.loads(message)
    names = ", ".join(call["function"]["name"] for call in value.get("tool_calls") or ())
    made = f"I use {names}." if names else "I answer."
    value["reasoning_content"] = value.pop("reasoning", None) or made
    return orjson.dumps(value)


def _without_reasoning(messages: bytes) -> bytes:
    """Take another server's reasoning out of encoded messages."""
    fields = ("reasoning_content", "reasoning", "reasoning_details")
    kept: list[dict[str, Any]] = []
    for message in orjson.loads(b"[" + messages + b"]"):
        for name in fields:
            message.pop(name, None)
        for call in message.get("tool_calls") or ():
            call.pop("extra_content", None)
        kept.append(message)
    return orjson.dumps(kept)[1:-1]


def open_adapter(settings: ModelSettings, api_key: str | None, **seams: Any) -> ChatAdapter:
    """Open the adapter. `seams`: `transport`, `sleep`, `jitter` of HttpCaller, for tests."""
    base = settings.base_url or _DEFAULT_BASE
    caller = HttpCaller(
        settings,
        join_url(base, "chat/completions"),
        api_key=api_key,
        key_header=("authorization", "Bearer "),
        needs_key=settings.base_url is None,
        **seams,
    )
    return ChatAdapter(settings, caller)
