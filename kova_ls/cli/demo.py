"""`kova-ls demo`: a whole turn in a scratch folder, with replies from a script.

Invariant: no model is called, and the person is told so; nothing outside the scratch folder is
read or changed, the engine is one of the demo's own and ends with it.
"""

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from kova_ls.cli.arguments import DONE, FAILED, INTERRUPTED, Parser
from kova_ls.cli.ask import Person, Script
from kova_ls.cli.client import Connect
from kova_ls.cli.client import connect as reach
from kova_ls.cli.console import Console, interrupts, keys_of
from kova_ls.cli.loop import loop_lines
from kova_ls.cli.run import attacher, begin
from kova_ls.cli.stop import end_engine
from kova_ls.cli.turn import Left
from kova_ls.cli.whole import output_reader
from kova_ls.protocol.turn import LoopReadResult
from kova_ls.values import Answer, Approval, Question, TextPart

PROMPT = "Greeting nobody should not leave a hole: make greet('') polite, and run the tests."
_GREETING = '''\
"""Greets people."""


def greet(name: str) -> str:
    return f"Hello, {name}!"
'''
_TESTS = """\
import unittest

from greeting import greet


class Greet(unittest.TestCase):
    def test_a_name(self) -> None:
        self.assertEqual(greet("Ada"), "Hello, Ada!")

    def test_nobody(self) -> None:
        self.assertEqual(greet(""), "Hello, whoever you are!")
"""
_OLD = '    return f"Hello, {name}!"\n'
_NEW = "    return f\"Hello, {name or 'whoever you are'}!\"\n"
_QUESTION = {
    "question": "Two tests cover the greeting. Is that enough?",
    "header": "Tests",
    "options": [
        {"label": "Enough", "description": "leave it at that"},
        {"label": "More", "description": "I will add some myself"},
    ],
}
_CONFIG = """\
default_model = "script"

[models.script]
api = "scripted"
model = "a script; no model is called"
script = {script}
context_window = 100000
"""
_AFTERWARDS = """\
The scratch folder stays at {folder}

With a real model, in a folder of yours:

  export ANTHROPIC_API_KEY=…      # or OPENAI_API_KEY, or GEMINI_API_KEY
  kova-ls run "explain this project"

A model of your own, or a local one, goes into ~/.kova/config.toml:

  default_model = "work"

  [models.work]
  api = "openai-chat"
  base_url = "http://127.0.0.1:8080/v1"
  model = "qwen3-coder"
  api_key_env = "WORK_KEY"        # leave it out where no key is needed

`kova-ls doctor` says what was found."""


def main(argv: Sequence[str], console: Console, connect: Connect = reach) -> int:
    """Play the demo and return its exit code."""
    parser = Parser(
        console,
        "demo",
        "See a read, an edit with its diff, a command, a question and the loop view, in a\n"
        "scratch folder. The replies come from a script; no model is called.",
    )
    parser.add_argument("--yes", action="store_true", help="let the demo answer its own cards")
    options = parser.parse_args(argv)
    scratch = Path(os.path.realpath(tempfile.mkdtemp(prefix="kova-demo-")))
    with ExitStack() as stack:
        keys = None if options.yes else stack.enter_context(keys_of(console))
        project = _lay_out(scratch, is_paced=keys is not None)
        console = replace(console, env=demo_env(console.env, scratch), cwd=str(project))
        _welcome(console, scratch, is_asked=keys is not None)
        attach = attacher(connect, console, str(project), console.language, is_trusted=True)
        client = attach()
        clients = [client]
        # On the connection that is there: an upgrade meanwhile could hide the engine's address.
        stack.callback(lambda: end_engine(clients[-1]))
        snapshot = client.request(
            "kova/session/create", {"workspace": project.as_uri(), "level": "ask"}
        )
        counted = stack.enter_context(interrupts())
        folder = str(project)
        turn = begin(
            client,
            snapshot,
            [TextPart(text=PROMPT)],
            console,
            answering=Person(console, keys, folder, output_reader(client))
            if keys
            else Script(_decide, _reply, folder),
            keys=keys,
            counted=counted,
            attach=attach,
        )
        try:
            code = turn.follow()
        except Left:
            return INTERRUPTED
        finally:
            clients.append(turn.client)
        style = turn.feed.style
        console.say("")
        console.say(style.bold(style.say("The turn from inside (kova/loop/read)")))
        ref = {"sessionId": snapshot["sessionId"], "turnId": turn.turn_id}
        loop = LoopReadResult.model_validate(turn.client.request("kova/loop/read", ref))
        for line in loop_lines(loop, style):
            console.say(line)
    console.say("")
    console.say(_AFTERWARDS.format(folder=project))
    return code if code in (DONE, INTERRUPTED) else FAILED


def demo_env(env: Mapping[str, str], scratch: Path) -> dict[str, str]:
    """Return an environment in which everything of Kova lies in the scratch folder."""
    return {
        **{name: value for name, value in env.items() if not name.endswith("_API_KEY")},
        "KOVA_HOME": str(scratch / "home"),
        "KOVA_DATA_DIR": str(scratch / "data"),
        "KOVA_RUNTIME_DIR": str(scratch / "run"),
    }


def script(*, is_paced: bool) -> dict[str, Any]:
    """Return the replies; paced ones come as fast as a model would say them."""
    delay_ms = 25 if is_paced else 0

    def pieces(text: str) -> list[str]:
        first, *others = text.split() or [""]
        return [first, *(f" {word}" for word in others)]

    def step(text: str, *calls: tuple[str, dict[str, Any]], thought: str = "") -> dict[str, Any]:
        return {
            "text": pieces(text),
            "reasoning": pieces(thought),
            "calls": [{"name": name, "arguments": arguments} for name, arguments in calls],
            "delay_ms": delay_ms,
        }

    return {
        "steps": [
            step(
                "I will look at the function first.",
                ("read", {"path": "greeting.py"}),
                thought="An empty name gives 'Hello, !'. Read before editing.",
            ),
            step(
                "An empty name leaves a hole. This fills it:",
                ("edit", {"path": "greeting.py", "old_string": _OLD, "new_string": _NEW}),
            ),
            step("Now the tests.", ("bash", {"command": "python3 -m unittest -q test_greeting"})),
            step("One question before I finish.", ("Question", {"questions": [_QUESTION]})),
            step(
                "Done. If you said yes to both, greet('') now says “Hello, whoever you are!”, "
                "and the tests were run."
            ),
        ]
    }


def _lay_out(scratch: Path, *, is_paced: bool) -> Path:
    project = scratch / "project"
    for folder in (project, scratch / "home", scratch / "data", scratch / "run"):
        folder.mkdir(mode=0o700)
    (project / "greeting.py").write_text(_GREETING, "utf-8")
    (project / "test_greeting.py").write_text(_TESTS, "utf-8")
    replies = scratch / "home" / "demo.json"
    replies.write_text(json.dumps(script(is_paced=is_paced)), "utf-8")
    # A JSON string is a TOML string.
    text = _CONFIG.format(script=json.dumps(str(replies)))
    (scratch / "home" / "config.toml").write_text(text, "utf-8")
    return project


def _welcome(console: Console, scratch: Path, *, is_asked: bool) -> None:
    style = console.style(console.talk)
    console.say(style.bold(style.say("Kova LS, a demo")))
    console.say("The replies come from a script, no model is called; all the rest is real.")
    if not is_asked:
        console.say("Nobody is asked: the demo answers its own cards, and says so.")
    console.say(style.dim(style.say(f"in {scratch / 'project'}")))
    console.say("")
    console.say(f"{style.sign('›', '>')} {PROMPT}")
    console.say("")


def _decide(approval: Approval) -> str:
    return "once" if "once" in approval.decisions else approval.decisions[0]


def _reply(question: Question) -> Answer:
    return Answer(id=question.id, selected=(question.options[0].label,))
