"""Read the streamed answers of Anthropic's Messages API."""

from dataclasses import dataclass, field
from typing import Any

import orjson

from kova_ls.llm._base import (
    ModelReply,
)
from kova_ls.llm._decoding import OpenCall, StreamDecoder, settle, stream_error
from kova_ls.llm._failure import ANYWHERE, Endpoint
from kova_ls.llm._json import as_object, count, parse_object
from kova_ls.values import Usage
from kova_ls.vocabulary import Outcome

_LENGTH = frozenset({"max_tokens", "model_context_window_exceeded"})


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
        """Read an answer that came in one piece, or that repeats the pieces before it."""
        for index, block in enumerate(() if self._blocks else message["content"]):
            self._take_start(index, block)
            opened = self._open.pop(index)
            opened.is_closed = True
        self._finish_reason = message.get("stop_reason") or self._finish_reason
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
