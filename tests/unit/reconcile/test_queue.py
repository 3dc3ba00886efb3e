"""The queue: no key twice at once, none lost, each when it is due."""

from __future__ import annotations

import asyncio

import pytest

from sanare.reconcile.queue import Key, KeyedQueue

A, B = Key("shop", "a"), Key("shop", "b")


class Clock:
    """Monotonic seconds that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def _none_due(queue: KeyedQueue) -> bool:
    task = asyncio.create_task(queue.take())
    for _ in range(3):
        await asyncio.sleep(0)
    done = task.done()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return not done


async def test_a_key_added_twice_comes_once() -> None:
    queue = KeyedQueue(Clock())
    queue.add(A)
    queue.add(A)
    assert await queue.take() == A
    queue.done(A)
    assert await _none_due(queue)


async def test_a_busy_key_waits_for_its_worker_and_the_next_key_does_not() -> None:
    queue = KeyedQueue(Clock())
    queue.add(A)
    assert await queue.take() == A
    queue.add(A)
    queue.add(B)
    assert await queue.take() == B
    assert await _none_due(queue)
    queue.done(A)
    assert await queue.take() == A


async def test_a_change_during_a_pass_is_not_lost_to_a_later_wake_up() -> None:
    clock = Clock()
    queue = KeyedQueue(clock)
    queue.add(A, after=60)
    queue.add(A)
    assert await queue.take() == A
    queue.done(A)
    queue.add(A, after=60)
    assert await _none_due(queue)
    clock.now = 61
    assert await queue.take() == A


async def test_a_later_time_does_not_delay_an_earlier_one() -> None:
    queue = KeyedQueue(Clock())
    queue.add(A)
    queue.add(A, after=60)
    assert await queue.take() == A


async def test_taking_waits_for_an_addition() -> None:
    queue = KeyedQueue(Clock())
    task = asyncio.create_task(queue.take())
    await asyncio.sleep(0)
    queue.add(B)
    assert await asyncio.wait_for(task, 1) == B


@pytest.mark.parametrize("workers", [1, 4])
async def test_no_key_is_ever_in_two_workers(workers: int) -> None:
    queue = KeyedQueue(Clock())
    keys = [Key("shop", str(n)) for n in range(10)]
    running: set[Key] = set()
    passes: dict[Key, int] = dict.fromkeys(keys, 0)

    async def work() -> None:
        while True:
            key = await queue.take()
            assert key not in running
            running.add(key)
            await asyncio.sleep(0)
            passes[key] += 1
            running.discard(key)
            queue.done(key)

    tasks = [asyncio.create_task(work()) for _ in range(workers)]
    for _ in range(5):
        for key in keys:
            queue.add(key)
        await asyncio.sleep(0)
    for _ in range(1000):
        await asyncio.sleep(0)
    assert not len(queue)
    assert not running
    for task in tasks:
        task.cancel()
    assert [e for e in await asyncio.gather(*tasks, return_exceptions=True) if isinstance(e, AssertionError)] == []
    assert all(count >= 1 for count in passes.values())
