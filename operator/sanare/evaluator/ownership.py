"""Which pods belong to which workload, and which of them follow the workload's present template. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sanare.api.manifest import Manifest, dig, items, labels, mapping, number, owners, text
from sanare.evaluator.snapshot import Snapshot

# What may stand at the top of an owner chain and has a pod template.
TEMPLATED = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job", "CronJob")
_REVISION = "deployment.kubernetes.io/revision"
_DAEMON_GENERATION = "deprecated.daemonset.template.generation"


def key(manifest: Manifest) -> str:
    """How an object is called here and in every message: `Deployment/web`."""
    return f"{text(manifest, 'kind')}/{text(manifest, 'metadata', 'name')}"


def scale_target(scaler: Manifest) -> str:
    """What a HorizontalPodAutoscaler scales, as `key` calls it."""
    target = mapping(scaler, "spec", "scaleTargetRef")
    return f"{text(target, 'kind')}/{text(target, 'name')}"


def is_terminating(manifest: Manifest) -> bool:
    """Whether its deletion has begun."""
    return bool(text(manifest, "metadata", "deletionTimestamp"))


def pod_template(workload: Manifest) -> Mapping[str, Any]:
    """The pod template of a workload; a bare pod is its own."""
    kind = text(workload, "kind")
    if kind == "Pod":
        return workload
    if kind == "CronJob":
        return mapping(workload, "spec", "jobTemplate", "spec", "template")
    return mapping(workload, "spec", "template")


def containers(template: object) -> Iterator[tuple[Manifest, bool]]:
    """Every container of a pod or template, and whether it is an init container."""
    for container in items(template, "spec", "initContainers"):
        yield container, True
    for container in items(template, "spec", "containers"):
        yield container, False


def selects(selector: Mapping[str, str], found: Mapping[str, str]) -> bool:
    """Whether a plain label selector matches; an empty one matches nothing, as with Services."""
    return bool(selector) and all(found.get(name) == value for name, value in selector.items())


def service_selector(service: Manifest) -> Mapping[str, str]:
    """spec.selector of a Service."""
    return mapping(service, "spec", "selector")


@dataclass(frozen=True, slots=True)
class Ownership:
    """The owner chains of one snapshot.

    Attributes:
        workloads: top-level workloads by key, bare pods included.
        pods: pods of each workload by its key, terminating ones included.
        owner: pod name to the key of its workload.
        outdated: names of pods that belong to an earlier revision of their workload.
    """

    workloads: Mapping[str, Manifest]
    pods: Mapping[str, tuple[Manifest, ...]]
    owner: Mapping[str, str]
    outdated: frozenset[str]
    _current: dict[str, tuple[Manifest, ...]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def current(self, workload: str) -> tuple[Manifest, ...]:
        """The workload's pods of its present revision that are not being deleted."""
        if workload not in self._current:
            self._current[workload] = tuple(
                pod
                for pod in self.pods.get(workload, ())
                if not is_terminating(pod) and text(pod, "metadata", "name") not in self.outdated
            )
        return self._current[workload]

    def old(self, workload: str) -> tuple[Manifest, ...]:
        """The workload's pods of earlier revisions that still exist."""
        return tuple(pod for pod in self.pods.get(workload, ()) if text(pod, "metadata", "name") in self.outdated)


def ownership(snapshot: Snapshot) -> Ownership:
    """Follow the controller references of every pod to the top."""
    by_uid = {text(item, "metadata", "uid"): item for kind in TEMPLATED for item in snapshot.all(kind)}
    workloads = {key(item): item for item in by_uid.values() if _top(item, by_uid) is item}
    pods: dict[str, list[Manifest]] = {}
    owner: dict[str, str] = {}
    outdated: set[str] = set()
    for pod in snapshot.all("Pod"):
        name = text(pod, "metadata", "name")
        controller = next(owners(pod), None)
        direct = by_uid.get(controller.uid) if controller else None
        if direct is not None:
            top = _top(direct, by_uid)
            owner[name] = key(top)
            if _is_outdated(pod, direct, top):
                outdated.add(name)
        elif controller is not None:
            owner[name] = str(controller)
        else:
            owner[name] = key(pod)
            workloads[key(pod)] = pod
        pods.setdefault(owner[name], []).append(pod)
    return Ownership(workloads, {name: tuple(found) for name, found in pods.items()}, owner, frozenset(outdated))


def _top(item: Manifest, by_uid: Mapping[str, Manifest]) -> Manifest:
    for _ in range(3):  # Pod, ReplicaSet, Deployment or Pod, Job, CronJob: no chain is longer
        controller = next(owners(item), None)
        above = by_uid.get(controller.uid) if controller else None
        if above is None:
            break
        item = above
    return item


def _is_outdated(pod: Manifest, direct: Manifest, top: Manifest) -> bool:
    kind = text(top, "kind")
    if kind == "Deployment":
        revision = text(top, "metadata", "annotations", _REVISION)
        return bool(revision) and text(direct, "metadata", "annotations", _REVISION) != revision
    if kind == "StatefulSet":
        update = text(top, "status", "updateRevision")
        mine = labels(pod).get("controller-revision-hash", "")
        return bool(update) and mine != update and number(top, "status", "observedGeneration") > 0
    if kind == "DaemonSet":
        mine = labels(pod).get("pod-template-generation", "")
        return bool(mine) and mine != text(top, "metadata", "annotations", _DAEMON_GENERATION)
    return False


def follows_template(pod: Manifest, workload: Manifest) -> str:
    """What of the pod differs from the template that it should follow: a field path, or an empty string.

    Admission may add to a pod, so only what the template states is compared.
    """
    present = {text(container, "name"): container for container, _ in containers(pod)}
    for container, _ in containers(pod_template(workload)):
        name = text(container, "name")
        found = present.get(name)
        if found is None:
            return f"spec.containers[{name}]"
        for part in ("image", "command", "args"):
            if dig(container, part) != dig(found, part):
                return f"spec.containers[{name}].{part}"
        if any(entry not in items(found, "env") for entry in items(container, "env")):
            return f"spec.containers[{name}].env"
    return ""
