"""What an alert is about, read from its labels. Pure; `owner.py` asks the API server for what owns it.

A label that describes the object wins over one that Prometheus adds for the exporter it scraped. Where the two met,
Prometheus renamed the object's label to `exported_*`; then the plain one speaks of the exporter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sanare.api.manifest import Ref

# Most telling first: these name a workload, and no exporter carries them for itself.
_WORKLOADS = (
    ("deployment", "Deployment"),
    ("statefulset", "StatefulSet"),
    ("daemonset", "DaemonSet"),
    ("cronjob", "CronJob"),
    ("job_name", "Job"),
    ("replicaset", "ReplicaSet"),
    ("horizontalpodautoscaler", "HorizontalPodAutoscaler"),
    ("hpa", "HorizontalPodAutoscaler"),
)
# These may speak of the exporter: they are read last, and as `exported_*` alone where that exists.
_SHARED = (("pod", "Pod"), ("pod_name", "Pod"), ("service", "Service"))
_WORKLOAD_TYPES = {kind.lower(): kind for _, kind in _WORKLOADS}

_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")


def namespace_of(labels: Mapping[str, str]) -> str:
    """The object's namespace; empty where the labels have none that is a namespace's name."""
    namespace = (
        labels.get("exported_namespace") or labels.get("namespace") or labels.get("kubernetes_namespace", "")
    )
    return namespace if _NAMESPACE.fullmatch(namespace) else ""


def object_of(labels: Mapping[str, str]) -> Ref | None:
    """The object that the labels name, or None. What is not the name of an object is not looked at."""
    namespace = namespace_of(labels)
    for kind, name in _named(labels):
        if namespace and _NAME.fullmatch(name):
            return Ref(kind=kind, namespace=namespace, name=name)
    return None


def _named(labels: Mapping[str, str]) -> list[tuple[str, str]]:
    """Kind and name of everything the labels name, most telling first."""
    found = [(kind, labels.get(f"exported_{key}") or labels.get(key, "")) for key, kind in _WORKLOADS]
    if kind := _WORKLOAD_TYPES.get(labels.get("workload_type", "").lower(), ""):
        found.append((kind, labels.get("workload", "")))
    is_renamed = "exported_namespace" in labels
    for key, kind in _SHARED:
        found.append((kind, labels.get(f"exported_{key}", "" if is_renamed else labels.get(key, ""))))
    return [(kind, name) for kind, name in found if name]
