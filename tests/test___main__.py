import subprocess
import sys
from pathlib import Path

import pytest

from kova_ls import __version__

ROOT = Path(__file__).parents[1]


def run(code, *argv):
    return subprocess.run(
        [sys.executable, "-c", code, *argv], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_the_module_runs_commands():
    done = subprocess.run(
        [sys.executable, "-m", "kova_ls", "--version"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, f"kova-ls {__version__}\n")


def test_nothing_is_imported_before_the_room_is_known():
    code = (
        "import sys; before = set(sys.modules); import kova_ls.__main__; "
        "print(sorted(set(sys.modules) - before))"
    )
    assert run(code).stdout == "['kova_ls', 'kova_ls.__main__']\n"


ROOMS = """
import sys, types
heard = []
def room(name, **functions):
    module = types.ModuleType(name)
    for key, value in functions.items():
        setattr(module, key, value)
    sys.modules[name] = module
room("kova_ls.relay", main=lambda: heard.append("relay") or 0)
room("kova_ls.daemon", main=lambda argv: heard.append(("engine", argv)) or 3,
     main_attached=lambda argv: heard.append(("attached", argv)) or 4)
from kova_ls.__main__ import main
code = main()
print(heard, code)
"""


def test_each_room_gets_its_arguments():
    assert run(ROOMS).stdout == "['relay'] 0\n"
    assert run(ROOMS, "--stdio").stdout == "['relay'] 0\n"
    assert run(ROOMS, "engine", "x").stdout == "[('engine', ['x'])] 3\n"
    assert run(ROOMS, "--attached").stdout == "[('attached', [])] 4\n"


@pytest.mark.parametrize("room", ["engine", "--attached"])
@pytest.mark.parametrize("asking", ["--help", "-h"])
def test_asking_a_room_for_help_does_not_start_it(room, asking):
    shown = run(ROOMS, room, asking).stdout
    assert shown.startswith("usage: kova-ls [COMMAND]")
    assert shown.endswith("[] 0\n")
