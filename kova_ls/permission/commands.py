"""Judge one command line against the rules in force: which rule, or which reason, per segment.

Invariant: a segment is matched by a rule only when no guard stands against it.
"""

from typing import NamedTuple

from kova_ls.permission.effects import RunCommand
from kova_ls.permission.facts import Facts
from kova_ls.permission.protected import sensitive_word
from kova_ls.permission.rules import Entries, load, match_line, match_part
from kova_ls.permission.shell import Part, analyse
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
        segments = tuple(_plain(part) for part in analysis.parts) or (
            Segment(text=effect.command, reason=analysis.refusal.text),
        )
        return CommandView(False, (analysis.refusal,), segments, ())
    entries = load(facts.allow, "allow")
    whole = (
        match_line(analysis.parts, analysis.operators, entries)
        if len(analysis.parts) > 1 and entries.lines
        else None
    )
    reasons: list[Reason] = []
    segments_found: list[Segment] = []
    rules: list[str] = []
    may_remember = True
    for part in analysis.parts:
        guard = _guard(part, effect, facts)
        rule = None if guard else (whole or match_part(part, entries))
        if guard or part.rule is None:
            may_remember = False
        elif part.rule not in rules:
            rules.append(part.rule)
        if rule is not None:
            segments_found.append(Segment(text=part.text, rule=rule))
            continue
        reason = guard or _no_match(part, entries)
        reasons.append(reason)
        segments_found.append(Segment(text=part.text, reason=reason.text))
    if analysis.changes_shell:
        may_remember = False
        text = _SHELL_CHANGE.format(analysis.changes_shell)
        reasons.append(Reason(code="shell_change", text=text))
    is_matched = not reasons
    if is_matched:
        reasons = [
            Reason(code="rule", text=f"The rule `{rule}` covers it.")
            for rule in dict.fromkeys(segment.rule for segment in segments_found)
        ]
    return CommandView(
        is_matched,
        tuple(dict.fromkeys(reasons)),
        tuple(segments_found),
        tuple(rules) if may_remember else (),
    )


def _plain(part: Part) -> Segment:
    reason = part.guard.text if part.guard else "The line as a whole cannot be read with certainty."
    return Segment(text=part.text, reason=reason)


def _guard(part: Part, effect: RunCommand, facts: Facts) -> Reason | None:
    """Return why no rule may match the segment, given the session's facts."""
    if part.guard is not None:
        return part.guard
    if facts.strict_redirects and part.has_redirect:
        return Reason(code="hidden_write", text="The user's file asks for every redirect.")
    if part.name == "git" and not facts.git_dirs_ok:
        return Reason(
            code="git_dir", text="The git directory that git would use is not the workspace's own."
        )
    for value in part.values[1:]:
        reason = sensitive_word(value, facts, effect.cwd)
        if reason is not None:
            return reason
    return None


def _no_match(part: Part, entries: Entries) -> Reason:
    if part.never is not None:
        return Reason(
            code="never_remembered", text=f"{part.never}; an approval is for this time only."
        )
    if part.rule is None:
        return Reason(
            code="no_rule", text=f"No rule covers `{part.text}`, and none can be made from it."
        )
    return Reason(code="no_rule", text=f"No rule covers `{part.text}`.")
