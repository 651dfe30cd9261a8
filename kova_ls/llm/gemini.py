"""Talk to Google's Gemini API.

Thought signatures go back on the very part they came with: a call's with the call, a text's by
the length of the text. Calls often come without an id; one is made and not sent back.
Source: Gemini API documentation, "Generating content", "Function calling", "Thought signatures".
"""

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
    ToolOutput,
    ToolSpec,
    UserMessage,
)
from kova_ls.llm._decoding import MADE_ID
from kova_ls.llm._gemini_answer import SIGNATURE, Decoder
from kova_ls.llm._http import HttpCaller
from kova_ls.llm._json import parse_object
from kova_ls.llm._open_api import open_api_schema
from kova_ls.llm._stale import StaleReasoning

APIS = ("gemini",)

_DEFAULT_BASE = "https://generativelanguage.googleapis.com"
_UNSIGNED = "skip_thought_signature_validator"
"""What Gemini 3 documents for calls of another model's making."""
_THINKING_TOKENS = {"minimal": 512, "low": 4096, "medium": 8192, "high": 24_576}


class GeminiAdapter:
    """One Gemini model."""

    api = "gemini"

    def __init__(self, settings: ModelSettings, caller: HttpCaller) -> None:
        self._settings = settings
        self._caller = caller
        version = re.search(r"gemini-(\d+(?:\.\d+)?)", settings.model)
        self._version = float(version[1]) if version else 0.0
        self._thinks = self._version >= 2.5
        self._array = GrowingArray()
        self._stale = StaleReasoning(b'"thoughtSignature"', self._without_signatures)
        self._schema_field = "parametersJsonSchema"
        self._head: tuple[str, tuple[ToolSpec, ...], bytes] | None = None

    def encode(self, message: Message) -> bytes:
        """Return one message as JSON."""
        if isinstance(message, AssistantMessage):
            parts, role = self._assistant_parts(message), "model"
        elif isinstance(message, UserMessage):
            parts, role = _user_parts(message), "user"
        else:
            parts, role = [_result_part(output) for output in message.outputs], "user"
        return orjson.dumps({"role": role, "parts": parts}) if parts else b""

    async def run(self, request: ModelRequest, sink: Sink, on_retry: OnRetry) -> ModelReply:
        """Call the model once."""
        return await self._caller.call(
            lambda: self._body(request), Decoder, sink, on_retry, adapt=self._adapt
        )

    async def close(self) -> None:
        """Give back connections."""
        await self._caller.close()

    def _assistant_parts(self, message: AssistantMessage) -> list[dict[str, Any]]:
        parts: list[dict[str, Any]] = []
        rest = message.text
        is_own = message.api == self.api
        calls = {call.id: call for call in message.calls}
        for mark in message.opaque if is_own else ():
            if "call" in mark:
                if (call := calls.pop(mark["call"], None)) is not None:
                    parts.append(_call_part(call, is_own=True))
                continue
            said, rest = rest[: mark["n_chars"]], rest[mark["n_chars"] :]
            signature = {SIGNATURE: mark[SIGNATURE]} if SIGNATURE in mark else {}
            if said or signature:
                parts.append({"text": said, **signature})
        if rest:
            parts.append({"text": rest})
        parts.extend(_call_part(call, is_own=is_own) for call in calls.values())
        self._mark_unsigned(parts)
        return parts

    def _body(self, request: ModelRequest) -> bytes:
        messages = self._stale.sent(request.messages)
        return self._array.enclosed(self._head_of(request), messages, b"]}")

    def _without_signatures(self, message: bytes) -> bytes:
        """Take another model's signatures out of an encoded message."""
        value = orjson.loads(message)
        for part in value["parts"]:
            part.pop(SIGNATURE, None)
        value["parts"] = [part for part in value["parts"] if part != {"text": ""}]
        self._mark_unsigned(value["parts"])
        return orjson.dumps(value) if value["parts"] else b""

    def _mark_unsigned(self, parts: list[dict[str, Any]]) -> None:
        called = [part for part in parts if "functionCall" in part]
        if self._version >= 3 and called and not any(SIGNATURE in part for part in called):
            called[0][SIGNATURE] = _UNSIGNED

    def _head_of(self, request: ModelRequest) -> bytes:
        key = (request.system, request.tools)
        if self._head is not None and self._head[:2] == key:
            return self._head[2]
        settings = self._settings
        config: dict[str, Any] = {}
        if settings.max_output_tokens:
            config["maxOutputTokens"] = settings.max_output_tokens
        if settings.temperature is not None:
            config["temperature"] = settings.temperature
        if self._thinks:
            config["thinkingConfig"] = self._thinking()
        head: dict[str, Any] = {}
        if request.system:
            head["systemInstruction"] = {"parts": [{"text": request.system}]}
        if request.tools:
            head["tools"] = [
                {"functionDeclarations": [self._declaration(tool) for tool in request.tools]}
            ]
        head["generationConfig"] = config
        encoded = orjson.dumps(head)[:-1] + b',"contents":['
        self._head = (*key, encoded)
        return encoded

    def _declaration(self, tool: ToolSpec) -> dict[str, Any]:
        declared: dict[str, Any] = {"name": tool.name, "description": tool.description}
        if self._schema_field == "parametersJsonSchema":
            declared[self._schema_field] = tool.schema
        elif tool.schema.get("properties"):
            declared[self._schema_field] = open_api_schema(tool.schema)
        return declared

    def _thinking(self) -> dict[str, Any]:
        effort = self._settings.reasoning_effort
        config: dict[str, Any] = {"includeThoughts": True}
        if effort and self._version >= 3:
            config["thinkingLevel"] = effort
        elif effort in _THINKING_TOKENS:
            config["thinkingBudget"] = _THINKING_TOKENS[effort]
        return config

    def _adapt(self, failure: AdapterFailure) -> bool:
        """Leave out what this model or server does not know and names in its refusal."""
        said = failure.message
        if re.search(r"(?i)thought[_ ]?signature", said):
            return self._stale.refuse()
        if self._thinks and re.search(r"(?i)thinking|include_?thoughts", said):
            self._thinks, self._head = False, None
            return True
        if self._schema_field != "parameters" and "arametersJsonSchema" in said:
            self._schema_field, self._head = "parameters", None
            return True
        return False


def _user_parts(message: UserMessage) -> list[dict[str, Any]]:
    return [
        {"text": part.text}
        if isinstance(part, TextContent)
        else {"inlineData": {"mimeType": part.mime_type, "data": part.data}}
        for part in message.content
        if not isinstance(part, TextContent) or part.text
    ]


def _identity(identity: str) -> dict[str, str]:
    return {} if identity.startswith(MADE_ID) else {"id": identity}


def _call_part(call: ModelCall, *, is_own: bool) -> dict[str, Any]:
    called = {
        **_identity(call.id),
        "name": call.name,
        "args": parse_object(call.arguments) or {},
    }
    return {"functionCall": called, **((call.opaque or {}) if is_own else {})}


def _result_part(output: ToolOutput) -> dict[str, Any]:
    key = "error" if output.is_error else "output"
    answered = {
        **_identity(output.call_id),
        "name": output.name,
        "response": {key: output.text},
    }
    return {"functionResponse": answered}


def _url(settings: ModelSettings) -> str:
    base = (settings.base_url or _DEFAULT_BASE).rstrip("/")
    if not re.search(r"/v\d\w*$", base):
        base += "/v1beta"
    model = settings.model.removeprefix("models/")
    return f"{base}/models/{model}:streamGenerateContent?alt=sse"


def open_adapter(settings: ModelSettings, api_key: str | None, **seams: Any) -> GeminiAdapter:
    """Open the adapter. `seams`: `transport`, `sleep`, `jitter` of HttpCaller, for tests."""
    caller = HttpCaller(
        settings,
        _url(settings),
        api_key=api_key,
        key_header=("x-goog-api-key", ""),
        needs_key=settings.base_url is None,
        **seams,
    )
    return GeminiAdapter(settings, caller)
