"""Workers: a bounded number of passes at once, fed by a queue that watch events and a periodic list fill."""

from __future__ import annotations

import asyncio
import time
from typing import cast

from sanare import errors, telemetry
from sanare.api.manifest import text
from sanare.kube.client import KubeClient
from sanare.kube.resources import BY_KIND
from sanare.reconcile.queue import Key, KeyedQueue
from sanare.reconcile.reconciler import Reconciler

BACKOFF_FIRST = 1.0  # seconds
BACKOFF_MOST = 60.0
_log = telemetry.logger(__name__)


class Workers:
    """`count` workers and the re-list. Start before kopf: tasks made later would be ended by it."""

    def __init__(self, kube: KubeClient, reconciler: Reconciler, *, count: int, relist: float) -> None:
        self.queue = KeyedQueue(time.monotonic)
        self._kube = kube
        self._reconciler = reconciler
        self._count = count
        self._relist = relist
        self._failures: dict[Key, int] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._busy: set[asyncio.Task[None]] = set()
        self._draining = False

    def start(self, namespaces: tuple[str, ...]) -> None:
        """Begin. `namespaces` are listed again every `relist` seconds; none means all of them."""
        self._tasks = [asyncio.create_task(self._work(), name=f"worker-{n}") for n in range(self._count)]
        self._tasks.append(asyncio.create_task(self._list_again(namespaces or ("",)), name="relist"))

    async def stop(self, *, grace: float) -> None:
        """Take no new key and give running steps `grace` seconds; a step cut off is seen as interrupted later."""
        self._draining = True
        for task in self._tasks:
            if task not in self._busy:
                task.cancel()
        if self._busy:
            await asyncio.wait(self._busy, timeout=grace)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _work(self) -> None:
        me = cast(asyncio.Task[None], asyncio.current_task())
        while not self._draining:
            key = await self.queue.take()
            telemetry.QUEUE_DEPTH.set(len(self.queue))
            self._busy.add(me)
            try:
                await self._pass(key)
            finally:
                self._busy.discard(me)
                self.queue.done(key)

    async def _pass(self, key: Key) -> None:
        try:
            after = await self._reconciler.reconcile(key)
        except Exception as error:  # a worker outlives whatever one Incident does to it
            telemetry.ERRORS.labels(error=type(error).__name__).inc()
            failures = self._failures[key] = self._failures.get(key, 0) + 1
            after = min(BACKOFF_FIRST * 2 ** (failures - 1), BACKOFF_MOST)
            known = isinstance(error, errors.SanareError)
            _log.error("pass failed", incident=str(key), error=str(error), again_in=after, exc_info=not known)
        else:
            self._failures.pop(key, None)
        if after is not None:
            self.queue.add(key, after=after)
        for other in self._reconciler.woken():
            self.queue.add(other)

    async def _list_again(self, namespaces: tuple[str, ...]) -> None:
        while True:
            for namespace in namespaces:
                await self._list(namespace)
            await asyncio.sleep(self._relist)

    async def _list(self, namespace: str) -> None:
        try:
            found = await self._kube.list(BY_KIND["Incident"], namespace)
        except errors.KubeError as error:
            _log.error("incidents could not be listed", namespace=namespace, error=str(error))
            return
        for manifest in found.items:
            self._reconciler.notice(manifest)
        for manifest in found.items:
            self.queue.add(Key(text(manifest, "metadata", "namespace"), text(manifest, "metadata", "name")))
