"""Whether a symptom shows, and which sub-faults are repaired: read from objects of the namespace. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from sanare.api.manifest import Manifest, dig, items, labels, mapping, number, text
from sanare_lab.scenarios.scenario import Fault, Scenario, SymptomKind

_PULL = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName")
_WAIT = ("ContainerCreating", "CreateContainerConfigError", "PodInitializing")


@dataclass(frozen=True, slots=True)
class Scene:
    """The objects of a namespace by kind, and whether the function answered with the nonce."""

    objects: Mapping[str, tuple[Manifest, ...]]
    answered: bool

    def all(self, kind: str) -> tuple[Manifest, ...]:
        """Every object of a kind."""
        return self.objects.get(kind, ())

    @property
    def workloads(self) -> tuple[Manifest, ...]:
        """Every Deployment, StatefulSet and DaemonSet."""
        return tuple(item for kind in ("Deployment", "StatefulSet", "DaemonSet") for item in self.all(kind))

    def find(self, kind: str, name: str) -> Manifest | None:
        """One object, or None."""
        return next((item for item in self.all(kind) if text(item, "metadata", "name") == name), None)


def is_proved_broken(scenario: Scenario, scene: Scene) -> bool:
    """Whether symptom and function both show failure while every neighbour is well."""
    return not lacking_proof(scenario, scene)


def lacking_proof(scenario: Scenario, scene: Scene) -> str:
    """What keeps the fault, or the health of a scenario without one, from being proved; or an empty string."""
    if scene.answered is scenario.is_broken:
        answers = "answers" if scene.answered else "does not answer"
        return f"Service/{scenario.function.service} {answers} with the nonce"
    unwell = [text(each, "metadata", "name") for each in _neighbours(scenario, scene) if not is_available(each)]
    if unwell:
        return f"the neighbour {', '.join(unwell)} is not well"
    return "" if shows(scenario, scene) else f"the symptom {scenario.symptom} does not show"


def shows(scenario: Scenario, scene: Scene) -> bool:
    """Whether the scenario's symptom can be seen."""
    return _SIGNS[scenario.symptom](scenario, scene)


def ready_endpoints(scene: Scene, service: str) -> bool:
    """Whether the Service has at least one ready endpoint."""
    slices = [
        slice_
        for slice_ in scene.all("EndpointSlice")
        if labels(slice_).get("kubernetes.io/service-name") == service
    ]
    return any(
        dig(endpoint, "conditions", "ready") is not False
        for slice_ in slices
        for endpoint in items(slice_, "endpoints")
    )


def is_available(workload: Manifest) -> bool:
    """Whether a Deployment, StatefulSet or DaemonSet has every replica available, of the template it has now."""
    status = mapping(workload, "status")
    if text(workload, "kind") == "DaemonSet":
        wanted = number(status, "desiredNumberScheduled")
        updated, available = number(status, "updatedNumberScheduled"), number(status, "numberAvailable")
    else:
        wanted = number(workload, "spec", "replicas", default=1)
        updated, available = number(status, "updatedReplicas"), number(status, "availableReplicas")
    observed = number(status, "observedGeneration") >= number(workload, "metadata", "generation")
    return observed and updated >= wanted and available >= wanted


def repaired(faults: Iterable[Fault], scene: Scene) -> int:
    """How many sub-faults are repaired, by the field of each."""
    return sum(_is_repaired(fault, scene) for fault in faults)


def restarts(scene: Scene) -> Mapping[str, int]:
    """Restart counts by pod name."""
    return {
        text(pod, "metadata", "name"): sum(
            number(status, "restartCount") for status in items(pod, "status", "containerStatuses")
        )
        for pod in scene.all("Pod")
    }


def _is_repaired(fault: Fault, scene: Scene) -> bool:
    kind, _, name = fault.object.partition("/")
    found = scene.find(kind, name)
    value: object = found
    for step in fault.path:
        named = isinstance(value, list) and isinstance(step, str)
        value = _named(value, str(step)) if named else dig(value, step)
    if found is None:
        return fault.path == ("metadata", "name") and None in fault.any_of
    return value in fault.any_of if fault.any_of else value is not None


def _named(entries: object, name: str) -> Manifest | None:
    return next((entry for entry in items({"": entries}, "") if entry.get("name") == name), None)


def _is_reported(scene: Scene) -> bool:
    """Whether the kubelet has said why: a pod that is merely being created waits with the same words."""
    return any(text(event, "type") == "Warning" for event in scene.all("Event"))


def _crashed(status: Manifest) -> bool:
    ended = mapping(status, "lastState", "terminated") or mapping(status, "state", "terminated")
    return bool(ended) and number(ended, "exitCode") != 0 and number(status, "restartCount") > 0


def _all_run(scene: Scene) -> bool:
    """Whether every pod's containers run, ready or not."""
    statuses = [items(pod, "status", "containerStatuses") for pod in scene.all("Pod")]
    return bool(statuses) and all(
        bool(found) and all(dig(status, "state", "running") is not None for status in found) for found in statuses
    )


def _is_unplaced(pod: Manifest) -> bool:
    """Whether the scheduler has said that no node takes the pod."""
    conditions = items(pod, "status", "conditions")
    return any(text(each, "type") == "PodScheduled" and text(each, "status") == "False" for each in conditions)


def _asks_for_none(workload: Manifest) -> bool:
    observed = number(workload, "status", "observedGeneration") >= number(workload, "metadata", "generation")
    return (
        observed
        and not number(workload, "spec", "replicas", default=1)
        and not number(workload, "status", "replicas")
    )


def _targets(scenario: Scenario, scene: Scene) -> list[Manifest]:
    named = {(target.kind, target.name) for target in scenario.incident.spec.targets}
    return [item for item in scene.workloads if (text(item, "kind"), text(item, "metadata", "name")) in named]


def _all_available(scene: Scene) -> bool:
    return all(is_available(workload) for workload in scene.workloads)


def _neighbours(scenario: Scenario, scene: Scene) -> list[Manifest]:
    """The workloads that neither the Incident nor a sub-fault nor the function names."""
    involved = {target.name for target in scenario.incident.spec.targets} | {scenario.function.service}
    involved |= {fault.object.partition("/")[2] for fault in scenario.faults}
    return [item for item in scene.workloads if text(item, "metadata", "name") not in involved]


def _statuses(scene: Scene) -> list[Manifest]:
    parts = ("initContainerStatuses", "containerStatuses")
    return [status for pod in scene.all("Pod") for part in parts for status in items(pod, "status", part)]


def _waits(scene: Scene, reasons: tuple[str, ...]) -> bool:
    return any(text(status, "state", "waiting", "reason") in reasons for status in _statuses(scene))


def _is_unready(scene: Scene) -> bool:
    return _all_run(scene) and any(status.get("ready") is False for status in _statuses(scene))


def _is_served(scenario: Scenario, scene: Scene) -> bool:
    return _all_available(scene) and ready_endpoints(scene, scenario.function.service)


_SIGNS: Mapping[SymptomKind, Callable[[Scenario, Scene], bool]] = {
    SymptomKind.IMAGE_PULL: lambda _, scene: _waits(scene, _PULL),
    SymptomKind.WAITING: lambda _, scene: _waits(scene, _WAIT) and _is_reported(scene),
    SymptomKind.CRASH: lambda _, scene: any(_crashed(status) for status in _statuses(scene)),
    SymptomKind.RESTARTS: lambda _, scene: any(number(each, "restartCount") > 0 for each in _statuses(scene)),
    SymptomKind.NO_ENDPOINTS: lambda scenario, scene: (
        _all_run(scene) and not ready_endpoints(scene, scenario.function.service)
    ),
    SymptomKind.REFUSED: _is_served,
    SymptomKind.FOREIGN: _is_served,
    SymptomKind.PENDING: lambda _, scene: any(_is_unplaced(pod) for pod in scene.all("Pod")),
    SymptomKind.NOT_CREATED: lambda _, scene: any(
        text(event, "reason") == "FailedCreate" for event in scene.all("Event")
    ),
    SymptomKind.NOT_READY: lambda _, scene: _is_unready(scene) and _is_reported(scene),
    SymptomKind.NO_PODS: lambda scenario, scene: any(_asks_for_none(each) for each in _targets(scenario, scene)),
    SymptomKind.NONE: lambda _, scene: _all_available(scene),
}
