import pytest

from kova_ls.permission.facts import Rule
from kova_ls.permission.rules import (
    CommandEntry,
    Entry,
    HostEntry,
    ListName,
    PathEntry,
    Refused,
    ToolEntry,
    load,
    make_rules,
    parse_entry,
)
from kova_ls.vocabulary import RootSource
from tests.support.permit import decide, facts, rule_on

LOCAL, USER = RootSource.LOCAL, RootSource.USER


def parse(text: str, which: ListName = "allow", source: RootSource = LOCAL) -> Entry | Refused:
    return parse_entry(text, source, which)


@pytest.mark.parametrize(
    "text",
    ["git log *", "Bash(git log *)", "Bash( git log * )", "cat *", "npm test", "pnpm *", "[ *"],
)
def test_commands_are_taken(text: str) -> None:
    assert isinstance(parse(text), CommandEntry)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "*",
            "Bash(*)",
            "Bash()",
            "Bash",
            "bash *",
            "",
            " ",
            "git*",
            "git lo*",
            "ls *.py",
            "* log",
        ),
        *("rm *", "python3 *", "pnpm dlx *", "uv run *", "sudo *", "env *", "export *", "eval *"),
        *(
            "uv run x.py *",
            "/bin/rm *",
            "./node *",
            "git log > x",
            "echo 'a",
            "a && b *",
            "A=1 ls *",
        ),
        *(
            "ls | *",
            "$X *",
            "echo $(x) *",
            "Write(src/**)",
            "Edit(a)",
            "Read(a)",
            "WebSearch",
            "Write",
        ),
        *(
            "TaskStop(x)",
            "WebFetch(a b)",
            "WebFetch()",
            "WebFetch(https://a/b)",
            "ls $X *",
            "! ls *",
        ),
    ],
)
def test_what_is_too_wide_or_unclear_is_refused_with_advice(text: str) -> None:
    entry = parse(text)
    assert isinstance(entry, Refused), entry
    assert entry.problem.endswith(".")
    assert decide("ls src", facts(text)) == "ask"
    assert decide("rm -rf x", facts(text)) == "ask"


def test_the_users_own_file_may_hold_a_free_pass() -> None:
    entry = parse("python3 *", source=USER)
    assert isinstance(entry, CommandEntry)
    assert entry.is_free_pass
    given = facts("python3 *", "pnpm *", source=USER)
    assert decide("python3 x.py", given) == "allow"
    assert decide("pnpm add x", given) == "allow"
    assert decide("pnpm dlx x", given) == "ask"
    assert decide("pnpm dlx x", facts("pnpm dlx *", source=USER)) == "allow"
    assert decide("export A=1", facts("export *", source=USER)) == "ask"
    assert rule_on("python3 x.py", given).rules == ()


def test_an_exact_rule_covers_its_words_and_nothing_else() -> None:
    given = facts("npm test", "node x.js", "git commit -m 'a; b'")
    assert decide("npm test", given) == "allow"
    assert decide("npm  'test'", given) == "allow"
    assert decide("npm test 2>&1 | npm test", given) == "allow"
    assert decide("npm test x", given) == "ask"
    assert decide("node x.js", given) == "allow"
    assert decide("node x.js y", given) == "ask"
    assert decide('git commit -m "a; b"', given) == "allow"
    assert decide("npm test > f", given) == "ask"


def test_an_exact_rule_tells_expansions_from_text() -> None:
    assert decide("echo $HOME", facts("echo $HOME")) == "allow"
    assert decide("echo '$HOME'", facts("echo $HOME")) == "ask"
    assert decide("echo $HOME", facts("echo '$HOME'")) == "ask"
    assert decide("echo a b", facts("echo 'a b'")) == "ask"


def test_an_exact_rule_may_be_a_whole_line() -> None:
    given = facts("make build && node x.js")
    assert decide("make build && node x.js", given) == "allow"
    assert decide("make build; node x.js", given) == "ask"
    assert decide("node x.js", given) == "ask"
    assert decide("make build && node x.js && ls", given) == "ask"
    assert decide("make test && node y.js", given) == "ask"
    assert decide("sort -o a b && ls", facts("sort -o a b && ls")) == "ask"


def test_a_prefix_covers_whole_words() -> None:
    given = facts("git log *")
    for command in ("git log", "git log -1", 'g"it" lo\\g -1', "git\tlog"):
        assert decide(command, given) == "allow", command
    for command in (
        "git logs",
        "git-log",
        '"git log"',
        "git  -C x log",
        "git",
        "GIT log",
        "./git log",
    ):
        assert decide(command, given) == "ask", command


def test_the_second_word_of_a_rule_is_literal() -> None:
    for command in ("git $SUB", 'git "$SUB"', "git l*", "git {log,x}", "git ${SUB}", "git log$X"):
        assert decide(command, facts("git log *")) == "ask", command


@pytest.mark.parametrize(
    ("command", "rules"),
    [
        ("pnpm add -D react", ("pnpm add *",)),
        ("git log --oneline", ("git log *",)),
        ("cat package.json", ("cat *",)),
        ("lsof -ti:1420", ("lsof *",)),
        (
            "git status && git diff | head -5; git status -s",
            ("git status *", "git diff *", "head *"),
        ),
        ("CI=1 npm test 2>&1", ("npm test *",)),
        ("uv run pytest -q", ("uv run pytest *",)),
        ("./gradlew test", ("./gradlew test *",)),
        ("git log && rm x", ()),
        ("git log > x", ()),
        ("git --no-pager log", ()),
        ("pnpm -v", ()),
        ("sort -o x y", ()),
        ("export A=1", ()),
        ("cd a && ./b", ()),
        ("echo 'a", ()),
    ],
)
def test_remembering_makes_one_rule_per_segment_or_none(
    command: str, rules: tuple[str, ...]
) -> None:
    assert make_rules(command) == rules
    assert rule_on(command).rules == rules
    if rules:
        assert decide(command, facts(*rules)) == "allow"


def test_other_entries_are_told_apart() -> None:
    assert isinstance(parse("Read(secrets/**)", "deny"), PathEntry)
    assert isinstance(parse("Write(x)", "deny"), PathEntry)
    assert isinstance(parse("edit(x)", "deny"), PathEntry)
    assert isinstance(parse("WebFetch(docs.python.org)"), HostEntry)
    assert isinstance(parse("WebFetch(domain:a.b)"), HostEntry)
    assert isinstance(parse("mcp__server__tool"), ToolEntry)
    assert isinstance(parse("CronCreate", "deny"), ToolEntry)
    assert isinstance(parse("bash", "deny"), ToolEntry)
    assert isinstance(parse("Bash(*)", "deny"), ToolEntry)
    assert isinstance(parse("rm *", "deny"), CommandEntry)


def test_a_list_is_read_once_and_keeps_what_it_refused() -> None:
    rules = (Rule("git log *", LOCAL), Rule("git*", LOCAL))
    entries = load(rules, "allow")
    assert load(rules, "allow") is entries
    assert [refused.text for refused in entries.refused] == ["git*"]
    assert list(entries.commands) == ["git"]
