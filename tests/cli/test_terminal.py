import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from kova_ls.cli.terminal import (
    Style,
    clip,
    columns,
    shown,
    shown_lines,
    shown_prose,
    wrap,
    wrap_words,
)

ANY_TEXT = st.text(st.characters(exclude_categories=()))


def dangerous(char):
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")


def test_one_line_shows_what_would_act_on_the_terminal():
    assert shown("rm -rf x\n\x1b[2K\rls\u202e\u200b\u00a0\ufe0f\x9b31m") == snapshot(
        "rm -rf x⏎<U+001B>[2K<U+000D>ls<U+202E><U+200B><U+00A0><U+FE0F><U+009B>31m"
    )


def test_lines_stay_lines_and_tabs_are_spaces():
    assert shown_lines("a\tb\r\n\x07c") == ["a    b<U+000D>", "<U+0007>c"]


def test_prose_keeps_emoji_and_letters_of_all_scripts():
    text = "Überraschung ⚠\ufe0f 👩\u200d💻 日本語\nnext"
    assert shown_prose(text) == text


def test_invisible_fillers_are_shown():
    assert shown("a\u3164\u2800\U000e0041\U000e0101b") == snapshot(
        "a<U+3164><U+2800><U+E0041><U+E0101>b"
    )


@given(ANY_TEXT)
def test_nothing_shown_acts_on_the_terminal(text):
    assert not any(map(dangerous, shown(text)))
    assert not any(dangerous(char) for line in shown_lines(text) for char in line)
    kept = set("\n\u200d")
    assert not any(dangerous(char) and char not in kept for char in shown_prose(text))


@given(st.text(st.characters(codec="ascii", categories=("L", "N", "P", "S"))))
def test_plain_text_is_unchanged(text):
    assert shown(text) == text


@given(ANY_TEXT, ANY_TEXT)
def test_a_stream_may_be_cut_anywhere(first, second):
    assert shown_prose(first + second) == shown_prose(first) + shown_prose(second)


@given(ANY_TEXT.map(shown), st.integers(0, 40))
def test_clipped_text_fits(text, width):
    assert columns(clip(text, width)) <= width


@given(ANY_TEXT.map(shown), st.integers(2, 40))
def test_wrapped_text_fits_and_nothing_is_lost(text, width):
    pieces = wrap(text, width)
    assert "".join(pieces) == text
    assert all(columns(piece) <= width for piece in pieces)


@given(ANY_TEXT.map(shown), st.integers(4, 40))
def test_prose_is_broken_between_words_and_no_word_is_lost(text, width):
    pieces = wrap_words(text, width, "  ")
    assert "".join(pieces).replace(" ", "") == text.replace(" ", "")
    assert all(columns(piece) <= width for piece in pieces)


def test_what_prose_goes_on_with_is_indented():
    assert wrap_words("  tee log  it may destroy incomprehensibilities", 16, "    ") == [
        "  tee log  it",
        "    may destroy",
        "    incomprehens",
        "ibilities",
    ]


def test_wide_letters_count_two():
    assert columns("日本") == 4
    assert clip("日本語", 5) == "日本…"


def test_colours_and_signs_only_where_they_exist():
    plain, full = Style(False, False), Style(True, True)
    assert plain.red("x") + plain.sign("✓", "ok") + plain.clip("y" * 90) == "xok" + "y" * 77 + "..."
    assert full.red("x") + full.sign("✓", "ok") == "\x1b[31mx\x1b[0m✓"
    assert full.green("") == ""
