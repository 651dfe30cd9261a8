"""Talk to Anthropic's Messages API.

Thinking goes back as it came, signed or redacted, in the place it had among text and calls.
Invariant: every user message is encoded so that its bytes end in `}]}`, the last block, the
list and the message; a cache mark is set there without parsing the message again.
Source: Anthropic API documentation, "Messages", "Streaming", "Prompt caching", "Thinking".
"""

import hashlib
import re
from dataclasses import dataclass, field
from typing import Any

import orjson

from kova_ls.config import ModelSettings
from kova_ls.errors import AdapterFailure
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
from kova_ls.llm._decoding import OpenCall, StreamDecoder, settle, stream_error
from kova_ls.llm._failure import ANYWHERE, Endpoint
from kova_ls.llm._http import HttpCaller, join_url
from kova_ls.llm._json import as_object, count, enclosed, parse_object
from kova_ls.llm._stale import StaleReasoning
from kova_ls.values import Usage
from kova_ls.vocabulary import Outcome

APIS = ("anthropic",)

_DEFAULT_BASE = "https://api.anthropic.com"
_LENGTH = frozenset({"max_tokens", "model_context_window_exceeded"})
_THINKING_TOKENS = {"minimal": 1024, "low": 4096, "medium": 10_240, "high": 24_576}
_EPHEMERAL = {"type": "ephemeral"}
_CACHE_MARK = b',"cache_control":{"type":"ephemeral"}}]}'


@dataclass(slots=True)
class _Block:
    """One content block while it arrives."""

    kind: str
    n_chars: int = 0
    call: OpenCall | None = None
    thinking: list[str] = field(default_factory=list[str])
    signature: str = ""
    data: str = ""
    is_closed: bool = False


class Decoder(StreamDecoder):
    """Reads the events of one answer."""

    def __init__(self, where: Endpoint = ANYWHERE) -> None:
        super().__init__(where)
        self._blocks: list[_Block] = []
        self._open: dict[Any, _Block] = {}
        self._usage: dict[str, Any] = {}
        self._stop_details: dict[str, Any] = {}

    def _take(self, name: bytes, value: dict[str, Any]) -> None:
        kind = value.get("type") or name.decode("utf-8", "replace")
        if kind == "content_block_delta":
            self._take_delta(value.get("index"), value["delta"])
        elif kind == "content_block_start":
            self._take_start(value.get("index"), value["content_block"])
        elif kind == "content_block_stop":
            block = self._open.pop(value.get("index"), None)
            if block is not None:
                block.is_closed = True
        elif kind == "message_start":
            self._take_usage(as_object(value.get("message")).get("usage"))
        elif kind == "message_delta":
            delta = as_object(value.get("delta"))
            self._finish_reason = delta.get("stop_reason") or self._finish_reason
            self._stop_details = as_object(delta.get("stop_details")) or self._stop_details
            self._take_usage(value.get("usage"))
        elif kind == "message_stop":
            self._has_end = True
        elif kind == "message" and isinstance(value.get("content"), list):
            self._take_whole(value)
        elif (error := stream_error(value, name)) is not None:
            self._fail(error)

    def _take_whole(self, message: dict[str, Any]) -> None:
        """Read an answer that came in one piece."""
        for index, block in enumerate(message["content"]):
            self._take_start(index, block)
            opened = self._open.pop(index)
            opened.is_closed = True
        self._finish_reason = message.get("stop_reason")
        self._take_usage(message.get("usage"))
        self._has_end = True

    def _take_usage(self, usage: Any) -> None:
        if found := as_object(usage):
            self._raw_usage = {**(self._raw_usage or {}), **found}
            self._usage.update({key: part for key, part in found.items() if part is not None})

    def _take_start(self, index: Any, start: dict[str, Any]) -> None:
        block = _Block(start.get("type") or "")
        self._blocks.append(block)
        self._open[index] = block
        if block.kind == "text" and start.get("text"):
            self._take_text(block, start["text"])
        elif block.kind == "thinking":
            block.signature = start.get("signature") or ""
            if start.get("thinking"):
                block.thinking.append(start["thinking"])
                self._think(start["thinking"])
        elif block.kind == "redacted_thinking":
            block.data = start.get("data") or ""
        elif block.kind == "tool_use":
            block.call = OpenCall(start.get("id") or "", start.get("name") or "")
            if start.get("input"):
                block.call.pieces.append(orjson.dumps(start["input"]).decode())

    def _take_text(self, block: _Block, text: str) -> None:
        block.n_chars += len(text)
        self._say(text)

    def _take_delta(self, index: Any, delta: dict[str, Any]) -> None:
        kind = delta.get("type")
        block = self._open.get(index)
        if block is None:
            block = self._open[index] = _Block(
                {"text_delta": "text", "thinking_delta": "thinking"}.get(kind or "", "")
            )
            self._blocks.append(block)
        if kind == "text_delta":
            if delta["text"]:
                self._take_text(block, delta["text"])
        elif kind == "input_json_delta":
            if block.call is not None and delta.get("partial_json"):
                pieces = block.call.pieces
                if len(pieces) == 1 and parse_object(pieces[0]) is not None:
                    pieces.clear()
                pieces.append(delta["partial_json"])
        elif kind == "thinking_delta":
            if delta["thinking"]:
                block.thinking.append(delta["thinking"])
                self._think(delta["thinking"])
        elif kind == "signature_delta":
            block.signature += delta.get("signature") or ""

    def _conclude(self) -> ModelReply:
        finish = self._finish_reason
        outcome, error = Outcome.COMPLETE, None
        if finish is None and not self._has_end:
            outcome = Outcome.TRUNCATED
        elif finish == "refusal":
            why = self._stop_details.get("explanation") or self._stop_details.get("category") or ""
            outcome, error = Outcome.REFUSED, self._refusal(str(why))
        elif finish in _LENGTH:
            outcome = Outcome.LENGTH
        called = [block for block in self._blocks if block.call is not None]
        open_calls = [block.call for block in called if block.call is not None]
        # The provider closes the block of a call even when the length cut its arguments off.
        was_cut = outcome is Outcome.LENGTH or (
            (outcome is not Outcome.COMPLETE or self._error is not None)
            and bool(called)
            and not called[-1].is_closed
        )
        calls, incomplete = settle(open_calls, was_cut=was_cut)
        return ModelReply(
            text="".join(self._text),
            reasoning="".join(self._reasoning),
            calls=calls,
            incomplete_calls=incomplete,
            opaque=self._opaque(),
            finish_reason=finish,
            raw_usage=self._raw_usage,
            usage=usage_of(self._usage),
            error=error,
            outcome=outcome,
        )

    def _opaque(self) -> tuple[dict[str, Any], ...]:
        """Return the thinking, with marks for what stands between: text by length, calls by id."""
        marks: list[dict[str, Any]] = []
        is_needed = False
        for block in self._blocks:
            thinking = "".join(block.thinking)
            if block.kind == "thinking" and (block.signature or (block.is_closed and thinking)):
                is_needed = True
                signature = {"signature": block.signature} if block.signature else {}
                marks.append({"type": "thinking", "thinking": thinking, **signature})
            elif block.kind == "redacted_thinking" and block.data:
                is_needed = True
                marks.append({"type": "redacted_thinking", "data": block.data})
            elif block.n_chars:
                marks.append({"type": "text", "n_chars": block.n_chars})
            elif block.call is not None:
                marks.append({"type": "tool_use", "id": block.call.id})
        return tuple(marks) if is_needed else ()


def usage_of(raw: dict[str, Any]) -> Usage:
    """Translate a usage object, whose `input_tokens` leave cached ones out."""
    cached = count(raw, "cache_read_input_tokens")
    written = count(raw, "cache_creation_input_tokens")
    read = count(raw, "input_tokens") + cached + written
    output = count(raw, "output_tokens")
    return Usage(
        input_tokens=read,
        output_tokens=output,
        cached_tokens=cached,
        cache_write_tokens=written,
        context_tokens=read + output,
    )


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
        users = [at for at, one in enumerate(messages) if one.startswith(b'{"role":"user"')]
        for at in users[-2:]:
            messages[at] = messages[at].removesuffix(b"}]}") + _CACHE_MARK
        return enclosed(self._head_of(request), messages, b"]}")

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
