import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kova_ls.permission import shell
from kova_ls.permission.lexer import Line, lex
from kova_ls.permission.shell import analyse, is_confirmed


@pytest.mark.parametrize(
    "text",
    [
        "git log --oneline | head -5 2>&1 && ls 2>/dev/null; a & b",
        "cargo test \\\n  --all",
        "to\\\nuch X",
        "# show\ngit status",
        "a # x\n\n\n#y\nb\n",
        "ls |\\\n| cat",
        "CI=true pnpm 'a b'\"c\" x\\ y",
        "2>/dev/null ls",
        'echo ${x} "$y" ~/x {a,b} *.py',
        "installing-stuff-with-if x",
        "documents-to-do/informatif x",
        "VERY_LONG_NAME_OF_A_VARIABLE=1 ls",
        "ls 1234567890123 >/dev/null",
        "echo a;#b\nls",
        "git log '--format=%H and more text than fits'",
        "a &\nb",
    ],
)
def test_two_readings_agree_on_plain_lines(text: str) -> None:
    assert isinstance(lex(text), Line)
    assert is_confirmed(text)


@pytest.mark.parametrize("text", ["a 'b", "time a", "if a; then b; fi", "a <<E\nb\nE", "a ${b:-c}"])
def test_what_one_reading_refuses_is_not_confirmed(text: str) -> None:
    assert not is_confirmed(text)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=" \t\n\\'\"#a1;&|<>$(){}=*~!`[]", max_size=60))
def test_any_text_is_analysed_without_an_exception(text: str) -> None:
    analysis = analyse(text)
    assert (analysis.refusal is None) == bool(analysis.parts)
    assert is_confirmed(text) in (True, False)


@pytest.mark.parametrize("piece", ["(", "$(", "`", "{ ", "[[ ", '"$(', "${a:-", "((", "<(", "! "])
def test_deep_nesting_ends_in_a_refusal(piece: str) -> None:
    for size in (200, 5000, 20_000):
        assert analyse(piece * size).refusal is not None or not analyse(piece * size).parts


@pytest.mark.parametrize("text", ["a " * 8000, "a;" * 5000, "'a'" * 4000, "A=1 " * 3000 + "b"])
def test_the_longest_lines_are_still_judged(text: str) -> None:
    assert isinstance(is_confirmed(text), bool)


def guard(text: str, at: int = -1) -> str | None:
    reason = analyse(text).parts[at].guard
    return None if reason is None else reason.code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("ls > f", "hidden_write"),
        ("ls 2>/dev/null", None),
        ("A=1", "assignment"),
        ("A=1 ls", "assignment"),
        ("CI=1 ls", None),
        ("CI=$x ls", "assignment"),
        ("CI='1' ls", None),
        ("CI+=1 ls", "assignment"),
        ("PATH=.:$PATH ls", "assignment"),
        (">/dev/null", "redirect"),
        ("cd a && ./b", "relative_program"),
        ("pushd a; b/c", "relative_program"),
        ("cd a | ./b", "relative_program"),
        ("cd a && /b/c", None),
        ("./b && cd a", None),
        ("export A=1", "shell_change"),
        ("cаt a", "odd_character"),
        ("sort -o a b", "escape"),
    ],
)
def test_guards_stand_against_single_segments(text: str, code: str | None) -> None:
    assert guard(text) == code


@pytest.mark.parametrize("name", ["export", "set", "alias", "read", "trap", "let", "unset", "hash"])
def test_a_line_that_changes_the_shell_says_so(name: str) -> None:
    assert analyse(f"{name} a; ls").changes_shell == name
    assert analyse("ls; ls").changes_shell is None


def test_the_second_reader_is_imported_for_commands_only() -> None:
    program = (
        "import sys; import kova_ls.permission.adjudicate as a;"
        "assert 'bashlex' not in sys.modules;"
        "from kova_ls.permission.shell import is_confirmed; is_confirmed('ls');"
        "assert 'bashlex' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    ("text", "skeleton"),
    [
        ("git log --oneline", "x_x x_x"),
        ("git log -1 a | head 5 2>&1", "x_x x_x | x_x 1>&1"),
        ("a 'b c d e' f g h", "x_x 'x_x x_x' x_x x_x"),
        ("a  b c\td e\nf g h", "x_x  x_x x_x\tx_x x_x\nx_x x_x"),
        ("a b in c d then e", "x_x x_x in x_x x_x then x_x"),
        ("a b c=d e f", "x_x x_x c=x_x x_x"),
        ("a b c\\ d e f", "x_x x_x\\ x_x x_x"),
        ("ls 22>&1", "x_x 1>&1"),
        ("A=b C+=d e", "A=x_x C+=x_x x_x"),
        ("for x in y", "for x_x in x_x"),
        ("echo 'a b' \"$HOME\"", "x_x 'x_x x_x' \"$x_x\""),
        ("a#b;c|d&&e", "x_x#x_x;x_x|x_x&&x_x"),
        ("{fd}>a", "{x_x}>x_x"),
    ],
)
def test_the_stand_ins_keep_all_that_a_shell_looks_at(text: str, skeleton: str) -> None:
    assert shell._skeleton(text)[0] == skeleton  # pyright: ignore[reportPrivateUsage]


def test_a_border_that_moved_is_noticed() -> None:
    line = lex("git log && ls")
    assert isinstance(line, Line)
    moved = line.commands[0]._replace(words=line.commands[0].words[:1])
    wrong = line._replace(commands=(moved, *line.commands[1:]))
    assert shell._agrees("git log && ls", line)  # pyright: ignore[reportPrivateUsage]
    assert not shell._agrees("git log && ls", wrong)  # pyright: ignore[reportPrivateUsage]
    other = line._replace(operators=("||", ""))
    assert not shell._agrees("git log && ls", other)  # pyright: ignore[reportPrivateUsage]


def test_a_word_that_was_left_out_still_has_its_place() -> None:
    text = "git log -1 a b && ls 'x y z w' c d e"
    line = lex(text)
    assert isinstance(line, Line)
    assert shell._agrees(text, line)  # pyright: ignore[reportPrivateUsage]
    words = line.commands[1].words
    shifted = words[1]._replace(end=words[1].end - 1)
    moved = line.commands[1]._replace(words=(words[0], shifted, *words[2:]))
    wrong = line._replace(commands=(line.commands[0], moved))
    assert not shell._agrees(text, wrong)  # pyright: ignore[reportPrivateUsage]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("text", ["echo a'${x'", "cat [['${x' b", "echo \"a\"'${'", "a=b'${x' c"])
def test_a_text_that_the_second_reader_never_finishes_is_opaque(text: str) -> None:
    assert isinstance(lex(text), Line)
    assert not is_confirmed(text)
