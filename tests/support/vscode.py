"""Drive VS Code's real workbench: code-server with the extension installed, in a headless browser.

Invariant: waits for what the workbench shows, never for time to pass.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.support import lsp_client, tools

EXTENSION = tools.ROOT / "editors" / "vscode"
BIN = Path(sys.executable).parent
DRIVER = tools.ROOT / "tests" / "support" / "workbench" / "driver.mjs"

EDITOR_WITH_KEYBOARD = ".editor-group-container.active .monaco-editor.focused"
MAIN_PY = "print('hi')\nx = 1\n"
"""The file that tests have the agent look at and change."""

SETTINGS: dict[str, Any] = {
    "workbench.startupEditor": "none",
    "workbench.colorTheme": "Dark 2026",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.tips.enabled": False,
    "workbench.editor.useModal": "off",
    "chat.disableAIFeatures": True,
    "security.workspace.trust.startupPrompt": "never",
    "telemetry.telemetryLevel": "off",
    "editor.minimap.enabled": False,
    "files.hotExit": "onExitAndWindowClose",
    "files.autoSave": "off",
    "kova.context.selection": True,
}


class WorkbenchError(Exception):
    """What was waited for did not come."""


class Beside(lsp_client.Places):
    """The folders of a workbench, for other editors that attach to its engine."""

    def __init__(self, workbench: "Workbench") -> None:
        self.root = workbench.top
        self.workspace = workbench.workspace
        self.env = workbench.env | {"PYTHONPATH": str(tools.ROOT)}
        self.pids = set()
        self.clients = []

    async def close(self) -> None:
        """End the other editors; the engine is the workbench's to end."""
        for client in self.clients:
            client.kill()
            await client.ended()


class Workbench:
    """A window of VS Code with a workspace, and the folders that the engine works in."""

    def __init__(
        self, top: Path, *, locale: str | None = None, has_server: bool = True, trusts: bool = True
    ) -> None:
        self.top = top
        self.locale = locale
        self.trusts = trusts
        self.path = os.pathsep.join([str(top / "bin"), *_folders_without_server()])
        if has_server:
            self.path = f"{BIN}{os.pathsep}{self.path}"
        self.workspace = top / "ws"
        self.url = ""
        self._place = self.workspace
        self._has_failed = False
        self._settings = dict(SETTINGS)
        self._driver: subprocess.Popen[str] | None = None
        for folder in ("ws/.git", "k", "d", "r", "u/User", "u/Machine", "e", "h", "bin"):
            (top / folder).mkdir(parents=True)
        self.configure(**{"security.workspace.trust.enabled": not trusts})
        # VS Code takes the PATH of extensions from the person's login shell.
        (top / "h/.profile").write_text(f'export PATH="{self.path}"\n')

    @property
    def env(self) -> dict[str, str]:
        """Own folders for the engine, and the PATH that was asked for."""
        return {
            **os.environ,
            "KOVA_HOME": str(self.top / "k"),
            "KOVA_DATA_DIR": str(self.top / "d"),
            "KOVA_RUNTIME_DIR": str(self.top / "r"),
            "HOME": str(self.top / "h"),
            "PATH": self.path,
        }

    def configure(self, **settings: Any) -> None:
        """Change settings of the editor; a running one follows at once."""
        self._settings |= settings
        (self.top / "u/User/settings.json").write_text(json.dumps(self._settings))

    def configure_machine(self, **settings: Any) -> None:
        """Change settings that VS Code keeps for each machine, such as paths of programs."""
        (self.top / "u/Machine/settings.json").write_text(json.dumps(settings))

    def script(self, *steps: Mapping[str, Any]) -> None:
        """What the model will say in a conversation that begins after this."""
        number = len(list((self.top / "k").glob("script*.json")))
        script = self.top / "k" / f"script{number}.json"
        script.write_text(json.dumps({"steps": steps}))
        (self.top / "k" / "config.toml").write_text(
            'default_model = "demo"\n[models.demo]\napi = "scripted"\n'
            f"script = {json.dumps(str(script))}\ncontext_window = 100000\n"
        )

    def do(self, operation: str, **args: Any) -> Any:
        """One operation of the driver. Raises: WorkbenchError with what was not seen."""
        driver = self._driver
        assert driver is not None
        assert driver.stdin is not None
        assert driver.stdout is not None
        driver.stdin.write(json.dumps({"operation": operation, **args}) + "\n")
        driver.stdin.flush()
        answer = json.loads(driver.stdout.readline() or '{"error": "the driver ended"}')
        if "error" in answer:
            self._has_failed = True
            raise WorkbenchError(f"{operation} {args}: {answer['error']}")
        return answer["result"]

    def open(
        self,
        place: Path | None = None,
        *,
        width: int = 1280,
        height: int = 800,
        scale: float = 1,
    ) -> None:
        """Open the window on the workspace, or on another folder or `.code-workspace` file."""
        self._place = place = place or self.workspace
        kind = "workspace" if place.suffix == ".code-workspace" else "folder"
        url = f"{self.url}/?{kind}={quote(str(place))}"
        self.do("open", url=url, width=width, height=height, scale=scale)

    def wait(self, selector: str, view: str | None = "chat", **more: Any) -> None:
        """Wait until it is seen."""
        self.do("wait", selector=selector, view=view, **more)

    def until(self, selector: str, test: str, view: str | None = "chat") -> None:
        """Wait until a JavaScript expression over `element` is true."""
        self.do("until", selector=selector, test=test, view=view)

    def click(self, selector: str, view: str | None = "chat") -> None:
        """Click on it."""
        self.do("click", selector=selector, view=view)

    def text(self, selector: str, view: str | None = "chat") -> str:
        """Return its text as a person sees it."""
        return self.do("text", selector=selector, view=view)

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        self.do("press", keys=keys)

    def type(self, text: str) -> None:
        """Type a text."""
        self.do("type", text=text)

    def command(self, title: str) -> None:
        """Run a command of the palette."""
        self.do("command", title=title)

    def wait_for_folder(self, name: str, state: str = "visible") -> None:
        """Wait until the window shows, or no longer shows, a folder of the workspace."""
        self.command("File: Focus on Files Explorer")
        self.wait(f"role=treeitem[name='{name}']", view=None, state=state)
        self.command("Kova: Open the Conversation")

    def pick(self, label: str) -> None:
        """Choose from a quick pick that is opening."""
        self.click(f".quick-input-list .monaco-list-row[aria-label^='{label}']", view=None)

    def open_file(self, name: str) -> None:
        """Open a file of the workspace in an editor that takes the keyboard."""
        self.do("openFile", name=name)
        self.wait(f".tab.active[aria-label^='{name}']", view=None)
        self.wait(EDITOR_WITH_KEYBOARD, view=None)

    def focus_editor(self) -> None:
        """Go from wherever the keyboard is to the first group's editor."""
        self.press("Control+1")
        self.wait(EDITOR_WITH_KEYBOARD, view=None)

    def focus_prompt(self, *, is_given: bool = True) -> None:
        """Give the keyboard to the prompt of the conversation, or wait until the client did."""
        self.do("focus", selector=".prompt textarea", view="chat", isGiven=is_given)

    def evaluate(self, expression: str, view: str | None = "chat") -> Any:
        """Return the value of a JavaScript expression."""
        return self.do("evaluate", expression=expression, view=view)

    def screenshot(self, path: Path) -> None:
        """Take a picture of the window."""
        self.do("screenshot", path=str(path))

    def programs(self, word: str) -> set[int]:
        """Return the processes that serve this window and whose command line has the word."""
        mark = f"KOVA_RUNTIME_DIR={self.top / 'r'}\0".encode()
        found: set[int] = set()
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                command = (process / "cmdline").read_bytes().decode().split("\0")
                if word in (Path(part).name for part in command):
                    is_ours = mark in (process / "environ").read_bytes()
                    found |= {int(process.name)} if is_ours else set()
        return found

    def open_chat(self, place: Path | None = None) -> None:
        """Open the window with the conversation beside it."""
        self.open(place)
        self.command("Kova: Open the Conversation")
        self.wait("text=What shall we do?")

    def new_chat(self) -> None:
        """Begin a new conversation, the keyboard in its prompt; in a new window after a failure."""
        if self._has_failed:
            self._has_failed = False
            self.open(self._place)
            self.command("Kova: Open the Conversation")
        self.command("Kova: New Conversation")
        self.wait("text=What shall we do?")
        self.focus_prompt(is_given=False)

    def ask(self, prompt: str) -> None:
        """Type a prompt into the conversation and send it."""
        field = {"selector": ".prompt textarea", "view": "chat"}
        self.do("fill", text=prompt, **field)  # a frame made anew would lose what is typed
        self.until(".composer button[type=submit]", "element.ariaDisabled !== 'true'")
        self.do("pressIn", key="Enter", **field)

    @contextmanager
    def running(self) -> Generator[None]:
        """Start the server and the browser; end both."""
        with self._server(), self._browser():
            yield

    @contextmanager
    def _server(self) -> Generator[None]:
        base = [str(tools.node24()), str(tools.code_server())]
        base += ["--config", str(self.top / "c.yaml")]
        base += ["--user-data-dir", str(self.top / "u"), "--extensions-dir", str(self.top / "e")]
        (self.top / "c.yaml").write_text("auth: none\n")
        installed = subprocess.run(
            [*base, "--install-extension", str(package())],
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert installed.returncode == 0, installed.stdout + installed.stderr
        if self.locale is not None:
            speak(self.locale, self.top / "u")
        options = ["--bind-addr", "127.0.0.1:0", "--auth", "none", "--disable-telemetry"]
        options += ["--disable-update-check"]
        options += ["--disable-workspace-trust"] if self.trusts else []
        options += ["--disable-getting-started-override", "--reconnection-grace-time", "5"]
        options += ["--locale", self.locale] if self.locale is not None else []
        process = subprocess.Popen(
            [*base, *options],
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        assert process.stdout is not None
        try:
            said: list[str] = []
            for line in process.stdout:
                said.append(line)
                if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                    self.url = found.group()
                    break
            else:
                pytest.fail(f"code-server ended before it listened:\n{''.join(said)}", False)
            with (self.top / "server.log").open("w") as log:
                drain = subprocess.Popen(["cat"], stdin=process.stdout, stdout=log)
                yield
            drain.wait(0) if drain.poll() is not None else drain.kill()
            drain.wait()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            process.stdout.close()

    @contextmanager
    def _browser(self) -> Generator[None]:
        log = (self.top / "driver.log").open("w")
        driver = subprocess.Popen(
            [
                str(tools.node24()),
                str(DRIVER),
                str(tools.playwright_core()),
                str(tools.chromium()),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        assert driver.stdin is not None
        assert driver.stdout is not None
        try:
            started = driver.stdout.readline()
            assert started, (self.top / "driver.log").read_text()
            self._driver = driver
            yield
        finally:
            self._driver = None
            driver.stdin.close()
            try:
                driver.wait(10)
            except subprocess.TimeoutExpired:
                driver.kill()
                driver.wait()
            driver.stdout.close()
            log.close()


def _folders_without_server() -> list[str]:
    """Return the folders of the PATH that hold no `kova-ls`."""
    folders = os.environ["PATH"].split(os.pathsep)
    return [folder for folder in folders if not (Path(folder) / "kova-ls").exists()]


def package() -> Path:
    """Build the extension when its sources are newer than what was built."""
    built = EXTENSION / "dist" / "kova-ls-vscode.vsix"
    sources = [*EXTENSION.glob("package*.json"), *(EXTENSION / "src").rglob("*.*")]
    sources += (EXTENSION / "l10n").glob("*.json")
    sources += (tools.ROOT / "kova_ls").rglob("*.py")
    newest = max(one.stat().st_mtime for one in sources)
    if not built.exists() or built.stat().st_mtime < newest:
        npm = shutil.which("npm")
        if npm is None:
            pytest.fail("npm is missing. Install Node 20 or newer with npm.", False)
        if not (EXTENSION / "node_modules").exists():
            _run(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
        _run(npm, "run", "--silent", "package")
    return built


def speak(locale: str, data: Path) -> None:
    """Set up a language pack without texts: the editor's stay English, extensions speak it."""
    texts = data / "texts.json"
    texts.write_text(json.dumps({"version": "1.0.0", "contents": {}}))
    extension = {"extensionIdentifier": {"id": f"test.{locale}"}, "version": "1.0.0"}
    pack = {
        "hash": "1",
        "label": locale,
        "extensions": [extension],
        "translations": {"vscode": str(texts)},
    }
    (data / "languagepacks.json").write_text(json.dumps({locale: pack}))


def _run(*command: str) -> None:
    done = subprocess.run(command, cwd=EXTENSION, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.fail(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}", False)


@contextmanager
def open_workbench(
    *, locale: str | None = None, has_server: bool = True, trusts: bool = True
) -> Generator[Workbench]:
    """A workbench over folders short enough for Unix sockets; the engine is stopped at the end."""
    top = Path(tempfile.mkdtemp(prefix="kv", dir="/tmp")).resolve()
    workbench = Workbench(top, locale=locale, has_server=has_server, trusts=trusts)
    try:
        with workbench.running():
            yield workbench
    finally:
        subprocess.run(
            [sys.executable, "-m", "kova_ls", "stop", "--force"],
            env=workbench.env | {"PYTHONPATH": str(tools.ROOT)},
            capture_output=True,
            check=False,
        )
        shutil.rmtree(workbench.top, ignore_errors=True)
