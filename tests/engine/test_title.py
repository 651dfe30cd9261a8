import pytest

from kova_ls.engine.title import one_line, title_of
from kova_ls.values import FilePart, TextPart


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("  one\n two\tthree ", "one two three"),
        ("a\x1b[2Jb\u202ec", "a[2Jbc"),
        ("\U0001f469\u200d\U0001f4bb", "\U0001f469\u200d\U0001f4bb"),
        ("\x07\u2066", ""),
    ],
)
def test_one_line_holds_nothing_that_acts(text, shown):
    assert one_line(text) == shown


def test_the_first_line_of_the_first_text_is_the_title():
    parts = (FilePart(uri="file:///a"), TextPart(text=" \n"), TextPart(text="\nFix it.\nSoon."))
    assert title_of(parts) == "Fix it."
    assert title_of(parts[:2]) == "Untitled"


def test_a_long_title_is_cut_and_says_so():
    assert title_of((TextPart(text="x" * 60),)) == "x" * 60
    assert title_of((TextPart(text="x" * 61),)) == "x" * 59 + "…"
