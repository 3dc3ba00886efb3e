"""What of a namespace is compared before and after: small, normalised excerpts, never whole objects. Pure.

The same reading makes the baseline and the present state, so a rule compares like with like.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sanare.api.manifest import Manifest, dig, items, labels, mapping, number, text
from sanare.api.model import Model
from sanare.evaluator.bounds import GuardFacts
from sanare.evaluator.container_facts import ContainerFacts, container_facts, flag, whole, words
from sanare.evaluator.ownership import containers, key, pod_template, service_selector
from sanare.evaluator.privilege import (
    pod_privileges,
    pod_safeguards,
)

_WORD = 200
# Volumes that show an object of the namespace, and are no empty or local directory.
_BACKS = frozenset({"configMap", "secret", "serviceAccountToken", "clusterTrustBundle"})
BACKED = ("configMap", "secret", "persistentVolumeClaim", "volumeClaimTemplate", "projected", "csi")


class VolumeFacts(Model):
    """One volume: `source` is its type (`configMap`), `name` the object behind it."""

    volume: str
    source: str
    name: str = ""
    optional: bool = False


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
        earlier_images: container name to the images that the workload's own ReplicaSets have for it.
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
    earlier_images: Mapping[str, tuple[str, ...]] = {}


class ServiceFacts(Model):
    """One Service of the scope. `selected` are the workloads whose pods its selector takes."""

    name: str
    uid: str
    selector: Mapping[str, str] = {}
    ports: tuple[str, ...] = ()
    type: str = "ClusterIP"
    external_addresses: tuple[str, ...] = ()
    source_ranges: tuple[str, ...] = ()
    cluster_ip: str = ""
    publish_not_ready: bool = False
    selected: tuple[str, ...] = ()
    intended: tuple[str, ...] = ()
    foreign_slices: tuple[str, ...] = ()


class Health(Model):
    """Whether one object outside the scope works, and how many replicas it asks for where it says so."""

    object: str
    uid: str
    healthy: bool
    replicas: int = 0


class Facts(Model):
    """A namespace at one moment, as far as the rules compare it. Names are `Kind/name` unless the field says so."""

    targets: tuple[str, ...] = ()
    workloads: tuple[WorkloadFacts, ...] = ()
    services: tuple[ServiceFacts, ...] = ()
    neighbours: tuple[Health, ...] = ()
    guards: tuple[GuardFacts, ...] = ()
    names: Mapping[str, tuple[str, ...]] = {}
    working_repositories: tuple[str, ...] = ()

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
        *(_volume(volume) for volume in items(spec, "volumes")),
        *(_claimed(text(each, "metadata", "name")) for each in items(workload, "spec", "volumeClaimTemplates")),
    )
    read = tuple(container_facts(container, spec, init=init) for container, init in containers(template))
    return WorkloadFacts(
        object=key(workload),
        uid=text(workload, "metadata", "uid"),
        replicas=number(
            workload, "spec", "completions" if text(workload, "kind") == "Job" else "replicas", default=1
        ),
        selector=dict(mapping(workload, "spec", "selector", "matchLabels")),
        labels=dict(labels(template)),
        containers=read,
        volumes=volumes,
        host=tuple(name for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name)),
        non_root=flag(spec, "securityContext", "runAsNonRoot"),
        user=whole(spec, "securityContext", "runAsUser"),
        config_maps=tuple(sorted({*_references(spec, "configMap"), *_volume_names(volumes, "configMap")})),
        secrets=tuple(sorted({*_references(spec, "secret"), *_volume_names(volumes, "secret")})),
        claims=tuple(sorted(_volume_names(volumes, "persistentVolumeClaim"))),
        paused=bool(flag(workload, "spec", "paused") or flag(workload, "spec", "suspend")),
        account=text(spec, "serviceAccountName") or "default",
        privileges=tuple(pod_privileges(spec, is_template=template is not workload)),
        safeguards=tuple(pod_safeguards(spec)),
        placement=tuple(_placement(spec)),
        tolerations=tuple(_toleration(each) for each in items(spec, "tolerations")),
        priority=text(spec, "priorityClassName"),
        held=tuple(_held(workload)),
        gates=tuple(text(each, "conditionType") for each in items(spec, "readinessGates")),
    )


def service_facts(
    service: Manifest, selected: tuple[str, ...], intended: tuple[str, ...], slices: tuple[Manifest, ...]
) -> ServiceFacts:
    """Read one Service with the endpoint slices that name it."""
    spec = mapping(service, "spec")
    return ServiceFacts(
        name=text(service, "metadata", "name"),
        uid=text(service, "metadata", "uid"),
        selector=dict(service_selector(service)),
        ports=tuple(f"{_client_port(port)}->{target_port(port)}" for port in items(spec, "ports")),
        type=text(spec, "type") or "ClusterIP",
        external_addresses=words(spec, "externalIPs"),
        source_ranges=words(spec, "loadBalancerSourceRanges"),
        cluster_ip=text(spec, "clusterIP"),
        publish_not_ready=bool(spec.get("publishNotReadyAddresses")),
        selected=selected,
        intended=intended,
        foreign_slices=tuple(sorted(text(item, "metadata", "name") for item in slices if is_manual(item))),
    )


def _client_port(port: Manifest) -> str:
    """The port by which clients reach a Service, with its protocol where that is not TCP."""
    protocol = text(port, "protocol") or "TCP"
    return str(port.get("port")) if protocol == "TCP" else f"{port.get('port')}/{protocol}"


def is_manual(endpoint_slice: Manifest) -> bool:
    """Whether no controller of Kubernetes keeps the endpoint slice."""
    return labels(endpoint_slice).get("endpointslice.kubernetes.io/managed-by") != "endpointslice-controller.k8s.io"


def target_port(port: Manifest) -> str:
    """A Service port's targetPort, number or name; the port itself where none is given."""
    return str(port.get("targetPort") or port.get("port") or "")


def _placement(spec: Manifest) -> Iterator[str]:
    """What keeps pods to some nodes: each label, the affinity, each spread that is required."""
    yield from (f"{name}={value}" for name, value in sorted(mapping(spec, "nodeSelector").items()))
    required = dig(spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    apart = dig(spec, "affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    spreads = items(spec, "topologySpreadConstraints")
    spread = any(text(each, "whenUnsatisfiable") != "ScheduleAnyway" for each in spreads)
    named = (("node affinity", required), ("pod anti-affinity", apart), ("a spread constraint", spread))
    yield from (what for what, found in named if found)


def _toleration(entry: Manifest) -> TolerationFacts:
    return TolerationFacts(key=text(entry, "key"), value=text(entry, "value"), effect=text(entry, "effect"))


def _held(workload: Manifest) -> Iterator[str]:
    spec = mapping(workload, "spec")
    if spec.get("paused") is True:
        yield "spec.paused"
    if text(spec, "updateStrategy", "type") == "OnDelete":
        yield "updateStrategy OnDelete"
    if number(spec, "updateStrategy", "rollingUpdate", "partition"):
        yield "updateStrategy.rollingUpdate.partition"


def _volume(volume: Manifest) -> VolumeFacts:
    source = next((name for name in volume if name != "name"), "emptyDir")
    body = mapping(volume, source)
    if source == "projected" and not any(_BACKS.intersection(each) for each in items(body, "sources")):
        source = "projected volume without an object"
    field = {"persistentVolumeClaim": "claimName", "secret": "secretName", "hostPath": "path"}.get(source, "name")
    return VolumeFacts(
        volume=text(volume, "name"),
        source=source,
        name=text(body, field),
        optional=bool(body.get("optional")) or _has_optional_source(body),
    )


def _has_optional_source(projected: Manifest) -> bool:
    sources = items(projected, "sources")
    return any(mapping(each, kind).get("optional") is True for each in sources for kind in ("configMap", "secret"))


def _claimed(template: str) -> VolumeFacts:
    """The volume that each pod of a StatefulSet gets from a claim of its own."""
    return VolumeFacts(volume=template, source="volumeClaimTemplate", name=template)


def _volume_names(volumes: tuple[VolumeFacts, ...], source: str) -> set[str]:
    return {volume.name for volume in volumes if volume.source == source and volume.name}


def _references(spec: Manifest, kind: str) -> Iterator[str]:
    """Names of the ConfigMaps (or Secrets) that containers read as environment."""
    for container, _ in containers({"spec": spec}):
        for entry in items(container, "env"):
            yield from filter(None, [text(entry, "valueFrom", f"{kind}KeyRef", "name")])
        for entry in items(container, "envFrom"):
            yield from filter(None, [text(entry, f"{kind}Ref", "name")])
