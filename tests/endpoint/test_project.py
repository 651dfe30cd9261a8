"""From records to what editors are told."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kova_ls.endpoint.framing import Framer
from kova_ls.endpoint.project import Projector, bounded, payload_of
from kova_ls.journal import records as r
from kova_ls.journal.store import Stored
from kova_ls.journal.stream import Delta
from kova_ls.values import (
    Approval,
    CommandBlock,
    DiffBlock,
    EditSubject,
    FileChange,
    ReplyItem,
    TableBlock,
    TextPart,
    ToolCallItem,
    UserMessageItem,
    Verdict,
)
from kova_ls.vocabulary import Decision, Detail, ItemStatus

LIMIT = 256 * 1024


def item(**more):
    return ToolCallItem(
        item_id="c",
        call_id="c",
        tool="bash",
        title="t",
        verdict=Verdict(decision=Decision.ALLOW),
        status=ItemStatus.OK,
        **{"args": {}, **more},
    )


HUGE = {
    "a long argument": item(args={"content": "x" * 3_000_000}),
    "many arguments": item(args={f"key {n}": n for n in range(200_000)}),
    "long keys": item(args={f"{n}" + "k" * 300_000: n for n in range(5)}),
    "many numbers": item(args={"list": list(range(300_000))}),
    "many texts": item(args={"list": ["word"] * 300_000}),
    "deep lists": item(args={"list": [[["x"] * 100] * 100] * 100}),
    "signs": item(args={"content": "\u0001\n😀" * 200_000}),
    "output": item(display=(CommandBlock(command="c", cwd_path="/", output="y" * 900_000),)),
    "diffs": item(
        display=tuple(
            DiffBlock(uri="file:///a", change="modify", diff="+z\n" * 9_000) for _ in range(40)
        )
    ),
    "a table": item(display=(TableBlock(columns=("a", "b"), rows=(("x", "y"),) * 90_000),)),
    "a reply": ReplyItem(item_id="r", status=ItemStatus.OK, text="é" * 900_000),
    "a prompt": UserMessageItem(
        item_id="u", input=tuple(TextPart(text="t" * 9_000) for _ in range(90))
    ),
}


@pytest.mark.parametrize("what", HUGE)
def test_no_event_is_larger_than_a_message_may_be(what):
    stored = Stored(1, 0.0, r.ItemCompleted(turn_id="t", step_id="s", item=HUGE[what]))
    projector = Projector("session", "epoch")
    framed = projector.frame(stored, Detail.DELTAS)
    assert len(framed) <= LIMIT
    (body,) = Framer().feed(framed)
    event = json.loads(body)["params"]
    assert event["payload"]["item"]["itemId"] == HUGE[what].item_id
    assert "more" in json.dumps(event["payload"], ensure_ascii=False) or what in {
        "deep lists",
        "a table",
    }
    assert projector.event(stored, Detail.DELTAS).seq == 1
    r.ItemCompleted.model_validate(event["payload"])


def test_no_card_is_larger_than_a_message_may_be():
    files = tuple(
        FileChange(uri=f"file:///{n}", change="modify", diff="+line\n" * 10_000) for n in range(30)
    )
    card = Approval(
        approval_id="s.a",
        session_id="s",
        turn_id="t",
        call_id="c",
        kind="tool",
        title="t",
        subject=EditSubject(files=files),
        decisions=("deny", "once"),
        requested_at=0.0,
    )
    framed = Projector("s", "e").frame(
        Stored(1, 0, r.ApprovalRequested(approval=card)), Detail.TURNS
    )
    assert len(framed) <= LIMIT
    assert b"characters more" in framed


@given(
    st.recursive(
        st.text() | st.integers(-(2**60), 2**60) | st.none(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=30,
    ).map(lambda value: {"value": value})
)
def test_what_fits_is_not_touched(args):
    record = r.ItemCompleted(item=item(args=args))
    assert (
        json.loads(payload_of(record))["item"]["args"]
        == json.loads(record.item.model_dump_json(exclude_none=True))["args"]
    )


def test_what_the_model_is_told_does_not_travel():
    record = r.ItemCompleted(item=item(), result="secret", context=("secret",))
    assert b"secret" not in payload_of(record)
    call = r.CallRequest(call_id="c", provider_id="p", tool="bash", arguments="secret")
    reply = r.ModelReplied(turn_id="t", step_id="s", calls=(call,), opaque=({"k": "secret"},))
    assert b"secret" not in payload_of(reply)


def test_the_envelope_names_turn_step_and_item_once():
    stored = Stored(7, 1.5, r.ItemCompleted(turn_id="t", step_id="s", item=item()))
    (body,) = Framer().feed(Projector("session", "epoch").frame(stored, Detail.DELTAS))
    message = json.loads(body)
    assert message["method"] == "kova/event"
    event = message["params"]
    payload = event.pop("payload")
    assert event == {
        "sessionId": "session",
        "epoch": "epoch",
        "seq": 7,
        "at": 1.5,
        "turnId": "t",
        "stepId": "s",
        "itemId": "c",
        "type": "item.completed",
    }
    assert payload.keys() == {"item"}


def test_a_delta_may_hold_half_a_character():
    delta = Delta(0, "t", None, "i", "reply", 0, "a\ud800b")
    (body,) = Framer().feed(Projector("s", "e").frame(delta, Detail.DELTAS))
    assert json.loads(body)["params"]["payload"]["text"] == "a?b"


def test_a_fact_is_encoded_once_for_all_editors_of_a_detail():
    projector = Projector("s", "e")
    stored = Stored(1, 0, r.ItemCompleted(item=item()))
    assert projector.frame(stored, Detail.ITEMS) is projector.frame(stored, Detail.ITEMS)
    assert projector.frame(stored, Detail.TURNS) != projector.frame(stored, Detail.ITEMS)


def test_cutting_says_how_much_is_missing():
    text = json.loads(bounded(r.SessionRenamed(title="x" * 300_000, by="y")))["title"]
    assert text.endswith(" characters more]")
    kept = text.partition("…")[0]
    assert f"{300_000 - len(kept):,}" in text
