"""Changes: what the store tells subscribers, and the bounded history that a watch resumes from."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Self, TypeAlias

from sanare_lab.cluster.objects import Obj
from sanare_lab.cluster.resources import ResourceType

ChangeType: TypeAlias = Literal["ADDED", "MODIFIED", "DELETED"]


@dataclass(frozen=True)
class Change:
    """One change of one object. `old` is what it was before, None for a new one."""

    type: ChangeType
    resource: ResourceType
    object: Obj
    old: Obj | None
    version: int

    @cached_property
    def encoded(self) -> bytes:
        """The object as JSON, made once for all watches."""
        return json.dumps(self.object, separators=(",", ":")).encode()


class Subscription:
    """Changes in order, unbounded: a reader that falls behind loses nothing. Close it, or use it as a context."""

    def __init__(self, log: ChangeLog, keys: frozenset[str]) -> None:
        self._log = log
        self.keys = keys
        self._queue: asyncio.Queue[Change] = asyncio.Queue()

    def offer(self, change: Change) -> None:
        """Append a change (the log calls this)."""
        self._queue.put_nowait(change)

    async def get(self) -> Change:
        """The next change, waiting for it."""
        return await self._queue.get()

    def waiting(self) -> list[Change]:
        """The changes that are there already."""
        return [self._queue.get_nowait() for _ in range(self._queue.qsize())]

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Change:
        return await self._queue.get()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """No more changes."""
        self._log.unsubscribe(self)


class ChangeLog:
    """Fan-out of changes, and the latest `limit` changes of each kind. Listeners are called at once."""

    def __init__(self, limit: int, *, since: int) -> None:
        self._limit = limit
        self._since = since
        self._history: dict[str, deque[Change]] = {}
        self._forgotten: dict[str, int] = {}
        self._subscriptions: list[Subscription] = []
        self.listeners: list[Callable[[Change], None]] = []

    def append(self, change: Change) -> None:
        """Remember a change and tell it."""
        key = change.resource.key
        history = self._history.setdefault(key, deque())
        history.append(change)
        if len(history) > self._limit:
            self._forgotten[key] = history.popleft().version
        for listener in self.listeners:
            listener(change)
        for subscription in self._subscriptions:
            if not subscription.keys or key in subscription.keys:
                subscription.offer(change)

    def forget(self) -> None:
        """Lose all history: every watch from an earlier version is then told 410."""
        for key, history in self._history.items():
            if history:
                self._forgotten[key] = history[-1].version
                history.clear()

    def is_too_old(self, resource: ResourceType, version: int) -> bool:
        """Whether changes after this version may be forgotten."""
        return version < self._forgotten.get(resource.key, self._since)

    def since(self, resource: ResourceType, version: int) -> Iterable[Change]:
        """The remembered changes of a kind after a version, oldest first."""
        return [change for change in self._history.get(resource.key, ()) if change.version > version]

    def subscribe(self, *resources: ResourceType) -> Subscription:
        """Changes from now on, of these kinds or of all."""
        subscription = Subscription(self, frozenset(resource.key for resource in resources))
        self._subscriptions.append(subscription)
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        """Forget a subscription; a second time does nothing."""
        self._subscriptions = [other for other in self._subscriptions if other is not subscription]
