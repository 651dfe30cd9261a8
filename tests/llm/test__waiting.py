from typing import Any

import pytest

from kova_ls.llm._waiting import wait_asked

NOW = "Wed, 21 Oct 2026 07:28:00 GMT"
NOW_S = 1_792_567_680


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:10 GMT", "date": NOW}, 10.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:27:10 GMT", "date": NOW}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:10 GMT"}, None),
        ({"retry-after": "1m30s"}, 90.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e400"}, None),
        ({}, None),
    ],
)
def test_a_header_asks_for_a_wait(headers: dict[str, str], wait_s: float | None):
    assert wait_asked(headers) == wait_s


@pytest.mark.parametrize(
    ("said", "wait_s"),
    [
        ("Limit 15000. Please try again in 5.25s. Visit the docs.", 5.25),
        ("Please try again in 20ms.", 0.02),
        ("Please try again in 1m2.5s.", 62.5),
        ("Please retry after 7 seconds.", 7.0),
        ("Try again in 2 minutes.", 120.0),
        ("Try again later.", None),
    ],
)
def test_a_sentence_asks_for_a_wait(said: str, wait_s: float | None):
    assert wait_asked({}, {"message": said}, said) == wait_s


def test_an_error_holds_the_wait():
    error = {"details": [{"@type": "x"}, {"retryDelay": "34s"}]}
    assert wait_asked({}, error) == 34.0
    assert wait_asked({}, {"details": "x"}) is None


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m2s"}, 62.0),
        ({"x-ratelimit-remaining-requests": "9", "x-ratelimit-reset-requests": "1m2s"}, None),
        (
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "8ms",
                "x-ratelimit-remaining-tokens": "0",
                "x-ratelimit-reset-tokens": "7.66s",
            },
            7.66,
        ),
        (
            {
                "date": NOW,
                "anthropic-ratelimit-tokens-remaining": "0",
                "anthropic-ratelimit-tokens-reset": "2026-10-21T07:28:20Z",
            },
            20.0,
        ),
        ({"date": NOW, "x-ratelimit-remaining": "0", "x-ratelimit-reset": f"{NOW_S + 5}"}, 5.0),
        ({"date": NOW, "x-ratelimit-remaining": "0", "x-ratelimit-reset": f"{NOW_S}500"}, 0.5),
        ({"date": NOW, "x-ratelimit-remaining": "0", "x-ratelimit-reset": "9" * 40}, None),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "30"}, 30.0),
    ],
)
def test_a_limit_that_is_used_up_asks_for_a_wait(headers: dict[str, str], wait_s: float | None):
    assert wait_asked(headers, is_limited=True) == wait_s
    assert wait_asked(headers) is None


def test_the_headers_of_the_server_behind_count():
    told: dict[str, Any] = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": f"{NOW_S + 9}000"}
    error = {"metadata": {"headers": told}}
    assert wait_asked({"date": NOW}, error, is_limited=True) == 9.0
