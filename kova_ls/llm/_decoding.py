"""What the decoders of all streamed formats share.

Invariant: no IO; the reply does not depend on where the bytes were split.
Invariant: a call is complete only when its arguments are an object and were not cut off.
"""

import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import orjson

from kova_ls.errors import AdapterFailure
from kova_ls.llm._base import IncompleteCall, ModelCall, ModelReply
from kova_ls.llm._failure import ANYWHERE, Endpoint, classify, names_fault, redact, scrub
from kova_ls.llm._json import as_object, mended_object
from kova_ls.llm._sse import EventCutter
from kova_ls.vocabulary import Outcome

Delta = tuple[Literal["text", "reasoning"], str]

MADE_ID = "made_"
"""Leads the ids of calls to which the provider gave none."""


_UNFORESEEN = (AttributeError, IndexError, KeyError, TypeError, ValueError)
"""What a value of an unforeseen shape raises; caught at two seams, nowhere else."""


@dataclass(slots=True)
class OpenCall:
    """A call while its pieces arrive."""

    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list[str])
    is_closed: bool = False
    """The provider said that nothing more follows."""
    opaque: dict[str, Any] | None = None

    @property
    def arguments(self) -> str:
        """What arrived so far."""
        return "".join(self.pieces)


def settle(
    calls: list[OpenCall], *, was_cut: bool
) -> tuple[tuple[ModelCall, ...], tuple[IncompleteCall, ...]]:
    """Part the complete calls from those that must not run.

    `was_cut`: the answer ended early, so that the last call without arguments may be a beginning.
    """
    complete: list[ModelCall] = []
    incomplete: list[IncompleteCall] = []
    for number, call in enumerate(calls):
        text = call.arguments
        identity = str(call.id or "") or MADE_ID + secrets.token_hex(8)
        may_be_cut = was_cut and number == len(calls) - 1
        whole = mended_object(text) if text.strip() else None if may_be_cut else text
        if whole is not None and call.name:
            complete.append(ModelCall(identity, call.name, whole, call.opaque))
        else:
            incomplete.append(IncompleteCall(identity, call.name, text))
    return tuple(complete), tuple(incomplete)


class StreamDecoder:
    """Base of the decoders: cuts events, collects text, reasoning, error and end.

    A decoder fills in `_take` (one JSON value of the stream) and `_conclude`.
    """

    terminator = b"[DONE]"

    def __init__(self, where: Endpoint = ANYWHERE) -> None:
        self._where = where
        self._cutter = EventCutter()
        self._deltas: list[Delta] = []
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._last: Any = None
        self._has_event = False
        self._has_end = False
        self._finish_reason: str | None = None
        self._raw_usage: dict[str, Any] | None = None
        self._raw_error: Any = None
        self._error: AdapterFailure | None = None

    def feed(self, data: bytes) -> list[Delta]:
        """Take any number of bytes and return the deltas that became complete, in order."""
        for name, payload in self._cutter.feed(data):
            self._event(name, payload)
        deltas = self._deltas
        if deltas:
            self._deltas = []
        return deltas

    def finish(self) -> ModelReply:
        """Say what the stream amounted to; to be called once, after the last byte."""
        for name, payload in self._cutter.finish():
            for part in _parted(payload):
                if part.strip() == self.terminator or _is_json(part):
                    self._event(name, part)
        if self._cutter.stray:
            self._take_stray(self._cutter.stray)
        try:
            reply = self._conclude()
        except _UNFORESEEN:
            self._fail_bad_answer("values of the wrong type")
            reply = ModelReply(text="".join(self._text))
        is_empty = not (reply.text or reply.reasoning or reply.calls or reply.incomplete_calls)
        if is_empty and reply.outcome is Outcome.TRUNCATED and names_fault(self._last):
            self._fail(self._last)
        if self._error is not None:
            reply = replace(
                reply,
                error=self._error,
                raw_error=scrub(self._raw_error, self._where.secrets),
                outcome=Outcome.ERROR,
            )
        if reply.outcome is Outcome.TRUNCATED and reply.error is None:
            reply = replace(
                reply,
                error=AdapterFailure(
                    "brokenStream",
                    f"The answer of {self._where.host} broke off before its end. Try again.",
                    retryable=True,
                ),
            )
        return reply

    # -- for the decoders -----------------------------------------------------------------

    def _take(self, name: bytes, value: dict[str, Any]) -> None:
        raise NotImplementedError

    def _conclude(self) -> ModelReply:
        raise NotImplementedError

    def _say(self, text: str) -> None:
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError
        self._text.append(text)
        self._deltas.append(("text", text))

    def _think(self, text: str) -> None:
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError
        self._reasoning.append(text)
        self._deltas.append(("reasoning", text))

    def _fail(self, error: Any, *, is_said: bool = True) -> None:
        """Keep the first error; what follows is its echo. `is_said`: the words are theirs."""
        if self._error is None:
            self._raw_error = error if is_said else None
            self._error = classify(error, self._where)

    def _refusal(self, said: str) -> AdapterFailure:
        said = redact(said, self._where.secrets).strip()
        what = f"The model refused: {said.rstrip('.')}." if said else "The model refused to answer."
        return AdapterFailure("refused", f"{what} Word the request differently.")

    # -- the way of an event --------------------------------------------------------------

    def _event(self, name: bytes, payload: bytes) -> None:
        try:
            value: Any = orjson.loads(payload)
        except orjson.JSONDecodeError:
            self._odd_event(name, payload)
            return
        self._has_event = True
        self._value(name, value)

    def _value(self, name: bytes, value: Any) -> None:
        self._last = value
        if isinstance(value, dict):
            try:
                self._take(name, value)  # pyright: ignore[reportUnknownArgumentType]
            except _UNFORESEEN:
                self._fail_bad_answer(orjson.dumps(value).decode())
        elif isinstance(value, list):
            for part in value:  # pyright: ignore[reportUnknownVariableType]
                self._value(name, part)
        elif name == b"error":
            self._fail(value)

    def _odd_event(self, name: bytes, payload: bytes) -> None:
        parts = _parted(payload)
        if len(parts) > 1:
            for part in parts:
                self._event(name, part)
            return
        stripped = payload.strip()
        if stripped == self.terminator:
            self._has_event = self._has_end = True
            return
        text = payload.decode("utf-8", "replace")
        try:
            # The stdlib reads what orjson refuses: halves of surrogate pairs, NaN.
            self._value(name, _well_formed(json.loads(text)))
        except ValueError:
            if name == b"error":
                self._fail({"message": text})
            elif stripped[:1] in (b"{", b"["):
                self._fail_bad_answer(text)
            else:
                # Such as a proxy's "keep-alive": it matters only when nothing else comes.
                self._cutter.stray.append(payload)
            return
        self._has_event = True

    def _fail_bad_answer(self, text: str) -> None:
        if self._error is None:
            shown = redact(" ".join(text.split())[:160], self._where.secrets)
            self._raw_error = {"message": shown}
            self._error = AdapterFailure(
                "badAnswer",
                f"{self._where.host} answered with something that is no model answer: {shown!r}. "
                "Check `base_url` and `api` of this model in config.toml.",
            )

    def _take_stray(self, lines: list[bytes]) -> None:
        """Read what came outside any event: a whole JSON body, JSON lines, or `error: …`."""
        text = b"\n".join(lines).decode("utf-8", "replace").strip()
        was_read = False
        for value in _values(text):
            was_read = True
            self._value(b"", value)
        for line in lines:
            if line.startswith(b"error:") and _is_json(line[6:]):
                was_read = True
                error: Any = orjson.loads(line[6:])
                self._fail(as_object(error).get("error", error))
        # What begins as JSON and is none broke off.
        if not was_read and not self._has_event and text[:1] not in ("{", "["):
            self._fail_bad_answer(text)


def _values(text: str) -> Iterator[Any]:
    """Yield the values of a JSON body, the elements of an array, or the lines that are JSON.

    Of an array that broke off come the elements before that.
    """
    scanner = json.JSONDecoder()
    is_array = text.startswith("[")
    at = 1 if is_array else 0
    while at < len(text):
        if text[at] in " \t\r\n,]":
            at += 1
            continue
        try:
            value, at = scanner.raw_decode(text, at)
        except (ValueError, RecursionError):
            at = text.find("\n", at) if not is_array and "\n" in text[at:] else len(text)
            continue
        yield _well_formed(value)


def _well_formed(value: Any) -> Any:
    """Replace the halves of surrogate pairs, which the stdlib reads and nothing can write."""
    return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def _parted(payload: bytes) -> list[bytes]:
    """Part events that only a line end, and no blank line, stood between."""
    lines = payload.split(b"\n")
    is_each_whole = len(lines) > 1 and _is_json(lines[0]) and not _is_json(payload)
    return [line for line in lines if line.strip()] if is_each_whole else [payload]


def _is_json(payload: bytes) -> bool:
    """Tell a whole event from one that broke off."""
    try:
        orjson.loads(payload)
    except orjson.JSONDecodeError:
        return False
    return True


def stream_error(value: dict[str, Any], name: bytes) -> Any:
    """Return the error that a stream's JSON value carries, or None."""
    found = value.get("error")
    if found:
        return found
    if name == b"error" or value.get("object") == "error" or value.get("type") == "error":
        frame = {"type": "error", "sequence_number": value.get("sequence_number")}
        return {key: part for key, part in value.items() if key not in frame or part != frame[key]}
    return None
