from typing import Any

import pytest

from kova_ls.llm._chat_calls import ChatCalls


def piece(identity: str | None, name: str | None, arguments: Any, **more: Any) -> dict[str, Any]:
    return {"id": identity, "function": {"name": name, "arguments": arguments}, **more}


def taken(*pieces: dict[str, Any]) -> list[tuple[str, str, str]]:
    calls = ChatCalls()
    for one in pieces:
        calls.take(one)
    return [(call.id, call.name, call.arguments) for call in calls.calls]


@pytest.mark.parametrize(
    "pieces",
    [
        [piece(None, "a", '{"p":1}'), piece(None, "a", '{"p":2}')],
        [piece("", "a", '{"p":1}', index=0), piece("", "a", '{"p":2}', index=0)],
        [
            piece(None, "a", '{"p"'),
            piece(None, None, ":1}"),
            piece(None, "a", '{"p":'),
            piece(None, "", "2}"),
        ],
        [piece(None, "a", {"p": 1}), piece(None, "a", {"p": 2})],
    ],
)
def test_calls_without_ids_begin_with_a_name_and_a_brace(pieces: list[dict[str, Any]]):
    assert taken(*pieces) == [("", "a", '{"p":1}'), ("", "a", '{"p":2}')]


@pytest.mark.parametrize("index", [{}, {"index": 0}, {"index": None}])
def test_calls_that_share_a_number_are_told_apart_by_id(index: dict[str, Any]):
    assert taken(
        piece("1", "a", '{"p"', **index),
        piece("1", None, ":1}", **index),
        piece("2", "a", '{"p":', **index),
        piece("2", "a", "2}", **index),
        piece("3", "b", "", **index),
    ) == [("1", "a", '{"p":1}'), ("2", "a", '{"p":2}'), ("3", "b", "")]


@pytest.mark.parametrize("index", [{}, {"index": 2}])
def test_one_call_may_repeat_its_name_and_change_its_id(index: dict[str, Any]):
    whole = [("1", "a", '{"p":1}')]
    assert taken(piece("1", "a", '{"p"', **index), piece("1", "a", ":1}", **index)) == whole
    assert taken(piece("1", "a", '{"p"', **index), piece("2", "a", ":1}", **index)) == whole
    assert taken(piece("1", "a", '{"p"', **index), piece("2", None, ":1}", **index)) == whole
    assert taken(piece("1", "a", '{"p":1}', **index), piece("1", "a", "", **index)) == whole


def test_pieces_of_calls_that_run_side_by_side_find_theirs():
    assert taken(
        piece("1", "a", "", index=1),
        piece("2", "b", "", index=2),
        piece(None, None, "{", index=1),
        piece(None, None, "{", index=2),
        piece(None, None, "}", index=1),
        piece(None, None, "}", index=2),
    ) == [("1", "a", "{}"), ("2", "b", "{}")]
    assert taken(
        piece("1", "a", "{"), piece("2", "b", "{"), piece("1", None, "}"), piece("2", None, "}")
    ) == [("1", "a", "{}"), ("2", "b", "{}")]


def test_an_empty_object_may_stand_for_nothing_yet():
    assert taken(piece("1", "a", "{}", index=0), piece(None, None, '{"p":', index=0)) == [
        ("1", "a", '{"p":')
    ]
