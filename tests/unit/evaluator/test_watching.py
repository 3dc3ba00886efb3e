"""Waiting ends with a change, and without the right to watch with the caller's own time-out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Literal, cast

import pytest

from sanare import errors
from sanare.evaluator.watching import Changes
from sanare.kube.client import KubeClient, WatchEvent
from sanare.kube.resources import Resource


class Stream:
    """Plays one list of steps per watch: events, an error that ends it, or silence at the end."""

    def __init__(self, *watches: list[WatchEvent | errors.KubeError]) -> None:
        self._watches = list(watches)
        self.since: list[str] = []

    async def watch(self, resource: Resource, namespace: str, *, since: str, **_: Any) -> AsyncIterator[WatchEvent]:
        self.since.append(since)
        for step in self._watches.pop(0) if self._watches else []:
            if isinstance(step, errors.KubeError):
                raise step
            yield step
        if not self._watches:
            await asyncio.Event().wait()


def change(version: str, kind: Literal["MODIFIED", "BOOKMARK"] = "MODIFIED") -> WatchEvent:
    return WatchEvent(kind, {"metadata": {"resourceVersion": version}})


def watching(stream: Stream, retry: float = 0) -> Changes:
    return Changes(cast(KubeClient, stream), "shop", ["Pod", "Job"], {"Pod": "7"}, retry=retry)


async def ends(stream: Stream, seconds: float) -> bool:
    """Whether waiting ended because of a change, long before its time-out."""
    async with watching(stream) as changes:
        waiting = asyncio.create_task(changes.wait(seconds))
        done, _ = await asyncio.wait({waiting}, timeout=1)
        waiting.cancel()
    return bool(done)


async def test_a_change_ends_the_wait() -> None:
    assert await ends(Stream([change("8")]), 60)


async def test_a_bookmark_is_no_change() -> None:
    assert not await ends(Stream([change("8", "BOOKMARK")]), 60)


async def test_a_watch_goes_on_from_the_list_and_after_its_end_from_the_last_event() -> None:
    stream = Stream(
        [change("8"), change("9", "BOOKMARK")], [], [errors.Gone("too old", status=410)], [change("30")]
    )
    assert await ends(stream, 60)
    assert stream.since == ["7", "9", "9", ""]


@pytest.mark.parametrize(
    "end", [[], [errors.Gone("too old", status=410)], [errors.Unreachable("reset")]], ids=["end", "gone", "broken"]
)
async def test_no_watch_is_opened_again_at_once(end: list[WatchEvent | errors.KubeError]) -> None:
    stream = Stream(end, [change("8")])
    async with watching(stream, retry=60) as changes:
        await changes.wait(0)
    assert stream.since == ["7"]


async def test_without_the_right_to_watch_the_time_out_ends_the_wait() -> None:
    stream = Stream([errors.Forbidden("no", status=403)])
    async with watching(stream) as changes:
        await changes.wait(0)
    assert stream.since == ["7"]


async def test_leaving_stops_the_watches() -> None:
    before = asyncio.all_tasks()
    async with watching(Stream()):
        await asyncio.sleep(0)
    assert asyncio.all_tasks() == before
