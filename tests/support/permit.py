"""Short ways to ask the permission room."""

from typing import Any

from kova_ls.permission.adjudicate import adjudicate
from kova_ls.permission.effects import Effect, RunCommand
from kova_ls.permission.facts import Call, Facts, Rule, Ruling
from kova_ls.vocabulary import ApprovalLevel, Mode, RootSource

WORKSPACE = "/home/u/work"


def facts(*allow: str, source: RootSource = RootSource.LOCAL, **changes: Any) -> Facts:
    """Return the facts of a trusted workspace with these allow rules."""
    deny = tuple(Rule(text, source) for text in changes.pop("deny", ()))
    values: dict[str, Any] = {
        "mode": Mode.AGENT,
        "level": ApprovalLevel.WORKSPACE_WRITE,
        "workspace": WORKSPACE,
        "home": "/home/u",
        "kova_home": "/home/u/.kova",
        "data_dir": "/home/u/.local/share/kova-ls",
        "runtime_dir": "/run/user/1/kova-ls",
        "path_dirs": (f"{WORKSPACE}/node_modules/.bin", "/opt/tools"),
        "plan_path": "/home/u/.local/share/kova-ls/plans/1.md",
        **changes,
    }
    return Facts(allow=tuple(Rule(text, source) for text in allow), deny=deny, **values)


def rule_on(effect: Effect | str, given: Facts | None = None, *, tool: str = "bash") -> Ruling:
    """Return the ruling on one effect, or on a command line."""
    one = RunCommand(effect, WORKSPACE) if isinstance(effect, str) else effect
    return adjudicate(Call(tool, (one,)), given or facts())


def decide(effect: Effect | str, given: Facts | None = None, *, tool: str = "bash") -> str:
    """Return the decision on one effect, or on a command line."""
    return rule_on(effect, given, tool=tool).decision.value
