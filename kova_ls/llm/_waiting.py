"""Read how long a provider asks to wait before the next try.

Times of day count from the answer's own `Date`, so that a wrong clock here does no harm.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from kova_ls.llm._json import as_list, as_object

_DURATION = re.compile(
    r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?"
)
_IN_S = (86_400.0, 3600.0, 60.0, 1.0, 0.001)
_IN_WORDS = re.compile(
    r"(?i)\b(?:try again|retry) (?:in|after) ~?([\d.]+(?:(?:ms|[dhms])[\d.]*)*)\s?(second|minute|)"
)
_LIMITS = (
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
    ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
    ("anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"),
    ("anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"),
    ("x-ratelimit-remaining", "x-ratelimit-reset"),
)
_EPOCH_S = 1e9
_EPOCH_MS = 1e12


def wait_asked(
    headers: Mapping[str, str], error: Any = None, said: str = "", *, is_limited: bool = False
) -> float | None:
    """Return the seconds that the provider asks to wait, if it says so.

    `said` is the sentence in the error; `is_limited`: the limits that stand in the headers are
    the reason, and not merely told along.
    """
    if (found := _number(headers.get("retry-after-ms"))) is not None:
        return max(0.0, found / 1000)
    if after := headers.get("retry-after"):
        return _until(after, headers)
    for detail in as_list(as_object(error).get("details")):
        delay = str(as_object(detail).get("retryDelay") or "")
        if (found := _number(delay.removesuffix("s"))) is not None:
            return max(0.0, found)
    if (words := _IN_WORDS.search(said)) is not None:
        number = words[1].rstrip(".")
        unit = "m" if words[2].lower() == "minute" else "s"
        if (wait_s := _duration(number if number[-1].isalpha() else number + unit)) is not None:
            return wait_s
    return _until_reset(headers, error) if is_limited else None


def _until_reset(headers: Mapping[str, str], error: Any) -> float | None:
    """Return the longest wait among the limits that are used up."""
    inner = as_object(as_object(as_object(error).get("metadata")).get("headers"))
    told = {**{key: headers[key] for key in headers}, **_lowered(inner)}
    waits = [
        wait_s
        for remaining, reset in _LIMITS
        if _number(told.get(remaining)) == 0 and (wait_s := _until(told.get(reset), headers))
    ]
    return max(waits, default=None)


def _lowered(inner: dict[str, Any]) -> dict[str, str]:
    return {key.lower(): str(value) for key, value in inner.items()}


def _until(moment: str | None, headers: Mapping[str, str]) -> float | None:
    """Read seconds, a duration such as `1m2.5s`, or a moment in one of three spellings."""
    if not moment:
        return None
    number = _number(moment)
    if number is not None and number < _EPOCH_S:
        return max(0.0, number)
    if (wait_s := _duration(moment)) is not None:
        return wait_s
    try:
        now = parsedate_to_datetime(headers.get("date", ""))
        if number is not None:
            then = datetime.fromtimestamp(number / (1000 if number > _EPOCH_MS else 1), UTC)
        elif moment[:4].isdecimal():
            then = datetime.fromisoformat(moment)
        else:
            then = parsedate_to_datetime(moment)
        return max(0.0, (then - now).total_seconds())
    except (ValueError, TypeError, OverflowError, OSError):
        return None


def _duration(text: str) -> float | None:
    match = _DURATION.fullmatch(text)
    if not text or match is None:
        return None
    return sum(float(part) * unit for part, unit in zip(match.groups("0"), _IN_S, strict=True))


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text else None
    except ValueError:
        return None
    return value if value is not None and value == value and value != float("inf") else None
