import pytest

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
from kova_ls.permission.facts import Root
from kova_ls.permission.level import judge
from kova_ls.vocabulary import ApprovalLevel, Mode, RootSource
from tests.support.permit import WORKSPACE, decide, facts, rule_on

IN, OUT, ROOT = f"{WORKSPACE}/a", "/srv/x/a", "/srv/root/a"
LEVELS = list(ApprovalLevel)
TABLE: list[tuple[Effect, str]] = [
    (ReadPath(IN, IN), "allow allow allow allow"),
    (ReadPath(OUT, OUT), "allow allow allow allow"),
    (ReadPath(OUT, "/srv/y/link"), "allow allow allow allow"),
    (ReadPath(OUT, IN), "ask ask ask allow"),
    (ReadPath(ROOT, IN), "allow allow allow allow"),
    (ReadPath(f"{WORKSPACE}/.env", f"{WORKSPACE}/.env"), "ask ask ask allow"),
    (
        ReadPath(f"{WORKSPACE}/.env", f"{WORKSPACE}/.env", is_mention=True),
        "allow allow allow allow",
    ),
    (ReadPath(OUT, IN, is_mention=True), "allow allow allow allow"),
    (WritePath(IN, IN), "ask allow allow allow"),
    (WritePath(ROOT, ROOT), "ask allow allow allow"),
    (WritePath(OUT, OUT), "ask ask allow allow"),
    (WritePath(OUT, IN), "ask ask allow allow"),
    (WritePath(IN, IN, "delete"), "ask allow allow allow"),
    (RunCommand("git log", WORKSPACE), "ask allow allow allow"),
    (RunCommand("rm x", WORKSPACE), "ask ask ask allow"),
    (RunCommand("echo 'x", WORKSPACE), "ask ask ask allow"),
    (Configure("a schedule"), "ask ask ask allow"),
    (Opaque("a server's tool"), "ask ask ask allow"),
    (Connect("POST", "https://a"), "ask ask ask allow"),
    (Connect("GET", "https://a"), "allow allow allow allow"),
    (Interact("question"), "allow allow allow allow"),
    (Delegate(is_research=False), "allow allow allow allow"),
]


@pytest.mark.parametrize(("effect", "expected"), TABLE, ids=lambda value: repr(value)[:60])
def test_the_level_decides_what_asks(effect: Effect, expected: str) -> None:
    roots = (Root("/srv/root", RootSource.EDITOR),)
    found = [decide(effect, facts("git log *", level=level, roots=roots)) for level in LEVELS]
    assert found == expected.split()
    assert all(judge(effect, facts(level=level))[1].text for level in LEVELS)


def test_rules_do_not_apply_at_level_ask_but_are_shown() -> None:
    ruling = rule_on("git log", facts("git log *", level=ApprovalLevel.ASK))
    assert ruling.decision.value == "ask"
    assert ruling.rules == ("git log *",)
    assert ruling.segments[0].rule == "git log *"


def test_without_a_workspace_every_file_is_outside() -> None:
    assert decide(WritePath(IN, IN), facts(workspace=None)) == "ask"
    assert decide(ReadPath(OUT, IN), facts(workspace=None)) == "allow"


def test_plan_exit_reaches_the_person_at_every_level() -> None:
    for level in LEVELS:
        assert decide(Interact("plan_exit"), facts(mode=Mode.PLAN, level=level)) == "allow"
