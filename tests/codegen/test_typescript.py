"""TypeScript."""

import shutil
import subprocess
from pathlib import Path

import pytest

from kova_ls.codegen import typescript
from kova_ls.codegen.outputs import PLACES, documents
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
from kova_ls.protocol.methods import METHODS

ROOT = Path(__file__).resolve().parents[2]
TSC = ROOT / "editors/vscode/node_modules/typescript/bin/tsc"
NODE = shutil.which("node")

USE = """
import { ErrorCodes, type EventOf, type KnownEvent, Methods, type Requests } from "./protocol.gen";

export function told(event: KnownEvent): string {
  switch (event.type) {
    case "item.delta":
      return event.payload.text;
    case "item.completed":
      return event.payload.item.kind === "toolCall" ? event.payload.item.tool : "";
    default:
      return event.sessionId;
  }
}
export type Create = Requests[typeof Methods.sessionCreate]["result"]["watermark"]["seq"];
export const seq: Create = 1;
export const busy: -32022 = ErrorCodes.turnBusy;
// @ts-expect-error a payload has the fields of its own type only
export const wrong: EventOf<"item.delta">["payload"] = { turnId: "t" };
"""

CONFIG = """
{
  "compilerOptions": {
    "noEmit": true, "strict": true, "target": "es2022",
    "module": "esnext", "moduleResolution": "bundler", "types": []
  }
}
"""


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        (Scalar("string"), "string"),
        (Scalar("integer"), "number"),
        (Scalar("number"), "number"),
        (Scalar("boolean"), "boolean"),
        (Words(("a", 'b"')), '"a" | "b\\""'),
        (Named("Cat"), "Cat"),
        (Tagged("type", ("Cat", "Dog")), "Cat | Dog"),
        (ListOf(Named("Cat")), "Cat[]"),
        (ListOf(Words(("a", "b"))), '("a" | "b")[]'),
        (ListOf(ListOf(Scalar("string"))), "string[][]"),
        (MapOf(Anything()), "Record<string, unknown>"),
        (Nullable(Named("Cat")), "Cat | null"),
        (Struct(()), "Record<string, never>"),
        (
            Struct(
                (Field("a", Scalar("string"), is_required=False, description="", default=None),)
            ),
            "{ a?: string }",
        ),
    ],
)
def test_every_shape_has_an_expression(shape: Shape, text: str) -> None:
    assert typescript.expression(shape) == text


def test_a_definition_carries_its_descriptions() -> None:
    schema = {
        "description": "A thing.\n\nOrder: none, not even */ here.",
        "type": "object",
        "properties": {
            "a": {"type": "string", "description": "First."},
            "b": {"type": "integer", "description": "Second.", "default": 3},
        },
        "required": ["a"],
    }
    assert typescript.definition("Thing", schema) == (
        "/**\n"
        " * A thing.\n"
        " *\n"
        " * Order: none, not even *\\/ here.\n"
        " */\n"
        "export interface Thing {\n"
        "  /** First. */\n"
        "  a: string;\n"
        "  /** Second. Default: 3. */\n"
        "  b?: number;\n"
        "}"
    )


def test_a_shape_outside_the_subset_raises() -> None:
    with pytest.raises(UnsupportedSchema):
        typescript.definition("Thing", {"type": "string", "format": "uri"})


def test_every_method_has_a_name_of_its_own() -> None:
    assert typescript.constant("kova/session/cycleLevel") == "sessionCycleLevel"
    assert len({typescript.constant(name) for name in METHODS}) == len(METHODS)


@pytest.mark.skipif(not (NODE and TSC.is_file()), reason="needs npm ci in editors/vscode")
def test_the_compiler_takes_it(tmp_path: Path) -> None:
    (tmp_path / Path(PLACES["typescript"]).name).write_text(documents()["typescript"], "utf-8")
    (tmp_path / "use.ts").write_text(USE, "utf-8")
    (tmp_path / "tsconfig.json").write_text(CONFIG, "utf-8")
    assert NODE
    done = subprocess.run(
        [NODE, str(TSC), "--project", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout + done.stderr == ""
    assert done.returncode == 0
