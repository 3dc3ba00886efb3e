"""Virtual time for the node's state machines: nothing waits, `advance` runs what falls due in order."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable

from sanare_lab.cluster.clock import Clock
from sanare_lab.cluster.node.images import Catalogue, Image
from sanare_lab.cluster.node.lifecycle import Machine, PodLife
from sanare_lab.cluster.node.network import Network
from sanare_lab.cluster.node.volumes import Disks, VolumeReader
from sanare_lab.cluster.objects import Obj
from sanare_lab.cluster.recorder import Recorder
from sanare_lab.cluster.resources import CONFIG_MAPS, EVENTS, NAMESPACES, PODS, SECRETS
from sanare_lab.cluster.store import Store
from sanare_lab.cluster.timers import Timer, Timers

IMAGES = (Image("shop.local/app:1"), Image("shop.local/box:1", kind="shell", entrypoint=()))


class VirtualClock(Clock):
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        super().__init__(1.0)
        self.seconds = 1000.0

    def monotonic(self) -> float:
        return self.seconds


class VirtualTimers(Timers):
    """Timers on that clock."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__(clock)
        self._virtual = clock
        self._heap: list[tuple[float, int, Timer]] = []
        self._order = itertools.count()

    def after(self, seconds: float, run: Callable[[], None]) -> Timer:
        timer = Timer(self, run)
        self._pending.add(timer)
        heapq.heappush(self._heap, (self._virtual.seconds + max(0.0, seconds), next(self._order), timer))
        return timer

    def advance(self, seconds: float) -> None:
        """Run everything that falls due within so many seconds."""
        end = self._virtual.seconds + seconds
        while self._heap and self._heap[0][0] <= end:
            self._virtual.seconds, _, timer = heapq.heappop(self._heap)
            if timer in self:
                timer.fire()
        self._virtual.seconds = end


class Lab:
    """One pod at a time on a node in virtual time."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.timers = VirtualTimers(self.clock)
        self.store = Store(self.clock)
        self.store.create(NAMESPACES, {"metadata": {"name": "shop"}})
        self.disks = Disks()
        self.machine = Machine(
            self.store,
            self.timers,
            Recorder(self.store, "kubelet", "node0"),
            Catalogue(IMAGES),
            Network(self.store),
            VolumeReader(self.store, self.disks),
        )
        self.over: list[PodLife] = []

    def pod(self, *containers: Obj, **spec: object) -> PodLife:
        """A pod that the node has just seen."""
        pod = {
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"nodeName": "node0", "containers": list(containers), **spec},
        }
        life = PodLife(self.machine, self.store.create(PODS, pod), write=lambda _: None, over=self.over.append)
        life.admit()
        return life

    def config_map(self, name: str, **data: str) -> None:
        self.store.create(CONFIG_MAPS, {"metadata": {"name": name, "namespace": "shop"}, "data": data})

    def secret(self, name: str, **data: str) -> None:
        self.store.create(SECRETS, {"metadata": {"name": name, "namespace": "shop"}, "stringData": data})

    def delete(self, life: PodLife) -> None:
        """What the node is told when the pod is deleted."""
        self.store.delete(PODS, "shop", "web")
        life.update(self.store.require(PODS, "shop", "web"))

    def events(self) -> list[tuple[str, str, int]]:
        """Reason, message and count of every event."""
        return [(e["reason"], e["message"], e.get("count") or 1) for e in self.store.list(EVENTS)]

    def messages(self, reason: str) -> list[str]:
        """The messages of the events with that reason."""
        return [message for found, message, _ in self.events() if found == reason]


def app(**fields: object) -> Obj:
    """A container that runs the app."""
    env = [{"name": name, "value": str(value)} for name, value in dict(fields.pop("env", {})).items()]  # type: ignore[call-overload]
    return {"name": "app", "image": "shop.local/app:1", "env": env, **fields}


def shell(script: str, name: str = "app", **fields: object) -> Obj:
    """A container that runs a script."""
    return {"name": name, "image": "shop.local/box:1", "command": ["sh", "-c", script], **fields}


def main(life: PodLife) -> Obj:
    """The status of the first container."""
    status: Obj = life.status()["containerStatuses"][0]
    return status


def waiting(life: PodLife) -> str:
    """Why the first container waits, empty where it does not."""
    return str(main(life)["state"].get("waiting", {}).get("reason", ""))


def condition(life: PodLife, kind: str) -> Obj:
    """A condition of the pod."""
    return next(item for item in life.status()["conditions"] if item["type"] == kind)
