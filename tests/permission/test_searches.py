import pytest

from kova_ls.permission.searches import is_prose, search_pattern
from tests.support.permit import decide, facts


@pytest.mark.parametrize(
    ("command", "at"),
    [
        ("grep -rn .env src", 2),
        ("grep -A 3 .env x", 3),
        ("grep -nA3 -m 1 x .env", 4),
        ("grep --include=*.a x .env", 2),
        ("rg .env src", 1),
        ("rg -t py .env", 3),
        ("grep .env -e x", 0),
        ("grep -e x .env", 0),
        ("grep -f .env x", 0),
        ("grep -- x .env", 0),
        ("grep --include .env x", 0),
        ("rg -r .env x", 0),
        ("rg --files .env", 0),
        ("cat .env", 0),
        ("grep", 0),
        ("jq .key a", 1),
        ("jq -rC .key a", 2),
        ("jq --tab --arg a b .key c", 5),
        ("jq -f x .env", 0),
        ("jq .env -f", 0),
        ("jq .env --from-file", 0),
        ("jq --rawfile a .env .", 0),
    ],
)
def test_the_pattern_is_found_only_among_known_options(command: str, at: int) -> None:
    words = command.split()
    assert search_pattern(words[0], words) == at


def test_a_word_that_the_shell_builds_may_be_an_option() -> None:
    assert search_pattern("grep", ["grep", ".env", "\0*"]) == 0
    assert search_pattern("grep", ["grep", ".env", "\0src/*.py"]) == 1
    assert search_pattern("grep", ["grep", "\0$x", ".env"]) == 0


@pytest.mark.parametrize(
    "command",
    [
        "grep -rn '\\.env' src",
        "grep -n .env .gitignore",
        "rg 'process\\.env' src",
        "echo process.env",
    ],
)
def test_a_search_for_the_name_of_a_secret_file_is_allowed(command: str) -> None:
    assert decide(command, facts("grep *", "rg *", "echo *")) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "grep -n KEY .env",
        "grep .env -e KEY",
        "grep -e KEY .env",
        "grep -f .env x",
        "grep -rn .env .env",
        "grep .env *",
        "rg -f .env x",
        "rg -r x KEY .env",
        "grep --include=.env KEY -r .",
    ],
)
def test_a_search_in_a_secret_file_asks(command: str) -> None:
    assert decide(command, facts("grep *", "rg *")) == "ask"


@pytest.mark.parametrize(
    ("words", "at", "is_text"),
    [
        (["echo", "a .env"], 1, True),
        (["git", "commit", "-am", "a .env"], 3, True),
        (["git", "log", "--grep=a .env"], 2, True),
        (["gh", "pr", "create", "--title", "a .env"], 4, True),
        (["cat", "a .env"], 1, False),
        (["tar", "tf", "a .env"], 2, False),
        (["cat", "a=b .env"], 1, False),
    ],
)
def test_messages_are_no_names(words: list[str], at: int, is_text: bool) -> None:
    assert is_prose(words[0], words, at) is is_text
