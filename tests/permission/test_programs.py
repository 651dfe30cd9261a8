import shlex

import pytest

from kova_ls.permission.programs import (
    DEVELOPMENT,
    TAKES,
    WRAPPERS,
    Takes,
    development_program,
    make_rule,
    never_reason,
    program_name,
)


@pytest.mark.parametrize("entry", TAKES, ids=lambda entry: entry.reason)
def test_every_sub_command_entry_keeps_what_its_examples_say(entry: Takes) -> None:
    for command, rule in entry.examples:
        assert make_rule(shlex.split(command)) == rule, command


def test_no_program_is_listed_twice() -> None:
    names = [name for entry in TAKES for name in entry.names.split()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(("first", "second"), sorted(WRAPPERS))
def test_a_wrapper_is_remembered_with_a_development_program_only(first: str, second: str) -> None:
    assert never_reason([first, second]) is not None
    assert never_reason([first, second, "x.py"]) is not None
    assert never_reason([first, second, "--with", "pytest"]) is not None
    assert never_reason([first, second, "./pytest"]) is not None
    assert make_rule([first, second, "pytest", "-q"]) == f"{first} {second} pytest *"
    inner = development_program([first, second, "pytest"])
    assert inner is not None
    assert inner.at == 2


def test_development_programs_are_no_interpreters() -> None:
    assert not [name for name in DEVELOPMENT if never_reason([name])]


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (["./gradlew", "test", "--info"], "./gradlew test *"),
        (["./scripts/check.sh", "--fast"], "./scripts/check.sh *"),
        (["catnip", "a.txt"], "catnip *"),
        (["unknown", "look-alike"], "unknown look-alike *"),
        (["git-log", "--oneline"], "git-log *"),
        (["[", "-f", "a", "]"], "[ *"),
        (["git"], None),
        (["git", "HEAD"], None),
        (["npm", "-v"], None),
        (["a b", "c"], None),
        (["-x"], None),
    ],
)
def test_rules_keep_the_first_word_and_a_sub_command(words: list[str], rule: str | None) -> None:
    assert make_rule(words) == rule


def test_a_program_is_judged_by_the_last_part_of_its_path() -> None:
    assert program_name("/bin/rm") == "rm"
    assert program_name("curl.exe") == "curl"
    assert never_reason(["RM", "x"]) is not None


@pytest.mark.parametrize(
    "command",
    [
        "pnpm find . -delete",
        "pnpm --filter a find .",
        "pnpm -r bash -c x",
        "pnpm npm exec x",
        "pnpm run python x",
        "yarn run sh x",
        "yarn workspace a tsx x",
        "yarn workspaces foreach -A run sh x",
        "yarn rails runner x",
    ],
)
def test_what_package_managers_fall_back_to_is_never_remembered(command: str) -> None:
    assert never_reason(command.split()) is not None
    assert make_rule(command.split()) is None


@pytest.mark.parametrize(
    "command",
    [
        "pnpm add node",
        "pnpm rm tsx",
        "pnpm watch",
        "pnpm run start",
        "pnpm test bash",
        "yarn workspace sh test",
        "yarn workspaces run test",
        "yarn tsc --noEmit",
    ],
)
def test_their_own_words_and_customary_scripts_are_remembered(command: str) -> None:
    assert never_reason(command.split()) is None


def test_a_package_manager_starts_development_programs_directly() -> None:
    inner = development_program(["pnpm", "jest", "-c", "x"])
    assert inner is not None
    assert (inner.at, inner.program) == (1, "jest")
    assert development_program(["pnpm"]) is None
    assert development_program([]) is None
