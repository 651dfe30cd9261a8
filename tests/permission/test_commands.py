import pytest

from kova_ls.permission.commands import view
from kova_ls.permission.effects import RunCommand
from tests.support.permit import WORKSPACE, decide, facts, rule_on


def test_every_segment_shows_its_rule_or_its_reason() -> None:
    seen = view(RunCommand("git log && rm -rf ~", WORKSPACE), facts("git log *"))
    assert not seen.is_matched
    assert [(segment.text, segment.rule) for segment in seen.segments] == [
        ("git log", "git log *"),
        ("rm -rf ~", None),
    ]
    assert seen.segments[1].reason is not None
    assert [reason.code for reason in seen.reasons] == ["never_remembered"]
    assert seen.rules == ()


def test_an_opaque_line_is_shown_whole() -> None:
    seen = view(RunCommand('echo "x', WORKSPACE), facts("echo *"))
    assert [segment.text for segment in seen.segments] == ['echo "x']
    assert [reason.code for reason in seen.reasons] == ["unparseable"]


def test_what_would_be_remembered_is_filled_in_whatever_the_verdict() -> None:
    assert rule_on("git log -1").rules == ("git log *",)
    assert rule_on("git log -1", facts("git log *")).rules == ("git log *",)
    assert rule_on("git log -1", facts("git *")).rules == ("git log *",)


def test_strict_redirects_ask_for_every_redirect() -> None:
    for command in ("ls 2>&1", "ls >/dev/null", "ls </dev/null"):
        assert decide(command, facts("ls *")) == "allow"
        assert decide(command, facts("ls *", strict_redirects=True)) == "ask"
        assert rule_on(command, facts(strict_redirects=True)).rules == ()


def test_git_asks_where_the_git_directory_is_not_the_workspaces_own() -> None:
    given = facts("git *", "ls *", git_dirs_ok=False)
    assert decide("git log", given) == "ask"
    assert decide("ls; /usr/bin/git log", given) == "ask"
    assert decide("ls", given) == "allow"
    elsewhere = RunCommand("cd sub && git log", WORKSPACE, git_dirs_ok=False)
    assert decide(elsewhere, facts("git *", "cd *")) == "ask"


def test_a_line_that_two_readings_read_differently_is_remembered_by_nobody() -> None:
    for given in (facts(), facts("ls *")):
        ruling = rule_on("ls a'${x'", given)
        assert ruling.decision.value == "ask"
        assert ruling.rules == ()


@pytest.mark.parametrize(
    "word",
    [
        *(".env", "./.env", "a/.env.local", "../.env", "~/.ssh/id_rsa", "~/.netrc", "--file=.env"),
        *(
            "@.env",
            "HEAD:.env",
            ".e*",
            ".en?",
            "{.env,x}",
            "'.env'",
            ".e''nv",
            "server.pem",
            "id_rsa",
        ),
        *(
            "$HOME/.aws/credentials",
            "${HOME}/.netrc",
            "/home/u/.ssh/id_ed25519",
            ".ENV",
            "~/.ssh/*",
        ),
    ],
)
def test_a_word_that_names_a_sensitive_path_asks(word: str) -> None:
    given = facts("cat *", "git show *")
    assert decide(f"cat {word}", given) == "ask"
    assert "sensitive" in [reason.code for reason in rule_on(f"cat {word}", given).reasons]
    assert rule_on(f"cat {word}", given).rules == ()


@pytest.mark.parametrize(
    "word",
    [
        *(
            ".env.example",
            "env.py",
            "*",
            "*.py",
            "'update .env handling'",
            "~/.gitconfig",
            "[a-z]*",
        ),
        *("'[A-Za-z0-9_$]*'", "environment", "a.keys", "src/token.py", "~/.ssh/id_rsa.pub", "-env"),
        *("{a,b}.py", "src/{env,x}.py", "src/*.{ts,tsx}", ".github/*", "*.md"),
    ],
)
def test_other_words_do_not_ask(word: str) -> None:
    assert decide(f"cat {word}", facts("cat *")) == "allow"


def test_a_line_that_changes_the_shell_asks_as_a_whole() -> None:
    given = facts("export A=1", "ls *")
    for command in ("export A=1; ls", "ls; set -e", "ls && unset PATH"):
        ruling = rule_on(command, given)
        assert (ruling.decision.value, ruling.rules) == ("ask", ())
        assert "shell_change" in [reason.code for reason in ruling.reasons]


def test_a_segment_without_a_rule_says_whether_one_can_be_made() -> None:
    def reason(command: str) -> str | None:
        return view(RunCommand(command, WORKSPACE), facts()).segments[0].reason

    assert reason("git log") == "No rule covers `git log`."
    assert reason("git -v") == "No rule covers `git -v`, and none can be made from it."


@pytest.mark.parametrize(
    "command", ["cat id*", "cat {{.env,x}}", "cat '{{a}}/../.env'", "cat .e{n,x}v", "cat 'a b.pem'"]
)
def test_a_word_that_may_name_a_secret_asks(command: str) -> None:
    assert decide(command, facts("cat *")) == "ask"


@pytest.mark.parametrize(
    "command",
    ["cat i*", "cat '{{.env}}'", "cat '{{json .Config.Env}}'", "cat jsonpath='{.tls.key}'"],
)
def test_a_template_or_a_bare_pattern_names_no_secret(command: str) -> None:
    assert decide(command, facts("cat *")) == "allow"
