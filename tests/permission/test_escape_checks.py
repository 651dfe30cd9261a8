import pytest

from tests.support.permit import decide, facts


@pytest.mark.parametrize(
    "command",
    [
        "sort -uo PWNED a.txt",
        "sort --o=PWNED a.txt",
        "sort -S1k --compress-prog ./x a",
        "sort *.txt",
        "sort $X",
        "sort {-o,PWNED}",
        "sort ?o",
        "sort -*",
        "sort --out[p]ut=x",
        "sort '-'*",
        "SORT -o x y",
        "/usr/bin/sort -o x y",
    ],
)
def test_an_option_that_writes_is_found_in_every_spelling(command: str) -> None:
    program = command.split(maxsplit=1)[0]
    assert decide(command, facts(f"{program} *")) == "ask"


@pytest.mark.parametrize(
    "command",
    ["sort -k2,2n -t : a", "sort 'a b'", 'sort "$X"', "sort a*", "sort -rnu a"],
)
def test_other_words_are_no_options(command: str) -> None:
    assert decide(command, facts("sort *")) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "git -c core.pager=./x log",
        "git -C ../x log",
        "git --exec-path=. log",
        "git --git-dir=x log",
        "git -p log",
        "git --no-pager -c a=b log",
        "git log --output=x",
        "git grep -O x",
        "git fetch 'ext::sh -c x'",
        "git $SUB",
    ],
)
def test_git_asks_for_options_that_run_programs_under_the_widest_rule(command: str) -> None:
    assert decide(command, facts("git *")) == "ask"


@pytest.mark.parametrize("command", ["git --no-pager log", "git --version", "git log", "git"])
def test_git_with_harmless_options_is_allowed_by_a_wide_rule(command: str) -> None:
    assert decide(command, facts("git *")) == "allow"


def test_an_escape_inside_a_wrapper_asks() -> None:
    given = facts("uv run pytest *")
    assert decide("uv run pytest -q", given) == "allow"
    assert decide("uv run pytest -c evil.ini", given) == "ask"
    assert decide("uv run ruff check", given) == "ask"


def test_a_value_that_stays_in_the_folder_is_no_escape() -> None:
    given = facts("make *", "pytest *")
    assert decide("make -C docs html", given) == "allow"
    assert decide("make -C ../docs html", given) == "ask"
    assert decide("make --directory=/x", given) == "ask"
    assert decide("pytest --junitxml=~/.bashrc", given) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "gh release download v1 -D .git/hooks",
        "pytest --junitxml=.vscode/tasks.json",
        "make -C .git",
        "format-patch -o .husky",
        "split a .git/hooks/pre-comm",
    ],
)
def test_a_value_that_names_files_which_run_later_is_an_escape(command: str) -> None:
    line = f"git {command}" if command.startswith("format") else command
    assert decide(line, facts(f"{line.split()[0]} *")) == "ask"


@pytest.mark.parametrize(
    "command",
    ["date 010203042020", "date -u 01020304", "date -f a 1"],
)
def test_setting_the_clock_asks(command: str) -> None:
    assert decide(command, facts("date *")) == "ask"
    assert decide("date -d 'last week' +%F", facts("date *")) == "allow"


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("yarn workspace a exec x", "ask"),
        ("yarn workspace a test", "allow"),
        ("zip -rlf PWNED a.zip a", "ask"),
        ("zip -r a.zip a", "allow"),
        ("patch -p1", "ask"),
        ("cat a.diff | patch -p1", "ask"),
        ("unzip -l a.zip", "allow"),
        ("unzip a.zip", "ask"),
        ("tree -Lo 2 PWNED", "ask"),
        ("man -r 'x$+!x' ls", "ask"),
        ("pytest -p no:a -p x", "ask"),
        ("pytest -p no:a,x", "ask"),
        ("jest --global-setup=./x", "ask"),
    ],
)
def test_programs_are_read_as_they_read_their_own_words(command: str, verdict: str) -> None:
    rules = facts(
        "yarn *", "zip *", "patch *", "cat *", "unzip *", "tree *", "man *", "pytest *", "jest *"
    )
    assert decide(command, rules) == verdict


@pytest.mark.parametrize(
    "command",
    [
        "sort ''*",
        'sort ""*',
        'sort "$x"*',
        'git log "$x"--output=PWNED',
        'sort -"$x"',
        'git log --outp"$x"ut=PWNED',
        'npm config "$x"set a b',
        'npm config "$x""set" a b',
        'pnpm "$x"dlx a',
        'make "$x"SHELL=./x',
        'tar "$x"xf a',
        'sed "${x}w y" f',
        "stack {exec,x} y",
        "stack $x exec y",
    ],
)
def test_an_empty_variable_or_quote_hides_no_option(command: str) -> None:
    program = command.split(maxsplit=1)[0]
    assert decide(command, facts(f"{program} *")) == "ask"


@pytest.mark.parametrize(
    "command",
    ['git commit -m "a $x"', 'git log --since="$d" "$x"', 'curl -H "A: $T" u', "file ~/x/*"],
)
def test_a_variable_inside_a_value_is_no_option(command: str) -> None:
    program = command.split(maxsplit=1)[0]
    assert decide(command, facts(f"{program} *")) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "gcc-12 -wrapper x a.c",
        "clang++-17 -fplugin=x a.cc",
        "aarch64-linux-gnu-gcc -B. a.c",
        "arm-none-eabi-ld -plugin x a",
        "gsplit --filter=x a",
        "gradlew.bat -I x",
        "gdate -s 12:00",
    ],
)
def test_builds_of_a_program_have_its_options(command: str) -> None:
    program = command.split(maxsplit=1)[0]
    assert decide(command, facts(f"{program} *")) == "ask"
    assert decide(f"{program} --version", facts(f"{program} *")) == "allow"
