"""What the source says to people, found by reading it: every text that a catalogue must know.

Any literal or f-string that reads like prose counts, unless it stands where nobody but the model,
a log or a programmer reads it. Those places are named here; a text in a new place is a text for
people until somebody says otherwise.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2] / "kova_ls"

_PROSE = re.compile(
    r"[A-Za-z]{2,}[,.:;'`)?!]* ['`(]?[A-Za-z`{(]|\{\d[^}]*\}[`':,]* [a-z]{2,}|[a-z]{2,}:? \{\d"
)
_LABEL = re.compile(r"[A-Z][a-z]+\Z")
_FIELD = re.compile(r"\{(\w*)\}")

_ROOMS = ("cli", "endpoint", "engine", "journal", "llm", "permission", "tools")
_MODULES = ("config.py", "relay.py")
_SILENT_FILES = frozenset(
    {
        "engine/prompt.py",  # the model's
        "engine/machine.py",  # our own faults, told as an incident
        "engine/process.py",  # stands in the model's results
        "engine/disk.py",  # the model's
        "journal/records.py",
        "llm/scripted.py",
        "llm/_transport.py",
        "endpoint/transcript.py",  # one page for all who look at the session
        "permission/inert.py",  # explains a table to its reader
        "endpoint/framing.py",  # for whoever writes a client
        "cli/model.py",  # for whoever writes an adapter
        "cli/schema.py",
    }
)
_SILENT_CALLS = frozenset(
    "AssertionError BadFrame ConnectionError Explained Glob IllegalTransition Inert Moved OSError"
    " PermissionError PythonModule ReadOnly ReadTimeout ReadError RemoteProtocolError Takes"
    " ToolError ToolResult"
    " TypeVar UnknownMarker UnsupportedProtocol UnsupportedSchema ValueError _illegal _require cast"
    " compile create_task debug describe_tool error exception frozenset info join locate split spawn"
    " startswith to_thread warning".split()
)
_SILENT_PLACES = frozenset(
    {
        # the model's
        "cli/ask.py:NO_TERMINAL",
        "endpoint/lsp_commands.py:_EXPLAIN",
        "endpoint/lsp_commands.py:_FIX",
        "engine/call.py:_execute",
        "llm/openai_chat.py:_with_reasoning",
        "engine/context.py:open_file",
        "engine/context.py:open_panel",
        "engine/context.py:diagnostics",
        "engine/context.py:_written",
        "engine/context.py:_review",
        "engine/autonomy.py:_CLOSED",
        "engine/autonomy.py:_WAITS",
        "engine/autonomy.py:_paused",
        "engine/autonomy.py:create",
        "engine/autonomy.py:update",
        "engine/goals.py:GO_ON",
        "engine/goals.py:_of",
        "engine/goals.py:reminder",
        "engine/goals.py:told",
        "engine/judge.py:may_read_unasked",
        "engine/overlays.py:after_command",
        "engine/said.py:say_to_its_end",
        "engine/said.py:picture",
        "engine/said.py:mention",
        "engine/said.py:_read_mention",
        "engine/turn.py:_end_item",
        # a script that plays a model, and files that it works on
        "cli/demo.py:PROMPT",
        "cli/demo.py:_GREETING",
        "cli/demo.py:_TESTS",
        "cli/demo.py:_OLD",
        "cli/demo.py:_NEW",
        "cli/demo.py:_QUESTION",
        "cli/demo.py:_CONFIG",
        "cli/demo.py:script",
        # the engine's, not a person's
        "cli/client.py:_REPLIES",
        "cli/client.py:_reply_to",
        "relay.py:engine_command",
        # matched against what a provider said
        "llm/_failure.py:_SENTENCES",
        "llm/anthropic.py:_adapt",
        "llm/gemini.py:_adapt",
        "llm/openai_responses.py:_adapt",
        # for whoever writes a client
        "endpoint/server.py:_dispatch",
        "endpoint/server.py:_handle",
        "endpoint/server.py:_initialize",
        "endpoint/server.py:_take",
        # parts of a diff, or sets of letters
        "cli/terminal.py:_lenient",
        "endpoint/handlers/changes.py:_hunk",
        "endpoint/lsp_text.py:_is_harmless",
        "engine/changes.py:_marked",
        # names of modules
        "permission/python_modules.py:_PIP_IMPORTS",
        # said as a whole: each way it can end is an entry, or it is a name
        "cli/run.py:attach",
        "endpoint/documents.py:_apply",
        "endpoint/loop.py:_loop_step",
        "engine/grant_set.py:proposal",
        "engine/title.py:title_of",
        "permission/adjudicate.py:_REQUESTS",
    }
)
"""Functions, and names of constants, as `room/file.py:name`."""
_SILENT_TEXTS = frozenset(
    {
        " in {0}",
        "Kova: {0}",
        "Python {0}, kova-ls {1}",
        "chmod go-{0} {1}",
        "chmod u+rwx {0}",
        "export {0}=…",
        "kova-ls permission",
        "kova-ls permission add {0}",
        "kova-ls stop --all",
        "kova-ls stop --force",
        "kova-ls {0}",
        "kova-ls: {0}\n",
        "ollama pull qwen3-coder",
        "permission import",
        "permission {0}",
        "pip install ripgrep",
        "{0:.0f} ms",
    }
)
"""Commands, names and figures, and the end of a title that is an entry as a whole."""
_REASONED = frozenset({"Escape", "Guarded", "Never"})
"""Tables whose rows hold much that is not said; only the field `reason` is."""


def _tree(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except SystemError:  # CPython 3.11 miscounts when a collection comes in its midst: gh-106905
        return ast.parse(text)


def texts() -> dict[str, list[str]]:
    """Return every template with the places it stands at, as `room/file.py:line`."""
    found: dict[str, list[str]] = {}
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if (name.split("/")[0] in _ROOMS or name in _MODULES) and name not in _SILENT_FILES:
            for line, text in _File(name).read(_tree(path.read_text(encoding="utf-8"))):
                if text not in _SILENT_TEXTS:
                    found.setdefault(text, []).append(f"{name}:{line}")
    return found


def template(node: ast.expr) -> str:
    """Return a literal or an f-string as a template; what `format` fills counts as a hole."""
    holes = 0
    if isinstance(node, ast.Constant):
        names: list[str] = []
        for field in _FIELD.findall(node.value):
            if not field or field not in names:
                names.append(field)

        def number(match: re.Match[str]) -> str:
            nonlocal holes
            if match[1]:
                return f"{{{names.index(match[1])}}}"
            holes += 1
            return f"{{{holes - 1}}}"

        return _FIELD.sub(number, node.value)
    assert isinstance(node, ast.JoinedStr)
    text = ""
    for part in node.values:
        if isinstance(part, ast.Constant):
            text += part.value
        elif isinstance(part, ast.FormattedValue):
            conversion = f"!{chr(part.conversion)}" if part.conversion >= 0 else ""
            spec = ""
            if isinstance(part.format_spec, ast.JoinedStr):
                spec = "".join(
                    str(getattr(piece, "value", ""))
                    for piece in part.format_spec.values
                    if isinstance(piece, ast.Constant)
                )
            text += f"{{{holes}{conversion}{':' + spec if spec else ''}}}"
            holes += 1
    return text


class _File:
    def __init__(self, name: str) -> None:
        self._name = name

    def read(self, node: ast.AST, owner: str = "") -> Iterator[tuple[int, str]]:
        for child in ast.iter_child_nodes(node):
            yield from self._one(child, owner)

    def _one(self, child: ast.AST, owner: str) -> Iterator[tuple[int, str]]:
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            return  # a docstring
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            if self._is_silent(child.name):
                return
            for part in (*child.decorator_list, *child.body):
                yield from self._one(part, child.name)
            return
        if isinstance(child, ast.Assign | ast.AnnAssign):
            target = child.targets[0] if isinstance(child, ast.Assign) else child.target
            name = getattr(target, "id", "")
            if child.value is not None and name != "__all__" and not self._is_silent(name):
                yield from self._one(child.value, owner)
            return
        if isinstance(child, ast.Call):
            yield from self._call(child, owner)
            return
        if isinstance(child, ast.JoinedStr):
            text = template(child)
            if _PROSE.search(text):
                yield child.lineno, text
            for part in child.values:
                if isinstance(part, ast.FormattedValue):
                    yield from self._one(part.value, owner)
            return
        if isinstance(child, ast.Constant):
            if isinstance(child.value, str):
                text = template(child)
                if _PROSE.search(text) or _LABEL.match(text):
                    yield child.lineno, text
            return
        yield from self.read(child, owner)

    def _call(self, call: ast.Call, owner: str) -> Iterator[tuple[int, str]]:
        function = call.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name in _REASONED:
            reason = next((k.value for k in call.keywords if k.arg == "reason"), None)
            place = 1 if name == "Never" else 2
            reason = reason or call.args[place]
            assert isinstance(reason, ast.Constant)
            yield reason.lineno, str(reason.value)
            return
        if self._name.startswith("tools/"):
            if name == "Tool":
                title = next(k.value for k in call.keywords if k.arg == "title")
                yield from self._one(title, "title")
            return
        if name in _SILENT_CALLS:
            return
        yield from self.read(call, owner)

    def _is_silent(self, name: str) -> bool:
        if f"{self._name}:{name}" in _SILENT_PLACES:
            return True
        return self._name.startswith("tools/") and name.islower() and name != "_title"
