"""Judge one command line against the rules in force: which rule, or which reason, per segment.

Invariant: a segment is matched by a rule only when no guard stands against it.
"""

from typing import NamedTuple

from kova_ls.permission.effects import RunCommand
from kova_ls.permission.facts import Facts
from kova_ls.permission.module_folders import module_reason
from kova_ls.permission.protected import may_be_sensitive, sensitive_word
from kova_ls.permission.rules import load, match_line, match_part
from kova_ls.permission.searches import is_prose, search_pattern
from kova_ls.permission.shell import DIFFERS, Part, analyse, is_confirmed
from kova_ls.values import Reason, Segment


class CommandView(NamedTuple):
    """What the rules say of a command line."""

    is_matched: bool
    reasons: tuple[Reason, ...]
    """Why it asks; or, when matched, the rules that cover it."""
    segments: tuple[Segment, ...]
    rules: tuple[str, ...]
    """What remembering would write."""


_SHELL_CHANGE = "`{}` changes the shell, so the line asks as a whole and cannot be remembered."


def view(effect: RunCommand, facts: Facts) -> CommandView:
    """Judge every segment of the command."""
    analysis = analyse(effect.command)
    if analysis.refusal is not None:
        return _opaque(effect.command, analysis.refusal)
    entries = load(facts.allow, "allow")
    whole = (
        match_line(analysis.parts, analysis.operators, entries)
        if len(analysis.parts) > 1 and entries.lines
        else None
    )
    reasons: list[Reason] = []
    segments: list[Segment] = []
    rules: list[str] = []
    may_remember = analysis.changes_shell is None
    for at, part in enumerate(analysis.parts):
        guard = _guard(part, effect, facts) or module_reason(
            analysis, at, effect.cwd, facts.home, effect.local_modules
        )
        rule = None if guard else (whole or match_part(part, entries))
        if guard or part.rule is None:
            may_remember = False
        elif part.rule not in rules:
            rules.append(part.rule)
        if rule is not None:
            segments.append(Segment(text=part.text, rule=rule))
            continue
        reason = guard or _no_match(part)
        reasons.append(reason)
        segments.append(Segment(text=part.text, reason=reason.text))
    if analysis.changes_shell:
        text = _SHELL_CHANGE.format(analysis.changes_shell)
        reasons.append(Reason(code="shell_change", text=text))
    if (may_remember or not reasons) and not is_confirmed(effect.command):
        return _opaque(effect.command, DIFFERS)
    if reasons:
        return CommandView(
            False,
            tuple(dict.fromkeys(reasons)),
            tuple(segments),
            tuple(rules) if may_remember else (),
        )
    matched = dict.fromkeys(segment.rule for segment in segments)
    return CommandView(
        True,
        tuple(Reason(code="rule", text=f"The rule `{rule}` covers it.") for rule in matched),
        tuple(segments),
        tuple(rules) if may_remember else (),
    )


def _opaque(command: str, reason: Reason) -> CommandView:
    return CommandView(False, (reason,), (Segment(text=command, reason=reason.text),), ())


def _guard(part: Part, effect: RunCommand, facts: Facts) -> Reason | None:
    """Return why no rule may match the segment, given the session's facts."""
    if part.guard is not None:
        return part.guard
    if facts.strict_redirects and part.has_redirect:
        return Reason(code="hidden_write", text="The user's file asks for every redirect.")
    if part.name == "git" and not (facts.git_dirs_ok and effect.git_dirs_ok):
        text = "The git directory that git would use is not the workspace's own, or is not known."
        return Reason(code="git_dir", text=text)
    if not may_be_sensitive("\n".join(part.values)):
        return None
    for at, (value, key) in enumerate(zip(part.values, part.keys, strict=True)):
        if not at:
            continue
        reason = sensitive_word(
            value,
            facts,
            effect.cwd,
            expands=key is not value,
            program=part.name,
            is_prose=is_prose(part.name, part.values, at),
        )
        if reason is not None and at != search_pattern(part.name, part.keys):
            return reason
    return None


def _no_match(part: Part) -> Reason:
    if part.never is not None:
        return Reason(
            code="never_remembered", text=f"{part.never}; an approval is for this time only."
        )
    if part.rule is None:
        return Reason(
            code="no_rule", text=f"No rule covers `{part.text}`, and none can be made from it."
        )
    return Reason(code="no_rule", text=f"No rule covers `{part.text}`.")
