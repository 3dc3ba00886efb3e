"""What of a namespace is compared before and after: small, normalised excerpts, never whole objects. Pure.

The same reading makes the baseline and the present state, so a rule compares like with like.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping

from sanare.api.manifest import Manifest, dig, items, labels, mapping, number, text
from sanare.api.model import Model
from sanare.evaluator.bounds import GuardFacts
from sanare.evaluator.container_facts import ContainerFacts, container_facts, flag, quantities, whole
from sanare.evaluator.ownership import containers, key, pod_template
from sanare.evaluator.privilege import pod_privileges, pod_safeguards
from sanare.evaluator.service_facts import ServiceFacts
from sanare.evaluator.volume_facts import VolumeFacts, claimed, volume_facts, volume_names

_WORD, _MAX_HELD, _MAX_KEYS = 200, 20, 100
# What controllers and `kubectl rollout restart` write into a template, and what says nothing of its pods.
_HASH_LABEL, _RESTARTED = "pod-template-hash", "kubectl.kubernetes.io/restartedAt"


class TolerationFacts(Model):
    """One taint that a pod puts up with; no key stands for every taint."""

    key: str = ""
    value: str = ""
    effect: str = ""

    def __str__(self) -> str:
        name = f"{self.key}={self.value}" if self.value else self.key or "any key"
        return f"{name}:{self.effect}" if self.effect else name


class WorkloadFacts(Model):
    """One workload of the scope, as its template states it.

    Attributes:
        privileges: what the pod as a whole may do that pods may not by themselves, in words.
        safeguards: what holds the pod as a whole back, in words.
        placement: what keeps its pods to some nodes, one JSON text each.
        held: what keeps a change of the template from its pods, in words.
        gates: conditions that others must set before a pod is ready.
        goal: when it runs and what of it must succeed, where it is no matter of a number: name to words.
        fixed: what Kubernetes lets nobody change of a StatefulSet, as a digest.
        limits: what the pod as a whole may use.
        pull_secrets: with which its images are pulled.
        grace: how many seconds its pods get to end; None where that is not known.
        earlier_images: container name to the images that the workload's own ReplicaSets have for it.
        revisions: digests of the other templates that its own ReplicaSets have, the newest first.
    """

    object: str
    uid: str
    replicas: int = 1
    selector: Mapping[str, str] = {}
    labels: Mapping[str, str] = {}
    containers: tuple[ContainerFacts, ...] = ()
    volumes: tuple[VolumeFacts, ...] = ()
    host: tuple[str, ...] = ()
    non_root: bool | None = None
    user: int | None = None
    config_maps: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    paused: bool = False
    account: str = "default"
    privileges: tuple[str, ...] = ()
    safeguards: tuple[str, ...] = ()
    placement: tuple[str, ...] = ()
    tolerations: tuple[TolerationFacts, ...] = ()
    priority: str = ""
    held: tuple[str, ...] = ()
    gates: tuple[str, ...] = ()
    goal: Mapping[str, str] = {}
    fixed: str = ""
    limits: Mapping[str, str] = {}
    pull_secrets: tuple[str, ...] = ()
    grace: int | None = None
    earlier_images: Mapping[str, tuple[str, ...]] = {}
    revisions: tuple[str, ...] = ()

    def listed(self, *, init: bool) -> tuple[ContainerFacts, ...]:
        """Its init containers, or the others."""
        return tuple(one for one in self.containers if one.init is init)

    @property
    def nodes(self) -> tuple[str, ...]:
        """What decides on which nodes its pods may run."""
        return (*self.placement, *map(str, self.tolerations))


class Health(Model):
    """Whether one object outside the scope works, and what would make it less without breaking it.

    Attributes:
        replicas: how many pods, nodes or completions a workload asks for.
        nodes: what decides on which nodes a DaemonSet runs.
        selected: the workloads whose pods a Service takes.
        ports: of a Service, each with its target.
    """

    object: str
    uid: str
    healthy: bool
    replicas: int = 0
    nodes: tuple[str, ...] = ()
    selected: tuple[str, ...] = ()
    ports: tuple[str, ...] = ()


class Facts(Model):
    """A namespace at one moment, as far as the rules compare it. Names are `Kind/name` unless the field says so.

    Attributes:
        settings: ConfigMap that the scope reads, by name, to its keys, each with the digest of its value.
    """

    targets: tuple[str, ...] = ()
    workloads: tuple[WorkloadFacts, ...] = ()
    services: tuple[ServiceFacts, ...] = ()
    neighbours: tuple[Health, ...] = ()
    guards: tuple[GuardFacts, ...] = ()
    names: Mapping[str, tuple[str, ...]] = {}
    working_repositories: tuple[str, ...] = ()
    settings: Mapping[str, Mapping[str, str]] = {}

    def workload(self, name: str) -> WorkloadFacts | None:
        """The workload of the scope by key."""
        return next((item for item in self.workloads if item.object == name), None)

    def service(self, name: str) -> ServiceFacts | None:
        """The Service of the scope by name."""
        return next((item for item in self.services if item.name == name), None)

    def has(self, kind: str, name: str) -> bool:
        """Whether an object of that kind and name existed."""
        return name in self.names.get(kind, ())


def workload_facts(workload: Manifest) -> WorkloadFacts:
    """Read one workload."""
    template = pod_template(workload)
    spec = mapping(template, "spec")
    volumes = (
        *(volume_facts(volume) for volume in items(spec, "volumes")),
        *(claimed(text(each, "metadata", "name")) for each in items(workload, "spec", "volumeClaimTemplates")),
    )
    read = tuple(container_facts(container, spec, init=init) for container, init in containers(template))
    return WorkloadFacts(
        object=key(workload),
        uid=text(workload, "metadata", "uid"),
        replicas=asked_for(workload),
        selector=dict(mapping(workload, "spec", "selector", "matchLabels")),
        labels=dict(labels(template)),
        containers=read,
        volumes=volumes,
        host=tuple(name for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name)),
        non_root=flag(spec, "securityContext", "runAsNonRoot"),
        user=whole(spec, "securityContext", "runAsUser"),
        config_maps=references(workload, "configMap"),
        secrets=references(workload, "secret"),
        claims=tuple(sorted(volume_names(volumes, "persistentVolumeClaim"))),
        paused=bool(flag(workload, "spec", "paused") or flag(workload, "spec", "suspend")),
        account=text(spec, "serviceAccountName") or "default",
        privileges=tuple(pod_privileges(spec, is_template=template is not workload)),
        safeguards=tuple(pod_safeguards(spec)),
        placement=tuple(_placement(spec)),
        tolerations=tuple(_toleration(each) for each in items(spec, "tolerations")),
        priority=text(spec, "priorityClassName"),
        held=tuple(_held(workload)),
        gates=tuple(text(each, "conditionType") for each in items(spec, "readinessGates")),
        goal=dict(_goal(workload)),
        fixed=_fixed(workload),
        limits=quantities(spec, "limits"),
        pull_secrets=tuple(text(each, "name") for each in items(spec, "imagePullSecrets")),
        grace=number(spec, "terminationGracePeriodSeconds", default=30),
    )


def template_digest(template: Manifest) -> str:
    """Twelve hexadecimal digits that two templates share when they make the same pods."""
    about = mapping(template, "metadata")
    named = {name: value for name, value in mapping(about, "labels").items() if name != _HASH_LABEL}
    noted = {name: value for name, value in mapping(about, "annotations").items() if name != _RESTARTED}
    return _digest([named, noted, mapping(template, "spec")])


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]


def asked_for(workload: Manifest) -> int:
    """How many pods, nodes or completions a workload asks for; a CronJob that is suspended asks for none."""
    match text(workload, "kind"):
        case "Job":
            return number(workload, "spec", "completions", default=1)
        case "CronJob":
            each = number(workload, "spec", "jobTemplate", "spec", "completions", default=1)
            return 0 if flag(workload, "spec", "suspend") else each
        case "DaemonSet":
            return number(workload, "status", "desiredNumberScheduled")
        case _:
            return number(workload, "spec", "replicas", default=1)


def _goal(workload: Manifest) -> Iterator[tuple[str, str]]:
    spec, kind = mapping(workload, "spec"), text(workload, "kind")
    if kind == "CronJob":
        yield "schedule", f"{text(spec, 'schedule')} {text(spec, 'timeZone')}".strip()
        spec = mapping(spec, "jobTemplate", "spec")
    if kind in ("Job", "CronJob"):
        yield "success", json.dumps(spec.get("successPolicy") or {}, sort_keys=True)[:_WORD]


def _fixed(workload: Manifest) -> str:
    if text(workload, "kind") != "StatefulSet":
        return ""
    spec = mapping(workload, "spec")
    claims = [mapping(each, "spec") for each in items(spec, "volumeClaimTemplates")]
    return _digest([spec.get("serviceName"), spec.get("podManagementPolicy"), claims])


def _placement(spec: Manifest) -> Iterator[str]:
    """What keeps pods to some nodes: each label, the affinity, each spread that is required."""
    yield from (f"{name}={value}" for name, value in sorted(mapping(spec, "nodeSelector").items()))
    required = dig(spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    if required:
        yield f"node affinity {json.dumps(required, sort_keys=True)}"[:_WORD]
    apart = dig(spec, "affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    spreads = items(spec, "topologySpreadConstraints")
    spread = any(text(each, "whenUnsatisfiable") != "ScheduleAnyway" for each in spreads)
    named = (("pod anti-affinity", apart), ("a spread constraint", spread))
    yield from (what for what, found in named if found)


def _toleration(entry: Manifest) -> TolerationFacts:
    return TolerationFacts(key=text(entry, "key"), value=text(entry, "value"), effect=text(entry, "effect"))


def _held(workload: Manifest) -> Iterator[str]:
    spec = mapping(workload, "spec")
    if spec.get("paused") is True:
        yield "spec.paused"
    if text(spec, "updateStrategy", "type") == "OnDelete":
        yield "updateStrategy OnDelete"
    first, partition = (
        number(spec, "ordinals", "start"),
        number(spec, "updateStrategy", "rollingUpdate", "partition"),
    )
    for ordinal in range(first, min(partition, first + _MAX_HELD)):
        yield f"updateStrategy.rollingUpdate.partition leaves replica {ordinal} as it is"


def settings_of(config_map: Manifest) -> dict[str, str]:
    """The keys of a ConfigMap that have a value, each with the digest of it; no value is kept."""
    return {
        str(name): hashlib.sha256(str(value).encode()).hexdigest()[:8]
        for name, value in list(mapping(config_map, "data").items())[:_MAX_KEYS]
        if str(value).strip()
    }


def references(workload: Manifest, kind: str) -> tuple[str, ...]:
    """Names of the ConfigMaps (`configMap`) or Secrets (`secret`) that a template mounts or reads as variables."""
    template = pod_template(workload)
    volumes = items(template, "spec", "volumes")
    shown = {text(each, kind, "name") for volume in volumes for each in items(volume, "projected", "sources")}
    mounted = volume_names(map(volume_facts, volumes), kind)
    return tuple(sorted({*mounted, *shown, *_variables(template, kind)} - {""}))


def _variables(template: Manifest, kind: str) -> Iterator[str]:
    for container, _ in containers(template):
        for entry in items(container, "env"):
            yield from filter(None, [text(entry, "valueFrom", f"{kind}KeyRef", "name")])
        for entry in items(container, "envFrom"):
            yield from filter(None, [text(entry, f"{kind}Ref", "name")])
