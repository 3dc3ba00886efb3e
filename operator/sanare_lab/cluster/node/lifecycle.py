"""Lifecycle: one pod on the node, from volumes and address over its containers to its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sanare_lab.cluster.node.container import Container
from sanare_lab.cluster.node.images import Catalogue
from sanare_lab.cluster.node.inspection import find
from sanare_lab.cluster.node.network import NODE_IP, Network
from sanare_lab.cluster.node.probes import Finding
from sanare_lab.cluster.node.process import Role
from sanare_lab.cluster.node.run import Listener
from sanare_lab.cluster.node.status import is_past, pod_status
from sanare_lab.cluster.node.volumes import Content, MountError, Mounts, VolumeReader
from sanare_lab.cluster.objects import Obj, dig, name_of, namespace_of, timestamp
from sanare_lab.cluster.recorder import Recorder
from sanare_lab.cluster.store import Store
from sanare_lab.cluster.timers import Timer, Timers

_SANDBOX = 0.5  # seconds to set up volumes and network
_MOUNT_RETRY, _MOUNT_RETRY_MAX = 0.5, 122.0


@dataclass(frozen=True, slots=True)
class Machine:
    """What the node offers to its pods."""

    store: Store
    timers: Timers
    recorder: Recorder
    catalogue: Catalogue
    network: Network
    volumes: VolumeReader


class PodLife:
    """One pod. `write` asks the node to write the pod's status soon; `over` tells it that the pod has ended."""

    def __init__(
        self, machine: Machine, pod: Obj, *, write: Callable[[PodLife], None], over: Callable[[PodLife], None]
    ) -> None:
        self.store, self.timers, self.recorder = machine.store, machine.timers, machine.recorder
        self.catalogue = machine.catalogue
        self.pod = pod
        self.is_closing = False
        self.ip = ""
        self._machine = machine
        self._write = write
        self._over = over
        self._start = timestamp(self.store.clock.now())
        self._scratch: dict[str, Content] = {}
        self._mount_wait = 0.0
        self._timer: Timer | None = None
        self._ending = False
        self.containers = [
            *(Container(self, spec, _init_role(spec)) for spec in dig(pod, "spec", "initContainers") or []),
            *(Container(self, spec, Role.MAIN) for spec in dig(pod, "spec", "containers") or []),
        ]
        if dig(pod, "spec", "initContainers"):
            self._say_initializing()

    @property
    def namespace(self) -> str:
        """The pod's namespace."""
        return namespace_of(self.pod)

    @property
    def asks_cluster_dns(self) -> bool:
        """Whether its resolver is the cluster's: by its policy, which the host's network overrules."""
        policy = dig(self.pod, "spec", "dnsPolicy") or "ClusterFirst"
        on_host = dig(self.pod, "spec", "hostNetwork")
        return policy == "ClusterFirstWithHostNet" or (policy == "ClusterFirst" and not on_host)

    def admit(self) -> None:
        """Begin: the node has seen the pod."""
        self._write(self)
        self._after(_SANDBOX, self._set_up)

    def now(self) -> float:
        """Seconds of the cluster's own time."""
        return self.store.clock.monotonic()

    def find(self, name: str) -> Container | None:
        """A container by name; the only one where the name is empty."""
        if not name:
            mains = [item for item in self.containers if item.role is Role.MAIN]
            return mains[0] if mains else None
        return next((item for item in self.containers if item.name == name), None)

    def downward(self) -> dict[str, str]:
        """The status fields that a container may ask for."""
        return {
            "status.podIP": self.ip,
            "status.podIPs": self.ip,
            "status.hostIP": NODE_IP,
            "status.hostIPs": NODE_IP,
            "spec.serviceAccountName": dig(self.pod, "spec", "serviceAccountName") or "default",
        }

    def mounts(self, container: Obj) -> Mounts:
        """The files of a container. Raises MountError."""
        return self._machine.volumes.mounts(self.pod, container, self._scratch)

    def listener(self, port: int, *, local: bool) -> Listener | None:
        """What accepts connections at a port in this pod."""
        for container in self.containers:
            listener = container.listener(port, local=local)
            if listener is not None:
                return listener
        return None

    def ports_beside(self, container: Container) -> set[int]:
        """The ports that the pod's other containers listen on, or will."""
        others = [item.process for item in self.containers if item is not container and item.is_running]
        return {listener.port for process in others if process for listener in process.run.listeners}

    def probe(self, container: Container, probe: Obj) -> Finding:
        """Ask a probe's question."""
        return find(self._machine.network, self, container, probe)

    def fetch(self, url: str) -> int:
        """The HTTP status that a request from this pod gets, 0 for none."""
        return self._machine.network.fetch(url, self)

    def status(self) -> Obj:
        """The pod's status now."""
        host_network = dig(self.pod, "spec", "hostNetwork")
        return pod_status(
            self.pod,
            self.containers,
            ip=self.ip or (NODE_IP if host_network else ""),
            host_ip=NODE_IP,
            has_sandbox=bool(self.ip),
            start=self._start,
            now=timestamp(self.store.clock.now()),
        )

    def _set_up(self) -> None:
        try:
            self._machine.volumes.contents(self.pod, self._scratch)
        except MountError as exc:
            self.recorder.warning(self.pod, "FailedMount", str(exc))
            self._mount_wait = min(self._mount_wait * 2 or _MOUNT_RETRY, _MOUNT_RETRY_MAX)
            return self._after(self._mount_wait, self._set_up)
        network = self._machine.network
        self.ip = NODE_IP if dig(self.pod, "spec", "hostNetwork") else network.allocate()
        network.join(self)
        return self._advance()

    def _advance(self) -> None:
        """Start what may start now: the next init container, or all others."""
        for container in self.containers:
            if container.role is Role.MAIN:
                break
            if not is_past(container):
                if _is_untouched(container):
                    container.begin()
                return
        for container in self.containers:
            if container.role is Role.MAIN and _is_untouched(container):
                container.state = {"waiting": {"reason": "ContainerCreating"}}
                container.begin()

    def changed(self, container: Container) -> None:
        """A container's status is another: go on with the next one, or end."""
        if container.role is not Role.MAIN and is_past(container) and not self._ending:
            self._advance()
        mains = [item for item in self.containers if item.role is Role.MAIN]
        if not self.is_closing and all(item.done for item in mains):
            self.is_closing = True
            for sidecar in self._running(Role.SIDECAR):
                sidecar.stop(0.2)
        self._write(self)
        if self._ending:
            self._finish()

    def update(self, pod: Obj) -> None:
        """The pod object is another: deletion has begun, an image was changed in place, or a gate was opened."""
        old, self.pod = self.pod, pod
        if pod["metadata"].get("deletionTimestamp"):
            if not self._ending:
                self._terminate()
        elif pod.get("spec") is not old.get("spec"):
            self._redefine(pod)
        elif dig(pod, "spec", "readinessGates"):
            self._write(self)

    def _redefine(self, pod: Obj) -> None:
        specs = [*(dig(pod, "spec", "initContainers") or []), *(dig(pod, "spec", "containers") or [])]
        by_name: Mapping[str, Obj] = {spec["name"]: spec for spec in specs}
        for container in self.containers:
            if container.name in by_name:
                container.redefine(by_name[container.name])

    def _terminate(self) -> None:
        self._ending = self.is_closing = True
        if self._timer is not None:
            self._timer.cancel()
        grace = float(self.pod["metadata"].get("deletionGracePeriodSeconds", 30))
        for container in self.containers:
            if container.is_running:
                self.recorder.normal(self.pod, "Killing", f"Stopping container {container.name}", container.field)
            container.stop(grace)
        self._finish()

    def _finish(self) -> None:
        if not any(container.is_running for container in self.containers):
            self._after(0.1, lambda: self._over(self))

    def discard(self) -> None:
        """The pod object is gone: free everything."""
        for container in self.containers:
            container.discard()
        if self._timer is not None:
            self._timer.cancel()
        if self.ip:
            self._machine.network.leave(self)

    def _running(self, role: Role) -> list[Container]:
        return [item for item in self.containers if item.role is role and item.is_running]

    def _say_initializing(self) -> None:
        for container in self.containers:
            container.state = {"waiting": {"reason": "PodInitializing"}}

    def _after(self, seconds: float, run: Callable[[], None]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.timers.after(seconds, run)

    def __repr__(self) -> str:
        return f"PodLife({self.namespace}/{name_of(self.pod)})"


def _init_role(spec: Obj) -> Role:
    return Role.SIDECAR if spec.get("restartPolicy") == "Always" else Role.INIT


def _is_untouched(container: Container) -> bool:
    return (
        container.process is None
        and not container.last
        and not container.is_pending
        and dig(container.state, "waiting", "reason") in ("PodInitializing", "ContainerCreating")
    )
