"""What the tests of this room share: streams to write, servers to play, calls to make."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import httpx

from kova_ls.config import ModelSettings
from kova_ls.errors import AdapterFailure
from kova_ls.llm import decode
from kova_ls.llm._base import (
    Adapter,
    AssistantMessage,
    ImageContent,
    Message,
    ModelCall,
    ModelReply,
    ModelRequest,
    TextContent,
    ToolOutput,
    ToolOutputs,
    ToolSpec,
    UserMessage,
)

READ = ToolSpec(
    "read",
    "Read a file.",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)


def data(*values: Any) -> bytes:
    """Write values as unnamed events."""
    return b"".join(b"data: " + json.dumps(value).encode() + b"\n\n" for value in values)


def named(*values: dict[str, Any]) -> bytes:
    """Write values as events named by their `type`."""
    return b"".join(b"event: " + value["type"].encode() + b"\n" + data(value) for value in values)


def decoded(form: str, body: bytes) -> dict[str, Any]:
    """Decode, having seen that the split does not matter."""
    whole = decode(form, [body])
    for size in (1, 2, 3, 7, 64):
        assert decode(form, (body[at : at + size] for at in range(0, len(body), size))) == whole
    return whole


def conversation(api: str, opaque: tuple[dict[str, Any], ...] = ()) -> list[Message]:
    """A person with a picture, two parallel calls, their results, and an answer."""
    return [
        UserMessage((TextContent("What is this?"), ImageContent("aGk=", "image/png"))),
        AssistantMessage(
            "I look.",
            (
                ModelCall("call_1", "read", '{"path":"a"}'),
                ModelCall("call_2", "read", ""),
            ),
            opaque,
            api,
        ),
        ToolOutputs(
            (
                ToolOutput("call_1", "read", "alpha"),
                ToolOutput("call_2", "read", "no path given", is_error=True),
            )
        ),
        AssistantMessage("It is alpha.", api=api),
        UserMessage((TextContent("Thanks."),)),
    ]


class Played:
    """A server that gives the prepared answers in turn and keeps the requests."""

    def __init__(self, *answers: httpx.Response | Exception | bytes) -> None:
        self._answers = list(answers)
        self.requests: list[httpx.Request] = []
        self.waits: list[float] = []

    @property
    def seams(self) -> dict[str, Any]:
        """What to hand to an adapter's `open_adapter`."""
        return {
            "transport": httpx.MockTransport(self._answer),
            "sleep": self._sleep,
            "jitter": lambda: 0.0,
        }

    def body(self, number: int = -1) -> Any:
        """Return a request's body, parsed."""
        return json.loads(self.requests[number].content)

    async def _sleep(self, wait_s: float) -> None:
        self.waits.append(wait_s)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, bytes):
            return httpx.Response(200, stream=httpx.ByteStream(answer))
        return answer


class Call:
    """One run of an adapter, with everything it said on the way."""

    def __init__(self) -> None:
        self.deltas: list[tuple[str, str]] = []
        self.retries: list[tuple[int, float, str]] = []
        self.reply: ModelReply | None = None
        self.failure: AdapterFailure | None = None


async def call(
    adapter: Adapter,
    messages: Iterable[Message] = (UserMessage((TextContent("hi"),)),),
    *,
    system: str = "Be brief.",
    tools: tuple[ToolSpec, ...] = (READ,),
    session_id: str = "",
) -> Call:
    """Run the adapter once and close it."""
    made = Call()
    request = ModelRequest(
        system, [adapter.encode(message) for message in messages], tools, session_id
    )
    try:
        made.reply = await adapter.run(
            request,
            lambda kind, piece: made.deltas.append((kind, piece)),
            lambda number, wait_s, why: made.retries.append((number, wait_s, why.code)),
        )
    except AdapterFailure as failure:
        made.failure = failure
    finally:
        await adapter.close()
    return made


def settings(api: str, **changes: Any) -> ModelSettings:
    """Return settings of a model on a server that is not there."""
    values: dict[str, Any] = {
        "api": api,
        "model": "m-1",
        "base_url": "https://models.example/v1",
        "api_key_env": "WORK_KEY",
    }
    return ModelSettings.model_validate({**values, **changes})


async def bodies(
    open_adapter: Callable[..., Adapter],
    model: ModelSettings,
    answer: bytes,
    messages: Iterable[Message],
    **more: Any,
) -> Any:
    """Return the body that a conversation is sent as."""
    server = Played(answer)
    await call(open_adapter(model, "k-secret", **server.seams), messages, **more)
    return server.body()
