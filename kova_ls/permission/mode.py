"""Gate: what the session mode allows at all, and which tools it offers.

Invariant: looks at the mode and the effect, never at the approval level.
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
from kova_ls.permission.readonly import blocked_reason
from kova_ls.values import Reason
from kova_ls.vocabulary import Mode, ToolKind

_OFFERED: dict[Mode, frozenset[ToolKind]] = {
    Mode.AGENT: frozenset(ToolKind) - {ToolKind.PLAN_EXIT},
    Mode.GOAL: frozenset(ToolKind) - {ToolKind.PLAN_EXIT},
    Mode.PLAN: frozenset(ToolKind) - {ToolKind.OTHER, ToolKind.GOAL},
    Mode.ASK: frozenset({ToolKind.READ, ToolKind.WEB, ToolKind.INTERACT, ToolKind.DELEGATE}),
}

_BLOCKED = {
    mode: Reason(
        code="mode",
        text=f"The session is in mode `{mode}`, which changes nothing; a person can switch the mode.",
    )
    for mode in Mode
}
_NO_PLAN = Reason(
    code="mode",
    text="There is no plan to leave: the session is not in mode `plan`. Go on with the work.",
)
_PLAN_FILE = Reason(code="plan_file", text="It is the session's plan file.")
_PLAN_ONLY = Reason(
    code="mode",
    text="In mode `plan` only the session's plan file may be written; leave it with plan_exit.",
)
_RESEARCH = Reason(
    code="mode", text="In this mode subagents may only do research; start a research subagent."
)
_NO_SHELL = Reason(code="mode", text="Mode `ask` runs no commands; a person can switch the mode.")


def offered(kind: ToolKind, mode: Mode) -> bool:
    """Tell whether tools of this kind are in the list sent to the model."""
    return kind in _OFFERED[mode]


def block_reason(effect: Effect, facts: Facts) -> Reason | None:
    """Return why the mode forbids the effect, or None."""
    mode = facts.mode
    if mode in (Mode.AGENT, Mode.GOAL):
        is_stray = isinstance(effect, Interact) and effect.kind == "plan_exit"
        return _NO_PLAN if is_stray else None
    match effect:
        case ReadPath():
            return None
        case Connect(method=method):
            return None if method.upper() in ("GET", "HEAD") else _BLOCKED[mode]
        case Interact(kind=kind):
            if kind == "goal":
                return _BLOCKED[mode]
            return _NO_PLAN if kind == "plan_exit" and mode is not Mode.PLAN else None
        case WritePath():
            if is_plan_file(effect, facts):
                return None
            return _PLAN_ONLY if mode is Mode.PLAN else _BLOCKED[mode]
        case RunCommand(command=command):
            return blocked_reason(command) if mode is Mode.PLAN else _NO_SHELL
        case Delegate(is_research=is_research):
            return None if is_research else _RESEARCH
        case Configure() | Opaque():
            return _BLOCKED[mode]
        case _:
            assert_never(effect)


def is_plan_file(effect: WritePath, facts: Facts) -> bool:
    """Tell whether it writes the one file that mode `plan` may write."""
    return (
        facts.mode is Mode.PLAN and facts.plan_path is not None and effect.path == facts.plan_path
    )
