"""Read the streamed answers of chat completions, in the dialects of all who speak them."""

from typing import Any

from kova_ls.llm._base import (
    ModelReply,
)
from kova_ls.llm._chat_calls import ChatCalls
from kova_ls.llm._decoding import StreamDecoder, settle, stream_error
from kova_ls.llm._failure import ANYWHERE, Endpoint
from kova_ls.llm._json import as_list, as_object, count
from kova_ls.values import Usage
from kova_ls.vocabulary import Outcome

_LENGTH = frozenset({"length", "max_tokens", "model_length", "model_context_window_exceeded"})
_REFUSED = frozenset(
    {"content_filter", "refusal", "safety", "sensitive", "recitation", "prohibited_content"}
)
_FAILED = frozenset(
    {
        "error",
        "abort",
        "insufficient_system_resource",
        "network_error",
        "function_call_filter",
        "malformed_function_call",
    }
)
_REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text")


class Decoder(StreamDecoder):
    """Reads the chunks of one answer."""

    def __init__(self, where: Endpoint = ANYWHERE) -> None:
        super().__init__(where)
        self._calls = ChatCalls()
        self._choice: Any = None
        """The number of the answer that is read, should there be several."""
        self._refused: list[str] = []
        self._reasoning_field = ""
        self._details: list[dict[str, Any]] = []

    def _take(self, name: bytes, value: dict[str, Any]) -> None:
        choices = value.get("choices")
        choice = None
        for choice in self._read_of(choices) if choices else ():
            delta = choice.get("delta")
            if delta is None and not self._has_begun:
                # Some, such as MiniMax, end their pieces with the whole message again.
                delta = choice.get("message")
            if delta:
                self._take_delta(delta)
            if finish := choice.get("finish_reason"):
                self._finish_reason = finish
        if usage := as_object(value.get("usage")):
            self._raw_usage = usage
        elif groq := as_object(value.get("x_groq")):
            if isinstance(groq.get("usage"), dict):
                self._raw_usage = groq["usage"]
            if groq.get("error"):
                self._fail(groq["error"])
        elif choice is not None and (usage := as_object(choice.get("usage"))):
            self._raw_usage = usage
        if (not choices and (error := stream_error(value, name)) is not None) or (
            choice is not None and (error := value.get("error") or choice.get("error"))
        ):
            self._fail(error)
        elif "base_resp" in value and as_object(value["base_resp"]).get("status_code"):
            self._fail(value["base_resp"])

    @property
    def _has_begun(self) -> bool:
        return bool(self._text or self._reasoning or self._calls.calls or self._refused)

    def _read_of(self, choices: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the parts of the answer that is read; Copilot gives one in several."""
        if self._choice is None:
            self._choice = choices[0].get("index", 0)
        return [choice for choice in choices if choice.get("index", 0) == self._choice]

    def _take_delta(self, delta: dict[str, Any]) -> None:
        if len(delta) > 1 or "content" not in delta:
            self._take_reasoning(delta)
            if refusal := delta.get("refusal"):
                self._refused.append(refusal)
        content = delta.get("content")
        if content:
            if isinstance(content, str):
                self._say(content)
            else:
                self._take_parts(content)
        calls = delta.get("tool_calls") or ()
        for call in [lone] if (lone := as_object(calls)) else calls:
            self._calls.take(call)
        if legacy := delta.get("function_call"):
            self._calls.take({"index": "function_call", "function": legacy})

    def _take_reasoning(self, delta: dict[str, Any]) -> None:
        said = ""
        for key in _REASONING_FIELDS:
            found = delta.get(key)
            if found and isinstance(found, str):
                said = found
                self._reasoning_field = self._reasoning_field or key
                break
        for detail in delta.get("reasoning_details") or ():
            self._merge_detail(detail)
            if not said and "reasoning" not in delta and "reasoning_content" not in delta:
                said = detail.get("text") or detail.get("summary") or ""
        if said:
            self._think(said)

    def _merge_detail(self, detail: dict[str, Any]) -> None:
        last = self._details[-1] if self._details else None
        if (
            last is None
            or any(last.get(key) != detail.get(key) for key in ("type", "index"))
            or (last.get("id") and detail.get("id") and last["id"] != detail["id"])
        ):
            self._details.append(dict(detail))
            return
        for key, part in detail.items():
            if key in ("text", "summary", "data") and isinstance(part, str):
                last[key] = (last.get(key) or "") + part
            elif part is not None:
                last[key] = part

    def _take_parts(self, parts: Any) -> None:
        for part in parts:
            if part.get("type") == "text" and part.get("text"):
                self._say(part["text"])
            elif part.get("type") == "thinking":
                thinking = part.get("thinking")
                for piece in as_list(thinking):
                    if piece.get("text"):
                        self._think(piece["text"])
                if thinking and isinstance(thinking, str):
                    self._think(thinking)
            elif part.get("type") == "reasoning":
                for piece in as_list(part.get("summary")):
                    if piece.get("text"):
                        self._think(piece["text"])
            elif part.get("type") == "refusal" and part.get("refusal"):
                self._refused.append(part["refusal"])

    def _conclude(self) -> ModelReply:
        finish = self._finish_reason
        # Such as `content_filter: SAFETY`, or the words of the server behind.
        word = str(finish or "").lower().partition(":")[0]
        outcome, error = Outcome.COMPLETE, None
        if finish is None and not self._has_end:
            outcome = Outcome.TRUNCATED
        elif word in _FAILED:
            self._fail({"message": f"the answer ended with {finish!r}"}, is_said=False)
        elif self._refused or word in _REFUSED:
            outcome, error = Outcome.REFUSED, self._refusal("".join(self._refused))
        elif word in _LENGTH:
            outcome = Outcome.LENGTH
        calls, incomplete = settle(
            self._calls.calls, was_cut=outcome is not Outcome.COMPLETE or self._error is not None
        )
        raw = self._raw_usage
        return ModelReply(
            text="".join(self._text),
            reasoning="".join(self._reasoning),
            calls=calls,
            incomplete_calls=incomplete,
            opaque=self._opaque(),
            finish_reason=finish,
            raw_usage=raw,
            usage=usage_of(raw) if raw else Usage(),
            error=error,
            outcome=outcome,
        )

    def _opaque(self) -> tuple[dict[str, Any], ...]:
        if self._details:
            return ({"reasoning_details": self._details},)
        if self._reasoning_field:
            return ({self._reasoning_field: "".join(self._reasoning)},)
        return ()


def usage_of(raw: dict[str, Any]) -> Usage:
    """Translate a usage object of any dialect."""
    cached = (
        count(raw, "prompt_tokens_details", "cached_tokens")
        or count(raw, "prompt_cache_hit_tokens")
        or count(raw, "cached_tokens")
    )
    cost = raw.get("cost")
    tokens = (count(raw, "prompt_tokens"), count(raw, "completion_tokens"))
    return Usage(
        input_tokens=tokens[0],
        output_tokens=tokens[1],
        cached_tokens=cached,
        cache_write_tokens=count(raw, "prompt_tokens_details", "cache_write_tokens"),
        context_tokens=sum(tokens),
        cost=float(cost) if isinstance(cost, int | float) else None,
    )
