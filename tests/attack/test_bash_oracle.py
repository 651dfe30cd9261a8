"""Attack the judgment of commands with real bash as the judge.

CI tries about a thousand command lines. By hand, tens of thousands:
`KOVA_ORACLE_LINES=50000 pytest tests/attack/test_bash_oracle.py -q --timeout=0`
"""

import json
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kova_ls.permission.adjudicate import adjudicate
from kova_ls.permission.effects import RunCommand
from kova_ls.permission.facts import Call, Facts, Rule
from kova_ls.permission.rules import make_rules
from kova_ls.permission.shell import analyse
from kova_ls.vocabulary import ApprovalLevel, Decision, Mode, RootSource
from tests.support.bash_oracle import BashOracle, breach

LINES = int(os.environ.get("KOVA_ORACLE_LINES", "700"))
SEED = int(os.environ.get("KOVA_ORACLE_SEED", "1"))
REAL = Path(__file__).parents[3] / "shared" / "corpus" / "real-commands.jsonl"
DATA = Path(__file__).parents[1] / "data" / "permission"

RULES = (
    *("git log *", "git diff *", "echo *", "ls *", "cat *", "sort *", "printf *", "npm test"),
    *("python -m pytest *", "uv run python -m pip list *", "python3 -m json.tool *"),
)
FILES = ("--output=PWNED", "-oPWNED", "-pPWNED", "a.txt", "git", "touch", "b c", "*", "log")

pytestmark = pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash to be the judge")

STARTS = [
    *("git log", "git diff", "echo", "ls", "cat", "sort", "printf", "npm test"),
    *("python -m pytest", "uv run python -m pip list", "python3 -m json.tool"),
]
WORDS = [
    *STARTS,
    *("git", "log", "python", "-m", "pytest", "-m pytest", "-c", "-p", "pip list", "uv run", "-B"),
    *(
        "a.txt",
        "-n",
        "--stat",
        "HEAD~1",
        "a",
        "touch PWNED",
        "PWNED",
        "x=1",
        "A=b",
        "CI=1",
        "~",
        "-",
    ),
    *("--", "*", "*.txt", "[a]", "?", "{a,b}", "{1..3}", "{echo,touch}", "time", "!", "if", "then"),
    *("do", "done", "for", "in", "{", "}", "[[", "]]", "case", "esac", "function", "coproc", "fi"),
]
GLUE = [
    *(" ", "  ", "\t", "\n", "\\\n", "\r", "\x0b", "\x0c", "\xa0", "\u3000", "\u2028", "\ufeff"),
    *(
        ";",
        "&",
        "&&",
        "|",
        "||",
        "|&",
        ";;",
        "(",
        ")",
        "<",
        ">",
        ">>",
        ">|",
        ">&",
        "<&",
        "<>",
        "&>",
    ),
    *("<<", "<<<", "<<-", "<<'E'\n", "\nE\n", "2>&1", "1>&2", ">&2", "2>/dev/null", "</dev/null"),
    *(
        "'",
        '"',
        "\\",
        "\\\\",
        "`",
        "$",
        "$(",
        "${",
        "$((",
        "))",
        "$'",
        '$"',
        "$[",
        "${IFS}",
        "$IFS",
    ),
    *("$x", "${x}", "$?", "$$", "$#", "$!", "$@", "$*", "$0", "$_", "${x:-a}", "${x@P}", "${!x}"),
    *("${PIPESTATUS[0]}", '"${PIPESTATUS[@]}"', "${PIPESTATUS[x]}", "PIPESTATUS=x", "CI=$x"),
    *(
        "#",
        " #",
        "~",
        "!",
        "!!",
        "=",
        "+=",
        "[",
        "]",
        "{",
        "}",
        ",",
        "^",
        "%",
        "\x00",
        "\x01",
        "\x7f",
    ),
    *(
        "é",
        "\u200b",
        "\u202e",
        "'\"'\"'",
        "\\'",
        '\\"',
        "'a b'",
        '"a b"',
        '"$x"',
        "'$x'",
        "\\ ",
        "<(",
        ">(",
    ),
]


def allowed(command: str, rules: tuple[str, ...]) -> bool:
    facts = Facts(
        mode=Mode.AGENT,
        level=ApprovalLevel.WORKSPACE_WRITE,
        workspace="/w",
        home="/home/u",
        allow=tuple(Rule(rule, RootSource.LOCAL) for rule in rules),
    )
    ruling = adjudicate(Call("bash", (RunCommand(command, "/w"),)), facts)
    return ruling.decision is Decision.ALLOW


def check(oracle: BashOracle, command: str, rules: tuple[str, ...]) -> bool:
    if not allowed(command, rules):
        return False
    for files in ((), FILES):
        found = breach(oracle.watch(command, files=files), rules)
        assert found is None, f"{command!r} was allowed, and bash {found}"
    return True


def random_lines(rng: random.Random) -> Iterator[str]:
    """Yield command lines: mostly plain, with a few hostile pieces at random places."""
    while True:
        pieces: list[str] = []
        for _ in range(rng.randint(1, 4)):
            pieces += [rng.choice(STARTS), " ", rng.choice(WORDS), rng.choice(["", " "])]
            pieces.append(rng.choice([" ", " && ", "; ", " | ", "\n", " & ", " || "]))
        pieces.pop()
        for _ in range(rng.choice([0, 1, 1, 1, 2, 2, 3, 5])):
            at = rng.randrange(len(pieces) + 1)
            pieces.insert(at, rng.choice(GLUE if rng.random() < 0.8 else WORDS))
        line = "".join(pieces)
        if rng.random() < 0.2:
            at = rng.randrange(len(line) + 1)
            line = line[:at] + rng.choice("'\"\\$`;|&<>(){}\n #!~*=") + line[at:]
        yield line


@pytest.fixture
def oracle(tmp_path: Path) -> BashOracle:
    return BashOracle(tmp_path)


@pytest.mark.timeout(0 if LINES > 2000 else 120)
def test_bash_does_no_more_than_the_rules_say_for_random_lines(oracle: BashOracle) -> None:
    rng = random.Random(SEED)
    lines = random_lines(rng)
    seen = sum(check(oracle, next(lines), RULES) for _ in range(LINES * 4))
    assert seen > LINES // 20, "hardly any line was allowed, so hardly anything was shown"


@pytest.mark.timeout(120)
@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.lists(
        st.one_of(st.sampled_from(WORDS + GLUE), st.text(max_size=3)), min_size=1, max_size=12
    ).map("".join)
)
def test_bash_does_no_more_than_the_rules_say_for_any_text(
    oracle: BashOracle, command: str
) -> None:
    check(oracle, command, RULES)
    check(oracle, f"echo {command}", RULES)
    check(oracle, f"git log {command} && ls", RULES)


@pytest.mark.timeout(120)
def test_bash_does_no_more_than_the_rules_say_for_the_cases(oracle: BashOracle) -> None:
    lines = [
        line
        for name in ("cases.jsonl", "forms.jsonl")
        for line in (DATA / name).read_text().splitlines()
    ]
    for case in map(json.loads, lines):
        if not case["command"].isascii() or "/" in case["command"].split(" ")[0]:
            continue
        check(oracle, case["command"], tuple(case["rules"]))


@pytest.mark.timeout(180)
def test_bash_does_no_more_than_the_rules_say_for_commands_of_real_agents(
    oracle: BashOracle,
) -> None:
    if not REAL.exists():
        if os.environ.get("CI") == "true":
            pytest.fail(f"{REAL} is missing")
        pytest.skip("the folder of real commands is not here")
    commands = [json.loads(line)["command"] for line in REAL.read_text().splitlines()]
    shown = 0
    for command in commands if LINES > 2000 else commands[::4]:
        rules = make_rules(command)
        analysis = analyse(command)
        if not rules or any("/" in part.values[0] for part in analysis.parts):
            continue
        if not allowed(command, rules):
            continue
        deed = oracle.watch(command)
        assert breach(deed, rules) is None, f"{command!r}: {breach(deed, rules)}"
        shown += 1
    assert shown > 50
