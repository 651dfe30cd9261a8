"""Decide whether a tool call may happen: mode, deny rules, guarded paths, level.

Invariant: no IO, no clock; what is not understood never yields allow below level `auto`.
Invariant: the strictest finding of all gates over all effects wins, and every reason for it is kept.
"""

from collections.abc import Callable
from urllib.parse import urlsplit

from kova_ls.permission import level, mode, protected
from kova_ls.permission.commands import CommandView, view
from kova_ls.permission.effects import Connect, Effect, ReadPath, RunCommand, WritePath
from kova_ls.permission.facts import Call, Facts, Ruling
from kova_ls.permission.globs import glob_matches
from kova_ls.permission.rules import denies_command, load
from kova_ls.values import Reason, Segment
from kova_ls.vocabulary import ApprovalLevel, Decision

Finding = tuple[Decision, Reason]
Gate = Callable[[Call, Effect, Facts], Finding | None]

_PLAN_FILE = Reason(code="plan_file", text="It is the session's plan file.")
_NOTHING = Reason(code="harmless", text="It touches nothing.")


def _mode_gate(_call: Call, effect: Effect, facts: Facts) -> Finding | None:
    reason = mode.block_reason(effect, facts)
    return None if reason is None else (Decision.BLOCKED, reason)


def _deny_gate(call: Call, effect: Effect, facts: Facts) -> Finding | None:
    if not facts.deny:
        return None
    rule = _denying_rule(call, effect, facts)
    if rule is None:
        return None
    if isinstance(effect, ReadPath) and effect.is_mention:
        return Decision.ALLOW, Reason(
            code="deny_rule", text=f"The deny rule `{rule}` yields: the person named the file."
        )
    return Decision.DENY, Reason(code="deny_rule", text=f"The deny rule `{rule}` forbids it.")


def _path_gate(_call: Call, effect: Effect, facts: Facts) -> Finding | None:
    if facts.level is ApprovalLevel.AUTO:
        return None
    reason: Reason | None = None
    if isinstance(effect, WritePath):
        if not mode.is_plan_file(effect, facts):
            reason = protected.write_reason(effect, facts)
    elif isinstance(effect, ReadPath) and not effect.is_mention:
        reason = protected.read_reason(effect, facts)
    return None if reason is None else (Decision.ASK, reason)


def _level_gate(call: Call, effect: Effect, facts: Facts) -> Finding | None:
    if isinstance(effect, WritePath) and mode.is_plan_file(effect, facts):
        return Decision.ALLOW, _PLAN_FILE
    finding = level.judge(effect, facts)
    if (
        finding[0] is Decision.ASK
        and facts.level is not ApprovalLevel.ASK
        and not isinstance(effect, ReadPath | WritePath | RunCommand)
    ):
        rule = _allowing_rule(call, effect, facts)
        if rule is not None:
            return Decision.ALLOW, Reason(code="rule", text=f"The rule `{rule}` covers it.")
    return finding


GATES: tuple[Gate, ...] = (_mode_gate, _deny_gate, _path_gate, _level_gate)
"""Every gate sees every effect."""


def adjudicate(call: Call, facts: Facts) -> Ruling:
    """Return the verdict on a call, with everything a card shows. Never raises for bad input."""
    findings: list[Finding] = []
    segments: list[Segment] = []
    remembered: list[tuple[str, ...]] = []
    for effect in call.effects:
        for gate in GATES:
            finding = gate(call, effect, facts)
            if finding is None:
                continue
            if gate is _level_gate and isinstance(effect, RunCommand):
                seen = view(effect, facts)
                segments.extend(seen.segments)
                remembered.append(seen.rules)
                findings.extend(_command_findings(seen, finding, facts))
            else:
                findings.append(finding)
    if not findings:
        findings.append((Decision.ALLOW, _NOTHING))
    # Of a call that looks and then changes, what allows the change is told first.
    findings.sort(key=lambda found: (-found[0].severity, found[1].code == "reading"))
    decision = findings[0][0]
    # What allows one effect is no reason to ask about another.
    telling = [found for found in findings if found[0] is not Decision.ALLOW] or findings
    return Ruling(
        decision,
        tuple(dict.fromkeys(reason for _, reason in telling)),
        tuple(segments),
        _joined(remembered),
    )


def _command_findings(seen: CommandView, finding: Finding, facts: Facts) -> list[Finding]:
    if facts.level is ApprovalLevel.AUTO:
        return [finding]
    if facts.level is ApprovalLevel.ASK:
        return [
            finding,
            *((Decision.ASK, reason) for reason in seen.reasons if not seen.is_matched),
        ]
    decision = Decision.ALLOW if seen.is_matched else Decision.ASK
    return [(decision, reason) for reason in seen.reasons]


def _joined(remembered: list[tuple[str, ...]]) -> tuple[str, ...]:
    if not remembered or not all(remembered):
        return ()
    return tuple(dict.fromkeys(rule for rules in remembered for rule in rules))


# -- rules for tools, files and hosts -----------------------------------------------------------


def _denying_rule(call: Call, effect: Effect, facts: Facts) -> str | None:
    entries = load(facts.deny, "deny")
    if entries.tools:
        names = {call.tool.lower(), *(alias.lower() for alias in call.aliases)}
        for entry in entries.tools:
            is_server = entry.name.startswith("mcp__")
            if entry.name in names or (
                is_server and any(name.startswith(f"{entry.name}__") for name in names)
            ):
                return entry.text
    if isinstance(effect, RunCommand):
        return denies_command(effect.command, effect.cwd, entries, facts)
    if isinstance(effect, ReadPath | WritePath):
        is_write = isinstance(effect, WritePath)
        for entry in entries.paths:
            if entry.is_write is is_write and any(
                glob_matches(entry.pattern, path, workspace=facts.workspace, home=facts.home)
                for path in (effect.path, effect.asked)
            ):
                return entry.text
    if isinstance(effect, Connect) and entries.hosts:
        host = _host(effect.url)
        for entry in entries.hosts:
            wanted = entry.host.removeprefix("*.")
            if host is None or host == wanted or host.endswith(f".{wanted}"):
                return entry.text
    return None


def _allowing_rule(call: Call, effect: Effect, facts: Facts) -> str | None:
    if not facts.allow:
        return None
    entries = load(facts.allow, "allow")
    for entry in entries.tools:
        if entry.name == call.tool.lower():
            return entry.text
    if isinstance(effect, Connect) and call.tool == "WebFetch":
        host = _host(effect.url)
        for entry in entries.hosts:
            wanted = entry.host.removeprefix("*.")
            is_below = entry.host.startswith("*.") and host is not None
            if host == entry.host or (is_below and str(host).endswith(f".{wanted}")):
                return entry.text
    return None


def _host(url: str) -> str | None:
    """Return the host that would be asked, or None when that is not clear."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return None
    return host.rstrip(".").lower() if host else None
