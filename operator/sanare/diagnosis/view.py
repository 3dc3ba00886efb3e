"""What the analyzers look at: the snapshot, and the workloads and Services that the incident is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sanare.api.incident import Target
from sanare.api.manifest import Manifest, items, mapping, owners, text
from sanare.diagnosis.likeness import nearness
from sanare.diagnosis.log_reading import is_log
from sanare.diagnosis.workload import Container, State, Workload, is_ready, workloads_of
from sanare.evaluator.snapshot import Answer, Probe, Snapshot


@dataclass(frozen=True, slots=True)
class View:
    """A snapshot seen from one incident.

    Attributes:
        workloads: every workload of the namespace: where candidates may stand.
        targets: the workloads that the incident is about.
        services: the Services that the incident is about.
    """

    snapshot: Snapshot
    workloads: tuple[Workload, ...]
    targets: tuple[Workload, ...]
    services: tuple[Manifest, ...]

    @classmethod
    def of(cls, snapshot: Snapshot, targets: Sequence[Target]) -> View:
        """The targets, the Services before them and the workloads behind these; nothing further away."""
        workloads = workloads_of(snapshot)
        named = [w for w in workloads if _is_named(w, targets, snapshot)]
        fronts = [s for s in snapshot.all("Service") if _is_front(s, targets, snapshot)]
        fronts += [
            s for s in snapshot.all("Service") if s not in fronts and _leads_to(s, named, workloads, snapshot)
        ]
        behind = [w for w in workloads if w not in named and not named and _is_behind(w, fronts, workloads)]
        return cls(snapshot, workloads, tuple(named + behind), tuple(fronts))

    @property
    def troubled(self) -> tuple[Workload, ...]:
        """Targets whose present template does not run everywhere it should, or whose containers keep restarting."""
        return tuple(w for w in self.targets if not w.is_settled or self.is_restarting(w))

    def is_restarting(self, workload: Workload) -> bool:
        """Whether a current pod's container has ended badly, or was killed, as for its liveness probe."""
        states = [state for c in workload.containers for state in workload.states(c)]
        told = any("Liveness probe failed" in message for message in self.events(workload))
        return any(state.crashed or (state.restarts and (told or state.was_killed)) for state in states)

    def behind(self, service: Manifest) -> tuple[Workload, ...]:
        """The workloads whose pods a Service selects."""
        return tuple(w for w in self.workloads if selects(service, w.pod_labels))

    def events(self, workload: Workload) -> tuple[str, ...]:
        """Messages of events about the current pods, oldest first; those of pods that are gone are no evidence."""
        return tuple(text(event, "message") for event in self._events(workload))

    def events_of(self, workload: Workload, container: Container) -> tuple[str, ...]:
        """Messages of events about one container of the current pods, oldest first."""
        field = f"{{{container.name}}}"
        mine = (e for e in self._events(workload) if text(e, "involvedObject", "fieldPath").endswith(field))
        return tuple(text(event, "message") for event in mine)

    def _events(self, workload: Workload) -> list[Manifest]:
        uids = {text(pod, "metadata", "uid") for pod in workload.pods}
        mine = [e for e in self.snapshot.all("Event") if text(e, "involvedObject", "uid") in uids]
        return sorted(mine, key=_last_seen)

    def complaints(self, workload: Workload) -> str:
        """What kubelet and controllers say now: waiting messages, events of pods that are not ready, conditions."""
        states = [state for c in workload.containers for state in workload.states(c)]
        pending = any(not is_ready(pod) for pod in workload.pods)
        events = self.events(workload) if pending else ()
        conditions = [text(c, "message") for c in items(workload.manifest, "status", "conditions")]
        scheduling = [text(c, "message") for pod in workload.pods for c in items(pod, "status", "conditions")]
        return "\n".join([*(s.message for s in states), *events, *conditions, *scheduling])

    def log(self, state: State, container: Container) -> str:
        """The tail of that container's log in that pod."""
        tail = self.snapshot.logs.get(f"{text(state.pod, 'metadata', 'name')}/{container.name}", "")
        return tail if is_log(tail) else ""

    def logs(self, workload: Workload, container: Container) -> tuple[str, ...]:
        """The log tails of that container in the current pods."""
        return tuple(log for state in workload.states(container) if (log := self.log(state, container)))

    def pod_answers(self, workload: Workload, port: int, path: str = "") -> tuple[Answer, ...]:
        """What requests to current pods at that port met, at that path where one is given.

        Known answers only, and only of pods where a container runs: all others refuse everything.
        """
        states = [state for c in workload.containers for state in workload.states(c)]
        names = {text(state.pod, "metadata", "name") for state in states if state.running}
        return tuple(
            answer
            for probe, answer in self.snapshot.answers.items()
            if probe.kind == "Pod" and probe.name in names and probe.port == str(port) and answer.known
            if not path or probe.path == path
        )

    def reached(self, workload: Workload, port: int) -> bool | None:
        """Whether a current pod answers at that port from outside; None where nobody asked."""
        answers = self.pod_answers(workload, port)
        return any(answer.reached for answer in answers) if answers else None

    def service_answers(self, service: Manifest, port: Manifest) -> tuple[Answer, ...]:
        """What requests through that port of the Service met; known ones only."""
        name = text(service, "metadata", "name")
        ports = {str(port.get("port")), text(port, "name")} - {""}
        return tuple(a for p, a in self.snapshot.answers.items() if _is_probe(p, name, ports) and a.known)

    def neighbours(self, workload: Workload, container: Container) -> Iterator[tuple[Workload, Container]]:
        """The other containers with the same image, of this workload and of all others."""
        for other in self.workloads:
            for candidate in other.containers:
                same = other.ref == workload.ref and candidate.name == container.name
                if candidate.image == container.image and not same:
                    yield other, candidate

    def is_listed(self, kind: str) -> bool:
        """Whether the kind was looked at, so that what is not in the list does not exist."""
        return self.snapshot.is_listed(kind)


def selects(service: Manifest, pod_labels: Mapping[str, str]) -> bool:
    """Whether the Service's selector takes pods with these labels. No selector takes none."""
    selector = mapping(service, "spec", "selector")
    return bool(selector) and all(pod_labels.get(key) == value for key, value in selector.items())


def _last_seen(event: Manifest) -> str:
    return text(event, "lastTimestamp") or text(event, "eventTime") or text(event, "metadata", "creationTimestamp")


def _is_probe(probe: Probe, name: str, ports: set[str]) -> bool:
    return probe.kind == "Service" and probe.name == name and probe.port in ports


def _is_named(workload: Workload, targets: Sequence[Target], snapshot: Snapshot) -> bool:
    names = {(workload.ref.kind, workload.name)}
    for pod in workload.pods:
        names.add(("Pod", text(pod, "metadata", "name")))
        names.update((ref.kind, ref.name) for ref in owners(pod))
    wanted = {(target.kind, target.name) for target in targets}
    return bool(names & wanted) or any(
        kind in ("ConfigMap", "PersistentVolumeClaim") and _mentions(workload.pod_spec, name)
        for kind, name in wanted
        if snapshot.find(kind, name) is not None
    )


def _mentions(value: object, name: str) -> bool:
    """Whether a reference of the pod spec (a field called name, claimName or the like) names it."""
    if isinstance(value, Mapping):
        named = any(value.get(key) == name for key in ("name", "claimName"))
        return named or any(_mentions(inner, name) for inner in value.values())
    return isinstance(value, list) and any(_mentions(inner, name) for inner in value)


def _is_front(service: Manifest, targets: Sequence[Target], snapshot: Snapshot) -> bool:
    wanted = {(target.kind, target.name) for target in targets}
    if ("Service", text(service, "metadata", "name")) in wanted:
        return True
    ingresses = [i for i in snapshot.all("Ingress") if ("Ingress", text(i, "metadata", "name")) in wanted]
    return any(_routes_to(ingress, text(service, "metadata", "name")) for ingress in ingresses)


def _routes_to(ingress: Manifest, service: str) -> bool:
    paths = [p for rule in items(ingress, "spec", "rules") for p in items(rule, "http", "paths")]
    backends = [mapping(p, "backend") for p in paths] + [mapping(ingress, "spec", "defaultBackend")]
    return any(text(backend, "service", "name") == service for backend in backends)


def _leads_to(
    service: Manifest, named: Sequence[Workload], workloads: Sequence[Workload], snapshot: Snapshot
) -> bool:
    """Whether a Service takes, or is plainly meant to take, the pods of one of these workloads.

    A Service that takes nothing is also meant for the only workload there is, while no other Service serves it.
    """
    if any(selects(service, w.pod_labels) for w in named):
        return True
    if not mapping(service, "spec", "selector") or any(selects(service, w.pod_labels) for w in workloads):
        return False
    unserved = not any(selects(other, w.pod_labels) for w in named for other in snapshot.all("Service"))
    return any(is_meant_for(service, w) for w in named) or (bool(named) and len(workloads) == 1 and unserved)


def _is_behind(workload: Workload, fronts: Sequence[Manifest], workloads: Sequence[Workload]) -> bool:
    for service in fronts:
        if selects(service, workload.pod_labels):
            return True
        if not any(selects(service, w.pod_labels) for w in workloads) and is_meant_for(service, workload):
            return True
    return False


def is_meant_for(service: Manifest, workload: Workload) -> bool:
    """Whether names say that the Service belongs to the workload: its own name, or near misses in its selector."""
    if text(service, "metadata", "name") == workload.name:
        return True
    return bool(mapping(service, "spec", "selector")) and all(
        is_slip(str(key), str(value), workload.pod_labels)
        for key, value in mapping(service, "spec", "selector").items()
    )


def is_slip(key: str, value: str, pod_labels: Mapping[str, str]) -> bool:
    """Whether the pair stands among the labels, or one slip of the pen away from a pair that does."""
    if pod_labels.get(key) == value:
        return True
    if key in pod_labels:
        return nearness(value, pod_labels[key]) is not None
    return any(its == value and nearness(key, name) is not None for name, its in pod_labels.items())
