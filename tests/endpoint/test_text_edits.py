from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kova_ls.endpoint.text_edits import Edit, apply_change, edits, offset_of, to_lsp

PIECES = st.sampled_from(
    ["a", "b", "let x = 1", "\n", "\r\n", "\r", "\f", "\u2028", "\x85", "😀", "é", "\ufeff", ""]
)
TEXTS = st.lists(PIECES, max_size=30).map("".join)


def applied(text: str, changes: list[Edit]) -> str:
    """All offsets are of the text before."""
    for start, stop, put in reversed(changes):
        text = text[:start] + put + text[stop:]
    return text


def lsp_applied(text: str, wired: list[dict[str, Any]]) -> str:
    """Apply as an editor does: positions are of the text before, so from the last to the first."""
    for edit in reversed(wired):
        text = apply_change(text, {"range": edit["range"], "text": edit["newText"]})
    return text


def in_units(text: str, line: int, character: int) -> str:
    """What stands before a position, counted in UTF-16 as an editor counts."""
    return text.split("\n")[line].encode("utf-16-le")[: 2 * character].decode("utf-16-le")


@given(TEXTS, TEXTS)
@example("", "")
@example("", "a")
@example("a", "")
@example("a\r\n", "a\n")
@example("a\n", "a\r\n")
@example("a", "a\n")
@example("😀x\n", "😁x\n")
def test_edits_lead_from_the_old_text_to_the_new(old: str, new: str) -> None:
    found = edits(old, new)
    assert applied(old, found) == new
    assert lsp_applied(old, to_lsp(old, found)) == new


@given(TEXTS, TEXTS)
def test_edits_are_in_order_apart_and_outside_of_line_ends(old: str, new: str) -> None:
    found = edits(old, new)
    last = -1
    for start, stop, put in found:
        assert last < start <= stop <= len(old)
        assert (start, put) != (stop, "")
        for offset in (start, stop):
            assert old[offset - 1 : offset + 1] != "\r\n" or offset == 0
        last = stop


@given(TEXTS, TEXTS)
def test_positions_exist_in_the_text_and_never_split_a_character(old: str, new: str) -> None:
    lines = old.split("\n")
    for (start, stop, _), edit in zip(edits(old, new), to_lsp(old, edits(old, new)), strict=True):
        for offset, place in ((start, edit["range"]["start"]), (stop, edit["range"]["end"])):
            assert place["line"] < len(lines)
            before = in_units(old, place["line"], place["character"])
            assert old[:offset].endswith(before)
            assert offset_of(old, place["line"], place["character"]) == offset


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("one\ntwo\nthree\n", "one\nTwo\nthree\n", [(4, 5, "T")]),
        ("a\r\nb\r\n", "a\r\nx\r\nb\r\n", [(3, 3, "x\r\n")]),
        ("a\n", "a", [(1, 2, "")]),
        ("same", "same", []),
        ("x = 1\ny = 2\nz = 3\n", "x = 10\ny = 2\nz = 30\n", [(5, 5, "0"), (17, 17, "0")]),
    ],
)
def test_edits_are_small(old: str, new: str, wanted: list[tuple[int, int, str]]) -> None:
    assert edits(old, new) == wanted


def test_a_large_rewrite_is_bounded_work() -> None:
    old = "".join(f"old {n}\n" for n in range(20_000))
    new = "".join(f"new {n}\n" for n in range(20_000))
    found = edits(old, new)
    assert len(found) == 1
    assert applied(old, found) == new


@pytest.mark.parametrize(
    ("text", "line", "character", "offset"),
    [
        ("a😀b", 0, 3, 2),
        ("a😀b", 0, 2, 2),
        ("a\nb", 5, 0, 3),
        ("a\nb", 0, 99, 1),
        ("a\fb\nc", 1, 0, 4),
        ("a\u2028b\nc", 1, 1, 5),
    ],
)
def test_positions_outside_are_clamped(text: str, line: int, character: int, offset: int) -> None:
    assert offset_of(text, line, character) == offset


@pytest.mark.parametrize(
    ("line", "character", "offset"),
    [(0, 0, 0), (0, 1, 2), (0, 2, 2), (0, 3, 3), (0, 99, 3), (1, 1, 5), (9, 9, 5), (0, -4, 0)],
)
def test_positions_are_clamped_and_pairs_are_not_cut(line, character, offset):
    text = "😀x\nb"
    # Inside the pair is after it, as one of the editors moves it.
    expected = {2: 1, 3: 2, 5: 4}.get(offset, offset)
    assert offset_of(text, line, character) == expected


def test_positions_in_plain_text_are_clamped_too():
    assert [offset_of("ab\ncd", *at) for at in [(0, 1), (0, 9), (1, 9), (5, 0), (1, -3)]] == [
        1,
        2,
        5,
        5,
        3,
    ]


def test_a_change_without_a_range_is_the_whole_text():
    assert apply_change("old", {"text": "new"}) == "new"
