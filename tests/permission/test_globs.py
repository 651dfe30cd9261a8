import pytest

from kova_ls.permission.globs import absolute, compile_glob, glob_matches


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
    ],
)
def test_patterns_name_paths_widely(glob: str, path: str, expected: bool) -> None:
    assert glob_matches(compile_glob(glob), path, workspace="/w", home="/h") is expected


def test_words_become_absolute_paths() -> None:
    assert absolute("a/../b", "/h", "/w") == "/w/b"
    assert absolute("~/x", "/h", "/w") == "/h/x"
    assert absolute("$HOME/x", "/h", "/w") == "/h/x"
    assert absolute("../../..", "/h", "/w/a") == "/"
