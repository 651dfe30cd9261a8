"""`kova-ls permission test` and `import`: what would be decided, without doing anything.

The sub-commands that look at the permission files and change them are in `permission_files`.

Invariant: runs nothing, needs no engine and writes no file.
Invariant: no line of a batch can stop the batch; each line in gives one line out.
"""

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

import orjson

from kova_ls import paths
from kova_ls.cli import permission_files
from kova_ls.cli.arguments import DONE, FAILED, USAGE, Plain, UsageFault
from kova_ls.cli.console import Console
from kova_ls.cli.terminal import shown
from kova_ls.engine import grants, judge, workspace
from kova_ls.engine.programs import Programs
from kova_ls.permission.adjudicate import adjudicate
from kova_ls.permission.effects import Connect, Effect, RunCommand
from kova_ls.permission.facts import Call, Facts, Root, Rule, Ruling
from kova_ls.permission.foreign import read_settings, translate
from kova_ls.permission.roots import expand_root, root_problem
from kova_ls.permission.rules import Refused, parse_entry
from kova_ls.tools._base import ToolError
from kova_ls.vocabulary import ApprovalLevel, Decision, Mode, RootSource

_READERS = ("read", "grep", "glob")
_WRITERS = ("write", "edit")
_FETCHERS = ("WebFetch",)
_CALL = re.compile(r"\s*Bash\((.*)\)\s*\Z", re.DOTALL)
_ID = re.compile(rb'"id"\s*:\s*("(?:[^"\\\x00-\x1f]|\\.){0,200}"|-?\d{1,18})')
_CHUNK_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class World:
    """What the command is given of the process."""

    env: Mapping[str, str]
    cwd: str
    stdin: BinaryIO
    stdout: TextIO
    stderr: TextIO


def main(argv: Sequence[str]) -> int:
    """Run a sub-command of `permission` and return the exit code."""
    # A person stands in a folder; a daemon does not.
    folder = os.getcwd()  # noqa: TID251
    if argv and argv[0] in permission_files.COMMANDS:
        return permission_files.main(argv, Console.of_process(folder, os.environ))
    return run(argv, World(os.environ, folder, sys.stdin.buffer, sys.stdout, sys.stderr))


def run(argv: Sequence[str], world: World) -> int:
    """Do what the command line says, in the world given."""
    parser = Plain(prog="kova-ls permission", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    test = commands.add_parser("test", help="say what a call would get, and run nothing")
    test.add_argument("subject", nargs="?", help="a command line, or Bash(…)")
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
    brought = commands.add_parser("import", help="say what other agents' rules become here")
    brought.add_argument("file", help="a settings file")
    brought.add_argument("--json", action="store_true", help="print it as JSON")
    for name, what in permission_files.COMMANDS.items():
        commands.add_parser(name, help=what)
    try:
        options = parser.parse_args(argv)
    except UsageFault as fault:
        world.stderr.write(f"{fault.message}\n")
        return USAGE
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else USAGE
    if options.command == "import":
        return _import(options, world)
    return _test(options, world)


# -- test ---------------------------------------------------------------------------------------


def _test(options: argparse.Namespace, world: World) -> int:
    if options.batch:
        return _batch(options, world)
    try:
        facts, wishes = _facts(options, world)
        call = _call(options, facts, world)
    except _Fault as fault:
        world.stderr.write(f"{fault}\n")
        return USAGE
    changed = Programs(Path(facts.data_dir) / "adopted")
    ruling = judge.rule_on(call, facts, wishes, changed)
    if options.json:
        world.stdout.write(json.dumps(_as_json(ruling)) + "\n")
    else:
        world.stdout.write("\n".join(_lines(call, ruling)) + "\n")
    return DONE


class _Fault(Exception):
    """The command line or a file it names cannot be used; the text says what to do."""


def _facts(options: argparse.Namespace, world: World) -> tuple[Facts, Sequence[grants.Proposal]]:
    """Build the facts from the machine, as an engine would for a session in the workspace.

    Shape: with them, what the files ask for.
    """
    folder = os.path.realpath(os.path.join(world.cwd, options.workspace or "."))
    if not os.path.isdir(folder):
        raise _Fault(f"{shown(folder)} is no folder; name one with --workspace.")
    facts = replace(
        _machine(world),
        mode=Mode(options.mode),
        level=ApprovalLevel(options.level),
        workspace=folder,
        plan_path=None,
        git_dirs_ok=judge.git_dir_is_own(folder),
    )
    if options.rules is not None:
        return _with_file(facts, os.path.join(world.cwd, options.rules)), ()
    found = grants.Grants(
        Path(facts.kova_home), Path(facts.data_dir), home=Path(facts.home), env=world.env
    ).load(folder)
    facts = replace(
        facts,
        roots=tuple(found.roots),
        allow=tuple(found.allow),
        deny=tuple(found.deny),
        strict_redirects=found.strict_redirects,
    )
    return facts, found.proposals


def _machine(world: World) -> Facts:
    env = world.env
    home = env.get("HOME") or os.path.expanduser("~")
    return Facts(
        mode=Mode.AGENT,
        level=ApprovalLevel.WORKSPACE_WRITE,
        workspace=None,
        home=os.path.realpath(home),
        kova_home=os.path.realpath(paths.home(env)),
        data_dir=os.path.realpath(paths.data_dir(env)),
        runtime_dir=os.path.realpath(paths.runtime_dir(env)),
        path_dirs=tuple(
            dict.fromkeys(
                os.path.realpath(folder)
                for folder in env.get("PATH", "").split(os.pathsep)
                if folder.startswith("/") and os.path.realpath(folder) != "/"
            )
        ),
        case_folds=sys.platform in ("darwin", "win32"),
    )


def _with_file(facts: Facts, path: str) -> Facts:
    """Return the facts with the rules of one file, as a local file's."""
    try:
        text = Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _Fault(f"{shown(path)} cannot be read ({error}); name another file.") from None
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError):
        data = {"allow": [line.strip() for line in text.splitlines() if line.strip()]}
    if not isinstance(data, dict):
        raise _Fault(f'{shown(path)} holds no rules; write {{"allow": ["git log *"]}}.')
    table = cast(dict[str, Any], data)
    roots: list[Root] = []
    for text in _texts(table.get("writableRoots")):
        where = os.path.realpath(expand_root(text, workspace=facts.workspace, home=facts.home))
        problem = root_problem(where, home=facts.home, case_folds=facts.case_folds)
        if problem is not None:
            raise _Fault(f"{shown(text)}: {problem}")
        roots.append(Root(where, RootSource.LOCAL))
    return replace(
        facts,
        allow=tuple(Rule(text, RootSource.LOCAL) for text in _texts(table.get("allow"))),
        deny=tuple(Rule(text, RootSource.LOCAL) for text in _texts(table.get("deny"))),
        roots=tuple(roots),
        strict_redirects=table.get("strictRedirects") is True,
    )


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list):
        return []
    return [entry for entry in cast(list[Any], value) if isinstance(entry, str)]


def _call(options: argparse.Namespace, facts: Facts, world: World) -> Call:
    tool: str = options.tool
    effects: list[Effect] = []
    if tool == "bash":
        if options.subject is None:
            raise _Fault("There is no command to test; write it in quotes behind the options.")
        call = _CALL.match(options.subject)
        command: str = call[1] if call else options.subject
        effects.append(RunCommand(command, facts.workspace or world.cwd))
    elif tool in _FETCHERS:
        if options.url is None:
            raise _Fault("WebFetch needs an address; give it with --url.")
        effects.append(Connect("GET", options.url))
    else:
        named: list[str] = [*options.path, *([options.subject] if options.subject else [])]
        if not named:
            raise _Fault(f"{tool} needs a path; give it with --path.")
        for text in named:
            try:
                found = workspace.resolve(text, root=facts.workspace, home=facts.home)
            except ToolError as error:
                raise _Fault(str(error)) from None
            is_tree = tool in ("grep", "glob")
            effects.append(found.writes() if tool in _WRITERS else found.reads(is_tree=is_tree))
    seen = (
        judge.seen_on_disk(effect, home=facts.home, workspace=facts.workspace) for effect in effects
    )
    return Call(tool, tuple(seen))


def _lines(call: Call, ruling: Ruling) -> Iterator[str]:
    """Yield the verdict for people."""
    told: set[str | None] = {ruling.reasons[0].text}
    yield f"{ruling.decision.value}: {shown(ruling.reasons[0].text)}"
    for segment in ruling.segments if len(ruling.segments) > 1 else ():
        why = f"rule `{segment.rule}`" if segment.rule else (segment.reason or "")
        yield f"  {shown(segment.text)}"
        yield f"      {shown(why)}"
        told.add(segment.reason)
    for reason in ruling.reasons:
        if reason.text not in told:
            yield f"  {shown(reason.text)}"
    is_asked = ruling.decision is Decision.ASK
    if is_asked and any(isinstance(effect, RunCommand) for effect in call.effects):
        if ruling.rules:
            yield '  "Allow and remember" would write: ' + ", ".join(
                f"`{shown(rule)}`" for rule in ruling.rules
            )
        else:
            yield "  It cannot be remembered: an approval is for this time only."
    for notice in ruling.notices:
        yield f"  {shown(notice)}"


# -- batch --------------------------------------------------------------------------------------


def _batch(options: argparse.Namespace, world: World) -> int:
    facts = _machine(world)
    folder = os.path.realpath(os.path.join(world.cwd, options.workspace or "."))
    facts = replace(
        facts,
        mode=Mode(options.mode),
        level=ApprovalLevel(options.level),
        workspace=folder,
        git_dirs_ok=options.workspace is None or judge.git_dir_is_own(folder),
    )
    judge_line = _line_judge(facts, looks=options.workspace is not None)
    out = getattr(world.stdout, "buffer", None)
    for lines in _lines_of(world.stdin):
        answers = b"".join(judge_line(line) for line in lines)
        if out is not None:
            out.write(answers)
            out.flush()
        else:
            world.stdout.write(answers.decode())
            world.stdout.flush()
    return DONE


def _lines_of(stream: BinaryIO) -> Iterator[list[bytes]]:
    """Yield the lines that are there, without waiting for more."""
    read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
    begun: list[bytes] = []
    while chunk := read(_CHUNK_BYTES):
        *whole, rest = chunk.split(b"\n")
        if whole:
            begun.append(whole[0])
            whole[0] = b"".join(begun)
            begun = []
            lines = [line for line in whole if line.strip()]
            if lines:
                yield lines
        begun.append(rest)
    last = b"".join(begun)
    if last.strip():
        yield [last]


def _line_judge(facts: Facts, *, looks: bool) -> Callable[[bytes], bytes]:
    """Return the function from an input line to an output line. It never raises.

    `looks` at the folders that a line names; without, the text of the line alone counts.
    """
    known: dict[tuple[str, ...], tuple[tuple[Rule, ...], list[dict[str, str]]]] = {}

    def rules_of(texts: tuple[str, ...]) -> tuple[tuple[Rule, ...], list[dict[str, str]]]:
        found = known.get(texts)
        if found is None:
            if len(known) > 256:
                known.clear()
            rules = tuple(Rule(text, RootSource.LOCAL) for text in texts)
            found = known[texts] = (rules, list(_problems(texts)))
        return found

    def one(line: bytes) -> bytes:
        given: Any = None
        try:
            given = _loads(line)
            problem = _line_problem(given)
            if problem is not None:
                return _dumps(_bad_line(_id_of(given, line), problem))
            asked = cast(dict[str, Any], given)
            rules, problems = rules_of(tuple(cast(list[str], asked.get("rules") or ())))
            mine = replace(
                facts,
                allow=rules,
                deny=rules_of(tuple(cast(list[str], asked.get("deny") or ())))[0],
                mode=Mode(asked.get("mode") or facts.mode),
                level=ApprovalLevel(asked.get("level") or facts.level),
            )
            effect: Effect = RunCommand(asked["command"], facts.workspace or "/")
            if looks:
                effect = judge.seen_on_disk(effect, home=facts.home, workspace=facts.workspace)
            answer = _as_json(adjudicate(Call("bash", (effect,)), mine))
            if problems:
                answer["problems"] = problems
            return _dumps({"id": asked.get("id"), **answer})
        except Exception as error:  # noqa: BLE001  (a line must not stop the batch)
            problem = f"The line cannot be judged ({type(error).__name__}); send plain JSON."
            return _dumps(_bad_line(_id_of(given, line), problem))

    return one


def _loads(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        # Lone surrogates are JSON to some; they are judged, and ask.
        return json.loads(line.decode("utf-8", "surrogateescape"))


def _dumps(answer: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(answer, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        return json.dumps(answer).encode() + b"\n"


def _line_problem(given: Any) -> str | None:
    if not isinstance(given, dict):
        return "The line is not a JSON object; send one with `id` and `command`."
    asked = cast(dict[str, Any], given)
    if not isinstance(asked.get("command"), str):
        return "`command` must be text; send the command line."
    for name in ("rules", "deny"):
        value = asked.get(name)
        if value is not None and (
            not isinstance(value, list)
            or not all(isinstance(rule, str) for rule in cast(list[Any], value))
        ):
            return f"`{name}` must be a list of texts; send rules such as `git log *`."
    if asked.get("mode") is not None and asked["mode"] not in list(Mode):
        return "`mode` must be one of agent, plan, ask, goal."
    if asked.get("level") is not None and asked["level"] not in list(ApprovalLevel):
        return "`level` must be one of ask, workspace-write, auto-edit, auto."
    return None


def _bad_line(identity: Any, problem: str) -> dict[str, Any]:
    return {
        "id": identity,
        "verdict": "ask",
        "rememberable": False,
        "rules": [],
        "segments": [],
        "reasons": [{"code": "bad_line", "text": problem}],
    }


def _id_of(given: Any, line: bytes) -> Any:
    if isinstance(given, dict):
        return cast(dict[str, Any], given).get("id")
    match = _ID.search(line[:4096]) or _ID.search(line[-4096:])
    if match is None:
        return None
    try:
        return json.loads(match[1])
    except ValueError:
        return None


def _problems(texts: Iterable[str]) -> Iterator[dict[str, str]]:
    for text in texts:
        entry = parse_entry(text, RootSource.LOCAL, "allow")
        if isinstance(entry, Refused):
            yield {"rule": text, "problem": entry.problem}


def _as_json(ruling: Ruling) -> dict[str, Any]:
    return {
        "verdict": ruling.decision.value,
        "rememberable": bool(ruling.rules),
        "rules": list(ruling.rules),
        "segments": [
            {
                "text": segment.text,
                **({"rule": segment.rule} if segment.rule is not None else {}),
                **({"reason": segment.reason} if segment.reason is not None else {}),
            }
            for segment in ruling.segments
        ],
        "reasons": [{"code": reason.code, "text": reason.text} for reason in ruling.reasons],
    }


# -- import -------------------------------------------------------------------------------------


def _import(options: argparse.Namespace, world: World) -> int:
    """Print what every entry of another agent's settings becomes."""
    path = os.path.join(world.cwd, options.file)
    try:
        text = Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        world.stderr.write(f"{shown(path)} cannot be read ({error}); name another file.\n")
        return FAILED
    found = read_settings(text)
    if isinstance(found, str):
        world.stderr.write(f"{shown(path)}: {found}\n")
        return FAILED
    outcomes = [outcome for foreign in found for outcome in translate(foreign)]
    if options.json:
        for outcome in outcomes:
            answer = {
                "list": outcome.foreign.wish,
                "entry": outcome.foreign.text,
                "rule": outcome.entry,
                "problem": outcome.problem,
            }
            world.stdout.write(json.dumps(answer) + "\n")
        return DONE
    for outcome in outcomes:
        becomes = f"`{shown(outcome.entry)}`" if outcome.entry else f"nothing. {outcome.problem}"
        world.stdout.write(
            f"{outcome.foreign.wish} {shown(outcome.foreign.text)}\n    -> {becomes}\n"
        )
    kept = [outcome for outcome in outcomes if outcome.entry is not None]
    world.stdout.write(
        f"\n{len(kept)} of {len(outcomes)} entries have a rule here. Nothing was written: copy the"
        " rules you want into ~/.kova/permissions.json.\n"
    )
    return DONE
