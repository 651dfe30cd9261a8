from kova_ls.llm._json import as_list, as_object, count, enclosed, parse_object


def test_other_shapes_are_empty():
    assert (as_object([1]), as_object({"a": 1})) == ({}, {"a": 1})
    assert (as_list({"a": 1}), as_list([1])) == ([], [1])


def test_only_an_object_parses():
    assert parse_object('{"a":1}') == {"a": 1}
    assert [parse_object(text) for text in ("[]", '"x"', "{", "null", "")] == [None] * 5


def test_a_number_that_is_not_there_counts_nothing():
    usage = {"a": {"b": 3, "c": None, "d": True, "e": 2.0}}
    assert [count(usage, "a", key) for key in "bcdex"] == [3, 0, 0, 2, 0]
    assert count(usage, "x", "y") == 0


def test_elements_stand_between_commas_and_empty_ones_are_left_out() -> None:
    assert enclosed(b"[", [b"1", b"", b"2"], b"]") == b"[1,2]"
    assert enclosed(b"[", [b"1"], b"]") == b"[1]"
    assert enclosed(b"[", [b""], b"]") == b"[]"


def test_the_elements_given_stay_as_they_are() -> None:
    given = [b"1", b"2"]
    enclosed(b"[", given, b"]")
    assert given == [b"1", b"2"]
