"""Read the streamed answers of the Gemini API."""

from dataclasses import dataclass
from typing import Any

import orjson

from kova_ls.llm._base import (
    ModelCall,
    ModelReply,
)
from kova_ls.llm._decoding import OpenCall, StreamDecoder, settle, stream_error
from kova_ls.llm._failure import ANYWHERE, Endpoint
from kova_ls.llm._json import as_list, as_object, count
from kova_ls.llm._partial_args import PartialArgs
from kova_ls.values import Usage
from kova_ls.vocabulary import Outcome

SIGNATURE = "thoughtSignature"
"""Field of a part that the provider wants back as it came."""
_COMPLETE = frozenset({"STOP", "FINISH_REASON_UNSPECIFIED"})
_FAILED = frozenset(
    {
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "MISSING_THOUGHTSIGNATURE",
        "MALFORMED_RESPONSE",
        "OTHER",
        "IMAGE_OTHER",
        "NO_IMAGE",
    }
)


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
        signature = part.get(SIGNATURE) or part.get("thought_signature")
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
        opaque = {SIGNATURE: signature} if signature else None
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
                **({SIGNATURE: mark.signature} if mark.signature else {}),
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
