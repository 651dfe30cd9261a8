"""`kova-ls model decode`: say what a recorded answer of a model amounts to."""

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any, cast

import orjson

from kova_ls.cli.arguments import Plain
from kova_ls.llm import STREAM_FORMATS, decode, decode_http_error


def main(argv: list[str]) -> int:
    """Run the command with the arguments after `model`; returns the exit code."""
    options = _parser().parse_args(argv)
    try:
        body = _read(options.file)
    except OSError as error:
        print(
            f"{options.file} cannot be read: {error.strerror}. Name a file or -.", file=sys.stderr
        )
        return 1
    status = options.status
    wrapped = _wrapped(body)
    if wrapped is not None:
        status, body = status or wrapped[0], wrapped[1]
    if status is not None and not 200 <= status < 300:
        result = decode_http_error(body)
    else:
        result = decode(options.format, _pieces(body, options.chunk_bytes))
    sys.stdout.write(json.dumps(result, indent=2, ensure_ascii=False) + "\n")
    return 0


def _parser() -> Plain:
    parser = Plain(prog="kova-ls model", description=__doc__ or "")
    commands = parser.add_subparsers(required=True, metavar="decode")
    reader = commands.add_parser("decode", help="decode a recorded stream or HTTP error body")
    reader.add_argument(
        "--format", required=True, choices=STREAM_FORMATS, help="whose stream it is"
    )
    reader.add_argument(
        "--chunk-bytes",
        type=_positive,
        default=65_536,
        metavar="N",
        help="feed the decoder in pieces of N bytes",
    )
    reader.add_argument(
        "--status", type=int, metavar="N", help="the HTTP status the file was the body of"
    )
    reader.add_argument("file", metavar="FILE", help="the recording; - for standard input")
    return parser


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("must be a whole number, at least 1")
    return int(text)


def _read(path: str) -> bytes:
    if path == "-":
        return sys.stdin.buffer.read()
    with open(path, "rb") as file:
        return file.read()


def _wrapped(body: bytes) -> tuple[int, bytes] | None:
    """Return status and body of a recording `{status, headers, body_text}`, if it is one."""
    try:
        value: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(value, dict):
        return None
    wrapper = cast(dict[str, Any], value)
    status, text = wrapper.get("status"), wrapper.get("body_text")
    if not isinstance(status, int) or not isinstance(text, str):
        return None
    return status, text.encode()


def _pieces(body: bytes, chunk_bytes: int) -> Iterator[bytes]:
    for start in range(0, len(body), chunk_bytes):
        yield body[start : start + chunk_bytes]
