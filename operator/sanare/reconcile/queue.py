"""A keyed, de-duplicating queue with delays: a key is never in two workers, and a change is never lost."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Self

from sanare.api.incident import Incident


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """One Incident by name."""

    namespace: str
    name: str

    @classmethod
    def of(cls, incident: Incident) -> Self:
        """The key of an Incident."""
        return cls(incident.metadata.namespace, incident.metadata.name)

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


class KeyedQueue:
    """Keys that are due, in the order in which they became due. `now` is monotonic, in seconds."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._due: dict[Key, float] = {}
        self._heap: list[tuple[float, int, Key]] = []
        self._busy: set[Key] = set()
        self._order = count()
        self._changed = asyncio.Event()

    def __len__(self) -> int:
        return len(self._due)

    def add(self, key: Key, *, after: float = 0.0) -> None:
        """Make the key due in `after` seconds, or earlier where it is due earlier already."""
        at = self._now() + after
        if self._due.get(key, at + 1) <= at:
            return
        self._due[key] = at
        heapq.heappush(self._heap, (at, next(self._order), key))
        self._changed.set()

    async def take(self) -> Key:
        """The next key that is due; it is busy until `done` is called."""
        while True:
            key, wait = self._next()
            if key is not None:
                self._busy.add(key)
                return key
            self._changed.clear()
            try:
                async with asyncio.timeout(wait):
                    await self._changed.wait()
            except TimeoutError:
                continue

    def done(self, key: Key) -> None:
        """The worker is through with the key; what was added meanwhile is due again."""
        self._busy.discard(key)
        self._changed.set()

    def _next(self) -> tuple[Key | None, float | None]:
        """A due key that no worker has, else the seconds until one is due (None: not before a change)."""
        held: list[tuple[float, int, Key]] = []
        found: Key | None = None
        wait: float | None = None
        while self._heap and found is None:
            at, order, key = self._heap[0]
            if self._due.get(key) != at:
                heapq.heappop(self._heap)  # made due earlier since
            elif key in self._busy:
                held.append(heapq.heappop(self._heap))
            elif at > (now := self._now()):
                wait = at - now
                break
            else:
                heapq.heappop(self._heap)
                del self._due[key]
                found = key
            del order
        for entry in held:
            heapq.heappush(self._heap, entry)
        return found, wait
