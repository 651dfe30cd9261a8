"""`kova-ls permission …`: the sub-commands, and `test`: what a call would get, without doing it.

The files are looked at and changed in `permission_files`, brought in from other agents' settings in
`permission_import`.
Invariant: `test` runs nothing, needs no engine and writes no file.
"""

import argparse
import gc
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from kova_ls.cli import permission_batch, permission_files, permission_import
from kova_ls.cli.arguments import DONE, USAGE, Plain, UsageFault, sentence
from kova_ls.cli.console import Console
from kova_ls.cli.permission_facts import Unusable, World, facts_of
from kova_ls.cli.terminal import shown
from kova_ls.engine import judge, workspace
from kova_ls.engine.programs import Programs
from kova_ls.l10n import Language, language_of_env, say
from kova_ls.permission.effects import Connect, Effect, RunCommand
from kova_ls.permission.facts import Call, Facts, Ruling
from kova_ls.tools._base import ToolError
from kova_ls.vocabulary import ApprovalLevel, Decision, Mode

_READERS = ("read", "grep", "glob")
_WRITERS = ("write", "edit")
_FETCHERS = ("WebFetch",)
_CALL = re.compile(r"\s*Bash\((.*)\)\s*\Z", re.DOTALL)


def main(argv: Sequence[str]) -> int:
    """Run a sub-command of `permission` and return the exit code."""
    # A person stands in a folder; a daemon does not.
    folder = os.getcwd()  # noqa: TID251
    if argv and argv[0] in permission_files.COMMANDS:
        return permission_files.main(argv, Console.of_process(folder, os.environ))
    if argv and argv[0] == "import":
        return permission_import.main(argv, Console.of_process(folder, os.environ))
    if "--batch" in argv:
        # What is loaded stays, and a line leaves little behind: cycles are worth a rare look.
        gc.freeze()
        gc.set_threshold(50_000, 20, 20)
    return run(argv, World(os.environ, folder, sys.stdin.buffer, sys.stdout, sys.stderr))


def run(argv: Sequence[str], world: World) -> int:
    """Do what the command line says, in the world given."""
    language = language_of_env(world.env)
    parser = Plain("kova-ls permission", language=language)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    what = "say what a call would get, and run nothing"
    test = commands.add_parser(
        "test", help=say(what, language), description=sentence(what, language), language=language
    )
    test.add_argument("subject", nargs="*", help="a command line in quotes, or Bash(…)")
    test.add_argument("--workspace", metavar="DIR", help="the workspace; this folder by default")
    test.add_argument(
        "--mode",
        choices=[mode.value for mode in Mode],
        default=Mode.AGENT.value,
        help="agent by default",
    )
    test.add_argument(
        "--level",
        choices=[level.value for level in ApprovalLevel],
        default=ApprovalLevel.WORKSPACE_WRITE.value,
        help="workspace-write by default",
    )
    test.add_argument("--rules", metavar="FILE", help="a rule file that replaces the others")
    test.add_argument(
        "--tool",
        choices=["bash", *_READERS, *_WRITERS, *_FETCHERS],
        default="bash",
        help="bash by default",
    )
    test.add_argument("--path", action="append", default=[], help="for file tools; may repeat")
    test.add_argument("--url", help="for WebFetch")
    test.add_argument("--json", action="store_true", help="print the verdict as JSON")
    test.add_argument("--batch", action="store_true", help="JSON Lines on stdin, one answer each")
    for name, what in ("import", permission_import.HELP), *permission_files.COMMANDS.items():
        commands.add_parser(name, help=say(what, language))
    try:
        options = parser.parse_args(argv)
    except UsageFault as fault:
        world.stderr.write(f"{say(fault.message, language)}\n")
        return USAGE
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else USAGE
    return _test(options, world)


def _test(options: argparse.Namespace, world: World) -> int:
    if options.batch:
        return permission_batch.batch(options, world)
    try:
        facts, wishes = facts_of(options, world)
        call = _call(options, facts, world)
    except Unusable as fault:
        world.stderr.write(f"{say(str(fault), language_of_env(world.env))}\n")
        return USAGE
    changed = Programs(Path(facts.data_dir) / "adopted")
    ruling = judge.rule_on(call, facts, wishes, changed)
    if options.json:
        world.stdout.write(json.dumps(permission_batch.as_json(ruling)) + "\n")
    else:
        world.stdout.write("\n".join(_lines(call, ruling, language_of_env(world.env))) + "\n")
    return DONE


def _call(options: argparse.Namespace, facts: Facts, world: World) -> Call:
    tool: str = options.tool
    effects: list[Effect] = []
    if tool == "bash":
        if len(options.subject) != 1:
            raise Unusable(
                "Write one command line in quotes, such as 'git log && make'."
                if options.subject
                else "There is no command to test; write it in quotes behind the options."
            )
        call = _CALL.match(options.subject[0])
        command: str = call[1] if call else options.subject[0]
        effects.append(RunCommand(command, facts.workspace or world.cwd))
    elif tool in _FETCHERS:
        if options.url is None:
            raise Unusable("WebFetch needs an address; give it with --url.")
        effects.append(Connect("GET", options.url))
    else:
        named: list[str] = [*options.path, *options.subject]
        if not named:
            raise Unusable(f"{tool} needs a path; give it with --path.")
        for text in named:
            try:
                found = workspace.resolve(text, root=facts.workspace, home=facts.home)
            except ToolError as error:
                raise Unusable(str(error)) from None
            is_tree = tool in ("grep", "glob")
            effects.append(found.writes() if tool in _WRITERS else found.reads(is_tree=is_tree))
    seen = (
        judge.seen_on_disk(effect, home=facts.home, workspace=facts.workspace) for effect in effects
    )
    return Call(tool, tuple(seen))


def _lines(call: Call, ruling: Ruling, language: Language) -> Iterator[str]:
    """Yield the verdict for people."""
    told: set[str | None] = {ruling.reasons[0].text}
    yield f"{ruling.decision.value}: {say(shown(ruling.reasons[0].text), language)}"
    for segment in ruling.segments if len(ruling.segments) > 1 else ():
        why = f"rule `{segment.rule}`" if segment.rule else (segment.reason or "")
        yield f"  {shown(segment.text)}"
        yield f"      {say(shown(why), language)}"
        told.add(segment.reason)
    is_covered = ruling.decision is Decision.ALLOW and len(ruling.segments) > 1
    for reason in () if is_covered else ruling.reasons:
        if reason.text not in told:
            yield f"  {say(shown(reason.text), language)}"
    is_asked = ruling.decision is Decision.ASK
    if is_asked and any(isinstance(effect, RunCommand) for effect in call.effects):
        if ruling.rules:
            yield say('  "Allow and remember" would write: ', language) + ", ".join(
                f"`{shown(rule)}`" for rule in ruling.rules
            )
        else:
            yield say("  It cannot be remembered: an approval is for this time only.", language)
    for notice in ruling.notices:
        yield f"  {say(shown(notice), language)}"
