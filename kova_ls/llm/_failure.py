"""Turn what a provider or the network says into a failure that says what to do.

Invariant: no key and no header value ever reaches a message.
"""

import math
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from urllib.parse import urlsplit

import orjson

from kova_ls.errors import AdapterFailure
from kova_ls.llm._json import as_list, as_object
from kova_ls.llm._sse import EventCutter
from kova_ls.llm._waiting import wait_asked


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is called, as far as an error text needs it."""

    url: str = ""
    model: str = ""
    key_env: str | None = None
    has_key: bool = True
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Taken out of every text."""

    @property
    def host(self) -> str:
        """Host and port for people."""
        return urlsplit(self.url).netloc.rpartition("@")[2] or "the provider"

    @property
    def address(self) -> str:
        """The whole address for people, without a password and what stands behind a `?`."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{self.host}{parts.path}"

    @property
    def is_local(self) -> bool:
        """True for a server on this machine."""
        name = urlsplit(self.url).hostname or ""
        return name in ("localhost", "::1") or name.startswith("127.")


ANYWHERE = Endpoint()

_KEY_LIKE = re.compile(
    r"(?i:bearer|basic)\s+[^\s\"',]+"
    r"|\b(?:sk|rk|pk|gsk|xai|pplx|nvapi|hf|tgp|csk|key)[-_][\w*.\-]{6,}"
    r"|\bAIza[\w*\-]{8,}"
    r"|(?<![\w-])(?=[\w*-]*\d)[\w*-]{32,}"
)


_SHORTEST_SECRET = 6
"""Shorter header values are words such as `true`, which no text can spare."""


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Replace known secrets and whatever looks like a key."""
    return _KEY_LIKE.sub("[redacted]", _without(text, secrets))


def scrub(value: Any, secrets: tuple[str, ...]) -> Any:
    """Return a JSON value without the known secrets."""
    if isinstance(value, str):
        return _without(value, secrets)
    if isinstance(value, list):
        return [scrub(part, secrets) for part in as_list(value)]
    if isinstance(value, dict):
        return {key: scrub(part, secrets) for key, part in as_object(value).items()}
    return value


def _without(text: str, secrets: Iterable[str]) -> str:
    for secret in secrets:
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, "[redacted]")
    return text


def error_of(body: bytes) -> Any:
    """Return the error inside an HTTP error body, in the provider's own words."""
    body = body.removeprefix(b"\xef\xbb\xbf")
    try:
        value: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        value = _streamed(body)
        if value is None:
            return {"message": body.decode("utf-8", "replace").strip()}
    value = next(iter(as_list(value)), value)
    return as_object(value).get("error") or value


def _streamed(body: bytes) -> Any:
    """Return the first JSON value of a body that is a stream of events all the same, or None."""
    cutter = EventCutter()
    for _, payload in [*cutter.feed(body), *cutter.finish()]:
        with suppress(orjson.JSONDecodeError):
            return orjson.loads(payload)
    return None


_SENTENCES = ("message", "detail", "error", "msg", "title", "error_msg", "status_msg", "Message")


def message_of(error: Any) -> str:
    """Return the sentence in a provider's error."""
    if isinstance(error, str):
        return error
    for key in _SENTENCES:
        found: Any = as_object(error).get(key)
        found = next(iter(as_list(found)), found)
        if isinstance(found, str) and found:
            return found
        if as_object(found):
            return message_of(found)
    has_words = any(as_object(error).values()) if isinstance(error, dict) else error
    return orjson.dumps(error).decode()[:500] if has_words else ""


def names_fault(value: Any) -> bool:
    """Tell an object that says in plain words, under no `error`, what is wrong."""
    found = as_object(value)
    return any(found.get(key) and isinstance(found[key], str | list) for key in _SENTENCES)


_CONTEXT = re.compile(
    r"context.?length|context_length_exceeded|exceed_context_size|context.?window|context size"
    r"|maximum context|prompt is too long|request_too_large|too many (?:input )?tokens"
    r"|input (?:token count|length|is too long)|token count .*exceeds|max(?:imum)? (?:input|prompt)"
    r"|reduce the length",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"insufficient_quota|credit balance|billing|payment|insufficient (?:credit|balance|funds)"
    r"|out of credits|exceeded your current quota, please check your plan",
    re.IGNORECASE,
)
_KEY = re.compile(
    r"authentication_error|invalid_api_key|api_key_invalid|api key not valid|invalid x-api-key"
    r"|incorrect api key|unauthenticated|unauthorized|no auth credentials|invalid api key"
    r"|invalid authentication",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model_not_found|not_found_error|no such model|unknown model|is not a valid model"
    r"|models?\b.{0,120}?\b(?:not found|does not exist|doesn't exist|not exist|is not supported"
    r"|not available)|try pulling",
    re.IGNORECASE | re.DOTALL,
)
_OVERLOADED = re.compile(
    r"overloaded|over capacity|server is busy|loading model|unavailable|engine_overloaded"
    r"|insufficient_system_resource|high demand",
    re.IGNORECASE,
)
_RATE = re.compile(
    r"rate.?limit|resource_exhausted|too many requests|tokens per min", re.IGNORECASE
)
_TIMEOUT = re.compile(r"timed? ?out|timeout|deadline", re.IGNORECASE)
_POLICY = re.compile(
    r"content_policy|content_filter|content management|moderation|safety", re.IGNORECASE
)
_BAD = re.compile(
    r"invalid_request|invalid_argument|bad_?request|failed_precondition|validation|unprocessable",
    re.IGNORECASE,
)


def classify(
    error: Any,
    where: Endpoint = ANYWHERE,
    *,
    status: int | None = None,
    headers: Mapping[str, str] | None = None,
) -> AdapterFailure:
    """Say what a provider's error means.

    `status` None: the error came inside a stream that had begun well.
    """
    said = _plain(redact(message_of(error), where.secrets))
    text = error if isinstance(error, str) else orjson.dumps(error).decode()
    effective = status if status is not None else _inner_status(error)
    code, advice, retryable = _judge(text, effective, where)
    hint = (headers or {}).get("x-should-retry")
    if hint in ("true", "false"):
        retryable = hint == "true"
    given = headers or {}
    wait_s = wait_asked(given, error, said, is_limited=code == "rateLimited")
    if retryable and wait_s is not None and wait_s > _SHORT_WAIT_S:
        advice = f"Try again in {_human(wait_s)}, or choose another model."
    if status is not None and 300 <= status < 400 and given.get("location"):
        advice = _moved(given["location"]) + advice
    elif status in (404, 405):
        advice += f" The request went to {where.address}."
    shown = said if len(said) <= 600 else said[:600] + "…"
    quoted = f" It said: {shown.rstrip('.')}." if shown else ""
    number = f" (HTTP {status})" if status is not None else ""
    return AdapterFailure(
        code,
        f"{_WHAT[code].format(host=where.host, model=where.model or 'the model')}{number}."
        f"{quoted} {advice}",
        retryable=retryable,
        retry_after_s=wait_s,
        status=effective,
    )


def _plain(text: str) -> str:
    """Return a page's title, or its words, instead of its markup."""
    text = text.strip()
    if text[:1] != "<":
        return text
    title = re.search(r"(?is)<title[^>]*>(.*?)</title>", text)
    words = title[1] if title else re.sub(r"(?is)<(style|script).*?</\1>|<[^>]*>", " ", text)
    return " ".join(unescape(words).split())


def _human(wait_s: float) -> str:
    minutes = math.ceil(wait_s / 60)
    return f"{minutes} min" if minutes < 120 else f"{math.ceil(minutes / 60)} h"


def _moved(location: str) -> str:
    parts = urlsplit(location)
    return f"It points to {parts._replace(query='', fragment='').geturl().rpartition('@')[2]}. "


_SHORT_WAIT_S = 60.0

_WHAT = {
    "noKey": "{host} wants a key and none is set",
    "badKey": "{host} did not accept the key",
    "noSuchModel": "{host} does not know {model}",
    "contextTooLong": "The conversation does not fit into the context of {model}",
    "rateLimited": "{host} limits how much may be asked",
    "overloaded": "{host} is overloaded or not ready",
    "timedOut": "{host} took too long",
    "refused": "{host} refused the request",
    "badRequest": "{host} did not accept the request",
    "serverError": "{host} answered with a fault of its own",
}


def no_key(where: Endpoint) -> AdapterFailure:
    """Say that a key is needed and where it is looked for."""
    return AdapterFailure(
        "noKey",
        f"{_WHAT['noKey'].format(host=where.host)}. {_key_advice(where)}",
    )


def _key_advice(where: Endpoint) -> str:
    if where.key_env:
        return f"Set the environment variable {where.key_env} and start the engine again."
    return "Name the variable that holds the key as api_key_env of this model in config.toml."


def _inner_status(error: Any) -> int | None:
    for key in ("code", "status", "status_code"):
        found: Any = as_object(error).get(key)
        if isinstance(found, str) and found.isdecimal():
            found = int(found)
        if isinstance(found, int) and 400 <= found <= 599:
            return found
    return None


def _judge(text: str, status: int | None, where: Endpoint) -> tuple[str, str, bool]:
    """Return code, advice, and whether the same call may succeed later."""
    if status == 402 or _QUOTA.search(text):
        return "rateLimited", "Check the plan and credit of the account behind the key.", False
    if status == 401 or _KEY.search(text):
        if where.has_key:
            named = f" in the environment variable {where.key_env}" if where.key_env else ""
            return "badKey", f"Check the key{named}.", False
        return "noKey", _key_advice(where), False
    if status == 413 or (status in (None, 400, 422, 500) and _CONTEXT.search(text)):
        return (
            "contextTooLong",
            "Compact the session, start a new one, or use another model.",
            False,
        )
    if status != 429 and status is not None and status >= 500 and _OVERLOADED.search(text):
        return "overloaded", _LATER, True
    if status in (None, 400, 404, 422) and _NO_MODEL.search(text):
        return "noSuchModel", "Correct `model` in config.toml, or choose another model.", False
    if status == 404:
        return "noSuchModel", "Check `model` and `base_url` in config.toml.", False
    if status == 403:
        return (
            "badKey",
            "The key may lack the right to use this model: check its permissions.",
            False,
        )
    if status == 429 or (status is None and _RATE.search(text)):
        return "rateLimited", "Wait a moment and try again.", True
    if status in (503, 529) or (status is None and _OVERLOADED.search(text)):
        return "overloaded", _LATER, True
    if status in (408, 504) or (status is None and _TIMEOUT.search(text)):
        return "timedOut", "Try again.", True
    if (status is None or status < 500) and _POLICY.search(text):
        return "refused", "Word the request differently.", False
    if status == 409 or "tool_use_failed" in text:
        return "serverError", "Try again.", True
    if status is None and not _BAD.search(text):
        return "serverError", "Try again.", True
    if status is not None and status >= 500:
        return "serverError", "Try again, or look at the provider's status page.", True
    if status is not None and 300 <= status < 400:
        return "badRequest", "The address has moved: correct `base_url` in config.toml.", False
    return "badRequest", "Check this model's settings in config.toml.", False


_LATER = "Wait a moment and try again, or choose another model."
