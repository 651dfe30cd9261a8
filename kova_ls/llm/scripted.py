"""Answer from a script instead of a model: for tests and the demo.

The script is a JSON file, `script` in the model's settings:

    {"steps": [
      {"reasoning": "Let me look.",
       "text": ["I read ", "the file."],
       "calls": [{"name": "read", "arguments": {"path": "notes.txt"}}],
       "delay_ms": 20,
       "expect": ["notes"]},
      {"error": {"code": "overloaded", "message": "Come back later.", "retryable": true}},
      {"text": "Done."}
    ]}

Every field of a step may be left out. `text` and `reasoning` are a string or a list of pieces;
`delay_ms` is waited before each piece; each string of `expect` must occur in what was said since
the last answer; `error` ends the step, after its text if it has any; `retries` reports so many
failed tries first; `cut_off` lists calls as `calls` does, with `arguments` as unfinished text.

Invariant: the step is chosen by the number of answers in the conversation, so a script goes on
where it was after a restart and two sessions do not disturb each other.
"""

import asyncio
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kova_ls.config import ModelSettings
from kova_ls.errors import AdapterFailure
from kova_ls.llm._base import (
    AssistantMessage,
    IncompleteCall,
    Message,
    ModelCall,
    ModelReply,
    ModelRequest,
    OnRetry,
    Sink,
    TextContent,
    UserMessage,
)
from kova_ls.values import Usage
from kova_ls.vocabulary import Outcome

APIS = ("scripted",)

_ANSWER = b'{"role":"assistant"'
_NOTHING_MORE = "The script has nothing more to say."


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ScriptedCall(_Shape):
    """A tool call of a step."""

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class ScriptedCutOff(_Shape):
    """A tool call that breaks off in its arguments."""

    name: str
    arguments: str


class ScriptedError(_Shape):
    """How a step fails."""

    code: str
    message: str
    retryable: bool = False
    status: int | None = None


class ScriptedStep(_Shape):
    """One answer."""

    text: str | list[str] = ""
    reasoning: str | list[str] = ""
    calls: list[ScriptedCall] = Field(default_factory=list[ScriptedCall])
    cut_off: list[ScriptedCutOff] = Field(default_factory=list[ScriptedCutOff])
    delay_ms: float = Field(default=0, ge=0)
    expect: list[str] = Field(default_factory=list[str])
    error: ScriptedError | None = None
    retries: int = Field(default=0, ge=0)


class Script(_Shape):
    """All answers, in order."""

    steps: list[ScriptedStep]


class ScriptedAdapter:
    """A script that speaks as a model."""

    api = "scripted"

    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings
        self._script: Script | None = None

    def encode(self, message: Message) -> bytes:
        """Return one message as JSON that shows who speaks first."""
        if isinstance(message, UserMessage):
            said = [part.text for part in message.content if isinstance(part, TextContent)]
            return orjson.dumps({"role": "user", "text": "\n\n".join(said)})
        if isinstance(message, AssistantMessage):
            calls = [{"name": call.name, "arguments": call.arguments} for call in message.calls]
            return orjson.dumps({"role": "assistant", "text": message.text, "calls": calls})
        outputs = [
            {"name": one.name, "text": one.text, "is_error": one.is_error}
            for one in message.outputs
        ]
        return orjson.dumps({"role": "tool", "outputs": outputs})

    async def run(self, request: ModelRequest, sink: Sink, on_retry: OnRetry) -> ModelReply:
        """Say the next step of the script."""
        script = self._loaded()
        number = sum(message.startswith(_ANSWER) for message in request.messages)
        if number >= len(script.steps):
            sink("text", _NOTHING_MORE)
            return ModelReply(
                text=_NOTHING_MORE, finish_reason="end", usage=self._usage(request, _NOTHING_MORE)
            )
        step = script.steps[number]
        self._check(step, number, request)
        for attempt in range(1, step.retries + 1):
            failure = AdapterFailure(
                "overloaded", "The script plays an overloaded model. Wait.", retryable=True
            )
            on_retry(attempt, 0.0, failure)
        delay_s = step.delay_ms / 1000
        for piece in _pieces(step.reasoning):
            await asyncio.sleep(delay_s)
            sink("reasoning", piece)
        for piece in _pieces(step.text):
            await asyncio.sleep(delay_s)
            sink("text", piece)
        if step.calls:
            await asyncio.sleep(delay_s)
        return self._reply(step, number, request)

    async def close(self) -> None:
        """Do nothing: there is no connection."""

    def _reply(self, step: ScriptedStep, number: int, request: ModelRequest) -> ModelReply:
        error = None
        text, reasoning = "".join(_pieces(step.text)), "".join(_pieces(step.reasoning))
        if step.error is not None:
            error = AdapterFailure(
                step.error.code,
                step.error.message,
                retryable=step.error.retryable,
                status=step.error.status,
            )
            if not text and not reasoning:
                raise error
        calls = tuple(
            ModelCall(f"call_{number + 1}_{at}", call.name, orjson.dumps(call.arguments).decode())
            for at, call in enumerate(step.calls, 1)
        )
        cut_off = tuple(
            IncompleteCall(f"call_{number + 1}_{at}", call.name, call.arguments)
            for at, call in enumerate(step.cut_off, len(calls) + 1)
        )
        written = text + reasoning + "".join(call.arguments for call in calls)
        outcome = Outcome.LENGTH if cut_off else Outcome.COMPLETE
        return ModelReply(
            text=text,
            reasoning=reasoning,
            calls=calls if error is None else (),
            incomplete_calls=cut_off,
            finish_reason="length" if cut_off else "end",
            usage=self._usage(request, written),
            error=error,
            outcome=outcome if error is None else Outcome.ERROR,
        )

    def _usage(self, request: ModelRequest, written: str) -> Usage:
        """Estimate four bytes a token, so that what shows usage has something to show."""
        read = (len(request.system) + sum(map(len, request.messages))) // 4
        return Usage(
            input_tokens=read,
            output_tokens=len(written) // 4,
            context_tokens=read + len(written) // 4,
            context_window=self._settings.context_window,
        )

    def _check(self, step: ScriptedStep, number: int, request: ModelRequest) -> None:
        messages = list(request.messages)
        answers = [at for at, one in enumerate(messages) if one.startswith(_ANSWER)]
        recent = b"\n".join(messages[answers[-1] + 1 if answers else 0 :]).decode()
        for wanted in step.expect:
            if orjson.dumps(wanted).decode()[1:-1] not in recent:
                raise AdapterFailure(
                    "badRequest",
                    f"Step {number + 1} of the script expects {wanted!r}, which was not said. "
                    f"Mend the script {self._settings.script!r} or the conversation.",
                )

    def _loaded(self) -> Script:
        if self._script is None:
            if self._settings.script is None:
                raise AdapterFailure(
                    "badRequest", "This model has no script. Set `script` in config.toml."
                )
            try:
                self._script = Script.model_validate_json(Path(self._settings.script).read_bytes())
            except OSError as error:
                raise AdapterFailure(
                    "badRequest",
                    f"The script {self._settings.script!r} cannot be read "
                    f"({error.strerror}). Correct `script` in config.toml.",
                ) from error
            except ValidationError as error:
                first = error.errors(include_url=False, include_input=False)[0]
                place = ".".join(str(part) for part in first["loc"]) or "the file"
                raise AdapterFailure(
                    "badRequest",
                    f"The script {self._settings.script!r} is wrong at {place}: {first['msg']}. "
                    "Mend it.",
                ) from error
        return self._script


def _pieces(said: str | list[str]) -> list[str]:
    return [piece for piece in ([said] if isinstance(said, str) else said) if piece]


def open_adapter(settings: ModelSettings, api_key: str | None) -> ScriptedAdapter:
    """Open the adapter; a script needs no key."""
    return ScriptedAdapter(settings)
