import asyncio

import pytest

from kova_ls.endpoint.outgoing import Outgoing


class Line(asyncio.WriteTransport):
    def __init__(self) -> None:
        super().__init__()
        self.writes: list[bytes] = []
        self.is_closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.writes.append(bytes(data))

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        self.is_closed = True

    def get_write_buffer_size(self) -> int:
        return 10


@pytest.fixture
def line():
    return Line()


@pytest.fixture
def out(line):
    out = Outgoing()
    out.transport = line
    return out


async def test_frames_of_one_round_leave_together(out, line):
    out.write(b"a")
    out.write(b"b")
    assert (line.writes, out.n_waiting) == ([], 12)
    await asyncio.sleep(0)
    assert (line.writes, out.n_waiting) == ([b"ab"], 10)


async def test_one_that_hurries_takes_along_what_waits(out, line):
    out.write(b"a")
    out.write_now(b"b")
    await asyncio.sleep(0)
    assert line.writes == [b"ab"]


async def test_what_was_written_goes_out_before_the_end(out, line):
    out.write(b"a")
    out.close()
    assert (line.writes, line.is_closed) == ([b"a"], True)
    out.write_now(b"b")
    assert line.writes == [b"a"]


async def test_without_a_connection_nothing_waits(out, line):
    out.transport = None
    out.write_now(b"a")
    out.write(b"b")
    assert out.n_waiting == 0
    out.close()
    assert line.writes == []
