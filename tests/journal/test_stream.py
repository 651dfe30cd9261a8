"""Append, then announce."""

import pytest

from kova_ls.errors import RequestFailed
from kova_ls.journal import store
from kova_ls.journal.records import SessionRenamed
from kova_ls.journal.store import Journal
from kova_ls.journal.stream import Delta, Stream


def titled(text):
    return SessionRenamed(title=text, by="tester")


@pytest.fixture
def stream(tmp_path):
    journal = Journal.create(tmp_path / "journal.jsonl")
    yield Stream(journal)
    journal.close()


def append(stream, text):
    return stream.append(titled(text), 0, lambda: None)


def titles(heard):
    return [fact.record.title for fact in heard]


DELTA = Delta(0, "t", "s", "i", "reply", 0, "x")


def test_a_record_is_written_and_applied_before_it_is_told(stream):
    order = []
    stream.subscribe(lambda fact: order.append(("told", stream.journal.seq)))
    stream.append(titled("a"), 0, lambda: order.append(("applied", stream.journal.seq)))
    assert order == [("applied", 1), ("told", 1)]


def test_what_could_not_be_written_is_neither_applied_nor_told(stream, monkeypatch):
    order = []
    stream.subscribe(order.append)
    monkeypatch.setattr(store.os, "write", lambda fd, data: 0)
    with pytest.raises(RequestFailed):
        stream.append(titled("a"), 0, lambda: order.append("applied"))
    assert order == []


def test_a_subscriber_that_raises_is_dropped_alone(stream, caplog):
    heard = []

    def broken(_fact):
        raise ZeroDivisionError

    stream.subscribe(broken)
    stream.subscribe(heard.append)
    append(stream, "a")
    append(stream, "b")
    assert titles(heard) == ["a", "b"]
    assert caplog.text.count("a subscriber failed and was dropped") == 1


def test_who_left_hears_no_more(stream):
    heard = []
    leave = stream.subscribe(heard.append)
    append(stream, "a")
    leave()
    leave()
    append(stream, "b")
    assert titles(heard) == ["a"]


async def test_what_is_held_is_told_in_order_after_the_commit(stream):
    heard = []
    stream.subscribe(heard.append)
    async with stream.synced():
        append(stream, "a")
        stream.tell(DELTA)
        append(stream, "b")
        assert heard == []
    assert [getattr(fact, "seq", "delta") for fact in heard] == [1, "delta", 2]
    assert stream.journal._synced_seq == 2


async def test_who_comes_while_it_is_held_has_read_it_already(stream):
    """A snapshot holds everything in the journal, told or not."""
    heard = []
    async with stream.synced():
        append(stream, "a")
        stream.subscribe(heard.append)
        append(stream, "b")
    assert titles(heard) == ["b"]


async def test_what_was_written_is_told_even_when_the_commit_fails(stream, monkeypatch):
    heard = []
    stream.subscribe(heard.append)

    def fail(_fd):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(store.os, "fdatasync", fail)
    with pytest.raises(RequestFailed):
        async with stream.synced():
            append(stream, "a")
    assert titles(heard) == ["a"]
