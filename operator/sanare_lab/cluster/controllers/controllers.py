"""Controllers: all control loops on one queue. A change becomes keys; a key is reconciled once for many changes."""

from __future__ import annotations

import asyncio
import logging
from typing import TypeAlias

from sanare_lab.cluster.clock import Clock
from sanare_lab.cluster.controllers.accounts import AccountController
from sanare_lab.cluster.controllers.admission import (
    ClaimAdmission,
    LimitAdmission,
    ServiceAccountAdmission,
    TemplateGeneration,
)
from sanare_lab.cluster.controllers.claims import ClaimController
from sanare_lab.cluster.controllers.controller import Controller, Key
from sanare_lab.cluster.controllers.cronjob import CronJobController
from sanare_lab.cluster.controllers.daemonset import DaemonSetController
from sanare_lab.cluster.controllers.deployment import DeploymentController
from sanare_lab.cluster.controllers.endpoints import EndpointsController
from sanare_lab.cluster.controllers.garbage import GarbageCollector
from sanare_lab.cluster.controllers.job import JobController
from sanare_lab.cluster.controllers.namespaces import NamespaceController
from sanare_lab.cluster.controllers.quota import QuotaAdmission, QuotaController
from sanare_lab.cluster.controllers.replicaset import ReplicaSetController
from sanare_lab.cluster.controllers.statefulset import StatefulSetController
from sanare_lab.cluster.store import Change, Store, Subscription
from sanare_lab.cluster.timers import Timer, Timers

_PAUSE = 0.02  # wall seconds in which changes gather before they are acted on
_BATCH = 10  # reconciles before others on the loop get their turn
_RETRY_FIRST, _RETRY_MAX = 1.0, 60.0
_KINDS: tuple[type[Controller], ...] = (
    AccountController,
    DeploymentController,
    ReplicaSetController,
    StatefulSetController,
    DaemonSetController,
    JobController,
    CronJobController,
    EndpointsController,
    ClaimController,
    QuotaController,
    NamespaceController,
    GarbageCollector,
)
_LOG = logging.getLogger(__name__)
_Work: TypeAlias = tuple[Controller, Key]


class Controllers:
    """Installs the admission hooks when it is made; works between `start` and `stop`."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._timers = Timers(clock)
        self._all = [kind(store) for kind in _KINDS]
        store.hooks += [
            ServiceAccountAdmission(store),
            ClaimAdmission(store),
            LimitAdmission(store),
            TemplateGeneration(),
            QuotaAdmission(store),
        ]
        self._queue: dict[_Work, None] = {}
        self._wake = asyncio.Event()
        self._due: dict[_Work, Timer] = {}
        self._errors: dict[_Work, int] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Look at everything there is, then follow changes."""
        subscription = self._store.subscribe()
        for controller in self._all:
            for key in controller.initial():
                self._add(controller, key)
        self._tasks = [
            asyncio.create_task(self._follow(subscription), name="controllers: changes"),
            asyncio.create_task(self._work(), name="controllers: work"),
        ]

    async def stop(self) -> None:
        """End tasks and timers; what is queued is forgotten."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []
        self._timers.cancel_all()
        self._queue.clear()
        self._due.clear()

    async def _follow(self, subscription: Subscription) -> None:
        by_kind: dict[str, list[Controller]] = {}
        for controller in self._all:
            for resource in controller.watches:
                by_kind.setdefault(resource.key, []).append(controller)
        everywhere = [controller for controller in self._all if not controller.watches]
        with subscription:
            seen = 0
            async for change in subscription:
                for controller in [*by_kind.get(change.resource.key, ()), *everywhere]:
                    self._observe(controller, change)
                seen += 1
                if seen % _BATCH == 0:
                    await asyncio.sleep(0)  # a full queue never suspends

    def _observe(self, controller: Controller, change: Change) -> None:
        try:
            for key in controller.keys(change):
                self._add(controller, key)
        except Exception:
            _LOG.exception("%s: %s", controller.component, change.type)

    def _add(self, controller: Controller, key: Key) -> None:
        self._queue[controller, key] = None
        self._wake.set()

    async def _work(self) -> None:
        while True:
            await self._wake.wait()
            await asyncio.sleep(_PAUSE)
            self._wake.clear()
            batch, self._queue = self._queue, {}
            for done, (controller, key) in enumerate(batch, 1):
                self._reconcile(controller, key)
                if done % _BATCH == 0:
                    await asyncio.sleep(0)

    def _reconcile(self, controller: Controller, key: Key) -> None:
        work = (controller, key)
        try:
            wait = controller.reconcile(key)
            self._errors.pop(work, None)
        except Exception as exc:
            count = self._errors[work] = self._errors.get(work, -1) + 1
            wait = min(_RETRY_FIRST * 2.0 ** min(count, 10), _RETRY_MAX)
            _LOG.warning("%s: %s: %s", controller.component, "/".join(key), exc, exc_info=count == 0)
        timer = self._due.pop(work, None)
        if timer is not None:
            timer.cancel()
        if wait is not None:
            self._due[work] = self._timers.after(wait, lambda: self._add(controller, key))
