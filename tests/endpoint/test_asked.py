import asyncio
import json

import pytest

from kova_ls.endpoint.asked import Asked


@pytest.fixture
def sent():
    return []


@pytest.fixture
def asked(sent):
    def write(data: bytes) -> None:
        sent.append(json.loads(data.partition(b"\r\n\r\n")[2]))

    return Asked(write)


async def put(asked, timeout_s=5.0):
    task = asyncio.ensure_future(asked.ask("a/b", {"x": 1}, timeout_s))
    await asyncio.sleep(0)
    return task


async def test_an_answer_reaches_who_asked(asked, sent):
    task = await put(asked)
    assert sent[0]["method"] == "a/b"
    asked.answered(sent[0]["id"], {"result": 7})
    assert await task == 7


async def test_a_refusal_is_an_error(asked, sent):
    task = await put(asked)
    asked.answered(sent[0]["id"], {"error": {"message": "no"}})
    with pytest.raises(ConnectionError, match="no"):
        await task


async def test_out_of_time_it_is_taken_back(asked, sent):
    with pytest.raises(TimeoutError):
        await (await put(asked, 0.0))
    assert sent[1] == {
        "jsonrpc": "2.0",
        "method": "$/cancelRequest",
        "params": {"id": sent[0]["id"]},
    }
    asked.answered(sent[0]["id"], {"result": 7})


async def test_it_ends_with_the_connection(asked):
    task = await put(asked)
    asked.lose()
    with pytest.raises(ConnectionError, match="gone"):
        await task
