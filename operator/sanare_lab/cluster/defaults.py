"""Defaults of built-in kinds: what the API server fills in where a manifest says nothing. A store hook."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any, TypeAlias

from sanare_lab.cluster import resources as kinds
from sanare_lab.cluster.errors import bad_request
from sanare_lab.cluster.objects import Obj, clone, dig, name_of
from sanare_lab.cluster.resources import ResourceType
from sanare_lab.cluster.store import Verb

Defaulter: TypeAlias = Callable[[Obj], None]


def fill_defaults(verb: Verb, resource: ResourceType, old: Obj | None, new: Obj | None) -> Obj | None:
    """The hook: fill in a new or changed object. A spec that did not change is filled already."""
    defaulter = _DEFAULTERS.get(resource.key)
    if new is None or defaulter is None:
        return new
    if old is not None and all(old.get(key) is new.get(key) for key in ("spec", "data")):
        return new
    filled = clone(new)
    defaulter(filled)
    return filled


def _fill(target: Obj, **values: Any) -> None:
    for key, value in values.items():
        if target.get(key) is None:
            target[key] = value


def default_pod_spec(spec: Obj) -> None:
    """restartPolicy, probes, pull policies and the like."""
    _fill(
        spec,
        restartPolicy="Always",
        terminationGracePeriodSeconds=30,
        dnsPolicy="ClusterFirst",
        schedulerName="default-scheduler",
    )
    spec.setdefault("securityContext", {})
    if spec.get("serviceAccountName"):
        spec["serviceAccount"] = spec["serviceAccountName"]
    for container in [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]:
        _default_container(container)
    for volume in spec.get("volumes") or ():
        for source, mode in (("configMap", 420), ("secret", 420), ("projected", 420), ("downwardAPI", 420)):
            if isinstance(volume.get(source), dict):
                _fill(volume[source], defaultMode=mode)
        if isinstance(volume.get("hostPath"), dict):
            _fill(volume["hostPath"], type="")


def _default_container(container: Obj) -> None:
    image = str(container.get("image") or "")
    tag = image.rpartition("/")[2].partition(":")[2]
    latest = "@" not in image and tag in ("", "latest")
    _fill(
        container,
        imagePullPolicy="Always" if latest else "IfNotPresent",
        terminationMessagePath="/dev/termination-log",
        terminationMessagePolicy="File",
    )
    container.setdefault("resources", {})
    for port in container.get("ports") or ():
        _fill(port, protocol="TCP")
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        if isinstance(container.get(probe), dict):
            _default_probe(container[probe])
    for hook in (container.get("lifecycle") or {}).values():
        if isinstance(hook, dict) and isinstance(hook.get("httpGet"), dict):
            _fill(hook["httpGet"], path="/", scheme="HTTP")
    for env in container.get("env") or ():
        field_ref = dig(env, "valueFrom", "fieldRef")
        if field_ref:
            _fill(field_ref, apiVersion="v1")


def _default_probe(probe: Obj) -> None:
    for key in ("timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"):
        if probe.get(key) == 0:
            del probe[key]
    _fill(probe, timeoutSeconds=1, periodSeconds=10, successThreshold=1, failureThreshold=3)
    if isinstance(probe.get("httpGet"), dict):
        _fill(probe["httpGet"], path="/", scheme="HTTP")
    if isinstance(probe.get("grpc"), dict):
        _fill(probe["grpc"], service="")


def _pod(pod: Obj) -> None:
    spec = pod.setdefault("spec", {})
    default_pod_spec(spec)
    _fill(spec, enableServiceLinks=True, priority=0, preemptionPolicy="PreemptLowerPriority")
    for container in [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]:
        limits = dig(container, "resources", "limits")
        if limits:
            container["resources"]["requests"] = {**limits, **(container["resources"].get("requests") or {})}
    pod.setdefault("status", {}).setdefault("phase", "Pending")
    pod["status"].setdefault("qosClass", _qos(spec))


def _qos(spec: Obj) -> str:
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    resources = [container.get("resources") or {} for container in containers]
    if not any(r.get("requests") or r.get("limits") for r in resources):
        return "BestEffort"
    for item in resources:
        limits, requests = item.get("limits") or {}, item.get("requests") or {}
        if not {"cpu", "memory"} <= limits.keys() or any(requests.get(k) != v for k, v in limits.items()):
            return "Burstable"
    return "Guaranteed"


def _template(spec: Obj) -> None:
    template = spec.setdefault("template", {})
    template.setdefault("metadata", {})
    default_pod_spec(template.setdefault("spec", {}))


def _percent(spec: Obj, field: str, default: Any) -> None:
    rolling = spec["strategy"].setdefault("rollingUpdate", {})
    _fill(rolling, **{field: default})


def _deployment(obj: Obj) -> None:
    spec = obj.setdefault("spec", {})
    _fill(spec, replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600)
    _template(spec)
    strategy = spec.setdefault("strategy", {})
    _fill(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        _percent(spec, "maxUnavailable", "25%")
        _percent(spec, "maxSurge", "25%")


def _replica_set(obj: Obj) -> None:
    spec = obj.setdefault("spec", {})
    _fill(spec, replicas=1)
    _template(spec)


def _stateful_set(obj: Obj) -> None:
    spec = obj.setdefault("spec", {})
    _fill(spec, replicas=1, revisionHistoryLimit=10, podManagementPolicy="OrderedReady")
    _template(spec)
    strategy = spec.setdefault("updateStrategy", {})
    _fill(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        _fill(strategy.setdefault("rollingUpdate", {}), partition=0)
    _fill(spec.setdefault("persistentVolumeClaimRetentionPolicy", {}), whenDeleted="Retain", whenScaled="Retain")
    for claim in spec.get("volumeClaimTemplates") or ():
        _fill(claim, apiVersion="v1", kind="PersistentVolumeClaim")
        _claim(claim)
        claim.setdefault("status", {"phase": "Pending"})


def _daemon_set(obj: Obj) -> None:
    spec = obj.setdefault("spec", {})
    _fill(spec, revisionHistoryLimit=10)
    _template(spec)
    strategy = spec.setdefault("updateStrategy", {})
    _fill(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        _fill(strategy.setdefault("rollingUpdate", {}), maxUnavailable=1, maxSurge=0)


def _job(obj: Obj) -> None:
    spec = obj.setdefault("spec", {})
    _default_job_spec(spec)
    uid = dig(obj, "metadata", "uid")
    if not spec.get("manualSelector") and not spec.get("selector") and uid:
        spec["selector"] = {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
        labels = spec["template"]["metadata"].setdefault("labels", {})
        for prefix in ("", "batch.kubernetes.io/"):
            labels[f"{prefix}controller-uid"] = uid
            labels[f"{prefix}job-name"] = name_of(obj)


def _default_job_spec(spec: Obj) -> None:
    if spec.get("completions") is None and spec.get("parallelism") is None:
        _fill(spec, completions=1, parallelism=1)
    _fill(
        spec,
        parallelism=1,
        backoffLimit=6,
        completionMode="NonIndexed",
        suspend=False,
        manualSelector=False,
        podReplacementPolicy="TerminatingOrFailed",
    )
    _template(spec)


def _cron_job(obj: Obj) -> None:
    spec = obj.setdefault("spec", {})
    _fill(
        spec,
        concurrencyPolicy="Allow",
        suspend=False,
        successfulJobsHistoryLimit=3,
        failedJobsHistoryLimit=1,
    )
    template = spec.setdefault("jobTemplate", {})
    template.setdefault("metadata", {})
    _template(template.setdefault("spec", {}))


def _service(obj: Obj) -> None:
    spec = obj.setdefault("spec", {})
    _fill(spec, type="ClusterIP", sessionAffinity="None")
    if spec["type"] != "ExternalName":
        _fill(spec, internalTrafficPolicy="Cluster")
    if spec["type"] in ("NodePort", "LoadBalancer"):
        _fill(spec, externalTrafficPolicy="Cluster")
    for port in spec.get("ports") or ():
        _fill(port, protocol="TCP", targetPort=port.get("port"))
    obj.setdefault("status", {}).setdefault("loadBalancer", {})


def _claim(obj: Obj) -> None:
    _fill(obj.setdefault("spec", {}), volumeMode="Filesystem")
    obj.setdefault("status", {}).setdefault("phase", "Pending")


def _volume(obj: Obj) -> None:
    _fill(obj.setdefault("spec", {}), volumeMode="Filesystem", persistentVolumeReclaimPolicy="Retain")
    obj.setdefault("status", {}).setdefault("phase", "Pending")


def _namespace(obj: Obj) -> None:
    labels = obj["metadata"].setdefault("labels", {})
    labels["kubernetes.io/metadata.name"] = name_of(obj)
    obj.setdefault("spec", {}).setdefault("finalizers", ["kubernetes"])
    obj.setdefault("status", {}).setdefault("phase", "Active")


def _secret(obj: Obj) -> None:
    _fill(obj, type="Opaque")
    data = obj.setdefault("data", {})
    for key, value in (obj.pop("stringData", None) or {}).items():
        data[key] = base64.b64encode(str(value).encode()).decode()
    for value in data.values():
        try:
            base64.b64decode(value, validate=True)
        except ValueError as error:
            why = "illegal base64 data at input byte 0"
            raise bad_request(f'Secret in version "v1" cannot be handled as a Secret: {why}') from error
    if not data:
        del obj["data"]


def _autoscaler(obj: Obj) -> None:
    cpu = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}
    _fill(obj.setdefault("spec", {}), minReplicas=1, metrics=[{"type": "Resource", "resource": cpu}])


def _endpoints(obj: Obj) -> None:
    for subset in obj.get("subsets") or ():
        for port in subset.get("ports") or ():
            _fill(port, protocol="TCP")


_DEFAULTERS: dict[str, Defaulter] = {
    kinds.PODS.key: _pod,
    kinds.DEPLOYMENTS.key: _deployment,
    kinds.REPLICA_SETS.key: _replica_set,
    kinds.STATEFUL_SETS.key: _stateful_set,
    kinds.DAEMON_SETS.key: _daemon_set,
    kinds.REPLICATION_CONTROLLERS.key: _replica_set,
    kinds.JOBS.key: _job,
    kinds.CRON_JOBS.key: _cron_job,
    kinds.SERVICES.key: _service,
    kinds.PERSISTENT_VOLUME_CLAIMS.key: _claim,
    kinds.PERSISTENT_VOLUMES.key: _volume,
    kinds.NAMESPACES.key: _namespace,
    kinds.SECRETS.key: _secret,
    kinds.ENDPOINTS.key: _endpoints,
    kinds.HORIZONTAL_POD_AUTOSCALERS.key: _autoscaler,
}
