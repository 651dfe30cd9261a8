"""The rules of ARCHITECTURE.md that no single room can keep alone."""

import ast
import logging
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "kova_ls"
TESTS = ROOT / "tests"

MAX_LINES = 600
BANNED_STEMS = {"common", "core", "helper", "helpers", "manager", "misc", "service", "services"} | {
    "util",
    "utils",
}
GENERATED = re.compile(r"\bgenerated\b", re.IGNORECASE)
"""What the first line of a file says that no one edits by hand."""

BANNED_CLASS_SUFFIXES = ("Helper", "Manager", "Util", "Utils")

NOT_MIRRORED = {
    "kova_ls/__main__.py": "tests/test_architecture.py",
    "kova_ls/errors.py": "tests/test_architecture.py",
}
"""Modules without a test file of their own, and the one that shows them. Only gets shorter."""

UNMIRRORED_TEST_FOLDERS = {"attack", "bench", "data", "e2e", "golden", "support"}
"""Folders of tests/ that show several rooms together."""


def tracked(*patterns: str) -> list[Path]:
    """Return the files that git knows or would add, so that what is ignored is not judged."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *patterns]
    listing = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
    paths = (ROOT / name for name in listing.decode().split("\0") if name)
    return [path for path in paths if path.is_file()]


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py"))


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_imports_go_down_the_ladder(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # It appends to sys.path; the fixture takes that back.
    monkeypatch.setattr(sys, "path", [*sys.path])
    # Its own settings of the log would silence every logger there is, for all later tests.
    monkeypatch.setattr("logging.config.dictConfig", lambda _: None)
    logger = logging.getLogger("kova_ls.test")
    status = lint_imports(str(ROOT / "pyproject.toml"), cache_dir=None, no_cache=True)
    assert status == 0, capsys.readouterr().out
    assert not logger.disabled


def imported_siblings(path: Path, room: str) -> Iterator[str]:
    prefix = f"kova_ls.{room}"
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            if name.startswith(f"{prefix}."):
                yield name.removeprefix(f"{prefix}.").split(".")[0]


@pytest.mark.parametrize("room", ["tools", "llm"])
def test_members_of_an_open_set_do_not_know_each_other(room: str) -> None:
    files = {path.stem: path for path in (PACKAGE / room).glob("*.py")}
    members = {stem for stem in files if not stem.startswith("_")}
    faults = {
        f"{stem} imports {name}"
        for stem, path in files.items()
        if stem != "__init__"
        for name in imported_siblings(path, room)
        if name in members and name != stem
    }
    assert faults == set()


def mirror_faults() -> set[str]:
    sources = {relative(path) for path in modules() if path.name != "__init__.py"}
    wanted = {mirror_of(source): source for source in sources if source not in NOT_MIRRORED}
    present = {
        relative(path)
        for path in TESTS.rglob("test_*.py")
        if path.relative_to(TESTS).parts[0] not in UNMIRRORED_TEST_FOLDERS
    }
    # tests/tools/test_tools.py shows the room as a whole, test___init__.py what its name offers.
    rooms = {f"tests/{path.name}/test_{path.name}.py" for path in PACKAGE.iterdir()}
    rooms |= {mirror_of(relative(path)) for path in PACKAGE.rglob("__init__.py")}
    allowed = rooms | {"tests/test_architecture.py"} | {mirror_of(name) for name in NOT_MIRRORED}
    missing = {f"{wanted[test]} has no {test}" for test in wanted.keys() - present}
    orphans = {f"{test} mirrors no module" for test in present - wanted.keys() - allowed}
    return missing | orphans


def mirror_of(source: str) -> str:
    """kova_ls/a/b.py -> tests/a/test_b.py, kova_ls/a/_c.py -> tests/a/test__c.py"""
    path = Path(source)
    return Path("tests", *path.parent.parts[1:], f"test_{path.name}").as_posix()


def test_every_module_has_its_test_file_and_every_test_file_its_module() -> None:
    assert mirror_faults() == set()


def test_exceptions_from_the_mirror_name_files_that_exist() -> None:
    names = {name for pair in NOT_MIRRORED.items() for name in pair}
    assert {name for name in names if not (ROOT / name).exists()} == set()


def test_modules_stay_small() -> None:
    texts = [
        path
        for path in tracked("kova_ls", "editors")
        if path.suffix in {".py", ".ts", ".lua", ".mjs", ".js"}
    ]
    lines = {
        relative(path): len(text)
        for path in texts
        if (text := path.read_text("utf-8").splitlines()) and not GENERATED.search(text[0])
    }
    assert {name: count for name, count in lines.items() if count > MAX_LINES} == {}


def test_names_say_what_a_thing_is() -> None:
    stems = [relative(p) for p in modules() if {p.stem.strip("_"), p.parent.name} & BANNED_STEMS]
    classes = [
        f"{relative(path)}: {node.name}"
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and node.name.endswith(BANNED_CLASS_SUFFIXES)
    ]
    assert stems + classes == []


# Spelled in pieces: this file is read too.
PLACES = re.compile(
    "|".join(
        [
            r"(?<![\w.~])/" + r"work/",
            r"(?<![\w.~])/" + r"root/",
            r"(?<![\w.])/home/" + r"(?!user\b|me\b|u\b|U\b|ana\b|kova\b|dev\b|you\b|x\b)\w",
            r"registry\.npm" + r"(js|mirror)",
            r"pypi\." + r"org",
            r"python" + r"hosted\.",
            r"deb\." + r"debian\.",
        ]
    )
)


def test_no_file_names_a_machine_or_a_registry() -> None:
    faults = []
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if PLACES.search(line):
                faults.append(f"{relative(path)}:{number}: {line.strip()[:100]}")
    assert faults == []


def test_pins_carry_no_addresses() -> None:
    pins = tracked(".ci/*.txt", "*package-lock.json", "*npm-shrinkwrap.json")
    assert ROOT / ".ci/constraints.txt" in pins
    faults = [
        f"{relative(path)}:{number}"
        for path in pins
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if '"resolved"' in line or line.startswith(("--index", "--extra", "--find", "-i "))
    ]
    assert faults == []


@pytest.mark.parametrize("module", ["kova_ls", "kova_ls.__main__", "kova_ls.relay"])
def test_what_an_editor_starts_imports_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print(*sys.modules)"
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    heavy = {"asyncio", "bashlex", "httpx", "lsprotocol", "platformdirs", "pydantic", "pygls"}
    assert heavy & {name.split(".")[0] for name in ran.stdout.split()} == set()


ANSWER_INITIALIZE = """
import asyncio, sys
from unittest.mock import Mock
import kova_ls.daemon
from kova_ls.endpoint import framing
from kova_ls.endpoint.hub import Hub
from kova_ls.endpoint.server import EditorEndpoint

async def main():
    hub = Hub(Mock(side_effect=RuntimeError), stop=Mock(), on_change=Mock(), kova_home="")
    endpoint = EditorEndpoint(hub, {})
    endpoint.connection_made(transport := Mock())
    transport.is_closing.return_value = False
    transport.get_write_buffer_size.return_value = 0
    params = b'{"initializationOptions":{"kova":{"versions":[1],"client":{}}}}'
    endpoint.data_received(framing.request("1", "initialize", params))
    assert b'"result"' in transport.write.call_args.args[0]
    print(*sys.modules)

asyncio.run(main())
"""


def test_an_editor_is_answered_before_the_engine_is_loaded() -> None:
    command = [sys.executable, "-c", ANSWER_INITIALIZE]
    ran = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    loaded = set(ran.stdout.split())
    heavy = {"bashlex", "httpx", "lsprotocol", "platformdirs", "pydantic", "pygls"}
    assert heavy & {name.split(".")[0] for name in loaded} == set()
    assert "kova_ls.engine" not in loaded


def test_a_first_page_needs_neither_the_reading_of_commands_nor_a_models_client() -> None:
    rooms = "kova_ls.endpoint.documents, kova_ls.endpoint.answer, kova_ls.engine"
    command = [sys.executable, "-c", f"import sys, {rooms}; print(*sys.modules)"]
    ran = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    late = {"kova_ls.permission.shell", "kova_ls.permission.adjudicate", "kova_ls.engine.turn"}
    assert (late | {"bashlex", "httpx", "pygls"}) & set(ran.stdout.split()) == set()


def architecture_map() -> set[str]:
    text = (PACKAGE / "ARCHITECTURE.md").read_text(encoding="utf-8")
    block = re.search(r"^```map\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert block, "ARCHITECTURE.md has no ```map block"
    rows = (re.split(r"\s{2,}", row)[0] for row in block[1].splitlines() if row.strip())
    return {name.strip() for row in rows for name in row.split("|")}


def test_the_map_and_the_folder_agree() -> None:
    rooms = {
        path.stem
        for path in PACKAGE.iterdir()
        if (path.suffix == ".py" and path.name != "__init__.py") or (path / "__init__.py").exists()
    }
    assert rooms == architecture_map()
