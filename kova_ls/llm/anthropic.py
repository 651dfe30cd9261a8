"""Talk to Anthropic's Messages API.

Thinking goes back as it came, signed or redacted, in the place it had among text and calls.
Invariant: every user message is encoded so that its bytes end in `}]}`, the last block, the
list and the message; a cache mark is set there without parsing the message again.
Source: Anthropic API documentation, "Messages", "Streaming", "Prompt caching", "Thinking".
"""

import hashlib
import re
from itertools import islice
from typing import Any

import orjson

from kova_ls.config import ModelSettings
from kova_ls.errors import AdapterFailure
from kova_ls.llm._anthropic_answer import Decoder
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
    ToolOutput,
    ToolSpec,
    UserMessage,
)
from kova_ls.llm._http import HttpCaller, join_url
from kova_ls.llm._json import parse_object
from kova_ls.llm._stale import StaleReasoning

APIS = ("anthropic",)

_DEFAULT_BASE = "https://api.anthropic.com"
_THINKING_TOKENS = {"minimal": 1024, "low": 4096, "medium": 10_240, "high": 24_576}
_EPHEMERAL = {"type": "ephemeral"}
_CACHE_MARK = b',"cache_control":{"type":"ephemeral"}}]}'


class AnthropicAdapter:
    """One Claude model."""

    api = "anthropic"

    def __init__(self, settings: ModelSettings, caller: HttpCaller) -> None:
        self._settings = settings
        self._caller = caller
        self._max_tokens = settings.max_output_tokens or _default_limit(settings.model)
        self._is_adaptive = False
        # Others speak the same API without signing what they think, and want it back all the same.
        self._is_strict = settings.base_url is None
        self._fills_thinking = False
        self._array = GrowingArray()
        self._stale = StaleReasoning(b'thinking"', _without_thinking)
        self._dropped: set[str] = set()
        self._head: tuple[str, tuple[ToolSpec, ...], bytes] | None = None

    def encode(self, message: Message) -> bytes:
        """Return one message as JSON."""
        if isinstance(message, AssistantMessage):
            blocks = self._assistant_blocks(message)
            role = "assistant"
        elif isinstance(message, UserMessage):
            blocks = _user_blocks(message)
            role = "user"
        else:
            blocks = [_result_block(output) for output in message.outputs]
            role = "user"
        return orjson.dumps({"role": role, "content": blocks}) if blocks else b""

    async def run(self, request: ModelRequest, sink: Sink, on_retry: OnRetry) -> ModelReply:
        """Call the model once."""
        return await self._caller.call(
            lambda: self._body(request), Decoder, sink, on_retry, adapt=self._adapt
        )

    async def close(self) -> None:
        """Give back connections."""
        await self._caller.close()

    def _assistant_blocks(self, message: AssistantMessage) -> list[dict[str, Any]]:
        blocks: list[dict[str, Any]] = []
        rest = message.text
        calls = {call.id: call for call in message.calls}
        for mark in message.opaque if message.api == self.api else ():
            if mark.get("type") == "thinking" and "signature" not in mark and self._is_strict:
                continue
            if mark.get("type") == "text":
                said, rest = rest[: mark["n_chars"]], rest[mark["n_chars"] :]
                if said.strip():
                    blocks.append({"type": "text", "text": said})
            elif mark.get("type") == "tool_use":
                if (call := calls.pop(mark["id"], None)) is not None:
                    blocks.append(_call_block(call))
            else:
                blocks.append(mark)
        # A message may not end in thinking: its text or call was cut off.
        while blocks and "thinking" in blocks[-1]["type"] and not rest.strip() and not calls:
            blocks.pop()
        if rest.strip():
            blocks.append({"type": "text", "text": rest})
        blocks.extend(_call_block(call) for call in calls.values())
        return blocks

    def _body(self, request: ModelRequest) -> bytes:
        messages = [message for message in self._stale.sent(request.messages) if message]
        if self._fills_thinking:
            messages = [_with_thinking(one) for one in messages]
        # The last two marks: one to write the cache, one that the step before wrote.
        last = range(len(messages) - 1, -1, -1)
        users = (at for at in last if messages[at].startswith(b'{"role":"user"'))
        for at in islice(users, 2):
            messages[at] = messages[at].removesuffix(b"}]}") + _CACHE_MARK
        return self._array.enclosed(self._head_of(request), messages, b"]}")

    def _head_of(self, request: ModelRequest) -> bytes:
        key = (request.system, request.tools)
        if self._head is not None and self._head[:2] == key:
            return self._head[2]
        settings = self._settings
        head: dict[str, Any] = {
            "model": settings.model,
            "stream": True,
            "max_tokens": self._max_tokens,
            **self._thinking(),
        }
        if settings.temperature is not None and "thinking" not in head:
            head["temperature"] = settings.temperature
        if request.tools:
            head["tools"] = [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": tool.schema,
                }
                for tool in request.tools
            ]
        # The cache covers tools, system and messages in this order: one mark at the last of two.
        if request.system:
            text = {"type": "text", "text": request.system, "cache_control": _EPHEMERAL}
            head["system"] = [text]
        elif request.tools:
            head["tools"][-1]["cache_control"] = _EPHEMERAL
        for name in self._dropped:
            head.pop(name, None)
        encoded = orjson.dumps(head)[:-1] + b',"messages":['
        self._head = (*key, encoded)
        return encoded

    def _thinking(self) -> dict[str, Any]:
        effort = self._settings.reasoning_effort
        if not effort or effort == "none":
            return {}
        if self._is_adaptive:
            return {"thinking": {"type": "adaptive"}, "output_config": {"effort": effort}}
        budget = min(_THINKING_TOKENS.get(effort, _THINKING_TOKENS["high"]), self._max_tokens - 1)
        if budget < _THINKING_TOKENS["minimal"]:
            return {}
        return {"thinking": {"type": "enabled", "budget_tokens": budget}}

    def _adapt(self, failure: AdapterFailure) -> bool:
        """Change what this model refuses and names in its refusal."""
        said = failure.message
        if "thinking" in said and ("signature" in said or "different conversation" in said):
            return self._stale.refuse()
        if "thinking" in said and "must be passed back" in said:
            was_filled, self._fills_thinking = self._fills_thinking, True
            return not was_filled
        if re.search(r"xpected `thinking`|start with a thinking", said):
            if "thinking" in self._dropped:
                return False
            self._dropped |= {"thinking", "output_config"}
            self._head = None
            return True
        limit = re.search(r"max_tokens: \d+ > (\d+)", said)
        if limit and int(limit[1]) < self._max_tokens:
            self._max_tokens, self._head = int(limit[1]), None
            return True
        if "adaptive" in said and not self._is_adaptive and self._settings.reasoning_effort:
            self._is_adaptive, self._head = True, None
            return True
        for name in ("temperature", "thinking"):
            if name in said and "budget" not in said and name not in self._dropped:
                if "blocks" in said or "signature" in said:
                    return False
                self._dropped |= {name, "output_config"} if name == "thinking" else {name}
                self._head = None
                return True
        return False


def _with_thinking(message: bytes) -> bytes:
    """Put thinking before the calls of another model: DeepSeek wants some with every call."""
    if b'"tool_use"' not in message or b'"type":"thinking"' in message:
        return message
    value = orjson.loads(message)
    value["content"].insert(0, {"type": "thinking", "thinking": "", "signature": ""})
    return orjson.dumps(value)


def _without_thinking(message: bytes) -> bytes:
    """Take the thinking out of an encoded message; what it leaves empty goes."""
    value = orjson.loads(message)
    value["content"] = [one for one in value["content"] if "thinking" not in one["type"]]
    return orjson.dumps(value) if value["content"] else b""


def _default_limit(model: str) -> int:
    if model.startswith("claude-3-5"):
        return 8192
    if model.startswith("claude-3-") and not model.startswith("claude-3-7"):
        return 4096
    return 32_000


def _user_blocks(message: UserMessage) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for part in message.content:
        if not isinstance(part, TextContent):
            source = {"type": "base64", "media_type": part.mime_type, "data": part.data}
            blocks.append({"type": "image", "source": source})
        elif part.text.strip():
            blocks.append({"type": "text", "text": part.text})
    return blocks


def _result_block(output: ToolOutput) -> dict[str, Any]:
    block: dict[str, Any] = {
        "type": "tool_result",
        "tool_use_id": _id(output.call_id),
        "content": output.text,
    }
    if output.is_error:
        block["is_error"] = True
    return block


def _call_block(call: ModelCall) -> dict[str, Any]:
    arguments = parse_object(call.arguments) or {}
    return {"type": "tool_use", "id": _id(call.id), "name": call.name, "input": arguments}


def _id(identity: str) -> str:
    """Replace the ids of other providers that this one does not accept."""
    if re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", identity):
        return identity
    return "toolu_" + hashlib.sha256(identity.encode()).hexdigest()[:24]


def open_adapter(settings: ModelSettings, api_key: str | None, **seams: Any) -> AnthropicAdapter:
    """Open the adapter. `seams`: `transport`, `sleep`, `jitter` of HttpCaller, for tests."""
    caller = HttpCaller(
        settings,
        join_url(settings.base_url or _DEFAULT_BASE, "v1/messages"),
        api_key=api_key,
        key_header=("x-api-key", ""),
        headers={"anthropic-version": "2023-06-01"},
        needs_key=settings.base_url is None,
        **seams,
    )
    return AnthropicAdapter(settings, caller)
