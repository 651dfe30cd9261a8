"""`kova-ls status`: is the engine running, for whom, and what does it do.

Invariant: never starts an engine.
"""

import json
from collections.abc import Sequence

from kova_ls import __version__
from kova_ls.cli.arguments import DONE, FAILED, Parser
from kova_ls.cli.card import path_of
from kova_ls.cli.client import Client, Find
from kova_ls.cli.client import find as find_engine
from kova_ls.cli.console import Console
from kova_ls.cli.terminal import Style, shown
from kova_ls.l10n import Language
from kova_ls.protocol.engine import EngineStatusResult
from kova_ls.vocabulary import SessionState

NOT_RUNNING = "No engine is running; `kova-ls run` or an editor starts one."


def main(argv: Sequence[str], console: Console, find: Find = find_engine) -> int:
    """Print the engine's state; exit code 1 when none runs."""
    parser = Parser(console, "status", "Say whether the engine runs, for whom, and what it does.")
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    options = parser.parse_args(argv)
    status = engine_status(console, find)
    if options.json:
        found = status.model_dump(mode="json", by_alias=True) if status else None
        console.print(json.dumps({"running": status is not None, "engine": found}, indent=2))
    elif status is None:
        console.print(NOT_RUNNING)
    else:
        for line in status_lines(status, console.style(console.stdout)):
            console.print(line)
    return DONE if status else FAILED


def engine_status(console: Console, find: Find = find_engine) -> EngineStatusResult | None:
    """Ask the running engine; None when none runs."""
    sock = find(console.env)
    if sock is None:
        return None
    client = Client(sock)
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
