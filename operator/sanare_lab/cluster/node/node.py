"""Node: runs the pods that are bound to it, and the scheduler that binds them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from sanare_lab.cluster.clock import Clock
from sanare_lab.cluster.node.images import DEFAULT_IMAGES, Catalogue, Image
from sanare_lab.cluster.node.lifecycle import Machine, PodLife
from sanare_lab.cluster.node.machine import NODE_NAME, node_object
from sanare_lab.cluster.node.network import Network, NoRoute, PodResponse
from sanare_lab.cluster.node.scheduler import Scheduler
from sanare_lab.cluster.node.volumes import Disks, VolumeReader
from sanare_lab.cluster.objects import Obj, dig, name_of, namespace_of, timestamp
from sanare_lab.cluster.recorder import Recorder
from sanare_lab.cluster.resources import NODES, PERSISTENT_VOLUME_CLAIMS, PODS
from sanare_lab.cluster.store import ApiError, Change, Store, Subscription
from sanare_lab.cluster.timers import Timers

_BATCH = 50  # changes handled before others on the loop get their turn
_LOG = logging.getLogger(__name__)


class Node:
    """The one node of the embedded cluster. `start` it once the store has namespaces; `stop` ends every timer."""

    def __init__(
        self, store: Store, clock: Clock, *, images: Iterable[Image] = DEFAULT_IMAGES, max_pods: int = 1100
    ) -> None:
        self._store = store
        self._max_pods = max_pods
        self._timers = Timers(clock)
        self.catalogue = Catalogue(images)
        self.disks = Disks()
        self.network = Network(store)
        self._machine = Machine(
            store,
            self._timers,
            Recorder(store, "kubelet", NODE_NAME),
            self.catalogue,
            self.network,
            VolumeReader(store, self.disks),
        )
        self._scheduler = Scheduler(store, self._timers)
        self._lives: dict[tuple[str, str], PodLife] = {}
        self._dirty: set[PodLife] = set()
        self._flush: asyncio.Handle | None = None
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Register the node, take over the pods there are, follow changes."""
        if self._store.get(NODES, "", NODE_NAME) is None:
            self._store.create(NODES, node_object(timestamp(self._store.clock.now()), self._max_pods))
        subscription = self._store.subscribe(PODS, NODES, PERSISTENT_VOLUME_CLAIMS)
        for pod in self._store.list(PODS):
            self._observe(Change("ADDED", PODS, pod, None, 0))
        self._task = asyncio.create_task(self._follow(subscription), name="node")

    async def stop(self) -> None:
        """End every pod's timers and the node's task. Nothing is written any more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        if self._flush is not None:
            self._flush.cancel()
        self._timers.cancel_all()
        self._lives.clear()
        self._dirty.clear()

    def logs(
        self, namespace: str, pod: str, container: str, *, previous: bool = False, tail_lines: int | None = None
    ) -> str | None:
        """What a container has written, or its run before; None where there was no such run."""
        life = self._lives.get((namespace, pod))
        found = life.find(container) if life else None
        process = (found.previous if previous else found.process) if found else None
        if process is None:
            return None
        lines = process.log(self._store.clock.monotonic())
        if tail_lines is not None:
            lines = lines[-tail_lines:] if tail_lines > 0 else []
        return "".join(f"{line}\n" for line in lines)

    async def http(
        self, namespace: str, pod: str, port: int, method: str, path: str, *, body: bytes = b""
    ) -> PodResponse:
        """One HTTP request to a pod from outside of it. Raises ConnectionRefused or NoRoute. `body` is not read."""
        life = self._lives.get((namespace, pod))
        if life is None or not life.ip:
            raise NoRoute(f"pod {namespace}/{pod} has no address")
        return self.network.request(life.ip, port, method, path)

    async def http_ip(self, ip: str, port: int, method: str, path: str, *, body: bytes = b"") -> PodResponse:
        """The same by address, for endpoints that name no pod."""
        return self.network.request(ip, port, method, path)

    async def _follow(self, subscription: Subscription) -> None:
        with subscription:
            handled = 0
            async for change in subscription:
                self._guarded(change)
                handled += 1
                if handled % _BATCH == 0:
                    await asyncio.sleep(0)

    def _guarded(self, change: Change) -> None:
        try:
            self._observe(change)
        except Exception:
            _LOG.exception("node: %s %s", change.type, name_of(change.object))

    def _observe(self, change: Change) -> None:
        self._scheduler.observe(change)
        if change.resource is PODS:
            self._observe_pod(change.object, gone=change.type == "DELETED")

    def _observe_pod(self, pod: Obj, *, gone: bool) -> None:
        key = (namespace_of(pod), name_of(pod))
        life = self._lives.get(key)
        if gone or (life is not None and life.pod["metadata"]["uid"] != pod["metadata"]["uid"]):
            self._discard(key)
            life = None
        node = dig(pod, "spec", "nodeName")
        if not gone and node and pod["metadata"].get("deletionTimestamp") and not self._store.get(NODES, "", node):
            self._store.remove(PODS, *key)  # nobody is left to end it: what the pod garbage collector does
        if gone or node != NODE_NAME:
            return
        if life is not None:
            life.update(pod)
        elif dig(pod, "status", "phase") not in ("Succeeded", "Failed"):
            life = PodLife(self._machine, pod, write=self._mark, over=self._over)
            self._lives[key] = life
            life.admit()
            life.update(pod)

    def _discard(self, key: tuple[str, str]) -> None:
        life = self._lives.pop(key, None)
        if life is not None:
            life.discard()
            self._dirty.discard(life)

    def _mark(self, life: PodLife) -> None:
        self._dirty.add(life)
        if self._flush is None:
            self._flush = asyncio.get_running_loop().call_soon(self._write_all)

    def _write_all(self) -> None:
        self._flush = None
        dirty, self._dirty = self._dirty, set()
        for life in dirty:
            self._write(life)

    def _write(self, life: PodLife) -> None:
        stored = self._store.get(PODS, life.namespace, name_of(life.pod))
        if stored is None or stored["metadata"]["uid"] != life.pod["metadata"]["uid"]:
            return
        life.pod = {**life.pod, "status": stored.get("status") or {}}
        try:
            self._store.update(PODS, {**stored, "status": life.status()}, subresource="status")
        except ApiError as exc:
            _LOG.warning("node: status of %r: %s", life, exc)

    def _over(self, life: PodLife) -> None:
        if self._lives.get((life.namespace, name_of(life.pod))) is life:
            self._store.remove(PODS, life.namespace, name_of(life.pod))
