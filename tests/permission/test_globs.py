import pytest

from kova_ls.permission.globs import absolute, compile_glob, glob_matches, may_expand_to, unbraced


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("secrets/**", "/w/secrets/a/b", True),
        ("secrets/**", "/w/other/a", False),
        ("secrets", "/w/a/secrets/b", True),
        ("*.pem", "/w/a/b.PEM", True),
        ("src/*.py", "/w/src/a.py", True),
        ("src/*.py", "/w/src/b/a.py", False),
        ("**/x", "/w/a/b/x", True),
        ("./a", "/w/a", True),
        ("/etc/**", "/etc/passwd", True),
        ("//etc/passwd", "/etc/passwd", True),
        ("~/.ssh/**", "/h/.ssh/id", True),
        ("a?c", "/w/abc", True),
        ("a", "/w/ab", False),
        ("a.b", "/w/axb", False),
        ("secrets/**", "/w/secrets", True),
        ("a/**/b", "/w/a/b", True),
    ],
)
def test_patterns_name_paths_widely(glob: str, path: str, expected: bool) -> None:
    assert glob_matches(compile_glob(glob), path, workspace="/w", home="/h") is expected


def test_words_become_absolute_paths() -> None:
    assert absolute("a/../b", "/h", "/w") == "/w/b"
    assert absolute("~/x", "/h", "/w") == "/h/x"
    assert absolute("$HOME/x", "/h", "/w") == "/h/x"
    assert absolute("../../..", "/h", "/w/a") == "/"


@pytest.mark.parametrize(
    ("word", "glob", "expected"),
    [
        ("/w/.e*", ".env", True),
        ("/w/a/.e*", ".env", True),
        ("/w/*", ".env", False),
        ("/w/?env", ".env", False),
        ("/w/sec*/a", "secrets/**", True),
        ("/w/sec*/a/b", "secrets/*/b", True),
        ("/w/sec*/a/b", "secrets/*/c", False),
        ("/w/secrets/pro*", "secrets/**/*.key", True),
        ("/w/a/pro*.py", "**/*.key", False),
        ("/w/a/b/pro*", "**/prod.key", True),
        ("/h/.ss*/id", "~/.ssh/**", True),
        ("/etc/pass*", "/etc/passwd", True),
        ("/w/other*", "secrets/**", False),
        ("/w/s*", "secrets/**", True),
        ("/w/s*", "secrets/a", False),
    ],
)
def test_patterns_of_the_shell_may_become_named_paths(word: str, glob: str, expected: bool) -> None:
    assert may_expand_to(word, glob, workspace="/w", home="/h") is expected


def test_braces_become_words() -> None:
    assert unbraced("a{b,c}d") == ("abd", "acd")
    assert set(unbraced("{a,{b,c}}")) == {"a", "b", "c"}
    assert unbraced("plain") == ("plain",)
