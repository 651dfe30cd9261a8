"""Talk to OpenAI's Responses API.

Nothing is stored at the provider: reasoning comes encrypted and goes back as it came, in the
order of the items it belongs to.
Source: OpenAI API reference, "Responses" and "Streaming events".
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
    ToolSpec,
    UserMessage,
)
from kova_ls.llm._decoding import OpenCall, StreamDecoder, settle, stream_error
from kova_ls.llm._failure import ANYWHERE, Endpoint
from kova_ls.llm._http import HttpCaller, join_url
from kova_ls.llm._json import as_object, count, enclosed
from kova_ls.llm._stale import StaleReasoning
from kova_ls.values import Usage
from kova_ls.vocabulary import Outcome

APIS = ("openai-responses",)

_DEFAULT_BASE = "https://api.openai.com/v1"
_ENDS = frozenset({"completed", "incomplete", "failed", "cancelled"})


@dataclass(slots=True)
class _Item:
    """One item of the output while it arrives."""

    kind: str
    call: OpenCall | None = None
    n_chars: int = 0
    has_text: bool = False
    n_summaries: int = 0
    whole: dict[str, Any] = field(default_factory=dict[str, Any])


class Decoder(StreamDecoder):
    """Reads the events of one answer."""

    def __init__(self, where: Endpoint = ANYWHERE) -> None:
        super().__init__(where)
        self._items: list[_Item] = []
        self._by_key: dict[Any, _Item] = {}
        """By id and by place in the output; some servers give one, or give all one place."""
        self._summary: list[str] = []
        self._refused: list[str] = []
        self._details: dict[str, Any] = {}

    def _take(self, name: bytes, value: dict[str, Any]) -> None:
        kind: str = value.get("type") or name.decode("utf-8", "replace")
        if kind == "response.output_text.delta":
            delta = value["delta"]
            item = self._item(value, "message")
            item.has_text = True
            if delta:
                item.n_chars += len(delta)
                self._say(delta)
        elif kind == "response.function_call_arguments.delta":
            call = self._item(value, "function_call").call
            if call is not None and value.get("delta"):
                call.pieces.append(value["delta"])
        elif kind == "response.function_call_arguments.done":
            call = self._item(value, "function_call").call
            if call is not None and isinstance(value.get("arguments"), str):
                call.pieces = [value["arguments"]]
                call.is_closed = True
        elif kind in ("response.output_item.added", "response.output_item.done"):
            self._take_item(value, value["item"], is_done=kind.endswith("done"))
        elif kind in ("response.reasoning_text.delta", "response.reasoning.delta"):
            self._item(value, "reasoning").has_text = True
            self._think(value["delta"])
        elif kind == "response.reasoning_summary_text.delta":
            self._item(value, "reasoning").has_text = True
            self._summarise(value["delta"])
        elif kind == "response.reasoning_summary_part.added":
            item = self._item(value, "reasoning")
            item.n_summaries += 1
            if item.n_summaries > 1:
                self._summarise("\n\n")
        elif kind == "response.refusal.delta":
            self._item(value, "message").has_text = True
            self._refused.append(value["delta"])
        elif kind == "response.output_text.done":
            self._take_unsaid(self._item(value, "message"), {**value, "type": "output_text"})
        elif kind == "response.refusal.done":
            self._take_unsaid(self._item(value, "message"), {**value, "type": "refusal"})
        elif isinstance(value.get("response"), dict):
            self._take_response(value["response"])
        elif value.get("object") == "response":
            self._take_response(value)
        elif (error := stream_error(value, name)) is not None:
            self._fail(error)

    def _summarise(self, text: str) -> None:
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError
        self._summary.append(text)
        self._deltas.append(("reasoning", text))

    def _item(self, value: dict[str, Any], kind: str, *, is_new: bool = False) -> _Item:
        """Return the item that an event speaks of; `is_new`: one that was begun has another."""
        place = value.get("output_index")
        identity: Any = value.get("item_id") or as_object(value.get("item")).get("id")
        item = self._by_key.get(identity or place) or self._by_key.get(place)
        if place is None and identity is None:
            item = self._by_key.get(kind)
        if item is None or (is_new and item.whole):
            item = _Item(kind, OpenCall() if kind == "function_call" else None)
            self._items.append(item)
        for key in (place, identity) if place is not None or identity is not None else (kind,):
            if key is not None:
                self._by_key[key] = item
        return item

    def _take_item(self, value: dict[str, Any], whole: dict[str, Any], *, is_done: bool) -> None:
        item = self._item(value, whole.get("type") or "", is_new=not is_done)
        item.kind = whole.get("type") or item.kind
        item.whole = whole
        if item.kind == "function_call":
            call = item.call = item.call or OpenCall()
            call.id = whole.get("call_id") or call.id or whole.get("id") or ""
            call.name = whole.get("name") or call.name
            if whole.get("arguments") and (is_done or not call.pieces):
                call.pieces = [whole["arguments"]]
            call.is_closed = call.is_closed or (
                is_done and whole.get("status") in (None, "completed")
            )
        elif is_done and not item.has_text:
            self._take_whole(item, whole)

    def _take_whole(self, item: _Item, whole: dict[str, Any]) -> None:
        """Read a message or reasoning item that came without deltas."""
        for part in whole.get("content") or ():
            self._take_part(item, part)
        for part in whole.get("summary") or () if item.kind == "reasoning" else ():
            if part.get("text"):
                self._summarise(("\n\n" if item.has_text else "") + part["text"])
                item.has_text = True

    def _take_unsaid(self, item: _Item, part: dict[str, Any]) -> None:
        if not item.has_text:
            self._take_part(item, part)

    def _take_part(self, item: _Item, part: dict[str, Any]) -> None:
        kind = part.get("type")
        if kind in ("output_text", "text") and part.get("text"):
            item.has_text = True
            item.n_chars += len(part["text"])
            self._say(part["text"])
        elif kind == "refusal":
            item.has_text = True
            self._refused.append(part.get("refusal") or "")
        elif kind == "reasoning_text" and part.get("text"):
            item.has_text = True
            self._think(part["text"])

    def _take_response(self, response: dict[str, Any]) -> None:
        if isinstance(response.get("usage"), dict):
            self._raw_usage = response["usage"]
        status = response.get("status")
        if status not in _ENDS:
            return
        self._finish_reason = status
        self._details = as_object(response.get("incomplete_details"))
        self._take_unstreamed(response.get("output") or [])
        if response.get("error"):
            self._fail(response["error"])
        elif status in ("failed", "cancelled"):
            self._fail({"message": f"the answer ended as {status!r}"}, is_said=False)

    def _take_unstreamed(self, output: list[dict[str, Any]]) -> None:
        """Read what only the last event holds."""
        if not self._items:
            for whole in output:
                self._take_item(
                    {"item": whole, "output_index": len(self._items)}, whole, is_done=True
                )
            return
        known = {item.call.id for item in self._items if item.call is not None}
        for whole in output:
            if whole.get("type") == "function_call" and whole.get("call_id") not in {None, *known}:
                self._take_item({"output_index": ("whole", whole["call_id"])}, whole, is_done=True)

    def _conclude(self) -> ModelReply:
        outcome, error = Outcome.COMPLETE, None
        if self._finish_reason is None:
            outcome = Outcome.TRUNCATED
        elif self._refused or self._details.get("reason") == "content_filter":
            outcome, error = Outcome.REFUSED, self._refusal("".join(self._refused))
        elif self._finish_reason == "incomplete":
            outcome = Outcome.LENGTH
        open_calls = [item.call for item in self._items if item.call is not None]
        is_early = outcome is not Outcome.COMPLETE or self._error is not None
        last_is_open = bool(open_calls) and not open_calls[-1].is_closed
        calls, incomplete = settle(open_calls, was_cut=is_early and last_is_open)
        summary = "".join(self._summary)
        raw = self._raw_usage
        return ModelReply(
            text="".join(self._text),
            reasoning="".join(self._reasoning) + summary,
            reasoning_summary=summary,
            calls=calls,
            incomplete_calls=incomplete,
            opaque=self._opaque(),
            finish_reason=self._finish_reason,
            raw_usage=raw,
            usage=usage_of(raw) if raw else Usage(),
            error=error,
            outcome=outcome,
        )

    def _opaque(self) -> tuple[dict[str, Any], ...]:
        """Return the reasoning, with marks for what stands between: text by length, calls by id."""
        marks: list[dict[str, Any]] = []
        is_needed = False
        for item in self._items:
            if item.kind == "reasoning" and item.whole.get("encrypted_content"):
                is_needed = True
                kept = ("type", "id", "summary", "content", "encrypted_content")
                mark = {key: item.whole[key] for key in kept if item.whole.get(key) is not None}
                mark.setdefault("summary", [])
                marks.append(mark)
            elif item.kind == "message" and item.n_chars:
                phase = item.whole.get("phase")
                is_needed = is_needed or phase is not None
                extra = {"phase": phase} if phase is not None else {}
                marks.append({"type": "message", "n_chars": item.n_chars, **extra})
            elif item.call is not None and item.call.id:
                marks.append({"type": "function_call", "call_id": item.call.id})
        return tuple(marks) if is_needed else ()


def usage_of(raw: dict[str, Any]) -> Usage:
    """Translate the usage of a response."""
    tokens = (count(raw, "input_tokens"), count(raw, "output_tokens"))
    return Usage(
        input_tokens=tokens[0],
        output_tokens=tokens[1],
        cached_tokens=count(raw, "input_tokens_details", "cached_tokens"),
        context_tokens=sum(tokens),
    )


class ResponsesAdapter:
    """One model behind a responses endpoint."""

    api = "openai-responses"

    def __init__(self, settings: ModelSettings, caller: HttpCaller) -> None:
        self._settings = settings
        self._caller = caller
        self._dropped: set[str] = set()
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
        return enclosed(self._head_of(request), self._stale.sent(request.messages), tail)

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
