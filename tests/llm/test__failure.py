from typing import Any

import pytest

from kova_ls.llm._failure import Endpoint, classify, error_of, names_fault, no_key, redact, scrub

WHERE = Endpoint("https://models.example/v1/x", "m-1", "WORK_KEY", secrets=("hunter2",))


@pytest.mark.parametrize(
    ("status", "error", "code", "retryable"),
    [
        (401, {"message": "bad"}, "badKey", False),
        (400, {"status": "INVALID_ARGUMENT", "message": "API key not valid."}, "badKey", False),
        (403, {"message": "Permission denied"}, "badKey", False),
        (404, {"message": "The model `m` does not exist"}, "noSuchModel", False),
        (404, {"message": 'model "m" not found, try pulling it first'}, "noSuchModel", False),
        (400, {"message": "m is not a valid model ID"}, "noSuchModel", False),
        (400, {"code": "context_length_exceeded", "message": "x"}, "contextTooLong", False),
        (400, {"message": "prompt is too long: 3 tokens > 2 maximum"}, "contextTooLong", False),
        (400, {"type": "exceed_context_size_error", "message": "x"}, "contextTooLong", False),
        (
            400,
            {"message": "The input token count (9) exceeds the maximum number of tokens"},
            "contextTooLong",
            False,
        ),
        (413, {"message": "too large"}, "contextTooLong", False),
        (429, {"type": "rate_limit_error", "message": "slow"}, "rateLimited", True),
        (429, {"code": "insufficient_quota", "message": "x"}, "rateLimited", False),
        (402, {"message": "Insufficient credits"}, "rateLimited", False),
        (400, {"message": "Your credit balance is too low"}, "rateLimited", False),
        (529, {"type": "overloaded_error", "message": "x"}, "overloaded", True),
        (503, {"message": "Loading model"}, "overloaded", True),
        (500, {"message": "boom"}, "serverError", True),
        (408, {"message": "x"}, "timedOut", True),
        (504, "gateway", "timedOut", True),
        (409, {"message": "conflict"}, "serverError", True),
        (400, {"code": "content_policy_violation", "message": "x"}, "refused", False),
        (400, {"message": "Unknown parameter: 'foo'"}, "badRequest", False),
        (302, "", "badRequest", False),
        (None, {"type": "overloaded_error", "message": "Overloaded"}, "overloaded", True),
        (None, {"code": 502, "message": "Provider returned error"}, "serverError", True),
        (None, {"code": "429", "message": "x"}, "rateLimited", True),
        (None, {"type": "invalid_request_error", "message": "no"}, "badRequest", False),
        (None, {"code": "rate_limit_exceeded", "message": "x"}, "rateLimited", True),
        (None, {"message": "Request timed out"}, "timedOut", True),
        (None, {"message": "hm"}, "serverError", True),
        (
            None,
            {"type": "invalid_request_error", "code": "tool_use_failed", "message": "x"},
            "serverError",
            True,
        ),
        (None, "plain words", "serverError", True),
    ],
)
def test_an_error_is_told_by_what_it_means(
    status: int | None, error: Any, code: str, retryable: bool
):
    failure = classify(error, WHERE, status=status)
    assert (failure.code, failure.retryable) == (code, retryable)
    assert failure.message.endswith(".")


def test_a_wrong_key_names_the_variable_and_shows_no_key():
    said = {"message": "Incorrect API key provided: sk-abcd1234****wxyz, hunter2."}
    failure = classify(said, WHERE, status=401)
    assert failure.message == (
        "models.example did not accept the key (HTTP 401). It said: Incorrect API key provided: "
        "[redacted], [redacted]. Check the key in the environment variable WORK_KEY."
    )


def test_a_missing_key_says_where_it_is_looked_for():
    assert no_key(WHERE).message == (
        "models.example wants a key and none is set. "
        "Set the environment variable WORK_KEY and start the engine again."
    )
    bare = Endpoint("https://models.example", has_key=False)
    assert "api_key_env" in classify({"message": "x"}, bare, status=401).message
    assert classify({"message": "x"}, bare, status=401).code == "noKey"


@pytest.mark.parametrize(
    "text",
    [
        "Bearer abc.def",
        "sk-ant-api03-xyz123",
        "AIzaSyA1234567890",
        "0123456789abcdef0123456789abcdef",
        "gsk_abcdefgh",
    ],
)
def test_what_looks_like_a_key_is_taken_out(text: str):
    assert redact(f"got {text} here") == "got [redacted] here"


def test_plain_words_stay():
    text = "The model `gpt-5-mini` does not exist; see https://models.example/docs/models."
    assert redact(text) == text


def test_known_secrets_leave_a_json_value():
    assert scrub({"a": ["x hunter2"]}, ("hunter2",)) == {"a": ["x [redacted]"]}
    assert scrub({"a": True, "b": "true"}, ("true",)) == {"a": True, "b": "true"}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", None),
        (b"{}", None),
        (b"<html><head><title>502 Bad&nbsp;Gateway</title></head><body>x</body></html>", "502 Bad"),
        (b"<html><style>a{b:c}</style><h1>Not   found</h1></html>", "Not found."),
        (b'{"detail":[{"loc":["body"],"msg":"Field required","type":"missing"}]}', "Field req"),
        (b'{"Message":"no access"}', "no access"),
    ],
)
def test_what_a_body_says_is_quoted_in_words(body: bytes, said: str | None):
    message = classify(error_of(body), WHERE, status=500).message
    assert ("It said" in message) == (said is not None)
    assert said is None or f"It said: {said}" in message
    assert "<" not in message


def test_a_long_wait_and_an_address_that_moved_are_named():
    long = classify("slow", WHERE, status=429, headers={"retry-after": "5400"})
    assert "Try again in 90 min" in long.message
    moved = {"location": "https://u:p@new.example/v1?key=k"}
    message = classify({"message": ""}, WHERE, status=307, headers=moved).message
    assert "It points to new.example/v1." in message


def test_a_path_that_is_not_there_is_named():
    where = Endpoint("https://u:p@models.example/api/chat?key=k")
    for status in (404, 405):
        message = classify("", where, status=status).message
        assert "went to https://models.example/api/chat." in message


@pytest.mark.parametrize(
    ("value", "is_fault"),
    [
        ({"detail": "Not found"}, True),
        ({"detail": [{"msg": "x"}]}, True),
        ({"type": "message_start", "message": {"id": "m"}}, False),
        ({"message": ""}, False),
        ({"type": "ping"}, False),
        ("message", False),
    ],
)
def test_a_lone_complaint_is_known_by_its_words(value: Any, is_fault: bool):
    assert names_fault(value) == is_fault


def test_the_provider_may_say_whether_a_retry_makes_sense():
    assert not classify("x", WHERE, status=500, headers={"x-should-retry": "false"}).retryable
    assert classify("x", WHERE, status=400, headers={"x-should-retry": "true"}).retryable


def test_the_error_is_found_in_every_body():
    assert error_of(b'{"error":{"message":"a"}}') == {"message": "a"}
    assert error_of(b'[{"error":{"message":"a"}}]') == {"message": "a"}
    assert error_of(b'{"error":"a"}') == "a"
    assert error_of(b'{"message":"a"}') == {"message": "a"}
    assert error_of(b"<html>bad</html> ") == {"message": "<html>bad</html>"}
    assert error_of(b"[]") == []
    assert error_of(b'\xef\xbb\xbf{"error":"a"}') == "a"
    event = b'event: error\ndata: {"error":{"message":"a"}}'
    assert error_of(event) == error_of(event + b"\n\n") == {"message": "a"}
    assert error_of(b"data: not json") == {"message": "data: not json"}


@pytest.mark.parametrize(
    ("url", "host", "is_local"),
    [
        ("http://127.0.0.1:8080/v1", "127.0.0.1:8080", True),
        ("http://localhost/v1", "localhost", True),
        ("http://[::1]:1/v1", "[::1]:1", True),
        ("https://user:pass@models.example/v1", "models.example", False),
        ("", "the provider", False),
    ],
)
def test_a_host_is_named_without_its_password(url: str, host: str, is_local: bool):
    endpoint = Endpoint(url)
    assert (endpoint.host, endpoint.is_local) == (host, is_local)
