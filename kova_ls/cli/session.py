"""`kova-ls session`: list earlier conversations, or print one.

Invariant: looks only; nothing of a session is changed or answered here.
"""

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from kova_ls.cli.arguments import DONE, Parser, UsageFault
from kova_ls.cli.card import path_of
from kova_ls.cli.client import Client, Connect, Message
from kova_ls.cli.client import connect as reach
from kova_ls.cli.console import Console, is_terminal
from kova_ls.cli.status import greet
from kova_ls.cli.terminal import Style, shown, shown_lines
from kova_ls.cli.transcript import Feed
from kova_ls.l10n import Language
from kova_ls.protocol.session import SessionListResult, SessionSummary
from kova_ls.values import FilePart, Item, TextPart, UserMessageItem
from kova_ls.vocabulary import SessionState

_PAGE = 200
_GO_ON = "`kova-ls session ID` prints one, `kova-ls run --session ID` goes on with it."


def main(argv: Sequence[str], console: Console, connect: Connect = reach) -> int:
    """List sessions, or print the one that is named."""
    options = _parser(console).parse_args(argv)
    if options.id and (options.all or options.find or options.workspace):
        raise UsageFault("Name a session, or say which to list, not both.")
    client = Client(connect(console.env))
    try:
        greet(client, Language.ENGLISH if options.json else console.language)
        if options.id:
            _print(client, options.id, console, prints_json=options.json)
        else:
            _list(client, options, console)
    finally:
        client.close()
    return DONE


def _parser(console: Console) -> Parser:
    parser = Parser(console, "session", "List this folder's sessions, or print one.")
    parser.add_argument("id", nargs="?", metavar="ID", help="print this session, oldest first")
    parser.add_argument("--all", action="store_true", help="list those of all folders")
    parser.add_argument("--workspace", metavar="DIR", help="the folder; default: the current one")
    parser.add_argument("--find", metavar="TEXT", help="only titles that hold this text")
    parser.add_argument(
        "--limit", type=int, default=50, metavar="N", help="at most so many, the latest used first"
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    return parser


def _list(client: Client, options: argparse.Namespace, console: Console) -> None:
    params: Message = {"limit": options.limit}
    if not options.all:
        folder = os.path.realpath(os.path.join(console.cwd, options.workspace or "."))
        params["workspace"] = Path(folder).as_uri()
    if options.find:
        params["query"] = options.find
    found = SessionListResult.model_validate(client.request("kova/session/list", params))
    if options.json:
        console.print(json.dumps(found.model_dump(mode="json", by_alias=True), indent=2))
        return
    style = console.style(console.stdout)
    for session in found.sessions:
        console.print(_line(session, style, names_folder=options.all))
    if not found.sessions:
        console.say("No session was found. `kova-ls session --all` lists those of all folders.")
    elif found.next_cursor is not None:
        console.say("There are more: raise --limit, or narrow with --find.")
    if found.sessions and is_terminal(console.stdout):
        console.say(style.dim(style.say(_GO_ON)))


def _line(session: SessionSummary, style: Style, *, names_folder: bool) -> str:
    used_at = datetime.fromtimestamp(session.updated_at, UTC).astimezone()
    title = shown(session.title) or style.say("(untitled)")
    where = ""
    if names_folder:
        where = "  " + (path_of(session.workspace) if session.workspace else style.say("no folder"))
    text = f"{used_at:%Y-%m-%d %H:%M}  {session.state:<8}{session.session_id}  {title}{where}"
    text = style.clip(text)
    return style.yellow(text) if session.state is SessionState.WAITING else text


def _print(client: Client, session_id: str, console: Console, *, prints_json: bool) -> None:
    raw: list[Any] = []
    before: int | None = None
    while True:
        params = {"sessionId": session_id, "limit": _PAGE}
        page = client.request("kova/session/read", {**params, "before": before})
        raw += page["items"]
        before = page.get("before")
        if before is None:
            break
    raw.reverse()
    if prints_json:
        console.print(json.dumps({"sessionId": session_id, "items": raw}, indent=2))
        return
    # One stream: what is printed is read later, or by a pager.
    feed = Feed(replace(console, stderr=console.stdout))
    for item in TypeAdapter(list[Item]).validate_python(raw):
        if isinstance(item, UserMessageItem):
            for line in _said(item, feed.style):
                feed.line(line)
        feed.completed(item)


def _said(item: UserMessageItem, style: Style) -> list[str]:
    """Return what the person said, told apart from what the model answers."""
    lines: list[str] = []
    for part in item.input:
        if isinstance(part, TextPart):
            lines += shown_lines(part.text)
        elif isinstance(part, FilePart):
            lines.append(f"@{shown(path_of(part.uri))}")
        else:
            lines.append(f"[{style.say(part.type)}]")
    return ["", *(style.bold(f"> {line}") for line in lines), ""]
