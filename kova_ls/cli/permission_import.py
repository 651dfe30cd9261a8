"""`kova-ls permission import`: what the rules of another agent's settings become here.

Invariant: without `--write` nothing is written, and with it nothing that was not listed and
confirmed before.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from kova_ls.cli.arguments import DONE, FAILED, USAGE, Parser, UsageFault, sentence
from kova_ls.cli.client import Find
from kova_ls.cli.client import find as find_engine
from kova_ls.cli.console import Console, is_terminal
from kova_ls.cli.permission_files import grants_of, settled
from kova_ls.cli.terminal import shown
from kova_ls.permission.foreign import Outcome, read_settings, translate
from kova_ls.vocabulary import RootSource

HELP = "say what other agents' rules become here, and write them on request"
_MAX_BYTES = 20_000_000


def main(argv: Sequence[str], console: Console, find: Find = find_engine) -> int:
    """Run the command, whose name is `argv[0]`, and return the exit code.

    Raises: KovaError with what went wrong.
    """
    parser = Parser(console, "permission import", sentence(HELP, console.language))
    parser.add_argument("file", help="a settings file of another agent")
    parser.add_argument("--workspace", metavar="DIR", help="the workspace; this folder by default")
    parser.add_argument("--json", action="store_true", help="print a JSON line for each entry")
    parser.add_argument(
        "--write", action="store_true", help="write the rules into the workspace's local file"
    )
    parser.add_argument("--yes", action="store_true", help="with --write: do not ask")
    options = parser.parse_args(argv[1:])
    folder = os.path.realpath(os.path.join(console.cwd, options.workspace or "."))
    if not os.path.isdir(folder):
        raise UsageFault(f"{shown(folder)} is no folder; name one with --workspace.")
    path = os.path.join(console.cwd, options.file)
    found = _read(path)
    if isinstance(found, str):
        console.complain(f"{shown(path)}: {found}")
        return FAILED
    if options.json:
        for outcome in found:
            answer = {
                "list": outcome.foreign.wish,
                "entry": outcome.foreign.text,
                "rule": outcome.entry,
                "problem": outcome.problem,
            }
            console.print(json.dumps(answer))
    else:
        _show(found, console)
    if not options.write:
        if not options.json:
            console.print("Nothing was written; --write puts these rules into force here.")
        return DONE
    return _write(found, folder, console, find, is_sure=options.yes)


def _read(path: str) -> list[Outcome] | str:
    """Return what each entry becomes, or why nothing can be said."""
    try:
        if os.path.isfile(path) and os.path.getsize(path) > _MAX_BYTES:
            return "it is too large; give the agent's settings file."
        found = read_settings(Path(path).read_text("utf-8-sig"))
    except OSError as error:
        return f"it cannot be read ({error.strerror}); name another file."
    except UnicodeDecodeError:
        return "it is not UTF-8; save it so, or name another file."
    if isinstance(found, str):
        return found
    return [outcome for foreign in found for outcome in translate(foreign)]


def _show(outcomes: Sequence[Outcome], console: Console) -> None:
    for outcome in outcomes:
        console.print(f"{outcome.foreign.wish} {shown(outcome.foreign.text)}")
        if outcome.entry is None:
            console.print(f"    -> nothing. {shown(outcome.problem or '')}")
        else:
            console.print(f"    -> `{shown(outcome.entry)}`")
    kept = sum(outcome.entry is not None for outcome in outcomes)
    console.print(f"\n{kept} of {len(outcomes)} entries have a rule here.")


def _write(
    outcomes: Sequence[Outcome], folder: str, console: Console, find: Find, *, is_sure: bool
) -> int:
    grants = grants_of(console)
    path = shown(str(grants.local_path(folder)))
    before = grants.load(folder)
    known = {rule.text for rule in before.allow}, {rule.text for rule in before.deny}
    allow, deny = (
        list(
            dict.fromkeys(
                outcome.entry
                for outcome in outcomes
                if outcome.entry and outcome.foreign.wish == wish and outcome.entry not in present
            )
        )
        for wish, present in zip(("allow", "deny"), known, strict=True)
    )
    if not allow and not deny:
        console.complain(f"There is nothing to write that {path} or your own file does not hold.")
        return DONE
    if not is_sure:
        if not is_terminal(console.stdin):
            console.complain("Nobody can be asked here; nothing was written. Add --yes to write.")
            return USAGE
        console.say(f"To be written into {path}:")
        for what, rules in (("allow", allow), ("deny", deny)):
            for rule in rules:
                console.say(f"  {what} {shown(rule)}")
        console.say("Write them? [y/N]")
        if console.stdin.readline().strip().lower() not in ("y", "yes"):
            console.say("Nothing was written.")
            return FAILED
    edit = grants.add_rules(folder, allow=allow, deny=deny)
    for notice in edit.notices:
        console.complain(shown(notice))
    console.say(f"{len(allow) + len(deny)} rules are in {path}.")
    return settled(console, find, folder, RootSource.LOCAL, allow)
