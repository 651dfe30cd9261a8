"""`kova-ls permission test --batch`: a verdict for each line of JSON, as fast as they come.

Invariant: no line can stop the batch; each line in gives one line out.
"""

import argparse
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, BinaryIO, cast

import orjson

from kova_ls.cli.arguments import DONE
from kova_ls.cli.permission_facts import World, machine
from kova_ls.engine import judge
from kova_ls.permission.adjudicate import adjudicate
from kova_ls.permission.effects import Effect, RunCommand
from kova_ls.permission.facts import Call, Facts, Rule, Ruling
from kova_ls.permission.rules import Refused, parse_entry
from kova_ls.vocabulary import ApprovalLevel, Mode, RootSource

_ID = re.compile(rb'"id"\s*:\s*("(?:[^"\\\x00-\x1f]|\\.){0,200}"|-?\d{1,18})')
_CHUNK_BYTES = 1 << 16
_MAX_KEPT = 256
"""Lists of rules that are kept ready, and facts with them."""


def batch(options: argparse.Namespace, world: World) -> int:
    """Answer the lines on stdin until it ends."""
    facts = machine(world)
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
    built: dict[tuple[Any, ...], Facts] = {}

    def rules_of(texts: tuple[str, ...]) -> tuple[tuple[Rule, ...], list[dict[str, str]]]:
        found = known.get(texts)
        if found is None:
            if len(known) > _MAX_KEPT:
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
            deny = rules_of(tuple(cast(list[str], asked.get("deny") or ())))[0]
            given_for = (id(rules), id(deny), asked.get("mode"), asked.get("level"))
            mine = built.get(given_for)
            if mine is None or mine.allow is not rules or mine.deny is not deny:
                if len(built) > _MAX_KEPT:
                    built.clear()
                mine = built[given_for] = replace(
                    facts,
                    allow=rules,
                    deny=deny,
                    mode=Mode(asked.get("mode") or facts.mode),
                    level=ApprovalLevel(asked.get("level") or facts.level),
                )
            effect: Effect = RunCommand(asked["command"], facts.workspace or "/")
            if looks:
                effect = judge.seen_on_disk(effect, home=facts.home, workspace=facts.workspace)
            answer = as_json(adjudicate(Call("bash", (effect,)), mine))
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


def as_json(ruling: Ruling) -> dict[str, Any]:
    """Return a verdict for programs."""
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
