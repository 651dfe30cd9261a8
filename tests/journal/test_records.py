"""What is written stays readable."""

import re
import typing

import pytest

from kova_ls.journal import records as r

UNION = typing.get_args(typing.get_args(r.AnyRecord)[0])


def test_every_record_is_in_the_union_under_its_own_tag():
    classes = {
        value
        for value in vars(r).values()
        if isinstance(value, type) and issubclass(value, r.Record) and value is not r.Record
    }
    assert set(UNION) == classes
    tags = [kind.model_fields["type"].default for kind in UNION]
    assert len(set(tags)) == len(tags)


@pytest.mark.parametrize("kind", UNION, ids=lambda kind: kind.__name__)
def test_a_tag_is_the_name_of_its_class(kind):
    words = re.findall("[A-Z][a-z]+", kind.__name__)
    assert kind.model_fields["type"].default == ".".join(words).lower()


@pytest.mark.parametrize("kind", UNION, ids=lambda kind: kind.__name__)
def test_private_fields_are_fields(kind):
    assert kind.private_fields <= kind.model_fields.keys()


def test_what_the_model_is_told_is_private():
    assert r.ItemCompleted.private_fields == {"result", "context", "images"}
    assert r.ModelReplied.private_fields == {"calls", "opaque", "api"}
