"""Talk to Google's Gemini API.

Thought signatures go back on the very part they came with: a call's with the call, a text's by
the length of the text. Calls often come without an id; one is made and not sent back.
Source: Gemini API documentation, "Generating content", "Function calling", "Thought signatures".
"""

import re
from dataclasses import dataclass
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
from kova_ls.llm._decoding import MADE_ID, OpenCall, StreamDecoder, settle, stream_error
from kova_ls.llm._failure import ANYWHERE, Endpoint
from kova_ls.llm._http import HttpCaller
from kova_ls.llm._json import as_list, as_object, count, enclosed, parse_object
from kova_ls.llm._open_api import open_api_schema
from kova_ls.llm._partial_args import PartialArgs
from kova_ls.llm._stale import StaleReasoning
from kova_ls.values import Usage
from kova_ls.vocabulary import Outcome

APIS = ("gemini",)

_DEFAULT_BASE = "https://generativelanguage.googleapis.com"
_COMPLETE = frozenset({"STOP", "FINISH_REASON_UNSPECIFIED"})
_FAILED = frozenset(
    {
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "MISSING_THOUGHT_SIGNATURE",
        "MALFORMED_RESPONSE",
        "OTHER",
        "IMAGE_OTHER",
        "NO_IMAGE",
    }
)
_SIGNATURE = "thoughtSignature"
_UNSIGNED = "skip_thought_signature_validator"
"""What Gemini 3 documents for calls of another model's making."""
_THINKING_TOKENS = {"minimal": 512, "low": 4096, "medium": 8192, "high": 24_576}


@dataclass(slots=True)
class _Mark:
    """A run of text, or a call by its place."""

    n_chars: int = 0
    signature: str | None = None
    call_at: int | None = None


class Decoder(StreamDecoder):
    """Reads the chunks of one answer."""

    def __init__(self, where: Endpoint = ANYWHERE) -> None:
        super().__init__(where)
        self._calls: list[OpenCall] = []
        self._partial: PartialArgs | None = None
        """Of the last call, while its arguments are not whole."""
        self._marks: list[_Mark] = []
        self._block_reason: str | None = None
        self._finish_message = ""

    def _take(self, name: bytes, value: dict[str, Any]) -> None:
        if "response" in value and "candidates" not in value:
            value = value["response"]
        if error := value.get("error"):
            self._fail(error)
        elif name == b"error":
            self._fail(stream_error(value, name))
        if usage := as_object(value.get("usageMetadata")):
            self._raw_usage = usage
        if feedback := value.get("promptFeedback"):
            self._block_reason = feedback.get("blockReason") or self._block_reason
            self._finish_message = feedback.get("blockReasonMessage") or self._finish_message
        candidates: list[dict[str, Any]] = value.get("candidates") or []
        candidate = next((one for one in candidates if not one.get("index")), None)
        if candidate is None:
            return
        for part in as_list(as_object(candidate.get("content")).get("parts")):
            self._take_part(part)
        if finish := candidate.get("finishReason"):
            self._finish_reason = finish
            self._finish_message = candidate.get("finishMessage") or self._finish_message

    def _take_part(self, part: dict[str, Any]) -> None:
        signature = part.get(_SIGNATURE) or part.get("thought_signature")
        if (call := part.get("functionCall")) is not None:
            self._take_call(call, signature)
            return
        text = part.get("text")
        if part.get("thought"):
            if text:
                self._think(text)
            return
        if text:
            self._say(text)
        if text or signature:
            self._mark_text(len(text or ""), signature)

    def _mark_text(self, n_chars: int, signature: str | None) -> None:
        last = self._marks[-1] if self._marks else None
        if last is not None and last.call_at is None and not last.signature and not signature:
            last.n_chars += n_chars
            return
        self._marks.append(_Mark(n_chars, signature))

    def _take_call(self, call: dict[str, Any], signature: str | None) -> None:
        name = call.get("name") or ""
        pieces, goes_on = call.get("partialArgs"), bool(call.get("willContinue"))
        if self._partial is not None and not name:
            self._take_pieces(pieces, goes_on=goes_on)
            return
        self._close_partial()
        opaque = {_SIGNATURE: signature} if signature else None
        opened = OpenCall(call.get("id") or "", name, opaque=opaque)
        self._calls.append(opened)
        self._marks.append(_Mark(call_at=len(self._calls) - 1))
        if pieces or goes_on:
            self._partial = PartialArgs()
            self._take_pieces(pieces, goes_on=goes_on)
        else:
            opened.pieces.append(orjson.dumps(call.get("args") or {}).decode())

    def _take_pieces(self, pieces: Any, *, goes_on: bool) -> None:
        assert self._partial is not None
        self._partial.take(pieces)
        if not goes_on:
            self._calls[-1].pieces.append(self._partial.text)
            self._partial = None

    def _close_partial(self) -> None:
        """Leave arguments that did not come to their end as the text that broke off."""
        if self._partial is not None:
            self._calls[-1].pieces.append(self._partial.text.removesuffix("}"))
            self._partial = None

    def _conclude(self) -> ModelReply:
        self._close_partial()
        finish = self._finish_reason
        outcome, error = Outcome.COMPLETE, None
        if finish is None:
            outcome = Outcome.TRUNCATED
            if self._block_reason is not None:
                outcome = Outcome.REFUSED
                error = self._refusal(self._finish_message or self._block_reason)
        elif finish == "MAX_TOKENS":
            outcome = Outcome.LENGTH
        elif finish in _FAILED:
            said = self._finish_message or f"the answer ended with {finish}"
            self._fail({"message": said, "status": finish}, is_said=False)
        elif finish not in _COMPLETE:
            outcome, error = Outcome.REFUSED, self._refusal(self._finish_message or finish)
        calls, incomplete = settle(self._calls, was_cut=False)
        return ModelReply(
            text="".join(self._text),
            reasoning="".join(self._reasoning),
            calls=calls,
            incomplete_calls=incomplete,
            opaque=self._opaque(calls),
            finish_reason=finish,
            raw_usage=self._raw_usage,
            usage=usage_of(self._raw_usage or {}),
            error=error,
            outcome=outcome,
        )

    def _opaque(self, calls: tuple[ModelCall, ...]) -> tuple[dict[str, Any], ...]:
        """Return the signed texts, with marks for what stands between: calls by id."""
        if not any(mark.signature for mark in self._marks) or len(calls) != len(self._calls):
            return ()
        return tuple(
            {"call": calls[mark.call_at].id}
            if mark.call_at is not None
            else {
                "n_chars": mark.n_chars,
                **({_SIGNATURE: mark.signature} if mark.signature else {}),
            }
            for mark in self._marks
        )


def usage_of(raw: dict[str, Any]) -> Usage:
    """Translate a usage object, whose candidate tokens leave thoughts out."""
    read = count(raw, "promptTokenCount") + count(raw, "toolUsePromptTokenCount")
    written = count(raw, "candidatesTokenCount") + count(raw, "thoughtsTokenCount")
    return Usage(
        input_tokens=read,
        output_tokens=written,
        cached_tokens=count(raw, "cachedContentTokenCount"),
        context_tokens=read + written,
    )


class GeminiAdapter:
    """One Gemini model."""

    api = "gemini"

    def __init__(self, settings: ModelSettings, caller: HttpCaller) -> None:
        self._settings = settings
        self._caller = caller
        version = re.search(r"gemini-(\d+(?:\.\d+)?)", settings.model)
        self._version = float(version[1]) if version else 0.0
        self._thinks = self._version >= 2.5
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
            signature = {_SIGNATURE: mark[_SIGNATURE]} if _SIGNATURE in mark else {}
            if said or signature:
                parts.append({"text": said, **signature})
        if rest:
            parts.append({"text": rest})
        parts.extend(_call_part(call, is_own=is_own) for call in calls.values())
        self._mark_unsigned(parts)
        return parts

    def _body(self, request: ModelRequest) -> bytes:
        return enclosed(self._head_of(request), self._stale.sent(request.messages), b"]}")

    def _without_signatures(self, message: bytes) -> bytes:
        """Take another model's signatures out of an encoded message."""
        value = orjson.loads(message)
        for part in value["parts"]:
            part.pop(_SIGNATURE, None)
        value["parts"] = [part for part in value["parts"] if part != {"text": ""}]
        self._mark_unsigned(value["parts"])
        return orjson.dumps(value) if value["parts"] else b""

    def _mark_unsigned(self, parts: list[dict[str, Any]]) -> None:
        called = [part for part in parts if "functionCall" in part]
        if self._version >= 3 and called and not any(_SIGNATURE in part for part in called):
            called[0][_SIGNATURE] = _UNSIGNED

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
