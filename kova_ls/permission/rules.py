"""Entries of permission files: reading them, refusing what is too wide, matching, making.

Allow rules are matched narrowly, deny rules widely.
Invariant: an entry that is refused grants nothing.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from kova_ls.permission.denials import covers, rough_words, written_words
from kova_ls.permission.facts import Facts, Rule
from kova_ls.permission.globs import absolute, compile_glob, glob_matches, may_expand_to
from kova_ls.permission.programs import never_reason
from kova_ls.permission.shell import DIFFERS, Part, analyse, is_confirmed
from kova_ls.vocabulary import RootSource

ListName = Literal["allow", "deny"]


class CommandEntry(NamedTuple):
    """A rule for shell commands."""

    text: str
    source: RootSource
    keys: tuple[tuple[str, ...], ...]
    """Words of each segment; one segment for a prefix."""
    operators: tuple[str, ...]
    is_prefix: bool
    is_free_pass: bool
    """A prefix of a never-remembered program, in the user's own file."""


class PathEntry(NamedTuple):
    """A deny rule for files."""

    text: str
    source: RootSource
    is_write: bool
    pattern: "re.Pattern[str]"
    glob: str


class HostEntry(NamedTuple):
    """A rule for the web."""

    text: str
    source: RootSource
    host: str


class ToolEntry(NamedTuple):
    """A rule for a whole tool."""

    text: str
    source: RootSource
    name: str
    """Lower case."""


Entry = CommandEntry | PathEntry | HostEntry | ToolEntry


class Refused(NamedTuple):
    """An entry that is not in force, and why, ending with what to do."""

    text: str
    problem: str


class Entries(NamedTuple):
    """A list of rules, ready for matching."""

    commands: dict[str, tuple[CommandEntry, ...]]
    """Prefix rules and one-segment rules by first word."""
    lines: tuple[CommandEntry, ...]
    """Rules of several segments."""
    paths: tuple[PathEntry, ...]
    hosts: tuple[HostEntry, ...]
    tools: tuple[ToolEntry, ...]
    refused: tuple[Refused, ...]


_CALL = re.compile(r"([A-Za-z_][A-Za-z0-9_.-]*)\((.*)\)\Z", re.DOTALL)
_SHELL_TOOLS = frozenset({"bash", "shell", "run_shell_command", "execute_command"})
_READ_TOOLS = frozenset({"read", "view"})
_WRITE_TOOLS = frozenset({"write", "edit", "multiedit", "notebookedit"})
_WEB_TOOLS = frozenset({"webfetch", "fetchurl", "web_fetch", "fetch"})
_TOOL_NAME = re.compile(r"[A-Z][A-Za-z]*[a-z][A-Za-z]*\Z|mcp__[A-Za-z0-9_.-]+\Z")
_HOST = re.compile(r"(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*\Z")


def parse_entry(text: str, source: RootSource, which: ListName) -> Entry | Refused:
    """Read one entry of `allow` or `deny`."""
    bare = text.strip()
    if not bare:
        return Refused(text, "An empty rule means nothing; remove it.")
    call = _CALL.match(bare)
    tool = call[1].lower() if call else ""
    if call and tool in _SHELL_TOOLS:
        if call[2].strip() in ("", "*"):
            return _tool_entry(text, "bash", source, which)
        return _command_entry(text, call[2], source, which)
    if call and tool in _READ_TOOLS | _WRITE_TOOLS:
        return _path_entry(text, call[2].strip(), source, which, is_write=tool in _WRITE_TOOLS)
    if call and tool in _WEB_TOOLS:
        return _host_entry(text, call[2], source)
    if call and _TOOL_NAME.match(call[1]):
        return Refused(
            text, f"{call[1]!r} takes no pattern in a rule; name the tool alone, or a command."
        )
    if _TOOL_NAME.match(bare) or (which == "deny" and bare.lower() in _KNOWN_TOOLS):
        return _tool_entry(text, bare, source, which)
    return _command_entry(text, bare, source, which)


_KNOWN_TOOLS = frozenset({"bash", "write", "edit", "glob"})


def _tool_entry(text: str, name: str, source: RootSource, which: ListName) -> Entry | Refused:
    if which == "allow" and not name.startswith("mcp__"):
        return Refused(
            text,
            "A tool as a whole cannot be allowed by a rule; allow commands, or raise the level.",
        )
    return ToolEntry(text, source, name.lower())


def _path_entry(
    text: str, glob: str, source: RootSource, which: ListName, *, is_write: bool
) -> Entry | Refused:
    if which == "allow":
        return Refused(
            text,
            "Files are not allowed by rules: reading needs none, and writing goes by"
            " `writableRoots`; add the folder there.",
        )
    if not glob or "\0" in glob:
        return Refused(text, "The pattern is empty; name files such as `secrets/**`.")
    return PathEntry(text, source, is_write, compile_glob(glob), glob)


def _host_entry(text: str, what: str, source: RootSource) -> Entry | Refused:
    host = what.strip().lower().removeprefix("domain:").strip().rstrip(".")
    if not _HOST.match(host):
        return Refused(text, "This is no host name; write one such as `WebFetch(docs.python.org)`.")
    return HostEntry(text, source, host)


def _command_entry(text: str, command: str, source: RootSource, which: ListName) -> Entry | Refused:
    command = command.strip()
    is_prefix = command.endswith((" *", "\t*"))
    body = command[:-2].rstrip() if is_prefix else command
    if body in ("", "*") or command == "*":
        return Refused(
            text, "A rule for every command is too wide; name a program, or use a level."
        )
    analysis = analyse(body)
    refusal = analysis.refusal or (None if is_confirmed(body) else DIFFERS)
    if refusal is not None:
        return Refused(text, f"The rule cannot be read. {refusal.text} Write it plainly.")
    parts = analysis.parts
    if any(_has_glob(key) for part in parts for key in part.keys):
        return Refused(
            text, "Patterns match only as a last word ` *`; write the rule like `git log *`."
        )
    if any(part.has_redirect for part in parts):
        return Refused(text, "A command with a redirect is never matched; leave the redirect out.")
    keys = tuple(part.keys for part in parts)
    operators = tuple("" if op in ("\n", "") else op for op in analysis.operators)
    if not is_prefix:
        return CommandEntry(text, source, keys, operators, is_prefix=False, is_free_pass=False)
    first = parts[0]
    if len(parts) > 1 or analysis.operators[0] or first.has_expansion or not first.keys:
        return Refused(text, "A rule with ` *` names one plain command; split it into several.")
    if which == "allow":
        if analysis.changes_shell:
            return Refused(
                text,
                f"`{analysis.changes_shell}` changes the shell and is never matched; remove the rule.",
            )
        never = never_reason(first.values)
        if never is not None:
            if source is not RootSource.USER:
                return Refused(
                    text,
                    f"{never}, so a rule for it is too wide; only the user's own file may hold it.",
                )
            return CommandEntry(text, source, keys, operators, is_prefix=True, is_free_pass=True)
    return CommandEntry(text, source, keys, operators, is_prefix=True, is_free_pass=False)


def _has_glob(key: str) -> bool:
    return key.startswith("\0") and any(char in key for char in "*?[")


_parse = lru_cache(maxsize=4096)(parse_entry)
_KEPT: dict[tuple[int, str], tuple[tuple[Rule, ...], Entries]] = {}


def load(rules: tuple[Rule, ...], which: ListName) -> Entries:
    """Return the rules ready for matching; the same tuple is read once."""
    key = (id(rules), which)
    kept = _KEPT.get(key)
    if kept is not None and kept[0] is rules:
        return kept[1]
    entries = _load(rules, which)
    if len(_KEPT) > 64:
        _KEPT.clear()
    _KEPT[key] = (rules, entries)
    return entries


def _load(rules: tuple[Rule, ...], which: ListName) -> Entries:
    commands: dict[str, list[CommandEntry]] = {}
    lines: list[CommandEntry] = []
    paths: list[PathEntry] = []
    hosts: list[HostEntry] = []
    tools: list[ToolEntry] = []
    refused: list[Refused] = []
    for rule in rules:
        entry = _parse(rule.text, rule.source, which)
        match entry:
            case CommandEntry():
                if len(entry.keys) == 1:
                    commands.setdefault(entry.keys[0][0], []).append(entry)
                else:
                    lines.append(entry)
            case PathEntry():
                paths.append(entry)
            case HostEntry():
                hosts.append(entry)
            case ToolEntry():
                tools.append(entry)
            case Refused():
                refused.append(entry)
    return Entries(
        {name: tuple(found) for name, found in commands.items()},
        tuple(lines),
        tuple(paths),
        tuple(hosts),
        tuple(tools),
        tuple(refused),
    )


# -- matching -----------------------------------------------------------------------------------


def match_part(part: Part, entries: Entries) -> str | None:
    """Return the allow rule that covers one segment, or None. Guards are the caller's."""
    if not part.keys:
        return None
    found: str | None = None
    for entry in entries.commands.get(part.keys[0], ()):
        words = entry.keys[0]
        if entry.is_prefix:
            if part.never is not None and not entry.is_free_pass:
                continue
            if part.keys[: len(words)] == words:
                return entry.text
        elif part.keys == words:
            found = entry.text
    return found


def match_line(parts: Sequence[Part], operators: Sequence[str], entries: Entries) -> str | None:
    """Return the exact rule that equals the whole line, or None."""
    keys = tuple(part.keys for part in parts)
    plain = tuple("" if op in ("\n", "") else op for op in operators)
    for entry in entries.lines:
        if entry.keys == keys and entry.operators == plain:
            return entry.text
    return None


def denies_command(command: str, cwd: str, entries: Entries, facts: Facts) -> str | None:
    """Return the deny rule that any reading of the command meets, or None."""
    for found in entries.commands.values():
        for entry in found:
            if covers(command, entry.keys[0], is_prefix=entry.is_prefix):
                return entry.text
    analysis = analyse(command)
    if entries.lines:
        line = match_line(analysis.parts, analysis.operators, entries)
        if line is not None:
            return line
    reads = [entry for entry in entries.paths if not entry.is_write]
    writes = [entry for entry in entries.paths if entry.is_write]
    named = [(word, reads) for word in rough_words(command)] if reads else []
    named += [(word, writes) for word in written_words(command)] if writes else []
    for word, rules in named:
        path = absolute(word, facts.home, cwd)
        for entry in rules:
            if _names(entry, path, facts):
                return entry.text
    return None


def _names(entry: PathEntry, path: str, facts: Facts) -> bool:
    """Tell whether a path, which may hold the shell's patterns, may be one that the entry names."""
    if glob_matches(entry.pattern, path, workspace=facts.workspace, home=facts.home):
        return True
    return any(char in path for char in "*?[") and may_expand_to(
        path, entry.glob, workspace=facts.workspace, home=facts.home
    )


def make_rules(command: str) -> tuple[str, ...]:
    """Return the rules that remembering the command would write; empty when it may not be.

    Shape: one rule per segment, in order, doubles left out.
    """
    analysis = analyse(command)
    if analysis.refusal is not None or analysis.changes_shell or not is_confirmed(command):
        return ()
    rules: list[str] = []
    for part in analysis.parts:
        rule = part.rule
        if rule is None:
            return ()
        if rule not in rules:
            rules.append(rule)
    return tuple(rules)
