"""Read the allow-lists of other agents' settings, and say what each entry becomes here.

Invariant: an entry becomes an equally narrow or a narrower rule, or it is refused with the reason.
"""

import itertools
import json
import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, cast

from kova_ls.permission.rules import Refused, parse_entry
from kova_ls.vocabulary import RootSource

Wish = Literal["allow", "deny", "ask"]


class Foreign(NamedTuple):
    """One entry as another agent's settings have it."""

    wish: Wish
    text: str
    """As written there."""


class Outcome(NamedTuple):
    """What an entry becomes."""

    foreign: Foreign
    entry: str | None
    """The rule for `allow` or `deny`, or None."""
    problem: str | None
    """Why there is none, ending with what to do."""


_WISHES: dict[str, Wish] = {
    "allow": "allow",
    "deny": "deny",
    "ask": "ask",
    "prompt": "ask",
    "forbidden": "deny",
    "reject": "deny",
}
_PREFIX_RULE = re.compile(
    r"prefix_rule\s*\((.*?)^\s*\)|prefix_rule\s*\(([^\n]*)\)", re.DOTALL | re.MULTILINE
)
_PATTERN = re.compile(
    r"pattern\s*=\s*(\[.*\])\s*,?\s*(?:decision|justification|match|$)", re.DOTALL
)
_DECISION = re.compile(r"decision\s*=\s*[\"'](\w+)[\"']")
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[\]}])', re.DOTALL)
_TOO_WIDE = (
    "It covers every command, which is too wide for a rule; raise the approval level instead."
)


def read_settings(text: str) -> list[Foreign] | str:
    """Return the entries of a settings file, or why there are none, ending with what to do."""
    if "prefix_rule" in text:
        return list(_starlark(text))
    bare = _COMMENT.sub(lambda match: match[1] or "", text)
    bare = _TRAILING.sub(lambda match: match[1] or "", bare)
    try:
        data: Any = json.loads(bare)
    except (ValueError, RecursionError):
        lines = [line.strip() for line in text.splitlines()]
        plain = [line for line in lines if line and not line.startswith("#")]
        if plain and not any(line[0] in '{}[]"' for line in plain):
            return [Foreign("allow", line) for line in plain]
        return "The file is neither JSON nor a list of rules; give the agent's settings file."
    found = list(_entries(data))
    return found or "The file holds no list of allowed or denied commands; give another file."


def _entries(data: Any) -> Iterator[Foreign]:
    """Yield what the known places of a settings file hold."""
    if isinstance(data, list):
        for entry in _strings(cast(Any, data)):
            yield Foreign("allow", entry)
        return
    if not isinstance(data, dict):
        return
    settings = cast(dict[str, Any], data)
    permissions = settings.get("permissions")
    for holder in (permissions, settings if permissions is None else None):
        if isinstance(holder, dict):
            lists = cast(dict[str, Any], holder)
            for name, wish in _WISHES.items():
                for entry in _strings(lists.get(name)):
                    yield Foreign(wish, entry)
    yield from _by_tool(settings.get("permission"))
    agents = settings.get("agent")
    if isinstance(agents, dict):
        for agent in cast(dict[str, Any], agents).values():
            if isinstance(agent, dict):
                yield from _by_tool(cast(dict[str, Any], agent).get("permission"))
    tools = settings.get("tools")
    places: list[tuple[Any, Wish]] = [
        (settings.get("coreTools"), "allow"),
        (settings.get("allowedTools"), "allow"),
        (settings.get("excludeTools"), "deny"),
    ]
    if isinstance(tools, dict):
        named = cast(dict[str, Any], tools)
        places.append((named.get("core"), "allow"))
        places.append((named.get("allowed"), "allow"))
        places.append((named.get("exclude"), "deny"))
    for key, value in settings.items():
        if key.endswith(("allowedCommands", "allowedTerminalCommands", "yoloCommandAllowlist")):
            places.append((value, "allow"))
        elif key.endswith(("deniedCommands", "yoloCommandDenylist")):
            places.append((value, "deny"))
        elif key.endswith("terminal.autoApprove") and isinstance(value, dict):
            for command, is_fine in cast(dict[str, Any], value).items():
                yield Foreign("allow" if is_fine is True else "deny", f"{command}:*")
    for value, wish in places:
        for entry in _strings(value):
            yield Foreign(wish, entry)


def _by_tool(permission: Any) -> Iterator[Foreign]:
    """Yield from `{"bash": {"git log *": "allow"}, "edit": "deny"}`."""
    if not isinstance(permission, dict):
        return
    for tool, what in cast(dict[str, Any], permission).items():
        if isinstance(what, str) and what in _WISHES:
            yield Foreign(_WISHES[what], tool)
        elif isinstance(what, dict):
            for pattern, wish in cast(dict[str, Any], what).items():
                if isinstance(wish, str) and wish in _WISHES:
                    shown = pattern if tool == "bash" else f"{tool}({pattern})"
                    yield Foreign(_WISHES[wish], shown)


def _strings(value: Any) -> list[str]:
    if not isinstance(value, list):
        return []
    return [entry for entry in cast(list[Any], value) if isinstance(entry, str)]


def _starlark(text: str) -> Iterator[Foreign]:
    """Yield from `prefix_rule(pattern = ["git", "log"], decision = "allow")`."""
    for match in _PREFIX_RULE.finditer(text):
        body = match[1] or match[2] or ""
        pattern = _PATTERN.search(body)
        decision = _DECISION.search(body)
        if pattern:
            wish = _WISHES.get(decision[1] if decision else "allow", "ask")
            yield Foreign(wish, " ".join(pattern[1].split()))


def translate(foreign: Foreign) -> list[Outcome]:
    """Say what an entry becomes; a pattern with choices becomes several rules."""
    text = foreign.text.strip()
    if text.startswith("["):
        return _word_lists(foreign, text)
    return [_translate(foreign, text)]


def _word_lists(foreign: Foreign, text: str) -> list[Outcome]:
    try:
        pattern: Any = json.loads(text.replace("'", '"'))
    except (ValueError, RecursionError):
        return [_translate(foreign, text)]
    choices: list[list[str]] = []
    for word in cast(list[Any], pattern):
        options = _strings(word) if isinstance(word, list) else [word]
        if not options or not all(isinstance(option, str) for option in options):
            return [
                Outcome(foreign, None, "The pattern is not a list of words; write the command.")
            ]
        choices.append(options)
    found: list[Outcome] = []
    for words in itertools.islice(itertools.product(*choices), 64):
        if any(not re.fullmatch(r"[A-Za-z0-9_./:=@%+,-]+", word) for word in words):
            problem = "A word of the pattern is not plain; write the command by hand."
            found.append(Outcome(foreign, None, problem))
        else:
            found.append(_checked(foreign, " ".join(words) + " *"))
    return found


_CALL = re.compile(r"([A-Za-z_][\w-]*)\((.*)\)\Z", re.DOTALL)
_SHELLS = frozenset({"bash", "shell", "run_shell_command", "shelltool", "execute_command"})
_FILES = frozenset({"read", "edit", "write", "multiedit", "notebookedit", "webfetch"})
_READERS = frozenset(
    "read glob grep ls list websearch todowrite webfetch read_file search_file_content".split()
)


def _translate(foreign: Foreign, text: str) -> Outcome:
    call = _CALL.match(text)
    if call and call[1].lower() in _SHELLS:
        prefixes = call[1].lower() in ("run_shell_command", "shelltool")
        text = call[2].strip()
        if prefixes and not text.endswith("*"):
            text += ":*"
        if text in ("", "*", ":*"):
            return _whole_shell(foreign)
    elif call and call[1].lower() in _FILES:
        if foreign.wish == "allow" and call[1].lower() == "read":
            return Outcome(foreign, None, "Reading needs no rule here; leave it out.")
        what = call[2].strip().removeprefix("./").removeprefix("domain:")
        return _checked(foreign, f"{call[1][0].upper()}{call[1][1:]}({what})")
    elif text.lower() in _SHELLS or text == "*":
        return _whole_shell(foreign)
    elif foreign.wish == "allow" and text.lower() in _READERS:
        return Outcome(foreign, None, "This tool needs no rule here; leave it out.")
    if text.endswith(":*"):
        text = text[:-2].rstrip()
        if text.endswith(("-", "=", "/", ":")):
            return Outcome(
                foreign,
                None,
                "It ends inside a word, and rules cover whole words; name the commands one by one.",
            )
        text += " *"
    return _checked(foreign, text)


def _whole_shell(foreign: Foreign) -> Outcome:
    if foreign.wish == "deny":
        return _checked(foreign, "bash")
    return Outcome(foreign, None, _TOO_WIDE)


def _checked(foreign: Foreign, rule: str) -> Outcome:
    if foreign.wish == "ask":
        return Outcome(
            foreign,
            None,
            "A command without a rule asks, so there is nothing to write; leave it out.",
        )
    entry = parse_entry(rule, RootSource.LOCAL, foreign.wish)
    if isinstance(entry, Refused):
        return Outcome(foreign, None, entry.problem)
    return Outcome(foreign, rule, None)
