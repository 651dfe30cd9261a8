import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kova_ls.permission.protected import GUARDED
from kova_ls.tools._base import ResolvedPath, ToolError
from kova_ls.tools._ripgrep import matcher, program, secrets


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("*.py", ["a.py", "src/deep/a.py"], ["a.pyc", "py"]),
        ("*.{ts,tsx}", ["a.ts", "b/a.tsx"], ["a.js", "a.{ts,tsx}"]),
        ("src/**/*.py", ["src/a.py", "src/b/c/a.py"], ["a.py", "other/src/a.py"]),
        ("**/test_*.py", ["test_a.py", "x/y/test_a.py"], ["a.py"]),
        ("**/*", ["a", "a/b", ".hidden"], []),
        ("src/**", ["src/a", "src/a/b"], ["src", "b/src/a"]),
        ("/a.txt", ["a.txt"], ["b/a.txt"]),
        ("./src/*.c", ["src/a.c"], ["src/x/a.c"]),
        ("[a-c]?.md", ["ax.md"], ["dx.md", "a.md"]),
        ("[!a]*", ["b"], ["a", "ab"]),
        ("{a,{b,c}d}.x", ["a.x", "bd.x", "cd.x"], ["d.x"]),
        ("a+b(1).txt", ["a+b(1).txt"], ["aab1.txt"]),
        ("**", ["a", "a/b"], []),
        ("a/{**/x,y}", ["a/x", "a/q/x", "a/y"], ["a/q/y"]),
        (r"\*.py", ["*.py"], ["a.py"]),
    ],
)
def test_patterns(pattern, yes, no):
    matches = matcher(pattern)
    assert [path for path in yes if not matches(path)] == []
    assert [path for path in no if matches(path)] == []


@pytest.mark.parametrize("pattern", ["*.{ts", "[b-a]"])
def test_an_unbalanced_pattern_is_an_error(pattern):
    with pytest.raises(ToolError, match="glob pattern"):
        matcher(pattern)


class Home:
    """A context that only knows the home folder."""

    def resolve(self, _path):
        return ResolvedPath("/h", "/h", exists=True)


@pytest.mark.parametrize(
    "path",
    [
        "/w/.env",
        "/w/.env.local",
        "/w/prod.env",
        "/w/deploy/server.pem",
        "/h/.ssh/id_ed25519",
        "/w/id_rsa",
        "/h/.aws/credentials",
        "/w/.ENV",
    ],
)
def test_files_with_secrets(path):
    assert secrets(Home())(path)


@pytest.mark.parametrize("path", ["/w/.env.example", "/w/env", "/w/environment.py", "/w/keys.py"])
def test_files_without(path):
    assert not secrets(Home())(path)


def test_every_example_of_the_table_of_protected_paths_is_a_secret():
    is_sensitive = secrets(Home())
    for guarded in GUARDED:
        for example in guarded.examples if guarded.kind == "sensitive" else ():
            path = f"/h/{example[2:]}" if example.startswith("~/") else f"/w/{example}"
            assert is_sensitive(path if not example.startswith("/") else example), example


@settings(max_examples=25, deadline=None)
@given(
    parts=st.lists(st.sampled_from(["a", "b", "ab", "a.b"]), min_size=1, max_size=3),
    pattern=st.lists(
        st.sampled_from(["**", "*", "a", "a*", "?", "*.b", "{a,b}"]), min_size=1, max_size=3
    ),
)
def test_the_matcher_agrees_with_ripgrep(tmp_path_factory, parts, pattern):
    folder = tmp_path_factory.mktemp("tree")
    path = folder.joinpath(*parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    text = "/".join(pattern)
    listed = subprocess.run(
        [program(), "--no-config", "--files", f"--glob={text}", "."],
        cwd=folder,
        capture_output=True,
        check=False,
    ).stdout
    # ripgrep's pattern may also name a folder above the file; ours names files.
    if text.endswith("**") or not any(
        matcher(text)("/".join(parts[:n])) for n in range(1, len(parts))
    ):
        assert matcher(text)("/".join(parts)) == bool(listed)
