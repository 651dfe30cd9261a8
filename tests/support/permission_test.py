"""`kova-ls permission test` in a world of its own, without a process."""

import io
import json
from pathlib import Path
from typing import Any

from kova_ls.cli import permission
from kova_ls.cli.permission_facts import World

Answer = dict[str, Any]


def run(
    tmp_path: Path, *argv: str, stdin: bytes = b"", env: dict[str, str] | None = None
) -> tuple[int, str, str]:
    """Return the exit code, stdout and stderr of a command line in `<tmp_path>/work`."""
    home = tmp_path / "home"
    work = tmp_path / "work"
    home.mkdir(exist_ok=True)
    work.mkdir(exist_ok=True)
    given = {"HOME": str(home), "PATH": "/usr/bin", **(env or {})}
    given.setdefault("XDG_RUNTIME_DIR", str(tmp_path))
    out, err = io.StringIO(), io.StringIO()
    world = World(given, str(work), io.BytesIO(stdin), out, err)
    return permission.run(list(argv), world), out.getvalue(), err.getvalue()


def batch(tmp_path: Path, *lines: Any, argv: tuple[str, ...] = ()) -> list[Answer]:
    """Return the answers to lines of a batch."""
    data = b"\n".join(
        line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines
    )
    code, out, _ = run(tmp_path, "test", "--batch", *argv, stdin=data + b"\n")
    assert code == 0
    return [json.loads(line) for line in out.splitlines()]
