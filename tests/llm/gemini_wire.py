"""Write answers of gemini, event by event."""

from typing import Any

from tests.llm.wire import data, decoded

USAGE = {"promptTokenCount": 10, "candidatesTokenCount": 2, "totalTokenCount": 12}


def chunk(*parts: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], **more}


def called(name: str, identity: str | None = None, **args: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": args, **({"id": identity} if identity else {})}}


def read(*chunks: Any) -> dict[str, Any]:
    return decoded("gemini", data(*chunks))
