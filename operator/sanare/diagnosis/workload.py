"""Workloads as the analyzers see them: template, containers, the pods of the current revision, their states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from sanare.api.manifest import Manifest, Ref, dig, items, labels, mapping, number, owners, text
from sanare.diagnosis.patch import Pointer, set_variable
from sanare.evaluator.snapshot import Snapshot
from sanare.kubectl.tool import Command

# Where each kind keeps its pod template. A bare Pod is its own template.
_TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "Deployment": ("spec", "template"),
    "StatefulSet": ("spec", "template"),
    "DaemonSet": ("spec", "template"),
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
    "Job": ("spec", "template"),
    "Pod": (),
}
_REVISION = "deployment.kubernetes.io/revision"
_ByOwner: TypeAlias = Mapping[tuple[str, str], Sequence[Manifest]]


class Group(StrEnum):
    """Which list of the pod spec a container stands in."""

    MAIN = "containers"
    INIT = "initContainers"


@dataclass(frozen=True, slots=True)
class Container:
    """One container of a template, and its place in it."""

    spec: Manifest
    group: Group
    index: int

    @property
    def name(self) -> str:
        """Its name."""
        return text(self.spec, "name")

    @property
    def image(self) -> str:
        """Its image, as written."""
        return text(self.spec, "image")


@dataclass(frozen=True, slots=True)
class State:
    """What the kubelet says of one container of one pod.

    Attributes:
        waiting: reason of the waiting state, empty where it does not wait.
        ended: reason of the last termination (`Error`, `OOMKilled`, `StartError`), empty where there was none.
        exit_code: of the last termination, 0 where there was none.
        message: messages of the waiting and the terminated state, joined.
        running: whether a process runs now.
        pulled: whether the node has had its image.
    """

    pod: Manifest
    waiting: str
    ended: str
    exit_code: int
    message: str
    running: bool
    ready: bool
    restarts: int
    pulled: bool

    @property
    def was_killed(self) -> bool:
        """Whether its last end was a signal, as the kubelet sends for a failed probe; an event may not say so."""
        return self.exit_code in (128 + 9, 128 + 15) and self.ended != "OOMKilled"

    @property
    def crashed(self) -> bool:
        """Whether its last end was a failure that it has not got over."""
        return bool(self.ended) and self.exit_code != 0 and not (self.running and self.ready)


@dataclass(frozen=True, slots=True)
class Workload:
    """A controller or a bare pod, with the pods that run its present template.

    Attributes:
        pods: pods of the newest revision; pods of older ones say nothing about the present template.
        revisions: older ReplicaSets, newest first.
    """

    manifest: Manifest
    pods: tuple[Manifest, ...]
    revisions: tuple[Manifest, ...] = ()

    @property
    def ref(self) -> Ref:
        """The reference of the controller."""
        return Ref.of(self.manifest)

    @property
    def name(self) -> str:
        """Its name."""
        return text(self.manifest, "metadata", "name")

    @property
    def path(self) -> tuple[str, ...]:
        """Where its pod spec stands."""
        return (*_TEMPLATES[text(self.manifest, "kind")], "spec")

    @property
    def pod_spec(self) -> Manifest:
        """The pod spec of its template."""
        return mapping(self.manifest, *self.path)

    @property
    def pod_labels(self) -> Mapping[str, str]:
        """The labels that its pods get."""
        return labels(mapping(self.manifest, *_TEMPLATES[text(self.manifest, "kind")]))

    @property
    def match_labels(self) -> Mapping[str, str]:
        """What its own selector asks for; empty for kinds without one."""
        return mapping(self.manifest, "spec", "selector", "matchLabels")

    @property
    def containers(self) -> tuple[Container, ...]:
        """Init containers first, in the order they run."""
        return tuple(containers_of(self.pod_spec))

    def pointer(self, container: Container, *rest: str | int) -> Pointer:
        """The JSON pointer of a container's field."""
        return (*self.path, container.group.value, container.index, *rest)

    def set_variable(self, container: Container, entry: Manifest) -> Command:
        """The command that sets one `env` entry of a container."""
        return set_variable(self.ref, (*self.path, container.group.value), container.spec, entry)

    def field(self, container: Container, rest: str) -> str:
        """A container's field as people write it."""
        return f"{'.'.join(self.path)}.{container.group.value}[{container.name}].{rest}"

    def states(self, container: Container) -> tuple[State, ...]:
        """What the kubelet says of that container, one for each current pod that has a status for it."""
        return tuple(state for pod in self.pods for state in _states(pod, container))

    @property
    def is_settled(self) -> bool:
        """Whether the present template runs everywhere it should, ready."""
        if text(self.manifest, "kind") not in ("Deployment", "StatefulSet", "DaemonSet"):
            return bool(self.pods) and all(is_ready(pod) or succeeded(pod) for pod in self.pods)
        status = mapping(self.manifest, "status")
        if number(status, "observedGeneration") < number(self.manifest, "metadata", "generation"):
            return False
        # More pods than updated ones: pods of an older template still stand in for those that do not come up.
        if number(status, "replicas") > self._updated and self.ref.kind == "Deployment":
            return False
        return min(self._counted("readyReplicas", "numberReady"), self._updated) >= self.wanted

    @property
    def is_proven(self) -> bool:
        """Whether the present template is seen to run: settled, and not because it should have no pod at all."""
        return self.is_settled and self.wanted > 0

    @property
    def wanted(self) -> int:
        """How many pods it should have."""
        if text(self.manifest, "kind") == "DaemonSet":
            return number(self.manifest, "status", "desiredNumberScheduled")
        return number(self.manifest, "spec", "replicas", default=1)

    @property
    def _updated(self) -> int:
        return self._counted("updatedReplicas", "updatedNumberScheduled")

    def _counted(self, *fields: str) -> int:
        return max(number(self.manifest, "status", field) for field in fields)


def containers_of(pod_spec: Manifest) -> Iterator[Container]:
    """The containers of a pod spec: init containers first."""
    for group in (Group.INIT, Group.MAIN):
        for index, spec in enumerate(items(pod_spec, group.value)):
            yield Container(spec, group, index)


def is_ready(pod: Manifest) -> bool:
    """Whether the pod's Ready condition is True and it is not being deleted."""
    conditions = items(pod, "status", "conditions")
    going = dig(pod, "metadata", "deletionTimestamp") is not None
    return not going and any(text(c, "type") == "Ready" and text(c, "status") == "True" for c in conditions)


def succeeded(pod: Manifest) -> bool:
    """Whether the pod ran to its end."""
    return text(pod, "status", "phase") == "Succeeded"


def workloads_of(snapshot: Snapshot) -> tuple[Workload, ...]:
    """Every workload of the namespace, each with its current pods."""
    present = (pod for pod in snapshot.all("Pod") if dig(pod, "metadata", "deletionTimestamp") is None)
    owned = {
        "Pod": _by_owner(present),
        "ReplicaSet": _by_owner(snapshot.all("ReplicaSet")),
        "Job": _by_owner(snapshot.all("Job")),
    }
    top = (m for kind in _TEMPLATES for m in snapshot.all(kind) if not any(owners(m)))
    return tuple(_workload(manifest, owned) for manifest in top)


def _by_owner(manifests: Iterable[Manifest]) -> _ByOwner:
    """By the kind and name of who owns them: looked up for every workload, so that a namespace is read once."""
    found: dict[tuple[str, str], list[Manifest]] = {}
    for manifest in manifests:
        for key in dict.fromkeys((owner.kind, owner.name) for owner in owners(manifest)):
            found.setdefault(key, []).append(manifest)
    return found


def _workload(manifest: Manifest, owned: Mapping[str, _ByOwner]) -> Workload:
    kind = text(manifest, "kind")
    if kind == "Pod":
        return Workload(manifest, (manifest,))
    if kind == "Deployment":
        sets = sorted(_children(manifest, owned["ReplicaSet"]), key=_revision, reverse=True)
        newest, older = sets[:1], sets[1:]
        return Workload(manifest, tuple(_pods(newest, owned["Pod"])), tuple(older))
    if kind == "CronJob":
        return Workload(manifest, tuple(_pods(_children(manifest, owned["Job"]), owned["Pod"])))
    return Workload(manifest, tuple(_pods([manifest], owned["Pod"])))


def _children(owner: Manifest, among: _ByOwner) -> Sequence[Manifest]:
    mine = Ref.of(owner)
    return among.get((mine.kind, mine.name), ())


def _pods(parents: Iterable[Manifest], pods: _ByOwner) -> list[Manifest]:
    return [pod for parent in parents for pod in _children(parent, pods)]


def _revision(replica_set: Manifest) -> int:
    value = text(replica_set, "metadata", "annotations", _REVISION)
    return int(value) if value.isdigit() else 0


def _states(pod: Manifest, container: Container) -> Iterator[State]:
    group = "initContainerStatuses" if container.group is Group.INIT else "containerStatuses"
    for status in items(pod, "status", group):
        if text(status, "name") == container.name:
            yield _state(pod, status)


def _state(pod: Manifest, status: Manifest) -> State:
    now, last = mapping(status, "state", "terminated"), mapping(status, "lastState", "terminated")
    ended = now or last
    messages = (text(status, "state", "waiting", "message"), text(ended, "message"))
    return State(
        pod=pod,
        waiting=text(status, "state", "waiting", "reason"),
        ended=text(ended, "reason"),
        exit_code=number(ended, "exitCode"),
        message=" ".join(message for message in messages if message),
        running="running" in mapping(status, "state"),
        ready=status.get("ready") is True,
        restarts=number(status, "restartCount"),
        pulled=bool(text(status, "imageID")),
    )
