import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kova_ls.permission.lexer import Line, lex
from kova_ls.values import Reason


def words(text: str) -> list[list[str]]:
    line = lex(text)
    assert isinstance(line, Line), line
    return [[word.value for word in command.words] for command in line.commands]


def code(text: str) -> str:
    reason = lex(text)
    assert isinstance(reason, Reason), reason
    return reason.code


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("git log", [["git", "log"]]),
        ("  a\tb  ", [["a", "b"]]),
        ("a;b&c&&d||e|f|&g\nh", [[letter] for letter in "abcdefgh"]),
        ("a 'b c' \"d e\" f\\ g", [["a", "b c", "d e", "f g"]]),
        ('g"it" l\\og', [["git", "log"]]),
        ('echo "a\\tb" "\\$x \\" \\\\ \\a"', [["echo", "a\\tb", '$x " \\ \\a']]),
        ("echo 'a\"b' \"c'd\"", [["echo", 'a"b', "c'd"]]),
        ("echo a#b '#c' #d", [["echo", "a#b", "#c"]]),
        ("# c\na # d\n\n#e\nb", [["a"], ["b"]]),
        ("a &&\n\n b |\n c", [["a"], ["b"], ["c"]]),
        ("a \\\n b", [["a", "b"]]),
        ("a\\\nb c", [["ab", "c"]]),
        ("a \\\n# no\nb", [["a"], ["b"]]),
        ("a # x \\\nb", [["a"], ["b"]]),
        ("a '\\\n' \"x\\\ny\"", [["a", "\\\n", "xy"]]),
        ("a |\\\n| b", [["a"], ["b"]]),
        ("echo $x ${y} $? $$ $# $! 5$", [["echo", "$x", "${y}", "$?", "$$", "$#", "$!", "5$"]]),
        (
            'echo ${PIPESTATUS[0]} "x=${PIPESTATUS[@]}"',
            [["echo", "${PIPESTATUS[0]}", "x=${PIPESTATUS[@]}"]],
        ),
        ('echo "$" "a$" "$ b"', [["echo", "$", "a$", "$ b"]]),
        ("[ ! -f a ]", [["[", "!", "-f", "a", "]"]]),
        ("echo \"a!b\" '!x' a! ", [["echo", "a!b", "!x", "a!"]]),
        ("echo {a,b} } *.py ?", [["echo", "{a,b}", "}", "*.py", "?"]]),
        ("echo a=b --c=d A+=1", [["echo", "a=b", "--c=d", "A+=1"]]),
        ("ls é ‘x’", [["ls", "é", "‘x’"]]),
        ("echo ''", [["echo", ""]]),
    ],
)
def test_plain_lines_are_read_as_the_shell_reads_them(text: str, expected: list[list[str]]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(
            (text, "unparseable")
            for text in ("", " ", "#x", "; a", "a &&", "a |", "a ; ; b", "& a")
        ),
        *((text, "unparseable") for text in ("a 'b", 'a "b', "a \\", "a <", "a >\n", "a & && b")),
        *((text, "unparseable") for text in ("'' a", "| a", "a\n&& b", "a > &")),
        *(
            (text, "substitution")
            for text in ("a $(b)", "a `b`", 'a "$(b)"', 'a "`b`"', "a $((1))")
        ),
        *(
            (text, "substitution")
            for text in ("a $[1]", "a <(b)", "a >(b)", "a ${", "a > >(b)")[:3]
        ),
        *((text, "ansi_quote") for text in ("a $'b'", 'a $"b"', "a b$'c'")),
        *((text, "expansion") for text in ("a ${b:-c}", "a ${!b}", "a $1", "a $@", "a $*", "a $-")),
        *(
            (text, "expansion")
            for text in ("a $_", "a $BASH_COMMAND", "$a", "a${b} c", "*", "g?t a")
        ),
        *(
            (text, "expansion")
            for text in (
                "{a,b}",
                "~/a",
                "a ${#b}",
                "a ${b@P}",
                "a ${PIPESTATUS[b]}",
                "a ${PIPESTATUS[0]:-b}",
            )
        ),
        *((text, "hidden_write") for text in ("a << b", "a <<- b", "a <<< b", "a {v}>b")),
        *(
            (text, "compound")
            for text in ("(a)", "{ a; }", "if a; then b; fi", "! a", "a() { b; }")
        ),
        *(
            (text, "compound")
            for text in ("for i in a; do b; done", "[[ a ]]", "((1))", "coproc a")
        ),
        *((text, "compound") for text in ("a ;; b", "a ;& b", "a +(b)", "a b(c)", "time a")),
        *((text, "compound") for text in ("function a { b; }", "case a in b) c;; esac", "'if' a")),
        *((text, "history") for text in ("a !b", "a !!", "a x!y")),
        *(
            (text, "odd_character")
            for text in ("a\r", "a\x0bb", "a\x00", "a \x7f", "a\xa0b", "a '\x01'")
        ),
        *(
            (text, "odd_character")
            for text in ("a\u2028b", "\ufeffa", "a \u200b", "a # \x1b", "a \ud800")
        ),
        *((text, "odd_character") for text in ("a \\\r", "a \u202eb", "a\u3000b", "a \xad")),
        ("a " * 10_000, "too_long"),
        ("é" * 9_000, "too_long"),
    ],
)
def test_everything_else_is_refused(text: str, expected: str) -> None:
    assert code(text) == expected


@pytest.mark.parametrize(
    ("redirect", "is_inert"),
    [
        *(
            (text, True)
            for text in ("2>&1", "1>&2", ">&2", ">/dev/null", "2>/dev/null", "</dev/null")
        ),
        *((text, True) for text in ("&>/dev/null", ">> /dev/null", "2> /dev/null", "0</dev/null")),
        *((text, False) for text in (">f", "2>f", "<f", ">&f", "&>f", "<>f", ">|f", "<&3", "3>&1")),
        *(
            (text, False)
            for text in (">&1", "2>& 1", "2>&1x", ">/dev/nullx", ">'/dev/null'", ">$x")
        ),
        *((text, False) for text in ("</dev/tcp/a/1", "<>/dev/null", "2>&-", "> /dev/null/../x")),
        *((text, False) for text in (">&/dev/null", "10>/dev/null", "3</dev/null", ">/dev/null*")),
    ],
)
def test_only_the_named_redirects_are_harmless(redirect: str, is_inert: bool) -> None:
    for text in (f"a {redirect}", f"{redirect} a", f"a {redirect} b"):
        line = lex(text)
        assert isinstance(line, Line)
        assert [found.is_inert for found in line.commands[0].redirects] == [is_inert]
        assert next(word.value for word in line.commands[0].words) == "a"


def test_a_number_belongs_to_a_redirect_only_when_it_touches_it() -> None:
    assert words("a 2 >&2") == [["a", "2"]]
    assert words("a b2>&2") == [["a", "b2"]]
    assert words("a 2>&1") == [["a"]]


def test_assignments_stand_before_the_command_only() -> None:
    line = lex("A=1 B+=2 c D=3")
    assert isinstance(line, Line)
    command = line.commands[0]
    assert [word.value for word in command.assignments] == ["A=1", "B+=2"]
    assert [word.value for word in command.words] == ["c", "D=3"]
    quoted = lex('"A"=1 b')
    assert isinstance(quoted, Line)
    assert quoted.commands[0].assignments == ()


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet=" \t\n\\'\"#a1;&|<>$(){}=*~!", max_size=40))
def test_spans_point_at_the_words_in_the_given_text(text: str) -> None:
    line = lex(text)
    if isinstance(line, Reason):
        return
    last = 0
    for command in line.commands:
        assert last <= command.start < command.end <= len(text)
        last = command.end
        for word in (*command.assignments, *command.words):
            raw = text[word.start : word.end]
            assert command.start <= word.start < word.end <= command.end
            assert raw.strip(" \t\n") == raw or "\\" in raw or raw[0] in "'\"" or raw[-1] in "'\""


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60))
def test_any_text_gives_a_line_or_a_reason(text: str) -> None:
    assert isinstance(lex(text), Line | Reason)
