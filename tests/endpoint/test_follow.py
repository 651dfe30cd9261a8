"""A slow reader loses deltas first, then is told to come again, and never an event."""

import asyncio

import pytest

from kova_ls.endpoint import outgoing
from kova_ls.journal.store import Stored
from tests.support.stage import Stage, call, say
from tests.support.wire import Wire

MANY = say(["word "] * 20)


def seqs(events):
    return [event["seq"] for event in events if "seq" in event]


async def talk(tmp_path, model, detail="deltas", **kova):
    stage = Stage(tmp_path, model)
    stage.put("a.txt", "x\n")
    wire = Wire(stage)
    await wire.initialize(**kova)
    session = await wire.create(detail=detail)
    await wire.start(session)
    await wire.event("turn.completed")
    await stage.close()
    return wire


async def test_deltas_have_offsets_and_no_number(tmp_path):
    wire = await talk(tmp_path, [MANY])
    deltas = [event for event in wire.events if event["type"] == "item.delta"]
    assert all(event["volatile"] and "seq" not in event for event in deltas)
    text = ""
    for event in deltas:
        assert event["payload"]["offset"] == len(text)
        text += event["payload"]["text"]
    assert text == "word " * 20


async def test_the_editors_latency_merges_deltas(tmp_path):
    wire = await talk(tmp_path, [MANY], capabilities={"events": {"maxLatencyMs": 1000}})
    deltas = [event for event in wire.events if event["type"] == "item.delta"]
    assert len(deltas) == 1
    kinds = [event["type"] for event in wire.events]
    assert kinds.index("item.delta") == kinds.index("item.completed", kinds.index("item.delta")) - 1


async def test_less_detail_leaves_out_deltas_then_bodies_never_an_event(tmp_path):
    everything = await talk(tmp_path / "a", [call("read", path="a.txt"), MANY])
    items = await talk(tmp_path / "b", [call("read", path="a.txt"), MANY], "items")
    turns = await talk(tmp_path / "c", [call("read", path="a.txt"), MANY], "turns")
    assert seqs(everything.events) == seqs(items.events) == seqs(turns.events)
    assert not [e for e in items.events + turns.events if e["type"] == "item.delta"]
    bodies = [e["payload"]["item"] for e in turns.events if e["type"] == "item.completed"]
    assert all(body.keys() <= {"kind", "itemId", "status"} for body in bodies)


@pytest.fixture
def tmp_path(tmp_path):
    for name in "abc":
        (tmp_path / name).mkdir()
    return tmp_path


class Slow:
    """A session whose editor stops reading."""

    def __init__(self, tmp_path, model):
        self.stage = Stage(tmp_path, model)
        self.wire = Wire(self.stage)

    async def start(self):
        await self.wire.initialize()
        self.id = await self.wire.create()
        self.session = self.stage.engine.get(self.id)
        self.stage.listen(self.session)

    async def turn(self):
        self.stage.prompt(self.session, "Go.")
        await self.stage.idle(self.session)

    @property
    def last_seq(self):
        return [fact.seq for fact in self.stage.facts if isinstance(fact, Stored)][-1]


async def test_a_slow_reader_first_loses_deltas(tmp_path):
    slow = Slow(tmp_path, [say(["x" * 100] * 200), MANY])
    await slow.start()
    slow.wire.pipe.is_read = False
    slow.wire.pipe.unread += b"Content-Length: 1200000\r\n\r\n" + b" " * 1_199_998 + b"{}"
    await slow.turn()
    slow.wire.pipe.is_read = True
    slow.wire.pipe.read()
    assert [e for e in slow.wire.events if e["type"] == "item.delta"] == []
    assert seqs(slow.wire.events) == list(range(2, slow.last_seq + 1))
    await slow.turn()
    assert [e for e in slow.wire.events if e["type"] == "item.delta"] != []
    await slow.stage.close()


async def test_a_reader_that_hangs_is_told_to_attach_again_and_gets_everything(tmp_path):
    steps = [call("write", path="a.txt", content="x" * 150_000)] * 3
    slow = Slow(tmp_path, [*steps, say("Done."), say("Again.")])
    await slow.start()
    slow.wire.pipe.is_read = False
    slow.wire.pipe.unread += b"Content-Length: 7900000\r\n\r\n" + b" " * 7_899_998 + b"{}"
    await slow.turn()
    slow.wire.pipe.is_read = True
    slow.wire.pipe.read()
    await slow.wire.until(lambda m: m.get("method") == "kova/resyncRequired")
    assert slow.id not in slow.wire.endpoint.followed
    seen = seqs(slow.wire.events)
    assert seen == list(range(2, seen[-1] + 1))
    assert seen[-1] < slow.last_seq
    await slow.turn()
    cursor = {"epoch": slow.session.state.epoch, "seq": seen[-1]}
    more = True
    while more:
        params = {"sessionId": slow.id, "cursor": cursor}
        page = await slow.wire.result("kova/session/attach", params)
        seen += [event["seq"] for event in page["events"]]
        cursor, more = page["watermark"], page.get("more", False)
    assert seen == list(range(2, slow.last_seq + 1))
    await slow.stage.close()


async def test_an_editor_that_detached_hears_no_more(tmp_path):
    slow = Slow(tmp_path, [MANY])
    await slow.start()
    await slow.wire.result("kova/session/detach", {"sessionId": slow.id})
    await slow.turn()
    assert slow.wire.events == []
    await slow.stage.close()


async def test_attaching_while_a_card_is_put_on_the_disk_doubles_nothing(tmp_path):
    slow = Slow(tmp_path, [call("bash", command="make"), say("Done.")])
    await slow.start()
    slow.stage.prompt(slow.session, "Go.")
    two = Wire(slow.stage, slow.wire.hub)
    await two.initialize()
    while not slow.session.state.approvals:
        await asyncio.sleep(0)
    attached = await two.result("kova/session/attach", {"sessionId": slow.id})
    approval = await slow.stage.waiting(slow.session)
    slow.stage.respond(slow.session, approval, "deny")
    await slow.stage.idle(slow.session)
    first = attached["watermark"]["seq"] + 1
    assert seqs(two.events) == list(range(first, slow.last_seq + 1))
    await slow.stage.close()


async def test_who_reads_nothing_at_all_is_cut_off_and_harms_no_other(tmp_path, monkeypatch):
    monkeypatch.setattr(outgoing, "_MAX_UNREAD_BYTES", 20_000)
    slow = Slow(tmp_path, [MANY])
    await slow.start()
    other = Wire(slow.stage, slow.wire.hub)
    await other.initialize()
    slow.wire.pipe.is_read = False
    for number in range(100):
        slow.wire.send({"jsonrpc": "2.0", "id": number, "method": "kova/tool/list"})
    while not slow.wire.pipe.is_closed:
        await asyncio.sleep(0)
    await other.result("kova/session/attach", {"sessionId": slow.id})
    await slow.turn()
    assert not other.pipe.is_closed
    await slow.stage.close()
