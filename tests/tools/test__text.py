import pytest

from kova_ls.tools._text import digest, line_ends, no_file


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("", "LF"),
        ("a", "LF"),
        ("a\nb\n", "LF"),
        ("a\r\nb\r\n", "CRLF"),
        ("a\r\nb", "CRLF"),
        ("a\r\nb\n", "mixed"),
        ("a\rb", "mixed"),
        ("a\r\r\n", "mixed"),
        ("a\f\u2028\x85b", "LF"),
    ],
)
def test_line_ends(text, ends):
    assert line_ends(text) == ends


def test_a_digest_tells_texts_apart_whatever_they_hold():
    assert digest("a") == digest("a") != digest("b")
    assert digest("\ud800") != digest("\udfff")


def test_no_file_reads_as_nothing():
    assert (no_file().text, no_file().digest) == ("", digest(""))
