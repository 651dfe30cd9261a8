"""Gate: which effects need a person at the session's approval level.

Invariant: a stricter level never allows what a looser one asks for.
"""

from typing import assert_never

from kova_ls.permission.effects import (
    Configure,
    Connect,
    Delegate,
    Effect,
    Interact,
    Opaque,
    ReadPath,
    RunCommand,
    WritePath,
)
from kova_ls.permission.facts import Facts
from kova_ls.permission.roots import find_root, is_inside
from kova_ls.values import Reason
from kova_ls.vocabulary import ApprovalLevel, Decision

Finding = tuple[Decision, Reason]

_AUTO: Finding = (
    Decision.ALLOW,
    Reason(code="level", text="The level is `auto`: nothing asks."),
)
_READ: Finding = (Decision.ALLOW, Reason(code="reading", text="Looking changes nothing."))
_MENTION: Finding = (Decision.ALLOW, Reason(code="mention", text="The person named the file."))
_HARMLESS: Finding = (
    Decision.ALLOW,
    Reason(code="harmless", text="It changes nothing outside of the session."),
)
_ASK_EACH: Finding = (
    Decision.ASK,
    Reason(code="level", text="At level `ask` every change and command asks."),
)
_ANYWHERE: Finding = (
    Decision.ALLOW,
    Reason(code="level", text="At level `auto-edit` files may be written anywhere."),
)
_INSIDE: Finding = (Decision.ALLOW, Reason(code="inside", text="It is inside the workspace."))
_SIDE_EFFECTS: Finding = (
    Decision.ASK,
    Reason(code="network", text="The request may change something on the other side."),
)


def judge(effect: Effect, facts: Facts) -> Finding:
    """Return what the level says; commands are judged by the rules, not here."""
    level = facts.level
    match effect:
        case ReadPath(is_mention=True):
            return _MENTION
        case ReadPath():
            return _read(effect, facts)
        case Interact() | Delegate():
            return _HARMLESS
        case Connect(method=method):
            if method.upper() in ("GET", "HEAD"):
                return _READ
            return _AUTO if level is ApprovalLevel.AUTO else _SIDE_EFFECTS
        case WritePath():
            return _write(effect, facts)
        case RunCommand():
            return _AUTO if level is ApprovalLevel.AUTO else _ASK_EACH
        case Configure(what=what):
            if level is ApprovalLevel.AUTO:
                return _AUTO
            return Decision.ASK, Reason(code="configure", text=f"It changes the agent: {what}.")
        case Opaque(why=why):
            if level is ApprovalLevel.AUTO:
                return _AUTO
            return Decision.ASK, Reason(code="opaque", text=f"It cannot be judged: {why}")
        case _:
            assert_never(effect)


def _read(effect: ReadPath, facts: Facts) -> Finding:
    if facts.level is ApprovalLevel.AUTO:
        return _AUTO
    if effect.path == effect.asked:
        return _READ
    workspace = facts.workspace
    if (
        workspace is not None
        and is_inside(effect.asked, workspace, case_folds=facts.case_folds)
        and find_root(effect.path, facts) is None
    ):
        return Decision.ASK, Reason(
            code="link", text=f"{effect.asked!r} leads out of the workspace to {effect.path!r}."
        )
    return _READ


def _write(effect: WritePath, facts: Facts) -> Finding:
    level = facts.level
    if level is ApprovalLevel.AUTO:
        return _AUTO
    if level is ApprovalLevel.ASK:
        return _ASK_EACH
    if level is ApprovalLevel.AUTO_EDIT:
        return _ANYWHERE
    root = find_root(effect.path, facts)
    if root is None:
        return Decision.ASK, Reason(
            code="outside", text=f"{effect.path!r} is outside of the workspace and its roots."
        )
    if root == facts.workspace:
        return _INSIDE
    return Decision.ALLOW, Reason(code="inside", text=f"It is inside the writable root {root!r}.")
