import pytest

from kova_ls.llm._json import as_list, as_object, count, mended_object, parse_object


def test_other_shapes_are_empty():
    assert (as_object([1]), as_object({"a": 1})) == ({}, {"a": 1})
    assert (as_list({"a": 1}), as_list([1])) == ([], [1])


def test_only_an_object_parses():
    assert parse_object('{"a":1}') == {"a": 1}
    assert [parse_object(text) for text in ("[]", '"x"', "{", "null", "")] == [None] * 5


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ('{"a": 1 }', '{"a": 1 }'),
        ('{"a": "x\ny\tz"}', '{"a": "x\\ny\\tz"}'),
        ('{"a": "\\ud83d"}', '{"a": "?"}'),
        ('"{\\"a\\": 1}"', '{"a": 1}'),
        ("null", "{}"),
        ("[]", "{}"),
        ('""', "{}"),
        ("[1]", None),
        ("1", None),
        ('"x"', None),
        ('{"a": NaN}', None),
        ('{"a": 1}{"a": 1}', None),
        ('{"a": ', None),
        ("[" * 100_000, None),
    ],
)
def test_an_object_is_mended_where_its_meaning_is_plain(text: str, mended: str | None):
    assert mended_object(text) == mended


def test_a_number_that_is_not_there_counts_nothing():
    usage = {"a": {"b": 3, "c": None, "d": True, "e": 2.0}}
    assert [count(usage, "a", key) for key in "bcdex"] == [3, 0, 0, 2, 0]
    assert count(usage, "x", "y") == 0
