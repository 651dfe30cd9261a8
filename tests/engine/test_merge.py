from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kova_ls.engine.merge import carried, joined, merge, regions
from kova_ls.tools._diff import line_changes, split_lines

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\r\n", "\n", "e\f\n"]), max_size=12)
TEXTS = st.builds(lambda lines, last: "".join(lines) + last, LINES, st.sampled_from(["", "z"]))


def bare(text: str) -> list[str]:
    return [line.rstrip("\n") for line in split_lines(text)]


def added(base: str, side: str) -> Counter[str]:
    before, after = split_lines(base), split_lines(side)
    found: Counter[str] = Counter()
    for tag, _, _, k, m in line_changes(before, after):
        if tag != "equal":
            found.update(line.rstrip("\n") for line in after[k:m])
    return found


@given(TEXTS, TEXTS, TEXTS)
def test_regions_make_up_all_three_texts(base: str, ours: str, theirs: str) -> None:
    parts = tuple(map(split_lines, (base, ours, theirs)))
    found = regions(*parts)
    for number, part in enumerate(parts):
        spans = [(r.base, r.ours, r.theirs)[number] for r in found]
        assert [line for span in spans for line in part[slice(*span)]] == part
        assert [span[0] for span in spans[1:]] == [span[1] for span in spans[:-1]]
    for region in found:
        lines = [
            part[slice(*span)]
            for part, span in zip(parts, (region.base, region.ours, region.theirs), strict=True)
        ]
        if region.kind == "same":
            assert lines[0] == lines[1] == lines[2]
        elif region.kind == "ours":
            assert lines[0] == lines[2]
        elif region.kind == "theirs":
            assert lines[0] == lines[1]
        elif region.kind == "both":
            assert lines[1] == lines[2]


@given(TEXTS, TEXTS, TEXTS)
def test_a_merge_holds_what_either_side_wrote(base: str, ours: str, theirs: str) -> None:
    merged = merge(base, ours, theirs)
    if merged is not None:
        held = Counter(bare(merged))
        for side in (ours, theirs):
            assert not added(base, side) - held


@given(TEXTS, TEXTS)
def test_one_side_alone_is_the_merge(base: str, side: str) -> None:
    assert merge(base, side, base) == side
    assert merge(base, base, side) == side
    assert merge(base, side, side) == side
    assert carried(base, side, side) == base
    assert carried(base, base, side) == side


@given(TEXTS, TEXTS, TEXTS)
def test_what_is_carried_loses_nothing_that_the_person_wrote(
    base: str, written: str, present: str
) -> None:
    assert not added(written, present) - Counter(bare(carried(base, written, present)))


@given(st.data())
def test_changes_of_different_lines_both_stand(data: st.DataObject) -> None:
    base = [f"line {n}\n" for n in range(12)]
    touched = data.draw(st.lists(st.sampled_from(["ours", "theirs", ""]), min_size=12, max_size=12))
    ours = [f"ours {n}\n" if who == "ours" else base[n] for n, who in enumerate(touched)]
    theirs = ["" if who == "theirs" else base[n] for n, who in enumerate(touched)]
    both = [theirs[n] if who == "theirs" else ours[n] for n, who in enumerate(touched)]
    assert merge("".join(base), "".join(ours), "".join(theirs)) == "".join(both)


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        ("a\nb\nc\n", "a\nB\nc\n", "a\nb\nC\n", "a\nB\nC\n"),
        ("a\nb\n", "a\nX\n", "a\nY\n", None),
        ("a\nb\n", "a\nx\nb\n", "a\ny\nb\n", None),
        ("a\nb\n", "a\nx\nb\n", "a\nx\nb\n", "a\nx\nb\n"),
        ("a\n", "a", "a\nb\n", "a\nb\n"),
        ("a\nb\nc\n", "b\nc\n", "a\nb\nc\nd\n", "b\nc\nd\n"),
    ],
)
def test_merges(base: str, ours: str, theirs: str, merged: str | None) -> None:
    assert merge(base, ours, theirs) == merged


def test_joined_gives_a_line_its_end_back() -> None:
    assert joined(["a", "b\n", "c"]) == "a\nb\nc"
