"""Waiting for something to change: watches on the kinds of the scope, told as one signal."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Self

from sanare import errors
from sanare.kube.client import KubeClient
from sanare.kube.resources import BY_KIND

_DEBOUNCE = 0.5  # seconds: one rollout step is several events
_WATCH_SECONDS = 240
_CLOSE_SECONDS = 5.0
_RETRY = 2.0  # seconds between two watches of one kind, however the first one ended


class Changes:
    """Watches of some kinds in one namespace. Where one may not be watched, the caller's time-outs still poll."""

    def __init__(
        self,
        kube: KubeClient,
        namespace: str,
        kinds: Iterable[str],
        versions: Mapping[str, str],
        *,
        retry: float = _RETRY,
    ) -> None:
        self._kube = kube
        self._namespace = namespace
        self._versions = {kind: versions[kind] for kind in kinds if kind in versions}
        self._retry = retry
        self._changed = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._closed = False

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(self._follow(kind, since)) for kind, since in self._versions.items()]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed = True
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_CLOSE_SECONDS)

    async def wait(self, seconds: float) -> None:
        """Return a moment after the next change, or after `seconds`."""
        try:
            async with asyncio.timeout(max(seconds, _DEBOUNCE)):
                await self._changed.wait()
                await asyncio.sleep(_DEBOUNCE)
        except TimeoutError:
            pass
        self._changed.clear()

    async def _follow(self, kind: str, since: str) -> None:
        while not self._closed:
            try:
                async for event in self._kube.watch(
                    BY_KIND[kind], self._namespace, since=since, seconds=_WATCH_SECONDS
                ):
                    since = str(event.object.get("metadata", {}).get("resourceVersion") or since)
                    if event.type != "BOOKMARK":
                        self._changed.set()
            except errors.Gone:
                since = ""  # the present state, then its changes
            except errors.Unreachable:
                pass  # the caller polls meanwhile
            except errors.KubeError:
                return  # no right to watch: the caller polls
            await asyncio.sleep(self._retry)
