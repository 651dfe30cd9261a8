import os
import subprocess
import sys
from pathlib import Path

import pytest

from kova_ls.cli import demo
from kova_ls.llm.scripted import Script
from tests.support.pseudo_terminal import PseudoTerminal

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "kova_ls", "demo"]


@pytest.fixture
def env(tmp_path):
    return {
        "HOME": str(tmp_path),
        "TMPDIR": str(tmp_path),
        "PATH": os.environ.get("PATH", ""),
        "PYTHONPATH": str(ROOT),
        "LANG": "C.UTF-8",
        "TERM": "xterm",
        "NO_COLOR": "1",
        "ANTHROPIC_API_KEY": "never used",
    }


def engines_of(folder):
    """Return the processes whose home is below a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            variables = (entry / "environ").read_bytes() if entry.name.isdigit() else b""
        except OSError:
            continue
        if f"KOVA_HOME={folder}".encode() in variables:
            found.append(entry.name)
    return found


def test_the_script_is_one_that_can_be_played():
    for is_paced in (True, False):
        steps = Script.model_validate(demo.script(is_paced=is_paced)).steps
        names = [call.name for step in steps for call in step.calls]
        assert names == ["read", "edit", "bash", "Question"]
        assert {step.delay_ms > 0 for step in steps} == {is_paced}


def test_everything_lies_in_the_scratch_folder():
    env = demo.demo_env({"PATH": "/bin", "X_API_KEY": "k", "KOVA_HOME": "/real"}, Path("/s"))
    assert env == {
        "PATH": "/bin",
        "KOVA_HOME": "/s/home",
        "KOVA_DATA_DIR": "/s/data",
        "KOVA_RUNTIME_DIR": "/s/run",
    }


@pytest.mark.e2e
def test_without_a_terminal_it_answers_itself_and_says_so(env, tmp_path):
    done = subprocess.run(
        COMMAND,
        env=env,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0)
    assert done.stdout.splitlines()[0] == "I will look at the function first."
    said = done.stderr
    landmarks = (
        "no model is called",
        "✓ Read greeting.py",
        "+    return f\"Hello, {name or 'whoever you are'}!\"",
        "answered by itself: once",
        "bash: run this command?",
        "answered by itself: Enough",
        "stopped: ",
        "export ANTHROPIC_API_KEY",
    )
    places = [said.find(landmark) for landmark in landmarks]
    assert -1 not in places
    assert places == sorted(places)
    (scratch,) = tmp_path.glob("kova-demo-*")
    assert "whoever you are" in (scratch / "project" / "greeting.py").read_text()
    assert engines_of(scratch) == []


@pytest.mark.e2e
def test_at_a_terminal_the_person_answers(env, tmp_path):
    terminal = PseudoTerminal(COMMAND, env, tmp_path)
    try:
        terminal.wait_for(r"Edit greeting\.py")
        terminal.wait_for(r"\[d\]eny .*\[o\]nce")
        terminal.wait_for(r" once\n", typing="o")
        terminal.wait_for(r"run this command\?")
        terminal.wait_for(r"\[d\]eny .*\[o\]nce")
        terminal.wait_for(r" deny\n", typing="d")
        terminal.wait_for(r"Is that enough")
        terminal.wait_for(r"an empty line declines")
        terminal.wait_for(r"✓ Ask: Two", typing="2\n")
        assert terminal.wait_for_end() == 0
    finally:
        terminal.close()
    (scratch,) = tmp_path.glob("kova-demo-*")
    assert "whoever you are" in (scratch / "project" / "greeting.py").read_text()
    assert engines_of(scratch) == []
