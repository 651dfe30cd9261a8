"""`kova-ls doctor`: what was found, what is wrong, and what to do about it.

Invariant: looks only; it writes nothing, starts no engine and never shows a key.
"""

import json
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from kova_ls import __version__, config, paths
from kova_ls.cli.arguments import DONE, FAILED, Parser
from kova_ls.cli.client import Find
from kova_ls.cli.client import find as find_engine
from kova_ls.cli.console import Console
from kova_ls.cli.status import engine_status, other_engines
from kova_ls.cli.terminal import Style, shown
from kova_ls.engine import grant_disk, grant_file
from kova_ls.errors import KovaError, SettingsError
from kova_ls.tools import _ripgrep  # pyright: ignore[reportPrivateUsage]

_LEAST_FREE_BYTES = 500_000_000
_WELL = 'All is well here. `kova-ls run "Hello"` shows whether the model answers.'
_NO_MODEL = (
    "export ANTHROPIC_API_KEY=… (or OPENAI_API_KEY, or GEMINI_API_KEY), start Ollama, or write a "
    "[models.NAME] table into {path}"
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    name: str
    state: str
    """`ok`, `note` (works without) or `wrong`."""
    text: str
    """What was found."""
    advice: str = ""
    """The next step, when there is one."""


Probe = Callable[[], tuple[str, ...] | None]


def main(
    argv: Sequence[str], console: Console, find: Find = find_engine, probe: Probe | None = None
) -> int:
    """Print all findings; exit code 1 when something needed is missing."""
    parser = Parser(console, "doctor", "Say what was found, what is wrong, and what to do.")
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    options = parser.parse_args(argv)
    findings = list(examine(console, find, probe or config.ollama_models))
    is_well = all(finding.state != "wrong" for finding in findings)
    if options.json:
        found = [asdict(finding) for finding in findings]
        console.print(json.dumps({"ok": is_well, "findings": found}, indent=2))
    else:
        style = console.style(console.stdout)
        for finding in findings:
            for line in finding_lines(finding, style):
                console.print(line)
        console.print("")
        console.print(_WELL if is_well else "Something needed is missing; see above.")
    return DONE if is_well else FAILED


def finding_lines(finding: Finding, style: Style) -> list[str]:
    """Draw a finding: sign, what was found, and the next step below it."""
    sign, paint = {
        "ok": (style.sign("✓", "ok "), style.green),
        "note": (style.sign("–", "-- "), style.dim),
    }.get(finding.state, (style.sign("✗", "NO "), style.red))
    lines = [f"{paint(sign)} {finding.name:<12} {style.say(shown(finding.text))}"]
    if finding.advice:
        lines.append(
            f"{' ' * len(sign)} {'':<12} {style.sign('→', '->')} {style.say(shown(finding.advice))}"
        )
    return lines


def examine(console: Console, find: Find, probe: Probe) -> Iterator[Finding]:
    """Look at everything, one finding after the other."""
    env = console.env
    yield _python()
    home = Path(paths.home(env))
    yield _folder("home", home, "KOVA_HOME")
    yield _folder("data", Path(paths.data_dir(env)), "KOVA_DATA_DIR")
    runtime = Path(paths.runtime_dir(env))
    yield _folder("runtime", runtime, "KOVA_RUNTIME_DIR", is_private=True)
    yield _disk(Path(paths.data_dir(env)))
    ollama = probe()
    settings = None
    try:
        settings = config.load(home, env, ollama_models=ollama or ())
    except SettingsError as error:
        yield Finding("config.toml", "wrong", error.message, "mend the line, or remove the file")
    else:
        has_file = (home / "config.toml").exists()
        text = str(home / "config.toml") if has_file else "none; the environment decides"
        yield Finding("config.toml", "ok" if has_file else "note", text)
        yield from _models(settings, console, home)
    yield _ollama(ollama)
    yield _ripgrep_finding()
    yield _program("git", env, "install git; it keeps the files of permissions out of commits")
    yield _shell(settings)
    yield from _permission_files(home, console.cwd)
    yield _engine(console, find)
    yield from _other_engines(console)


def _python() -> Finding:
    text = f"Python {sys.version.split()[0]}, kova-ls {__version__}"
    return Finding("program", "ok", text)


def _folder(name: str, path: Path, variable: str, *, is_private: bool = False) -> Finding:
    try:
        found = path.stat()
    except FileNotFoundError:
        parent = next((p for p in path.parents if p.exists()), None)
        if parent is not None and os.access(parent, os.W_OK):
            return Finding(name, "ok", f"{path} (made when needed)")
        return Finding(
            name, "wrong", f"{path} cannot be made", f"set {variable} to a folder of yours"
        )
    except OSError as error:
        return Finding(name, "wrong", f"{path}: {error.strerror}", f"set {variable} elsewhere")
    if not stat.S_ISDIR(found.st_mode):
        return Finding(name, "wrong", f"{path} is no folder", f"move it away, or set {variable}")
    if os.name != "nt" and found.st_uid != os.getuid():
        return Finding(
            name, "wrong", f"{path} belongs to another user", f"set {variable} elsewhere"
        )
    if not os.access(path, os.W_OK | os.X_OK):
        return Finding(name, "wrong", f"{path} cannot be written", f"chmod u+rwx {path}")
    if os.name != "nt" and found.st_mode & (0o077 if is_private else 0o022):
        others = "entered" if is_private else "written"
        advice = f"chmod go-{'rwx' if is_private else 'w'} {path}"
        return Finding(name, "wrong", f"{path} can be {others} by others", advice)
    return Finding(name, "ok", str(path))


def _disk(path: Path) -> Finding:
    there = next(p for p in (path, *path.parents) if p.exists())
    try:
        free = shutil.disk_usage(there).free
    except OSError as error:
        return Finding("disk", "note", f"{there}: {error.strerror}")
    text = f"{free / 1e9:.1f} GB free for sessions"
    if free < _LEAST_FREE_BYTES:
        return Finding("disk", "wrong", text, "free some space; a full disk stops every turn")
    return Finding("disk", "ok", text)


def _models(settings: config.Settings, console: Console, home: Path) -> Iterator[Finding]:
    if not settings.models:
        advice = _NO_MODEL.format(path=home / "config.toml")
        if console.env.get("OPENAI_BASE_URL"):
            advice = "export OPENAI_API_KEY=… beside OPENAI_BASE_URL; any word if it takes none"
        yield Finding("model", "wrong", "no model is configured, and none was found", advice)
    for name, model in settings.models.items():
        is_default = name == settings.default_model
        host = urlsplit(model.base_url or "").netloc.rpartition("@")[2]
        text = ", ".join(filter(None, (f"{name}: {model.model or model.api}", host)))
        text += " (default)" if is_default else ""
        problem, advice = _model_problem(model, console, home)
        if not problem:
            yield Finding("model", "ok", text)
        else:
            state = "wrong" if is_default else "note"
            yield Finding("model", state, f"{text}: {problem}", advice)


def _model_problem(model: config.ModelSettings, console: Console, home: Path) -> tuple[str, str]:
    if model.api_key_env and not config.api_key(model, console.env):
        return f"{model.api_key_env} is not set", f"export {model.api_key_env}=…"
    if model.api == "scripted":
        if not model.script:
            return "it has no script", 'add script = "FILE" to its table'
        if not Path(home, model.script).is_file():
            return f"there is no {model.script}", "name a file that exists"
    return "", ""


def _ollama(models: tuple[str, ...] | None) -> Finding:
    if models is None:
        return Finding("ollama", "note", "not running here")
    if not models:
        return Finding("ollama", "note", "runs, without a model", "ollama pull qwen3-coder")
    return Finding("ollama", "ok", f"runs, {len(models)} models: {', '.join(models[:5])}")


def _ripgrep_finding() -> Finding:
    try:
        return Finding("ripgrep", "ok", _ripgrep.program())
    except KovaError as error:
        return Finding("ripgrep", "wrong", error.message, "pip install ripgrep")


def _program(name: str, env: Mapping[str, str], advice: str) -> Finding:
    found = shutil.which(name, path=env.get("PATH"))
    return Finding(name, "ok", found) if found else Finding(name, "note", "not found", advice)


def _shell(settings: config.Settings | None) -> Finding:
    shell = (settings or config.Settings()).shell
    if os.access(shell, os.X_OK):
        return Finding("shell", "ok", shell)
    return Finding("shell", "wrong", f"{shell} is missing", 'set shell = "…" in config.toml')


def _permission_files(home: Path, cwd: str) -> Iterator[Finding]:
    local = Path(cwd, ".kova")
    places = (
        home / "permissions.json",
        local / "permissions.json",
        local / "permissions.local.json",
    )
    count = 0
    for path in places:
        content = grant_disk.read(str(path))
        if isinstance(content, grant_file.Fault):
            yield Finding("permissions", "wrong", content.message)
        elif content is not None:
            count += 1
            for problem in content.problems:
                yield Finding("permissions", "note", problem)
    read = (
        f"{count} file{'s' if count > 1 else ''} read" if count else "no file yet; nothing is set"
    )
    yield Finding("permissions", "ok", read)


def _engine(console: Console, find: Find) -> Finding:
    try:
        status = engine_status(console, find)
    except KovaError as error:
        return Finding("engine", "wrong", error.message, "kova-ls stop --force")
    if status is None:
        return Finding("engine", "note", "not running; it starts when needed")
    text = f"runs, pid {status.pid}, version {status.version}"
    if status.version != __version__:
        return Finding("engine", "wrong", text, "kova-ls stop; the next start takes the new one")
    return Finding("engine", "ok", text)


def _other_engines(console: Console) -> Iterator[Finding]:
    for status in other_engines(console):
        text = f"another installation's runs too, pid {status.pid}, version {status.version}"
        yield Finding("engine", "note", text, "kova-ls stop --all")
