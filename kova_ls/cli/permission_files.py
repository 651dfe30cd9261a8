"""`kova-ls permission list|add|remove|adopt|accept`: the permission files, changed by a person.

Works on the files and needs no engine; one that runs is nudged, so that open cards are judged anew.
Invariant: a command of the agent changes nothing here: the files refuse descendants of an engine.
"""

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from kova_ls import paths
from kova_ls.cli.arguments import DONE, FAILED, Parser, UsageFault, sentence
from kova_ls.cli.client import Client, Find
from kova_ls.cli.client import find as find_engine
from kova_ls.cli.console import Console
from kova_ls.cli.status import greet
from kova_ls.cli.terminal import shown
from kova_ls.engine.grant_judge import free_pass
from kova_ls.engine.grants import Grants, GrantSet, Proposal
from kova_ls.errors import KovaError
from kova_ls.permission.facts import Rule
from kova_ls.vocabulary import RootSource

COMMANDS = {
    "list": "show what is in force, what is asked for, and what is wrong",
    "add": "put a rule or a writable folder into force",
    "remove": "take a rule or a writable folder out",
    "adopt": "confirm everything that is new in a file written by hand",
    "accept": "put one thing into force that the project or an unconfirmed file asks for",
}
_HELD = (
    "A command of the agent is running or left a process behind, and might have written this too: "
    "it is in the file and does not count yet. Confirm it in the editor, or with `kova-ls "
    "permission adopt{flag}` once that process has ended."
)


def main(argv: Sequence[str], console: Console, find: Find = find_engine) -> int:
    """Run one of `COMMANDS`, named by `argv[0]`, and return the exit code.

    Raises: KovaError with what went wrong.
    """
    name = argv[0]
    parser = Parser(console, f"permission {name}", sentence(COMMANDS[name], console.language))
    parser.add_argument("--workspace", metavar="DIR", help="the workspace; this folder by default")
    if name != "list":
        parser.add_argument("--user", action="store_true", help="your own file, for all workspaces")
    if name in ("add", "remove", "accept"):
        what = "a rule such as 'git log *', or a folder with --root"
        parser.add_argument("entry", help=what)
        kinds = parser.add_mutually_exclusive_group()
        kinds.add_argument("--deny", action="store_true", help="a rule that forbids")
        kinds.add_argument("--root", action="store_true", help="a folder that may be written in")
    else:
        parser.add_argument("--json", action="store_true", help="print it as JSON")
    options = parser.parse_args(argv[1:])
    folder = os.path.realpath(os.path.join(console.cwd, options.workspace or "."))
    if not os.path.isdir(folder):
        raise UsageFault(f"{shown(folder)} is no folder; name one with --workspace.")
    grants = grants_of(console)
    if name == "list":
        return _list(grants.load(folder), console, as_json=options.json)
    layer = RootSource.USER if options.user else RootSource.LOCAL
    if name == "adopt":
        code = _adopt(grants, folder, layer, console, as_json=options.json)
    else:
        kind = "root" if options.root else "deny" if options.deny else "allow"
        change = {"add": _add, "remove": _remove, "accept": _accept}[name]
        is_given = options.root or options.deny
        code = change(grants, folder, layer, kind if is_given else None, options.entry, console)
    entries = [options.entry] if name in ("add", "accept") else [] if name == "remove" else None
    held = settled(console, find, folder, layer, entries)
    return code or held


def settled(
    console: Console, find: Find, folder: str, layer: RootSource, entries: Sequence[str] | None
) -> int:
    """Tell a running engine of what was written; say so when it does not count for it.

    Shape: `entries` were put into force; None for all that the file holds.
    """
    # An engine whose command runs believes this process, but only while it lives.
    _nudge(console, find)
    found = grants_of(console).load(folder)
    pending = found.pending_user if layer is RootSource.USER else found.pending_local
    if pending is None:
        return DONE
    waiting = {*pending.allow, *(text for text, _ in pending.roots)}
    if entries is not None and waiting.isdisjoint(entries):
        return DONE
    console.complain(_HELD.format(flag=" --user" if layer is RootSource.USER else ""))
    return FAILED


def grants_of(console: Console) -> Grants:
    """Return the permission files of the person at the console."""
    env = console.env
    home = os.path.realpath(paths.user_home(env))
    return Grants(Path(paths.home(env)), Path(paths.data_dir(env)), home=Path(home), env=env)


# -- list ---------------------------------------------------------------------------------------


def _list(found: GrantSet, console: Console, *, as_json: bool) -> int:
    if as_json:
        console.print(json.dumps(_as_json(found), indent=2))
        return DONE
    style = console.style(console.stdout)
    for title, rules in (
        ("allowed without asking", found.allow),
        ("denied whatever the level", found.deny),
    ):
        console.print(style.bold(style.say(title if rules else f"{title}: nothing")))
        for rule in rules:
            console.print(f"  {rule.source.value:<5}  {shown(rule.text)}")
            warning = free_pass(rule.text, rule.source) if rules is found.allow else None
            if warning:
                console.print(style.yellow(f"         {style.say(shown(warning))}"))
    head = style.say("writable folders" if found.roots else "writable folders: none")
    console.print(style.bold(head))
    for root in found.roots:
        console.print(f"  {root.source.value:<5}  {shown(root.path)}")
    for proposal in found.proposals:
        if proposal.source == "project":
            console.print(style.yellow(style.say(shown(proposal.sentence))))
            console.print(f"  {style.say(shown(proposal.refusal or _how(proposal)))}")
    for pending in (found.pending_local, found.pending_user):
        if pending is not None:
            head = style.say(f"Nobody confirmed what is new in {shown(pending.path)}:")
            console.print(style.yellow(head))
            for line in pending.lines():
                console.print(f"  {style.say(shown(line))}")
            user = " --user" if pending.source is RootSource.USER else ""
            console.print(
                f"  `kova-ls permission adopt{user}` puts all of it into force, `accept{user}` one "
                "of it."
            )
    for problem in found.problems:
        console.print(style.red(shown(problem)))
    if found == GrantSet():
        console.print(
            "`kova-ls permission add 'git log *'` adds a rule for this folder; so does \"Allow and "
            'remember" on a card.'
        )
    return DONE


def _how(proposal: Proposal) -> str:
    flag = {"allow": "", "deny": " --deny", "root": " --root"}[proposal.kind]
    user = " --user" if proposal.source == "user" else ""
    quoted = "'" + proposal.value.replace("'", "'\\''") + "'"
    return f"`kova-ls permission accept{user}{flag} {quoted}` puts it into force."


def _as_json(found: GrantSet) -> dict[str, Any]:
    def rules(entries: tuple[Rule, ...], *, is_allowing: bool) -> list[dict[str, Any]]:
        return [
            {
                "rule": rule.text,
                "source": rule.source.value,
                "isFreePass": is_allowing and free_pass(rule.text, rule.source) is not None,
            }
            for rule in entries
        ]

    return {
        "allow": rules(found.allow, is_allowing=True),
        "deny": rules(found.deny, is_allowing=False),
        "roots": [{"path": root.path, "source": root.source.value} for root in found.roots],
        "proposed": [
            {
                "kind": proposal.kind,
                "value": proposal.value,
                "source": proposal.source,
                "sentence": proposal.sentence,
                "refusal": proposal.refusal,
            }
            for proposal in found.proposals
        ],
        "pending": [
            {"path": pending.path, "digest": pending.digest, "lines": pending.lines()}
            for pending in (found.pending_local, found.pending_user)
            if pending is not None
        ],
        "problems": list(found.problems),
    }


# -- changes ------------------------------------------------------------------------------------


def _add(
    grants: Grants,
    folder: str,
    layer: RootSource,
    kind: str | None,
    entry: str,
    console: Console,
) -> int:
    workspace = _scope(folder, layer, kind, entry)
    if kind == "root":
        edit = grants.add_root(workspace, layer, entry)
    else:
        edit = grants.add_rule(workspace, layer, entry, "deny" if kind == "deny" else "allow")
    what = f"in force, {shown(str(edit.path))}: {_phrase(kind, entry)}"
    console.print(what if edit.added else f"already {what}")
    if kind is None and edit.added and "*" not in entry and "(" not in entry:
        console.print(
            "It covers exactly this line; with ` *` at its end it would cover further words."
        )
    warning = free_pass(entry, layer) if kind is None else None
    _tell((*edit.notices, *([warning] if warning else [])), console)
    return DONE


def _remove(
    grants: Grants,
    folder: str,
    layer: RootSource,
    kind: str | None,
    entry: str,
    console: Console,
) -> int:
    before = grants.load(folder)
    if kind == "root":
        edit = grants.remove_root(_scope(folder, layer, kind, entry), layer, entry)
        if not edit.removed and os.path.isabs(entry):
            # The list shows where a folder leads, the file may say it shorter.
            edit = grants.remove_root(folder, layer, os.path.relpath(entry, folder))
        held = False
    else:
        rules = before.deny if kind == "deny" else before.allow
        held = Rule(entry, layer) in rules
        edit = grants.remove_rule(
            folder if layer is RootSource.LOCAL else None,
            layer,
            entry,
            "deny" if kind == "deny" else "allow",
        )
    _tell(edit.notices, console)
    if not edit.removed and not held:
        is_denied = kind is None and any(rule.text == entry for rule in before.deny)
        console.complain(
            f"{shown(entry)} is a rule that forbids: add --deny to take it out."
            if is_denied
            else f"{shown(entry)} is not in {shown(str(edit.path))}. `kova-ls permission list` "
            "shows what is."
        )
        return FAILED
    console.print(f"taken out of {shown(str(edit.path))}: {_phrase(kind, entry)}")
    return DONE


def _phrase(kind: str | None, entry: str) -> str:
    """Name an entry as the lists do; a plain rule is what it says."""
    what = {"deny": "deny ", "root": "write in "}.get(kind or "", "")
    return what + shown(entry)


def _scope(folder: str, layer: RootSource, kind: str | None, entry: str) -> str | None:
    """Return what a relative folder is relative to; a rule of the user's file knows no place."""
    is_relative = kind == "root" and not os.path.isabs(entry) and not entry.startswith("~")
    if layer is RootSource.USER and is_relative:
        raise UsageFault("A folder in your own file counts everywhere: write it in full.")
    return folder if layer is RootSource.LOCAL else None


def _accept(
    grants: Grants,
    folder: str,
    layer: RootSource,
    kind: str | None,
    entry: str,
    console: Console,
) -> int:
    is_user = layer is RootSource.USER
    fitting = [
        proposal
        for proposal in grants.load(folder).proposals
        if proposal.value == entry
        and (kind is None or proposal.kind == kind)
        and (proposal.source == "user") == is_user
    ]
    kinds = {proposal.kind for proposal in fitting}
    if not fitting:
        console.complain(
            f"Nobody asks for {shown(entry)}. `kova-ls permission list` shows what is asked for; "
            "`kova-ls permission add` needs no proposal."
        )
        return FAILED
    if len(kinds) > 1:
        raise UsageFault(f"{shown(entry)} is asked for in several ways; add --deny or --root.")
    edit = grants.accept(folder, fitting[0])
    accepted = None if fitting[0].kind == "allow" else fitting[0].kind
    console.print(f"in force, {shown(str(edit.path))}: {_phrase(accepted, entry)}")
    _tell(edit.notices, console)
    return DONE


def _adopt(
    grants: Grants, folder: str, layer: RootSource, console: Console, *, as_json: bool
) -> int:
    found = grants.load(folder)
    pending = found.pending_user if layer is RootSource.USER else found.pending_local
    workspace = folder if layer is RootSource.LOCAL else None
    path = grants.user_path() if workspace is None else grants.local_path(workspace)
    lines: tuple[str, ...] = ()
    if pending is not None:
        lines = grants.adopt(folder, layer, shown=pending)
    if as_json:
        console.print(json.dumps({"path": str(path), "adopted": lines}, indent=2))
        return DONE
    if not lines:
        console.print(f"Nothing in {shown(str(path))} waits to be confirmed.")
        _tell([problem for problem in found.problems if problem.startswith(str(path))], console)
        if layer is RootSource.LOCAL and found.pending_user is not None:
            console.print("Your own file has something that waits: add --user.")
    for line in lines:
        console.print(f"in force, {shown(str(path))}: {shown(line)}")
    return DONE


def _tell(notices: Sequence[str], console: Console) -> None:
    for notice in notices:
        console.complain(shown(notice))


def _nudge(console: Console, find: Find) -> None:
    """Let a running engine look at the files; without one nothing is lost."""
    with suppress(KovaError, OSError, ValueError):
        sock = find(console.env)
        if sock is None:
            return
        client = Client(sock)
        try:
            greet(client)
            client.request("kova/engine/status", {})
        finally:
            client.close()
