from types import SimpleNamespace

import pytest

from kova_ls.engine.call_item import CallItem
from kova_ls.journal import records as r
from kova_ls.permission.facts import Ruling
from kova_ls.tools import by_name
from kova_ls.values import Reason
from kova_ls.vocabulary import Decision, ItemStatus

REFUSED = Ruling(Decision.BLOCKED, (Reason(code="notRun", text="No."),))


class Session:
    """Records, and keeps the entry open between its start and its end."""

    def __init__(self):
        self.facts = []
        self.state = SimpleNamespace(open_items=())
        self.stream = SimpleNamespace(tell=self.facts.append)
        self.engine = SimpleNamespace(now=lambda: 1.0)

    def record(self, record):
        self.facts.append(record)
        self.state.open_items = (record.item,) if isinstance(record, r.ItemStarted) else ()


def entry(session, tool="read", arguments="{}"):
    request = r.CallRequest(call_id="c1", provider_id="p1", tool=tool, arguments=arguments)
    return CallItem(session, "t1", "s1", request)


def test_an_entry_is_started_once_and_found_until_it_ended():
    session = Session()
    item = entry(session, arguments='{"path": "a.txt"}')
    tool = by_name("read")
    args = tool.args(path="a.txt")
    item.start(tool, args, REFUSED, ItemStatus.WAITING)
    item.start(tool, args, REFUSED, ItemStatus.RUNNING)
    started = item.find()
    assert (started.title, started.status) == ("Read a.txt", ItemStatus.WAITING)
    assert started.verdict.reasons == REFUSED.reasons
    item.complete(started, ItemStatus.ERROR, "for the model", error="for people")
    assert item.find() is None
    assert [fact.type for fact in session.facts] == ["item.started", "item.completed"]
    ended = session.facts[-1]
    assert (ended.item.status, ended.item.error, ended.result) == (
        ItemStatus.ERROR,
        "for people",
        "for the model",
    )


@pytest.mark.parametrize(
    ("arguments", "args"),
    [
        ('{"a": 1}', {"a": 1}),
        ("", {}),
        ("[1]", {"arguments": [1]}),
        ('{"a": ', {"arguments": '{"a": '}),
    ],
)
def test_what_the_model_wrote_is_kept_also_where_no_tool_can_read_it(arguments, args):
    session = Session()
    item = entry(session, "no_such_tool", arguments)
    item.start(None, None, REFUSED, ItemStatus.WAITING)
    assert (item.find().args, item.find().title) == (args, "no_such_tool")


def test_pieces_of_output_say_where_they_stand():
    session = Session()
    item = entry(session)
    item.tell("one")
    item.tell("two")
    assert [(delta.item_id, delta.offset, delta.text) for delta in session.facts] == [
        ("c1", 0, "one"),
        ("c1", 3, "two"),
    ]
