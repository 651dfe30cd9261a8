import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kova_ls.permission.adjudicate import GATES, adjudicate
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
from kova_ls.permission.facts import Call, Rule, Ruling
from kova_ls.vocabulary import ApprovalLevel, Decision, Mode, RootSource
from tests.support.permit import WORKSPACE, decide, facts, rule_on

DATA = Path(__file__).parents[1] / "data" / "permission"
REAL = Path(__file__).parents[3] / "shared" / "corpus" / "real-commands.jsonl"
CASES: list[dict[str, Any]] = [
    json.loads(line) for line in (DATA / "cases.jsonl").read_text().splitlines()
]
EVERYDAY: list[dict[str, Any]] = [
    json.loads(line) for line in (DATA / "everyday.jsonl").read_text().splitlines()
]
OPEN_BUT_DECIDED = {
    # Of `$` only `$NAME` and `${NAME}` are read.
    'echo "${x:-a}"': "ask",
}


# -- the graded examples --------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_every_case_gets_its_verdict(case: dict[str, Any]) -> None:
    ruling = rule_on(case["command"], facts(*case["rules"]))
    decided = OPEN_BUT_DECIDED.get(case["command"])
    assert ruling.decision.value == (decided or case["verdict"]), case["why"]
    if decided is None and case["rememberable"] is not None:
        assert bool(ruling.rules) == case["rememberable"], case["why"]
    if decided is None and case["rule"]:
        assert ruling.rules in [(rule,) for rule in (case["rule"], *case.get("rule_alt", ()))]


FORMS: list[dict[str, Any]] = [
    json.loads(line) for line in (DATA / "forms.jsonl").read_text().splitlines()
]
"""Other forms of the same families. `rule` is what remembering writes, empty where it may not be."""


@pytest.mark.parametrize("kind", sorted({form["kind"] for form in FORMS}))
def test_every_form_gets_its_verdict(kind: str) -> None:
    for form in FORMS:
        if form["kind"] == kind:
            ruling = rule_on(form["command"], facts(*form["rules"]))
            assert ruling.decision.value == form["verdict"], form
            if "rule" in form:
                assert " ".join(ruling.rules) == form["rule"], form


def test_what_would_be_remembered_lets_the_command_through() -> None:
    for case in CASES:
        rules = rule_on(case["command"]).rules
        if rules:
            assert decide(case["command"], facts(*rules)) == "allow", case["command"]


# -- false cards ----------------------------------------------------------------------------------


def test_everyday_commands_are_allowed_after_a_week() -> None:
    assert len(EVERYDAY) >= 150
    assert len({entry["ecosystem"] for entry in EVERYDAY}) >= 5
    rules = sorted({rule for entry in EVERYDAY for rule in entry["rules"]})
    together = facts(*rules)
    for entry in EVERYDAY:
        assert decide(entry["command"], facts(*entry["rules"])) == "allow", entry
        assert decide(entry["command"], together) == "allow", entry


def test_everyday_rules_are_those_that_remembering_writes() -> None:
    for entry in EVERYDAY:
        assert list(rule_on(entry["command"]).rules) == entry["rules"], entry["command"]


MAY_ASK = {"never_remembered", "hidden_write", "substitution"}
"""What the design lets ask however well a command is understood."""


def test_commands_of_real_agents_ask_rarely_once_remembered() -> None:
    """Counts by how often a command was seen; `pytest -s` prints the reasons of what asks."""
    if not REAL.exists():
        if os.environ.get("CI") == "true":
            pytest.fail(f"{REAL} is missing")
        pytest.skip("the folder of real commands is not here")
    rows = [json.loads(line) for line in REAL.read_text().splitlines()]
    remembered = {rule for row in rows for rule in rule_on(row["command"]).rules}
    given = facts(*sorted(remembered))
    asking: Counter[str] = Counter()
    for row in rows:
        ruling = rule_on(row["command"], given)
        if ruling.decision is not Decision.ALLOW:
            codes = [reason.code for reason in ruling.reasons]
            asking[next((code for code in codes if code in MAY_ASK), codes[0])] += row["n"]
    total = sum(row["n"] for row in rows)
    print({code: f"{count / total:.1%}" for code, count in asking.most_common()})
    allowed = 1 - asking.total() / total
    expected = 1 - sum(asking[code] for code in MAY_ASK) / total
    print(f"allowed {allowed:.1%} of at most {expected:.1%}")
    assert allowed > 0.71
    assert allowed / expected > 0.92


# -- properties -----------------------------------------------------------------------------------

PATHS = st.sampled_from(
    [
        f"{WORKSPACE}/a",
        f"{WORKSPACE}/.env",
        f"{WORKSPACE}/.git/config",
        f"{WORKSPACE}/.kova/permissions.json",
        "/srv/x",
        "/home/u/.bashrc",
        "/home/u/work2/a",
    ]
)
SEGMENTS = st.sampled_from(
    ["git log", "git log > f", "ls", "rm -rf x", "echo $x", "echo $(x)", "'", "npm test", "A=1 ls",
     "cat .env", "export A=1", "cd a", "./b", "ls 2>&1", "sort -o a", "# c", "time ls", "pnpm dlx x"]
)  # fmt: skip
EFFECTS: st.SearchStrategy[Effect] = st.one_of(
    st.builds(ReadPath, PATHS, PATHS, is_mention=st.booleans()),
    st.builds(WritePath, PATHS, PATHS, is_git_dir=st.booleans()),
    st.builds(RunCommand, SEGMENTS, st.just(WORKSPACE)),
    st.builds(Connect, st.sampled_from(["GET", "POST"]), st.just("https://a.b/c")),
    st.just(Configure("a schedule")),
    st.builds(Interact, st.sampled_from(["question", "todo"])),
    st.builds(Delegate, st.booleans()),
    st.just(Opaque("x")),
)
CALLS = st.lists(EFFECTS, min_size=1, max_size=4).map(lambda found: Call("bash", tuple(found)))
RULES = st.lists(
    st.sampled_from(["git log *", "ls *", "echo *", "npm test", "cat *", "cd *", "./b *", "rm *"]),
    unique=True,
)
DENIALS = st.lists(
    st.sampled_from(["rm *", "git *", "Write(.env)", "Read(**)", "bash", "WebFetch(b)", "ls"]),
    unique=True,
)
MODES = [Mode.AGENT, Mode.PLAN, Mode.ASK]
LEVELS = list(reversed(ApprovalLevel))


def severity(call: Call, **changes: Any) -> int:
    allow = changes.pop("allow", ())
    return adjudicate(call, facts(*allow, **changes)).decision.severity


@settings(max_examples=150, deadline=None)
@given(CALLS, RULES, DENIALS)
def test_a_stricter_mode_or_level_never_loosens(
    call: Call, allow: list[str], deny: list[str]
) -> None:
    for level in LEVELS:
        by_mode = [severity(call, allow=allow, deny=deny, mode=mode, level=level) for mode in MODES]
        assert by_mode == sorted(by_mode)
    for mode in Mode:
        by_level = [
            severity(call, allow=allow, deny=deny, mode=mode, level=level) for level in LEVELS
        ]
        assert by_level == sorted(by_level)


@settings(max_examples=150, deadline=None)
@given(CALLS, EFFECTS, RULES, DENIALS, st.sampled_from(Mode), st.sampled_from(ApprovalLevel))
def test_one_more_effect_or_deny_rule_never_loosens(
    call: Call, effect: Effect, allow: list[str], deny: list[str], mode: Mode, level: ApprovalLevel
) -> None:
    same: dict[str, Any] = {"allow": allow, "mode": mode, "level": level}
    before = severity(call, deny=deny, **same)
    more = Call(call.tool, (*call.effects, effect))
    assert severity(more, deny=deny, **same) >= before
    for rule in ("rm *", "Write(**)", "mcp__x", "git*"):
        assert severity(call, deny=[*deny, rule], **same) >= before


@settings(max_examples=150, deadline=None)
@given(
    st.lists(SEGMENTS, min_size=1, max_size=4),
    SEGMENTS,
    RULES,
    st.sampled_from([" && ", "; ", "\n"]),
)
def test_one_more_segment_never_loosens(
    segments: list[str], more: str, allow: list[str], glue: str
) -> None:
    given = facts(*allow)
    before = rule_on(glue.join(segments), given)
    if before.decision is not Decision.ALLOW:
        for line in ([more, *segments], [*segments, more]):
            if not any(part in ("'", "# c") for part in line):
                assert rule_on(glue.join(line), given).decision is not Decision.ALLOW


@settings(max_examples=100, deadline=None)
@given(CALLS, RULES, DENIALS, st.randoms())
def test_order_does_not_matter(call: Call, allow: list[str], deny: list[str], random: Any) -> None:
    before = adjudicate(call, facts(*allow, deny=deny))
    effects = list(call.effects)
    random.shuffle(effects)
    random.shuffle(allow)
    random.shuffle(deny)
    after = adjudicate(Call(call.tool, tuple(effects)), facts(*allow, deny=deny))
    assert after.decision is before.decision
    assert {reason.code for reason in after.reasons} == {reason.code for reason in before.reasons}


# -- the whole ruling -----------------------------------------------------------------------------


def test_every_reason_that_asks_or_denies_is_kept_strictest_first() -> None:
    effects = (
        ReadPath(f"{WORKSPACE}/a", f"{WORKSPACE}/a"),
        WritePath("/srv/x", "/srv/x"),
        RunCommand("rm x", WORKSPACE),
    )
    ruling = adjudicate(Call("odd", effects), facts(deny=("rm *",)))
    assert ruling.decision is Decision.DENY
    assert [reason.code for reason in ruling.reasons] == [
        "deny_rule",
        "outside",
        "never_remembered",
    ]


def test_what_allows_a_change_is_told_before_what_allows_the_look_at_it() -> None:
    path = f"{WORKSPACE}/a"
    ruling = adjudicate(Call("edit", (ReadPath(path, path), WritePath(path, path))), facts())
    assert [reason.code for reason in ruling.reasons] == ["inside", "reading"]


def test_a_call_without_effects_is_allowed() -> None:
    assert adjudicate(Call("x", ()), facts()).decision is Decision.ALLOW
    assert len(GATES) == 4


def test_a_mention_is_the_persons_own_act_and_the_deny_rule_is_shown() -> None:
    path = f"{WORKSPACE}/secret"
    given = facts(deny=("Read(secret)",))
    assert decide(ReadPath(path, path), given) == "deny"
    ruling = rule_on(ReadPath(path, path, is_mention=True), given)
    assert ruling.decision is Decision.ALLOW
    assert "deny_rule" in [reason.code for reason in ruling.reasons]


@pytest.mark.parametrize("level", ApprovalLevel)
def test_deny_rules_hold_at_every_level(level: ApprovalLevel) -> None:
    path = f"{WORKSPACE}/src/a"
    given = facts(
        level=level,
        deny=("Write(src/**)", "WebFetch(example.org)", "CronCreate", "mcp__s", "WebSearch"),
    )
    assert decide(WritePath(path, path), given) == "deny"
    assert decide(WritePath("/srv/a", path), given) == "deny"
    assert decide(ReadPath(path, path), given) == "allow"
    assert decide(Connect("GET", "https://a.example.org:8/x"), given) == "deny"
    assert decide(Connect("GET", "https://EXAMPLE.org./x"), given) == "deny"
    assert decide(Connect("GET", "https://u@example.org@x/"), given) == "allow"
    assert decide(Connect("GET", "http://[bad"), given) == "deny"
    cron = Call("Cron", (Configure("a schedule"),), ("CronCreate",))
    assert adjudicate(cron, given).decision is Decision.DENY
    assert decide(Opaque("x"), given, tool="mcp__s__t") == "deny"
    assert decide(Connect("GET", "https://x"), given, tool="WebSearch") == "deny"
    assert decide("ls", facts(level=level, deny=("bash",))) == "deny"


def test_tools_of_servers_are_allowed_by_name() -> None:
    given = facts("mcp__s__t")
    assert decide(Opaque("x"), given, tool="mcp__s__t") == "allow"
    assert decide(Opaque("x"), given, tool="mcp__s__u") == "ask"
    assert (
        decide(Opaque("x"), facts("mcp__s__t", level=ApprovalLevel.ASK), tool="mcp__s__t") == "ask"
    )
    assert decide(WritePath("/srv/a", "/srv/a"), given, tool="mcp__s__t") == "ask"


def test_a_host_rule_is_for_that_host() -> None:
    given = facts("WebFetch(a.org)", "WebFetch(*.b.org)")
    for url, expected in (
        ("https://a.org/x", "allow"),
        ("https://x.a.org/", "ask"),
        ("https://x.b.org/", "allow"),
        ("https://a.org@evil.org/", "ask"),
        ("https://evil.org/a.org", "ask"),
    ):
        assert decide(Connect("POST", url), given, tool="WebFetch") == expected, url


def test_odd_commands_are_judged_in_a_moment() -> None:
    texts = [
        "(" * 9000,
        "a " * 8000,
        "$(" * 8000,
        "'" * 16_001,
        "\\\n" * 8000,
        "a" * 10_000_000,
        "{a,b}" * 3000,
        "\ud800",
        "\0",
        "a;" * 8000,
        "a=" * 8000,
        "\n" * 16_000,
        "sed " + "s/[" * 4000,
    ]
    for text in texts:
        ruling = rule_on(text, facts("a *", deny=("rm *", "git push *", "Read(x)")))
        assert isinstance(ruling, Ruling)
        assert ruling.reasons


def test_rules_of_both_layers_are_in_force() -> None:
    given = facts("ls *")
    both = replace(given, allow=(*given.allow, Rule("python3 *", RootSource.USER)))
    assert decide("ls && python3 x", both) == "allow"
    assert decide("ls && python3 x", given) == "ask"
