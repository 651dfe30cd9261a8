"""The README's own commands and code do what it says."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
README = (REPO / "README.md").read_text("utf-8")

pytestmark = pytest.mark.e2e


def test_the_session_over_the_wire_runs_as_printed(tmp_path: Path) -> None:
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert code is not None
    home, folder = tmp_path / "h", tmp_path / "folder"
    home.mkdir()
    folder.mkdir()
    (folder / "notes.txt").write_text("buy milk\n")
    script = home / "script.json"
    script.write_text(
        json.dumps(
            {
                "steps": [
                    {"text": "Looking.", "calls": [_call("bash", command="touch made-by-hand")]},
                    {"text": "Milk it is."},
                ]
            }
        )
    )
    (home / "config.toml").write_text(
        f'idle_exit_s = 1\n[models.m]\napi = "scripted"\nscript = "{script}"\n'
    )
    bin_folder = Path(sys.executable).parent
    env = {
        "PATH": f"{bin_folder}:/usr/bin:/bin",
        "HOME": str(home),
        "KOVA_HOME": str(home),
        "KOVA_DATA_DIR": str(home / "d"),
        "KOVA_RUNTIME_DIR": str(home / "r"),
    }
    done = subprocess.run(
        [sys.executable, "-c", code[1], "What shall I buy?"],
        cwd=folder,
        env=env,
        input="once\n",
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert "Looking." in done.stdout, done.stderr
    assert "['deny', 'once'" in done.stdout
    assert done.stdout.rstrip().endswith("Milk it is.\ndone")
    assert (folder / "made-by-hand").exists()


def test_the_files_it_names_are_there() -> None:
    for name in (".ci/demo", ".ci/test", "schemas/openrpc.json", "docs/images/nvim.png"):
        assert name in README
        assert (REPO / name).is_file()


def _call(name: str, **arguments: str) -> dict[str, object]:
    return {"name": name, "arguments": arguments}
