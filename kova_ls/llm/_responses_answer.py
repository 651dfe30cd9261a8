"""Read the streamed answers of OpenAI's Responses API."""

from dataclasses import dataclass, field
from typing import Any

from kova_ls.llm._base import (
    ModelReply,
)
from kova_ls.llm._decoding import OpenCall, StreamDecoder, settle, stream_error
from kova_ls.llm._failure import ANYWHERE, Endpoint
from kova_ls.llm._json import as_object, count
from kova_ls.values import Usage
from kova_ls.vocabulary import Outcome

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
            self._take_response(value["response"], kind.removeprefix("response."))
        elif value.get("object") == "response":
            self._take_response(value, "")
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

    def _take_response(self, response: dict[str, Any], said: str) -> None:
        """Read a response as it stands; `said`: its state by the event's name."""
        if isinstance(response.get("usage"), dict):
            self._raw_usage = response["usage"]
        status = response.get("status") or said
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
