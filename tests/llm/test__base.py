import dataclasses

import pytest

from kova_ls.llm import _base
from kova_ls.llm._base import ModelReply, TextContent, UserMessage
from kova_ls.values import Usage
from kova_ls.vocabulary import Outcome

SHAPES = [one for one in vars(_base).values() if dataclasses.is_dataclass(one)]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda one: one.__name__)
def test_a_shape_never_changes(shape: type):
    assert shape.__dataclass_params__.frozen  # pyright: ignore[reportAttributeAccessIssue]
    assert not hasattr(shape, "__dict__") or "__slots__" in vars(shape)


def test_messages_compare_by_what_they_say():
    assert UserMessage((TextContent("a"),)) == UserMessage((TextContent("a"),))


def test_an_empty_reply_is_complete():
    reply = ModelReply()
    assert (reply.outcome, reply.error, reply.calls) == (Outcome.COMPLETE, None, ())
    assert reply.usage == Usage()
