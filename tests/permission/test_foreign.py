import json
import os
from collections import Counter
from pathlib import Path

import pytest

from kova_ls.permission.foreign import Foreign, Wish, read_settings, translate
from kova_ls.permission.rules import Refused, parse_entry
from kova_ls.vocabulary import RootSource

REAL = Path(__file__).parents[3] / "shared" / "corpus" / "real-rules.jsonl"


def becomes(text: str, wish: Wish = "allow") -> list[str | None]:
    outcomes = translate(Foreign(wish, text))
    for outcome in outcomes:
        assert (outcome.entry is None) == (outcome.problem is not None)
        assert outcome.problem is None or outcome.problem.endswith(".")
    return [outcome.entry for outcome in outcomes]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Bash(git log:*)", "git log *"),
        ("Bash(git log *)", "git log *"),
        ("Bash(npm test)", "npm test"),
        ("git status *", "git status *"),
        ('["git", "rev-parse"]', "git rev-parse *"),
        ("Shell(ls)", "ls"),
        ("run_shell_command(git status)", "git status *"),
        ("WebFetch(domain:docs.python.org)", "WebFetch(docs.python.org)"),
        ("mcp__s__t", "mcp__s__t"),
        ("Bash(uv run pytest:*)", "uv run pytest *"),
    ],
)
def test_a_narrow_entry_becomes_a_rule(text: str, rule: str) -> None:
    assert becomes(text) == [rule]


@pytest.mark.parametrize(
    "text",
    [
        *("Bash", "Bash(*)", "Bash(:*)", "*", "Bash(rm:*)", "Bash(python3:*)", "Bash(find *)"),
        *("Bash(git*)", "Bash(aws ec2 modify-:*)", "Bash(ls *.py)", "rm scratchpad/*", "Edit(**)"),
        *("Read(**)", "WebSearch", "Bash(source ~/.bashrc:*)", "Bash(python -c ' *)", "Write"),
        *('[["a"], 3]', '["a b"]', "Bash(FOO=1 ls:*)"),
    ],
)
def test_a_wide_or_unclear_entry_becomes_nothing(text: str) -> None:
    assert becomes(text) == [None]


def test_denials_keep_their_force() -> None:
    assert becomes("Bash(rm -rf *)", "deny") == ["rm -rf *"]
    assert becomes("Bash", "deny") == ["bash"]
    assert becomes("Read(./.env)", "deny") == ["Read(.env)"]
    assert becomes("Edit(/etc/**)", "deny") == ["Edit(/etc/**)"]
    assert becomes('[["rm", "rmdir"]]', "deny") == ["rm *", "rmdir *"]
    assert becomes('["rm", ["-rf", "-fr"], "/"]', "deny") == ["rm -rf / *", "rm -fr / *"]
    assert becomes("Bash(git push:*)", "ask") == [None]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '{"permissions": {"allow": ["Bash(ls:*)"], "deny": ["Read(x)"], "ask": ["Bash(a)"]}}',
            [("allow", "Bash(ls:*)"), ("deny", "Read(x)"), ("ask", "Bash(a)")],
        ),
        (
            '// c\n{"permission": {"bash": {"git *": "allow", "*": "ask",}, "edit": "deny"}}',
            [("allow", "git *"), ("ask", "*"), ("deny", "edit")],
        ),
        (
            '{"tools": {"core": ["run_shell_command(ls)"], "exclude": ["x"]}}',
            [("allow", "run_shell_command(ls)"), ("deny", "x")],
        ),
        ('{"roo-cline.allowedCommands": ["npm test"]}', [("allow", "npm test")]),
        (
            '{"chat.tools.terminal.autoApprove": {"git status": true, "rm": false}}',
            [("allow", "git status:*"), ("deny", "rm:*")],
        ),
        (
            (
                'prefix_rule(\n  pattern = ["git", "log"],\n  decision = "allow",\n)\n'
                'prefix_rule(pattern=["rm"], decision="forbidden")\n'
            ),
            [("allow", '["git", "log"]'), ("deny", '["rm"]')],
        ),
        ('["ls", "git status"]', [("allow", "ls"), ("allow", "git status")]),
        ("git status\n# c\nls\n", [("allow", "git status"), ("allow", "ls")]),
    ],
)
def test_the_settings_of_common_agents_are_read(text: str, expected: list[tuple[str, str]]) -> None:
    found = read_settings(text)
    assert not isinstance(found, str), found
    assert [(foreign.wish, foreign.text) for foreign in found] == expected


@pytest.mark.parametrize(
    "text", ["", "{", "{}", '{"a": 1}', "[" * 100_000, "null", "3", '{"allow": 3}']
)
def test_other_files_are_refused_with_advice(text: str) -> None:
    found = read_settings(text)
    assert isinstance(found, str)
    assert found.endswith(".")


def test_rules_of_real_people_become_rules_or_say_why_not() -> None:
    if not REAL.exists():
        if os.environ.get("CI") == "true":
            pytest.fail(f"{REAL} is missing")
        pytest.skip("the folder of real rules is not here")
    kinds: Counter[str] = Counter()
    for line in REAL.read_text().splitlines():
        row = json.loads(line)
        for outcome in translate(Foreign(row["list"], row["rule"])):
            kinds["rule" if outcome.entry else "none"] += 1
            if outcome.entry is not None:
                entry = parse_entry(outcome.entry, RootSource.LOCAL, row["list"])
                assert not isinstance(entry, Refused)
    assert kinds["rule"] > 300
