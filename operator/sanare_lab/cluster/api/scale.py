"""The Scale object of a workload."""

from __future__ import annotations

from sanare_lab.cluster.errors import Cause, conflict, invalid
from sanare_lab.cluster.objects import Obj, dig
from sanare_lab.cluster.resources import ResourceType

SCALE = ResourceType("Scale", "autoscaling", "v1", "scales", "scale")
_META = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def scale_of(obj: Obj) -> Obj:
    """The autoscaling/v1 Scale of a workload."""
    selector = dig(obj, "spec", "selector") or {}
    labels = selector.get("matchLabels", selector) or {}
    status: Obj = {"replicas": dig(obj, "status", "replicas") or 0}
    if labels:
        status["selector"] = ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
    replicas = dig(obj, "spec", "replicas") or 0
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {key: obj["metadata"][key] for key in _META if key in obj["metadata"]},
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def scaled(resource: ResourceType, obj: Obj, scale: Obj) -> Obj:
    """The workload with the replicas of a Scale. Raises ApiError 409 for a stale one, 422 for a negative count."""
    name = obj["metadata"]["name"]
    version = dig(scale, "metadata", "resourceVersion")
    if version and version != obj["metadata"]["resourceVersion"]:
        raise conflict(resource, name)
    replicas = dig(scale, "spec", "replicas") or 0
    if not isinstance(replicas, int) or replicas < 0:
        message = f"Invalid value: {replicas}: must be greater than or equal to 0"
        raise invalid(SCALE, name, [Cause("spec.replicas", message)])
    return {**obj, "spec": {**obj["spec"], "replicas": replicas}}
