"""Turns that wait for a person."""

import asyncio

from kova_ls.engine.waiters import Waiter


async def test_a_waiter_is_woken_once():
    waiter = Waiter(asyncio.get_running_loop().create_future(), lambda by: None)
    waiter.wake()
    waiter.wake()
    await waiter.future
