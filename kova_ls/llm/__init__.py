"""Open the adapter of a model; decode a recorded answer.

Invariant: opening one adapter imports no other.
"""

import importlib
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kova_ls.errors import SettingsError

if TYPE_CHECKING:
    from kova_ls.config import ModelSettings
    from kova_ls.llm._base import Adapter, AdapterFactory, Decoder

__all__ = ["STREAM_FORMATS", "decode", "decode_http_error", "load", "open_adapter"]

STREAM_FORMATS = ("openai-chat", "openai-responses", "anthropic", "gemini")
"""The APIs whose answers are streams that can be decoded."""


def open_adapter(settings: "ModelSettings", api_key: str | None) -> "Adapter":
    """Open the adapter that speaks the API of these settings.

    Raises: SettingsError for an API that no adapter speaks.
    """
    factory: AdapterFactory = load(settings.api).open_adapter
    return factory(settings, api_key)


def decode(form: str, pieces: Iterable[bytes]) -> dict[str, Any]:
    """Say what a streamed answer, given in pieces, amounts to.

    Shape: `text, reasoning, tool_calls, incomplete_tool_calls, finish_reason, usage, error,
    outcome`, the last four but `outcome` in the provider's own words; `reasoning` is the model's
    own, a provider's summary of it stands under `reasoning_summary` where there is one.
    """
    decoder: Decoder = load(form).Decoder()
    for piece in pieces:
        decoder.feed(piece)
    reply = decoder.finish()
    summary = reply.reasoning_summary
    return {
        "text": reply.text,
        "reasoning": reply.reasoning.removesuffix(summary) if summary else reply.reasoning,
        **({"reasoning_summary": summary} if summary else {}),
        "tool_calls": [
            {
                "id": _given(call.id),
                "name": call.name,
                "arguments": json.loads(call.arguments) if call.arguments.strip() else {},
            }
            for call in reply.calls
        ],
        "incomplete_tool_calls": [
            {"id": _given(call.id), "name": call.name, "arguments": call.arguments}
            for call in reply.incomplete_calls
        ],
        "finish_reason": reply.finish_reason,
        "usage": reply.raw_usage,
        "error": reply.raw_error,
        "outcome": reply.outcome.value,
    }


def decode_http_error(body: bytes) -> dict[str, Any]:
    """Say what the body of an answer with an error status amounts to, in the shape of `decode`."""
    from kova_ls.llm._failure import error_of

    return {
        "text": "",
        "reasoning": "",
        "tool_calls": [],
        "incomplete_tool_calls": [],
        "finish_reason": None,
        "usage": None,
        "error": error_of(body),
        "outcome": "http_error",
    }


def _given(identity: str) -> str | None:
    """Return the provider's id; None for one that was made up here."""
    from kova_ls.llm._decoding import MADE_ID

    return None if not identity or identity.startswith(MADE_ID) else identity


def load(api: str) -> Any:
    """Return the adapter module of an API. Raises: SettingsError."""
    name = f"{__name__}.{api.replace('-', '_')}"
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        module = None
    if api not in getattr(module, "APIS", ()):
        raise SettingsError(f"No adapter speaks the api {api!r}. Correct `api` in config.toml.")
    return module
