"""`kova-ls status`: is the engine running, for whom, and what does it do.

Invariant: never starts an engine.
"""

import contextlib
import json
from collections.abc import Sequence

from pydantic import ValidationError

from kova_ls import __version__
from kova_ls.cli.arguments import DONE, FAILED, Parser
from kova_ls.cli.card import path_of
from kova_ls.cli.client import Client, Find, FindOthers
from kova_ls.cli.client import find as find_engine
from kova_ls.cli.client import find_others as find_other_engines
from kova_ls.cli.console import Console
from kova_ls.cli.terminal import Style, shown
from kova_ls.errors import KovaError
from kova_ls.l10n import Language
from kova_ls.protocol.engine import EngineStatusResult
from kova_ls.vocabulary import SessionState

NOT_RUNNING = "No engine is running; `kova-ls run` or an editor starts one."
END_OTHERS = "`kova-ls stop --all` ends the engines of other versions too."


def main(
    argv: Sequence[str],
    console: Console,
    find: Find = find_engine,
    find_others: FindOthers = find_other_engines,
) -> int:
    """Print the engine's state; exit code 1 when none runs."""
    parser = Parser(console, "status", "Say whether the engine runs, for whom, and what it does.")
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    options = parser.parse_args(argv)
    status = engine_status(console, find)
    others = other_engines(console, find_others)
    if options.json:
        found = status.model_dump(mode="json", by_alias=True) if status else None
        rest = [other.model_dump(mode="json", by_alias=True) for other in others]
        answer = {"running": status is not None, "engine": found, "others": rest}
        console.print(json.dumps(answer, indent=2))
        return DONE if status else FAILED
    if status is None:
        console.print(NOT_RUNNING)
    style = console.style(console.stdout)
    for line in status_lines(status, style) if status else ():
        console.print(line)
    for other in others:
        console.print("")
        console.print("Of another version or installation, on the same folders:")
        for line in status_lines(other, style):
            console.print(line)
    if others:
        console.print(END_OTHERS)
    return DONE if status else FAILED


def engine_status(console: Console, find: Find = find_engine) -> EngineStatusResult | None:
    """Ask the running engine; None when none runs."""
    sock = find(console.env)
    return None if sock is None else _asked(Client(sock))


def other_engines(
    console: Console, find_others: FindOthers = find_other_engines
) -> list[EngineStatusResult]:
    """Ask the engines of other builds on the same folders; those that do not answer are left out."""
    found: list[EngineStatusResult] = []
    for sock in find_others(console.env):
        with contextlib.suppress(KovaError, ValidationError):
            found.append(_asked(Client(sock)))
    return found


def _asked(client: Client) -> EngineStatusResult:
    try:
        greet(client)
        return EngineStatusResult.model_validate(client.request("kova/engine/status", {}))
    finally:
        client.close()


def greet(client: Client, language: Language = Language.ENGLISH) -> None:
    """Shake hands as a looker-on: without a folder, and trusting nothing."""
    client.initialize(
        folder_uri=None,
        folder_name="",
        trusted=False,
        name="kova-ls",
        version=__version__,
        language=language,
    )


def status_lines(status: EngineStatusResult, style: Style) -> list[str]:
    """Draw the engine's state."""
    lines = [
        style.say(
            f"engine {shown(status.version)}, pid {status.pid}, up {duration(status.uptime_s)}"
        ),
    ]
    editors = [editor for editor in status.editors if editor.name != "kova-ls"]
    lines.append(
        style.bold(style.say("editors")) if editors else style.say("no editor is attached")
    )
    for editor in editors:
        trusted = style.say("trusted" if editor.trusted else "not trusted")
        follows = style.say(f", follows {len(editor.sessions)}") if editor.sessions else ""
        lines.append(
            style.clip(f"  {shown(editor.name)} {shown(editor.version)}, {trusted}{follows}")
        )
    lines.append(
        style.bold(style.say("sessions")) if status.sessions else style.say("no session is loaded")
    )
    for session in status.sessions:
        where = path_of(session.workspace) if session.workspace else style.say("no folder")
        title = shown(session.title) or "(untitled)"
        text = style.clip(f"  {session.state:<8} {session.session_id}  {title}  {where}")
        lines.append(style.yellow(text) if session.state is SessionState.WAITING else text)
    return lines


def duration(seconds: float) -> str:
    """Say a duration in its two largest units."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    units = ((days, "d"), (hours, "h"), (minutes, "min"), (rest, "s"))
    first = next((n for n, (count, _) in enumerate(units) if count), len(units) - 1)
    return " ".join(f"{count} {name}" for count, name in units[first : first + 2])
