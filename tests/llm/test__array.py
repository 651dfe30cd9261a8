from hypothesis import given
from hypothesis import strategies as st

from kova_ls.llm._array import GrowingArray

ELEMENTS = st.lists(st.sampled_from([b"", b"1", b"22", b'{"a":3}']), max_size=8)


def test_elements_stand_between_commas_and_empty_ones_are_left_out():
    assert GrowingArray().enclosed(b"[", [b"1", b"", b"2"], b"]") == b"[1,2]"
    assert GrowingArray().enclosed(b"[", [b"", b"1"], b"]") == b"[1]"
    assert GrowingArray().enclosed(b"[", [b""], b"]") == b"[]"


@given(st.lists(ELEMENTS, max_size=6))
def test_what_was_joined_before_never_shows(conversations: list[list[bytes]]):
    growing = GrowingArray()
    for elements in conversations:
        whole = b"[" + b",".join(filter(None, elements)) + b"]"
        assert growing.enclosed(b"[", tuple(elements), b"]") == whole
        assert growing.enclosed(b"[", elements, b"]") == whole


def test_the_elements_stay_as_they_are():
    elements = [b"1", b"2"]
    growing = GrowingArray()
    growing.enclosed(b"[", elements, b"]")
    growing.enclosed(b"[", [b"3"], b"]")
    assert elements == [b"1", b"2"]
