import subprocess

from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot

from kova_ls.tools._diff import counts, shorten, unified


def test_a_change_with_context():
    old = "".join(f"{n}\n" for n in range(1, 21))
    new = old.replace("\n10\n", "\nten\n").replace("\n20\n", "\n20")
    assert unified(old, new, path="n.txt") == snapshot("""\
--- a/n.txt
+++ b/n.txt
@@ -7,7 +7,7 @@
 7
 8
 9
-10
+ten
 11
 12
 13
@@ -17,4 +17,4 @@
 17
 18
 19
-20
+20
\\ No newline at end of file
""")


def test_a_new_file():
    assert unified("", "a\n", path="n.txt", is_new=True) == snapshot("""\
--- /dev/null
+++ b/n.txt
@@ -0,0 +1 @@
+a
""")


def test_nothing_changed():
    assert unified("a", "a", path="n.txt") == ""


def test_beyond_the_bound_the_middle_is_replaced_as_a_whole():
    old = "same\n" + "".join(f"{n}\n" for n in range(6_000)) + "end\n"
    new = "same\n" + "".join(f"{n}\n" for n in range(6_000, 0, -1)) + "end\n"
    assert counts(unified(old, new, path="n")) == (6_000, 6_000)


def test_shorten_counts_what_it_hides():
    diff = unified("", "x\n" * 10, path="n", is_new=True)
    kept, hidden = shorten(diff, max_lines=5)
    assert (kept.count("\n"), hidden) == (5, 8)
    assert shorten(diff) == (diff, 0)
    assert shorten(diff, max_chars=10)[1] == 13


texts = st.lists(st.sampled_from(["a", "b", "c", "", "d\r"]), max_size=30).map("\n".join)


@settings(max_examples=40, deadline=None)
@given(old=texts, new=texts)
def test_patch_applies_the_diff(tmp_path_factory, old, new):
    diff = unified(old, new, path="f")
    if not diff or not old:
        return
    folder = tmp_path_factory.mktemp("patch")
    (folder / "f").write_bytes(old.encode())
    subprocess.run(
        ["patch", "--binary", "-s", "-p1", "--posix", "f"],
        input=diff.encode(),
        cwd=folder,
        check=True,
    )
    left = (folder / "f").read_bytes() if (folder / "f").exists() else b""
    assert left == new.encode()
