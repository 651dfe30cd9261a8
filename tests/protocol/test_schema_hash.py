"""The digest that the handshake compares."""

from pathlib import Path

from kova_ls.codegen.openrpc import digest
from kova_ls.protocol.schema_hash import SCHEMA_HASH

SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"


def test_is_the_digest_of_the_file() -> None:
    assert digest((SCHEMAS / "openrpc.json").read_text("utf-8")) == SCHEMA_HASH
