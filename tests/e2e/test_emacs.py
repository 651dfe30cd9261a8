"""A real Emacs with stock Eglot, the real relay, the real engine: Kova without any plugin."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import tools

ROOT = Path(__file__).parents[2]
STORY = Path(__file__).parent / "emacs/story.el"
SCRIPT = {
    "steps": [
        {
            "text": "I change it.",
            "calls": [
                {
                    "name": "edit",
                    "arguments": {"path": "note.txt", "old_string": "one", "new_string": "two"},
                }
            ],
        },
        {"text": "Now it is two."},
    ]
}


@pytest.fixture
def top() -> Iterator[Path]:
    """Folders of one test, short enough for a Unix socket."""
    top = Path(tempfile.mkdtemp(prefix="kova", dir="/tmp")).resolve()
    for name in ("ws/.git", "home", "k"):
        (top / name).mkdir(parents=True)
    (top / "ws/note.txt").write_text("one\n")
    script = top / "k/script.json"
    script.write_text(json.dumps(SCRIPT))
    (top / "k/config.toml").write_text(
        f'default_model = "demo"\n[models.demo]\napi = "scripted"\nscript = {json.dumps(str(script))}\n'
    )
    yield top
    kova(top, "stop", "--force")
    shutil.rmtree(top)


def environment(top: Path) -> dict[str, str]:
    return os.environ | {
        "HOME": str(top / "home"),
        "KOVA_HOME": str(top / "k"),
        "KOVA_DATA_DIR": str(top / "d"),
        "KOVA_RUNTIME_DIR": str(top / "r"),
        "PYTHONPATH": str(ROOT),
        "STORY_FILE": str(top / "ws/note.txt"),
        "STORY_PYTHON": sys.executable,
    }


def kova(top: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "kova_ls", *arguments]
    done = subprocess.run(
        command, env=environment(top), cwd=top, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def play(top: Path, typed: str, **variables: str) -> dict[str, str]:
    """Let the person live the story; returns what the story noted."""
    done = subprocess.run(
        [str(tools.emacs()), "--batch", "--no-site-file", "-l", str(STORY)],
        env=environment(top) | variables,
        cwd=top / "ws",
        input=typed,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    lines = [
        line.removeprefix("STORY ")
        for line in done.stderr.splitlines()
        if line.startswith("STORY ")
    ]
    notes = {head: rest for head, _, rest in (line.partition(" ") for line in lines)}
    assert "left" in notes, done.stderr + done.stdout
    return notes


def test_ask_answer_the_card_and_read_the_page(top: Path) -> None:
    notes = play(top, "Allow once\n")
    assert notes["action"] == "Ask Kova about this"
    assert notes["asked"] == "started"
    assert "Kova waits: Edit note.txt" in notes["card"]
    assert "kova.pending" in notes["card"]
    assert (top / "ws/note.txt").read_text() == "two\n"
    assert notes["file"] == '"two\\n"'
    for words in ("> Change one to two.", "I change it.", "+two", "Now it is two.", "`once`"):
        assert words in notes["page"]


def test_a_refusal_leaves_the_file_alone(top: Path) -> None:
    notes = play(top, "Deny\n")
    assert (top / "ws/note.txt").read_text() == "one\n"
    assert "`deny`" in notes["page"]


def test_an_open_buffer_is_changed_in_one_step(top: Path) -> None:
    notes = play(top, "Allow once\n", STORY_LETS_EDIT="yes")
    assert notes["buffer"] == '"two\\n" t'
    assert notes["undone"] == '"one\\n"'
    assert (top / "ws/note.txt").read_text() == "two\n"
