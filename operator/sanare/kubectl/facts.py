"""Facts: what an object, or a piece of one, asks for that a guard cares about. Pure.

The same reading serves a whole object (live, previewed, applied) and a fragment (a patch body): a fact that is in
the new state and not in the old one is what a write adds. Which facts are forbidden stands in `judge`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sanare.api.manifest import Manifest, dig, items, mapping, text
from sanare.kubectl.expansion import secret_expansions


class Rule(StrEnum):
    """Why a write is refused or needs a person."""

    HOST_ACCESS = "HostAccess"
    VOLUME_TYPE = "VolumeType"
    SECURITY_CONTEXT = "SecurityContext"
    SERVICE_ACCOUNT = "ServiceAccount"
    SERVICE_ACCOUNT_TOKEN = "ServiceAccountToken"  # noqa: S105 - a rule's name
    SECRET_REFERENCE = "SecretReference"  # noqa: S105 - a rule's name
    PLACEMENT = "Placement"
    PRIORITY = "Priority"
    EPHEMERAL_CONTAINER = "EphemeralContainer"
    RESERVED_KEY = "ReservedKey"
    SNIPPET = "SnippetAnnotation"
    FINALIZERS = "Finalizers"
    OWNERS = "OwnerReferences"
    OUTSIDE_TRAFFIC = "OutsideTraffic"
    NAME_RESOLUTION = "NameResolution"
    PROBE_HOST = "ProbeHost"
    IMAGE_REGISTRY = "ImageRegistry"
    IMAGE_REPOSITORY = "ImageRepository"
    COMMAND = "Command"
    CONTAINERS = "Containers"
    EXPOSURE = "Exposure"
    REPLICAS = "Replicas"
    GUARDED_KIND = "GuardedKind"
    NEW_WORKLOAD = "NewWorkload"


@dataclass(frozen=True, slots=True, order=True)
class Fact:
    """One thing asked for: which rule it falls under, where (`slot`), and the value."""

    rule: Rule
    slot: str
    value: str


POD_SPEC: Mapping[str, tuple[str, ...]] = {
    "Pod": ("spec",),
    "PodTemplate": ("template", "spec"),
    "Deployment": ("spec", "template", "spec"),
    "ReplicaSet": ("spec", "template", "spec"),
    "StatefulSet": ("spec", "template", "spec"),
    "DaemonSet": ("spec", "template", "spec"),
    "ReplicationController": ("spec", "template", "spec"),
    "Job": ("spec", "template", "spec"),
    "CronJob": ("spec", "jobTemplate", "spec", "template", "spec"),
}
GUARDED_KINDS = frozenset(
    {"NetworkPolicy", "PodDisruptionBudget", "ResourceQuota", "LimitRange", "PersistentVolumeClaim"}
)

_CONTROL_PLANE = re.compile(r"^node-role\.kubernetes\.io/(control-plane|master)$")
_RESERVED_KEYS = re.compile(
    r"(^|\.)(sanare\.dev|kopf\.zalando\.org|kopf\.dev)/|^pod-security\.kubernetes\.io/|^kubernetes\.io/metadata"
    r"|(seccomp|apparmor)\.security\.(alpha|beta)\.kubernetes\.io/|^seccomp\.security"
)
_SNIPPET = re.compile(r"snippet|[./-]lua|auth-url", re.I)
_PLAIN_VOLUMES = frozenset({"configMap", "emptyDir", "persistentVolumeClaim", "downwardAPI", "ephemeral"})
_PLAIN_PROJECTIONS = frozenset({"configMap", "downwardAPI"})


def facts_of(kind: str, manifest: Manifest) -> frozenset[Fact]:
    """Every fact of an object, or of a fragment shaped like one."""
    found = set(_metadata(manifest, "metadata"))
    path = POD_SPEC.get(kind)
    if path:
        found.update(_pod(mapping(manifest, *path)))
        found.update(_keys(mapping(manifest, *path[:-1], "metadata")))
        found.update(_replicas(manifest))
    reader = _READERS.get(kind)
    if reader:
        found.update(reader(manifest))
    return frozenset(found)


def images_of(kind: str, manifest: Manifest) -> Mapping[str, str]:
    """Container name to image, init containers included."""
    pod = mapping(manifest, *POD_SPEC.get(kind, ("nowhere",)))
    return {text(c, "name"): text(c, "image") for key in ("containers", "initContainers") for c in items(pod, key)}


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)


def _metadata(manifest: Manifest, *path: str) -> Iterator[Fact]:
    metadata = mapping(manifest, *path)
    yield from _keys(metadata)
    for key, value in metadata.items():
        if "finalizers" in key.lower():
            yield Fact(Rule.FINALIZERS, "metadata.finalizers", _text(value))
        if "ownerreferences" in key.lower():
            yield Fact(Rule.OWNERS, "metadata.ownerReferences", _text(value))


def _keys(metadata: Mapping[str, Any]) -> Iterator[Fact]:
    for field in ("labels", "annotations"):
        for key, value in mapping(metadata, field).items():
            if _RESERVED_KEYS.search(key):
                yield Fact(Rule.RESERVED_KEY, f"metadata.{field}.{key}", _text(value))
            elif field == "annotations" and _SNIPPET.search(key):
                yield Fact(Rule.SNIPPET, f"metadata.annotations.{key}", _text(value))


def _pod(pod: Mapping[str, Any]) -> Iterator[Fact]:
    for flag in ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace"):
        if pod.get(flag) not in (None, False):
            yield Fact(Rule.HOST_ACCESS, flag, "true")
    for field in ("hostAliases", "dnsConfig"):
        if pod.get(field):
            yield Fact(Rule.NAME_RESOLUTION, field, _text(pod[field]))
    if pod.get("dnsPolicy") not in (None, "ClusterFirst"):
        yield Fact(Rule.NAME_RESOLUTION, "dnsPolicy", _text(pod["dnsPolicy"]))
    yield from _identity(pod)
    yield from _placement(pod)
    yield from _security(pod, "pod")
    for volume in items(pod, "volumes"):
        yield from _volume(volume)
    for field in ("containers", "initContainers"):
        for container in items(pod, field):
            yield from _container(container, text(container, "name") or field)
    if pod.get("ephemeralContainers"):
        yield Fact(Rule.EPHEMERAL_CONTAINER, "ephemeralContainers", _text(pod["ephemeralContainers"]))


def _identity(pod: Mapping[str, Any]) -> Iterator[Fact]:
    for field in ("serviceAccountName", "serviceAccount"):
        if pod.get(field) not in (None, "", "default"):
            yield Fact(Rule.SERVICE_ACCOUNT, "serviceAccountName", _text(pod[field]))
    if pod.get("automountServiceAccountToken") not in (None, False):
        yield Fact(Rule.SERVICE_ACCOUNT_TOKEN, "automountServiceAccountToken", "true")
    for secret in items(pod, "imagePullSecrets"):
        yield Fact(Rule.SECRET_REFERENCE, "imagePullSecrets", text(secret, "name"))


def _placement(pod: Mapping[str, Any]) -> Iterator[Fact]:
    for field, usual in (("nodeName", ""), ("schedulerName", "default-scheduler"), ("runtimeClassName", "")):
        if pod.get(field) not in (None, "", usual):
            yield Fact(Rule.PLACEMENT, field, _text(pod[field]))
    priority = pod.get("priorityClassName")
    if priority:
        system = _text(priority).startswith("system-")
        yield Fact(Rule.PLACEMENT if system else Rule.PRIORITY, "priorityClassName", _text(priority))
    for key in mapping(pod, "nodeSelector"):
        if _CONTROL_PLANE.match(key):
            yield Fact(Rule.PLACEMENT, "nodeSelector", key)
    for toleration in items(pod, "tolerations"):
        key = text(toleration, "key")
        if not key or _CONTROL_PLANE.match(key):
            yield Fact(Rule.PLACEMENT, "tolerations", key or "every taint")


def _security(owner: Mapping[str, Any], slot: str) -> Iterator[Fact]:
    """Every setting of a security context that does not tighten it; null in a patch removes."""
    if "securityContext" in owner and owner["securityContext"] is None:
        yield Fact(Rule.SECURITY_CONTEXT, f"{slot}.securityContext", "removed")
    for key, value in mapping(owner, "securityContext").items():
        if value is not None and not _tightens(key, value):
            yield Fact(Rule.SECURITY_CONTEXT, f"{slot}.securityContext.{key}", _text(value))
        elif value is None:
            yield Fact(Rule.SECURITY_CONTEXT, f"{slot}.securityContext.{key}", "removed")


def _tightens(key: str, value: object) -> bool:
    if key in ("runAsNonRoot", "readOnlyRootFilesystem"):
        return value is True
    if key in ("privileged", "allowPrivilegeEscalation"):
        return value is False
    if key in ("runAsUser", "runAsGroup", "fsGroup"):
        return isinstance(value, int) and not isinstance(value, bool) and value > 0
    if key == "capabilities":
        return isinstance(value, Mapping) and set(value) <= {"drop", "add"} and not value.get("add")
    if key == "seccompProfile":
        return text(value, "type") == "RuntimeDefault"
    return key in ("fsGroupChangePolicy", "supplementalGroupsPolicy") or value in ({}, [])


def _volume(volume: Mapping[str, Any]) -> Iterator[Fact]:
    name = text(volume, "name")
    for source, value in volume.items():
        if source == "name" or source in _PLAIN_VOLUMES or value is None or source.startswith("$"):
            continue
        if source == "secret":
            yield from _secret_volume(name, text(value, "secretName"), value)
        elif source == "projected":
            yield from _projected(name, value)
        else:
            yield Fact(Rule.VOLUME_TYPE, f"volume {name}", source)


def _secret_volume(volume: str, secret: str, source: object) -> Iterator[Fact]:
    """The Secret, or each of its keys where only some are mounted."""
    keys = [text(item, "key") for item in items(source, "items")]
    for value in [f"{secret}/{key}" for key in keys] or [secret]:
        yield Fact(Rule.SECRET_REFERENCE, f"volume {volume}", value)


def _projected(name: str, value: object) -> Iterator[Fact]:
    for source in items(value, "sources"):
        for kind, content in source.items():
            if kind == "secret":
                yield from _secret_volume(name, text(content, "name"), content)
            elif kind == "serviceAccountToken":
                # The volume that the API server itself adds to a pod, as `get -o yaml` shows it.
                if not name.startswith("kube-api-access-") or dig(content, "audience"):
                    yield Fact(Rule.SERVICE_ACCOUNT_TOKEN, f"volume {name}", _text(content))
            elif kind not in _PLAIN_PROJECTIONS:
                yield Fact(Rule.VOLUME_TYPE, f"volume {name}", f"projected {kind}")


def _container(container: Mapping[str, Any], name: str) -> Iterator[Fact]:
    yield from _security(container, name)
    for port in items(container, "ports"):
        if port.get("hostPort"):
            yield Fact(Rule.HOST_ACCESS, f"{name}.ports.hostPort", _text(port["hostPort"]))
    for variable in items(container, "env"):
        secret = mapping(variable, "valueFrom", "secretKeyRef")
        if secret:
            value = f"{text(secret, 'name')}/{text(secret, 'key')}"
            yield Fact(Rule.SECRET_REFERENCE, f"{name}.env.{text(variable, 'name')}", value)
    for source in items(container, "envFrom"):
        if dig(source, "secretRef"):
            yield Fact(Rule.SECRET_REFERENCE, f"{name}.envFrom", text(source, "secretRef", "name"))
    for place, expansion in secret_expansions(container):
        yield Fact(Rule.SECRET_REFERENCE, f"{name}.{place}", expansion)
    if container.get("volumeDevices"):
        yield Fact(Rule.VOLUME_TYPE, f"{name}.volumeDevices", _text(container["volumeDevices"]))
    yield from _commands(container, name)


def _commands(container: Mapping[str, Any], name: str) -> Iterator[Fact]:
    for field in ("command", "args"):
        if container.get(field):
            yield Fact(Rule.COMMAND, f"{name}.{field}", _text(container[field]))
    hooks = [("lifecycle", hook) for hook in ("postStart", "preStop")]
    probes = [(probe,) for probe in ("livenessProbe", "readinessProbe", "startupProbe")]
    for path in (*hooks, *probes):
        command = dig(container, *path, "exec", "command")
        if command:
            yield Fact(Rule.COMMAND, f"{name}.{'.'.join(path)}.exec", _text(command))
        for way in ("httpGet", "tcpSocket"):
            if dig(container, *path, way, "host"):
                yield Fact(Rule.PROBE_HOST, f"{name}.{'.'.join(path)}.{way}", text(container, *path, way, "host"))


def _replicas(manifest: Manifest) -> Iterator[Fact]:
    for field in ("replicas", "parallelism", "completions"):
        value = dig(manifest, "spec", field)
        if value is not None:
            yield Fact(Rule.REPLICAS, f"spec.{field}", _text(value))


def _service(manifest: Manifest) -> Iterator[Fact]:
    kind = text(manifest, "spec", "type")
    if kind == "ExternalName" or dig(manifest, "spec", "externalName"):
        yield Fact(Rule.OUTSIDE_TRAFFIC, "spec.externalName", text(manifest, "spec", "externalName"))
    if dig(manifest, "spec", "externalIPs"):
        yield Fact(Rule.OUTSIDE_TRAFFIC, "spec.externalIPs", _text(dig(manifest, "spec", "externalIPs")))
    if kind in ("NodePort", "LoadBalancer"):
        yield Fact(Rule.EXPOSURE, "spec.type", kind)
    for field in ("loadBalancerIP", "loadBalancerClass", "loadBalancerSourceRanges"):
        if dig(manifest, "spec", field):
            yield Fact(Rule.EXPOSURE, f"spec.{field}", _text(dig(manifest, "spec", field)))


def _ingress(manifest: Manifest) -> Iterator[Fact]:
    for rule in items(manifest, "spec", "rules"):
        yield Fact(Rule.EXPOSURE, "spec.rules.host", text(rule, "host") or "every host")
    for tls in items(manifest, "spec", "tls"):
        yield Fact(Rule.EXPOSURE, "spec.tls", _text(tls))
    if dig(manifest, "spec", "ingressClassName"):
        yield Fact(Rule.EXPOSURE, "spec.ingressClassName", text(manifest, "spec", "ingressClassName"))
    if dig(manifest, "spec", "defaultBackend"):
        yield Fact(Rule.EXPOSURE, "spec.defaultBackend", "every host")


def _autoscaler(manifest: Manifest) -> Iterator[Fact]:
    for field in ("minReplicas", "maxReplicas"):
        value = dig(manifest, "spec", field)
        if value is not None:
            yield Fact(Rule.REPLICAS, f"spec.{field}", _text(value))


def _scale(manifest: Manifest) -> Iterator[Fact]:
    yield from _replicas(manifest)


_READERS: Mapping[str, Callable[[Manifest], Iterator[Fact]]] = {
    "Service": _service,
    "Ingress": _ingress,
    "HorizontalPodAutoscaler": _autoscaler,
    "Scale": _scale,
}
