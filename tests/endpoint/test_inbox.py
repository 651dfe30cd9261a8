import asyncio

import pytest

from kova_ls.endpoint import inbox as module
from kova_ls.endpoint.inbox import Inbox


class Clock:
    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


class Box:
    """An inbox whose messages each take a while."""

    def __init__(self, clock, takes_s=0.0):
        self.seen, self.held, self.settled = [], [], 0
        self.clock, self.takes_s = clock, takes_s
        self.inbox = Inbox(self.handle, hold=self.held.append, settle=self.settle)

    def handle(self, message):
        self.clock.now += self.takes_s
        if message == "bad":
            raise ValueError
        self.seen.append(message)

    def settle(self):
        self.settled += 1

    def put(self, *messages):
        self.inbox.start_round()
        for message in messages:
            self.inbox.put(message)


def test_what_is_quick_is_handled_at_once(clock):
    box = Box(clock)
    box.inbox.open()
    box.put(*range(1000))
    assert box.seen == list(range(1000))
    assert box.held == []


def test_what_comes_before_it_is_open_waits_in_order(clock):
    box = Box(clock)
    box.put(1, 2)
    assert box.seen == []
    box.inbox.open()
    assert (box.seen, box.held, box.settled) == ([1, 2], [True, False], 1)


async def test_who_sends_much_leaves_room_for_others(clock):
    box, other = Box(clock, takes_s=0.015), Box(clock)
    box.inbox.open()
    other.inbox.open()
    box.put(1, 2, 3, 4, 5)
    assert (box.seen, box.held) == ([1, 2], [True])
    other.put("quick")
    assert other.seen == ["quick"]
    box.put(6)
    assert box.seen == [1, 2]
    await asyncio.sleep(0)
    assert box.seen == [1, 2, 3, 4]
    await asyncio.sleep(0)
    assert (box.seen, box.held, box.settled) == ([1, 2, 3, 4, 5, 6], [True, False], 2)


async def test_a_fault_stops_nothing(clock):
    box = Box(clock, takes_s=0.03)
    box.inbox.open()
    faults = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context))
    box.put(1, "bad", 2)
    for _ in range(3):
        await asyncio.sleep(0)
    assert (box.seen, len(faults), box.held) == ([1, 2], 1, [True, False])


def test_all_can_be_taken_out(clock):
    box = Box(clock)
    box.put(1, 2)
    assert box.inbox.take_all() == [1, 2]
    box.inbox.open()
    assert box.seen == []
