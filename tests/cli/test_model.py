import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kova_ls.cli.arguments import UsageFault
from kova_ls.cli.model import main

STREAM = (
    b'data: {"choices":[{"index":0,"delta":{"content":"\xc3\xa9"}}]}\n\n'
    b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
)
DECODED = {
    "text": "é",
    "reasoning": "",
    "tool_calls": [],
    "incomplete_tool_calls": [],
    "finish_reason": "stop",
    "usage": None,
    "error": None,
    "outcome": "complete",
}
FAILED = {
    **DECODED,
    "text": "",
    "finish_reason": None,
    "error": {"message": "bad key"},
    "outcome": "http_error",
}
BODY = '{"error":{"message":"bad key"}}'


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> Any:
    assert main(["decode", *argv]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("size", [(), ("--chunk-bytes", "1")])
def test_a_stream_is_decoded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], size: tuple[str, ...]
):
    path = tmp_path / "s.sse"
    path.write_bytes(STREAM)
    got = run(capsys, "--format", "openai-chat", *size, str(path))
    assert got == DECODED
    assert list(got) == list(DECODED)


def test_standard_input_is_read(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(STREAM)))
    assert run(capsys, "--format", "openai-chat", "-") == DECODED


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (BODY, ("--status", "401")),
        (json.dumps({"status": 401, "headers": {}, "body_text": BODY}), ()),
        (json.dumps({"status": 401, "headers": {}, "body_text": BODY}), ("--status", "401")),
    ],
)
def test_an_error_body_is_decoded_bare_or_wrapped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], body: str, status: tuple[str, ...]
):
    path = tmp_path / "e.json"
    path.write_text(body)
    assert run(capsys, "--format", "anthropic", *status, str(path)) == FAILED


def test_a_status_of_success_is_a_stream(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "s.sse"
    path.write_bytes(STREAM)
    assert run(capsys, "--format", "openai-chat", "--status", "200", str(path)) == DECODED


def test_a_missing_file_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["decode", "--format", "gemini", str(tmp_path / "no")]) == 1
    assert "cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize("size", ["x", "0", "-1", "½"])
def test_a_size_is_a_whole_number(size: str):
    with pytest.raises(UsageFault, match="--chunk-bytes: must be a whole number, at least 1"):
        main(["decode", "--format", "gemini", f"--chunk-bytes={size}", "-"])


@pytest.mark.parametrize(
    "argv", [["--format", "x", "-"], ["--format", "gemini", "--chunk-bytes", "0", "-"], []]
)
def test_wrong_arguments_say_where_the_right_ones_are(argv: list[str]):
    with pytest.raises(UsageFault, match=r"Run `kova-ls model decode --help`\.$"):
        main(["decode", *argv])
