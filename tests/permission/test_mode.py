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
from kova_ls.permission.mode import block_reason, is_plan_file, offered
from kova_ls.vocabulary import ApprovalLevel, Mode, ToolKind
from tests.support.permit import WORKSPACE, decide, facts

A = f"{WORKSPACE}/a"
TABLE: list[tuple[Effect, set[Mode]]] = [
    (ReadPath(A, A), set(Mode)),
    (Connect("GET", "https://a"), set(Mode)),
    (Connect("head", "https://a"), set(Mode)),
    (Interact("question"), set(Mode)),
    (Interact("todo"), set(Mode)),
    (Interact("skill"), set(Mode)),
    (Interact("open"), set(Mode)),
    (Interact("panel"), set(Mode)),
    (Interact("plan_exit"), {Mode.PLAN}),
    (Interact("goal"), {Mode.AGENT, Mode.GOAL}),
    (Delegate(is_research=True), set(Mode)),
    (Delegate(is_research=False), {Mode.AGENT, Mode.GOAL}),
    (WritePath(A, A), {Mode.AGENT, Mode.GOAL}),
    (RunCommand("ls", WORKSPACE), {Mode.AGENT, Mode.GOAL, Mode.PLAN}),
    (RunCommand("touch x", WORKSPACE), {Mode.AGENT, Mode.GOAL}),
    (Connect("POST", "https://a"), {Mode.AGENT, Mode.GOAL}),
    (Configure("a schedule"), {Mode.AGENT, Mode.GOAL}),
    (Opaque("a server's tool"), {Mode.AGENT, Mode.GOAL}),
]


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize(
    ("effect", "modes"), TABLE, ids=lambda value: "" if isinstance(value, set) else repr(value)[:40]
)
def test_the_mode_decides_what_may_happen_at_all(
    effect: Effect, modes: set[Mode], mode: Mode
) -> None:
    for level in ApprovalLevel:
        given = facts(mode=mode, level=level)
        assert (block_reason(effect, given) is None) == (mode in modes)
        assert (decide(effect, given) == "blocked") == (mode not in modes)


def test_the_plan_file_is_the_only_one_that_plan_may_write() -> None:
    path = facts().plan_path
    assert path is not None
    effect = WritePath(path, path)
    for level in ApprovalLevel:
        assert decide(effect, facts(mode=Mode.PLAN, level=level)) == "allow"
        assert decide(WritePath(A, path), facts(mode=Mode.PLAN, level=level)) == "blocked"
        assert decide(effect, facts(mode=Mode.ASK, level=level)) == "blocked"
    assert decide(effect, facts()) == "ask"
    assert not is_plan_file(effect, facts(mode=Mode.PLAN, plan_path=None))


def test_a_command_that_looks_still_passes_the_level_in_plan() -> None:
    assert decide("ls", facts(mode=Mode.PLAN)) == "ask"
    assert decide("ls", facts("ls *", mode=Mode.PLAN)) == "allow"
    assert decide("ls", facts("ls *", mode=Mode.PLAN, level=ApprovalLevel.ASK)) == "ask"


def test_the_list_sent_to_the_model_is_cut_to_the_mode() -> None:
    everything = set(ToolKind)
    assert {kind for kind in ToolKind if offered(kind, Mode.AGENT)} == everything - {
        ToolKind.PLAN_EXIT
    }
    assert {kind for kind in ToolKind if offered(kind, Mode.GOAL)} == everything - {
        ToolKind.PLAN_EXIT
    }
    assert {kind for kind in ToolKind if offered(kind, Mode.PLAN)} == everything - {
        ToolKind.OTHER,
        ToolKind.GOAL,
    }
    assert {kind for kind in ToolKind if offered(kind, Mode.ASK)} == {
        ToolKind.READ,
        ToolKind.WEB,
        ToolKind.INTERACT,
        ToolKind.DELEGATE,
    }
