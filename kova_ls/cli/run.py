"""`kova-ls run`: one turn in the terminal, over the same engine as the editors.

Invariant: a folder is trusted only by the person's own word, given now or remembered.
"""

import argparse
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from kova_ls import __version__
from kova_ls.cli import arguments, prompt, trust
from kova_ls.cli.arguments import Parser, UsageFault
from kova_ls.cli.ask import Answering, Nobody, Person
from kova_ls.cli.client import Client, Connect, Message
from kova_ls.cli.client import connect as reach
from kova_ls.cli.console import (
    ARMING_S,
    Console,
    Interrupts,
    Keys,
    interrupts,
    is_terminal,
    keys_of,
)
from kova_ls.cli.terminal import shown, wrap_words
from kova_ls.cli.turn import Left, Turn, open_cards
from kova_ls.cli.whole import output_reader
from kova_ls.errors import KovaError
from kova_ls.l10n import Language
from kova_ls.values import InputPart
from kova_ls.vocabulary import ApprovalLevel, Mode

_EPILOG = """\
In the prompt, @path, @"a path" and @path:10-20 attach files; a word - adds what comes on stdin.
Ctrl-C stops the turn and says what was stopped; twice leaves at once.
While a goal is active its turns are shown one after the other; Ctrl-C pauses it.
Without a terminal, and with --json, whatever needs a yes is denied.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 something was denied for want of a terminal,
130 interrupted.
"""


def main(argv: Sequence[str], console: Console, connect: Connect = reach) -> int:
    """Run a turn and return the exit code."""
    options = _parser(console).parse_args(argv)
    folder = _folder(options.workspace, console.cwd)
    resumes = not options.prompt and (options.goes_on or options.session)
    text = "" if resumes and is_terminal(console.stdin) else _text(options.prompt, console)
    given = prompt.parse(text, folder)
    for word in given.missing:
        console.complain(f"@{shown(word)}: no such file; it stays text")
    with ExitStack() as stack:
        is_attended = not (options.json or options.automation)
        keys = None if not is_attended else stack.enter_context(keys_of(console))
        is_trusted = _trusted(folder, console, keys, is_given=options.trust)
        if options.level not in (None, ApprovalLevel.ASK) and not is_trusted:
            raise UsageFault(
                f"Level {options.level} needs a trusted folder. Add --trust, or leave out --level."
            )
        language = Language.ENGLISH if options.json else console.language
        attach = attacher(connect, console, folder, language, is_trusted=is_trusted)
        client = attach()
        stack.callback(client.close)
        snapshot = _session(client, options, folder)
        if not options.json:
            _greet(snapshot, console)
        # From here Ctrl-C stops the turn; until here it simply ends the program.
        counted = stack.enter_context(interrupts())
        try:
            turn = begin(
                client,
                snapshot,
                given.parts if text else (),
                console,
                answering=Person(console, keys, folder, output_reader(client))
                if keys
                else Nobody(console),
                keys=keys,
                counted=counted,
                attach=attach,
                prints_json=options.json,
                # A level on the command line is the person's own word for this run.
                automation=options.automation or (None if keys or options.level else "run"),
            )
        except KovaError:
            if not (options.goes_on or options.session):
                # Made for this prompt alone, which was refused: nothing is in it.
                with suppress(KovaError):
                    client.request("kova/session/delete", {"sessionId": snapshot["sessionId"]})
            raise
        try:
            return turn.follow()
        except Left:
            turn.feed.end_line()
            console.complain("left; `kova-ls run --continue` finds the session again")
            return arguments.INTERRUPTED
        except BrokenPipeError:
            turn.client.send("kova/turn/interrupt", {"sessionId": snapshot["sessionId"]})
            raise


def begin(
    client: Client,
    snapshot: Message,
    parts: Sequence[InputPart],
    console: Console,
    *,
    answering: Answering,
    keys: Keys | None,
    counted: Interrupts,
    attach: Callable[[], Client],
    prints_json: bool = False,
    automation: str | None = None,
) -> Turn:
    """Give a session a prompt; the turn it becomes is then followed.

    Without a prompt the turn that runs already is followed.
    Raises: UsageFault when there is neither.
    """
    turn_id: str | None = snapshot.get("turnId")
    waits = False
    if parts:
        # Nobody can answer what an earlier turn waits for: queued behind it, this would hang.
        when_busy = "queue" if keys else "reject"
        started = client.request(
            "kova/turn/start",
            {
                "sessionId": snapshot["sessionId"],
                "input": [_wire(part) for part in parts],
                "whenBusy": when_busy,
                **({"automation": automation} if automation else {}),
            },
        )
        turn_id = started["turnId"]
        waits = started.get("status") == "queued"
        if waits:
            console.complain("A turn is running in this session; yours follows it.")
    if turn_id is None:
        raise UsageFault("No turn runs in this session. Say what to do.")
    turn = Turn(
        client,
        console,
        snapshot["sessionId"],
        turn_id,
        answering,
        keys,
        counted,
        reconnect=attach,
        epoch=snapshot["watermark"]["epoch"],
        seq=snapshot["watermark"]["seq"],
        prints_json=prints_json,
        waits=waits,
        goal=snapshot.get("goal") or {},
    )
    turn.offer(open_cards(snapshot))
    return turn


def _parser(console: Console) -> Parser:
    parser = Parser(console, "run", "Run one turn in this folder and show it.", _EPILOG)
    parser.add_argument(
        "prompt", nargs="*", help="what to do; none with --continue follows the running turn"
    )
    parser.add_argument("--model", help="name of a model in config.toml")
    parser.add_argument(
        "--mode", choices=[str(mode) for mode in Mode], help="may it change things?"
    )
    parser.add_argument(
        "--level",
        choices=[str(level) for level in ApprovalLevel],
        help="must it ask? all but ask need a trusted folder",
    )
    parser.add_argument(
        "--automation",
        metavar="NAME",
        help="nobody watches: deny what asks, at the level that config.toml gives to this name",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--session", metavar="ID", help="go on with this session")
    which.add_argument(
        "-c",
        "--continue",
        dest="goes_on",
        action="store_true",
        help="go on with the folder's last session",
    )
    parser.add_argument("--workspace", metavar="DIR", help="the folder; default: the current one")
    parser.add_argument("--json", action="store_true", help="print every event as a JSON line")
    parser.add_argument(
        "--trust",
        action="store_true",
        help="trust the folder; remembered when given at a terminal",
    )
    return parser


def _folder(asked: str | None, cwd: str) -> str:
    folder = os.path.realpath(os.path.join(cwd, asked or "."))
    if not os.path.isdir(folder):
        raise UsageFault(f"{shown(folder)} is no folder. Name one that exists.")
    return folder


def _text(words: list[str], console: Console) -> str:
    if not words and is_terminal(console.stdin):
        raise UsageFault('Say what to do: kova-ls run "explain this project".')
    pieces: list[str] = []
    if words != ["-"] and words:
        pieces.append(" ".join(word for word in words if word != "-"))
    if "-" in words or not words:
        pieces.append(console.stdin.read())
    text = "\n\n".join(pieces).strip()
    if not text:
        raise UsageFault("The prompt is empty. Say what to do.")
    return text


def _trusted(folder: str, console: Console, keys: Keys | None, *, is_given: bool) -> bool:
    from kova_ls import paths

    if not trust.may_be_trusted(folder, console.env):
        console.complain(f"{shown(folder)} is never trusted: it holds everything. Level: ask.")
        return False
    data_dir = Path(paths.data_dir(console.env))
    if is_given:
        if keys:
            trust.remember(data_dir, folder, is_trusted=True)
        return True
    earlier = trust.remembered(data_dir, folder)
    if earlier is not None or keys is None:
        return bool(earlier)
    answer = ask_trust(folder, console, keys)
    trust.remember(data_dir, folder, answer)
    return answer


def ask_trust(folder: str, console: Console, keys: Keys) -> bool:
    """Ask whether a folder is trusted; only y and n are answers."""
    style = console.style(console.talk)
    console.say(style.bold(style.say(f"Do you trust {shown(folder)}?")))
    console.say("If so, the agent follows its AGENTS.md, and may change files in it unasked")
    console.say("(level workspace-write). If not, it asks before each change.")
    console.talk.write(style.bold(style.say("[y]es  [n]o")) + " ")
    console.talk.flush()
    with keys.by_key():
        armed_at = console.clock() + ARMING_S
        key = ""
        while key not in ("y", "n"):
            key = keys.key().lower()
            if not key:
                raise UsageFault("The keyboard is gone. Start again with --trust, or without.")
            if console.clock() < armed_at:
                key = "-"
    console.say("yes" if key == "y" else "no; `kova-ls run --trust` changes that")
    return key == "y"


def attacher(
    connect: Connect, console: Console, folder: str, language: Language, *, is_trusted: bool
) -> Callable[[], Client]:
    """Return what attaches the terminal to the engine, again after the engine was lost."""

    def attach() -> Client:
        client = Client(connect(console.env))
        client.initialize(
            folder_uri=Path(folder).as_uri(),
            folder_name=os.path.basename(folder) or folder,
            trusted=is_trusted,
            name="kova-ls run",
            version=__version__,
            language=language,
        )
        return client

    return attach


def _wire(part: InputPart) -> Message:
    return part.model_dump(mode="json", by_alias=True, exclude_none=True)


def _session(client: Client, options: argparse.Namespace, folder: str) -> Message:
    uri = Path(folder).as_uri()
    wanted = {
        name: getattr(options, name)
        for name in ("mode", "level", "model")
        if getattr(options, name)
    }
    session_id: str | None = options.session
    if options.goes_on:
        listed = client.request("kova/session/list", {"workspace": uri, "limit": 1})
        if not listed["sessions"]:
            raise UsageFault("This folder has no session yet. Leave out --continue.")
        session_id = listed["sessions"][0]["sessionId"]
    if session_id is None:
        return client.request("kova/session/create", {"workspace": uri, **wanted})
    snapshot: Message = client.request("kova/session/attach", {"sessionId": session_id})["snapshot"]
    if wanted:
        settings = client.request("kova/session/configure", {"sessionId": session_id, **wanted})
        snapshot = {**snapshot, **settings}
    return snapshot


def _greet(snapshot: Message, console: Console) -> None:
    style = console.style(console.talk)
    is_seen = is_terminal(console.talk)
    for notice in snapshot.get("notices") or ():
        text = f"! {shown(str(notice))}"
        for line in wrap_words(text, style.width_columns, "  ") if is_seen else [text]:
            console.say(style.yellow(line))
    if is_seen:
        head = (
            f"{snapshot['model']} · {snapshot['mode']}, {snapshot['level']} · "
            f"{snapshot['sessionId']}"
        )
        console.say(style.dim(style.clip(shown(head))))
