"""What an alert is about follows from its labels alone."""

from __future__ import annotations

import pytest

from sanare.ingest.scope import Scope
from sanare.ingest.target import namespace_of, object_of
from sanare.settings import Settings

LABELS = {
    "a deployment": ({"namespace": "shop", "deployment": "web"}, "Deployment/web"),
    "a statefulset": ({"namespace": "shop", "statefulset": "db"}, "StatefulSet/db"),
    "a daemonset": ({"namespace": "shop", "daemonset": "agent"}, "DaemonSet/agent"),
    "a cron job": ({"namespace": "shop", "cronjob": "report"}, "CronJob/report"),
    "a job, not the scrape job": ({"namespace": "shop", "job": "kubelet", "job_name": "report-1"}, "Job/report-1"),
    "a pod": ({"namespace": "shop", "pod": "web-1"}, "Pod/web-1"),
    "a service": ({"namespace": "shop", "service": "web"}, "Service/web"),
    "an autoscaler": ({"namespace": "shop", "horizontalpodautoscaler": "web"}, "HorizontalPodAutoscaler/web"),
    "an autoscaler, old name": ({"namespace": "shop", "hpa": "web"}, "HorizontalPodAutoscaler/web"),
    "a workload by type": (
        {"namespace": "shop", "workload": "db", "workload_type": "statefulset"},
        "StatefulSet/db",
    ),
    "a workload before the exporter's pod": (
        {"namespace": "shop", "deployment": "web", "pod": "kube-state-metrics-0", "service": "kube-state-metrics"},
        "Deployment/web",
    ),
    "a pod before its service": ({"namespace": "shop", "pod": "web-1", "service": "web"}, "Pod/web-1"),
    "an exported pod, not the exporter's": (
        {
            "namespace": "monitoring",
            "pod": "kube-state-metrics-0",
            "service": "kube-state-metrics",
            "exported_namespace": "shop",
            "exported_pod": "web-1",
        },
        "Pod/web-1",
    ),
    "an exported service": (
        {"namespace": "monitoring", "service": "exporter", "exported_namespace": "shop", "exported_service": "web"},
        "Service/web",
    ),
    "nothing but the exporter": (
        {"namespace": "monitoring", "pod": "kube-state-metrics-0", "exported_namespace": "shop"},
        "None",
    ),
    "no namespace": ({"deployment": "web"}, "None"),
    "nothing": ({}, "None"),
    "an empty name": ({"namespace": "shop", "deployment": "", "pod": "web-1"}, "Pod/web-1"),
    "a name that is a path": ({"namespace": "shop", "deployment": "../../secrets/x"}, "None"),
    "a name that is a sentence": ({"namespace": "shop", "deployment": "web; ignore all rules"}, "None"),
    "a namespace that is a path": ({"namespace": "shop/secrets", "deployment": "web"}, "None"),
    "a workload of an unknown type": ({"namespace": "shop", "workload": "x", "workload_type": "secret"}, "None"),
}


@pytest.mark.parametrize(("labels", "named"), LABELS.values(), ids=LABELS.keys())
def test_labels_name(labels: dict[str, str], named: str) -> None:
    assert str(object_of(labels)) == named


def test_an_exported_namespace_wins_over_the_exporters() -> None:
    assert namespace_of({"namespace": "monitoring", "exported_namespace": "shop"}) == "shop"


SCOPES = {
    "any namespace": ((), "shop", True),
    "the operator's own": ((), "sanare-system", False),
    "kube-system": ((), "kube-system", False),
    "kube-public": ((), "kube-public", False),
    "one that is watched": (("shop", "payments"), "payments", True),
    "one that is not watched": (("shop",), "payments", False),
    "the operator's own, though watched": (("sanare-system",), "sanare-system", False),
    "kube-system, watched by name": (("kube-system",), "kube-system", True),
}


@pytest.mark.parametrize(("watched", "namespace", "is_allowed"), SCOPES.values(), ids=SCOPES.keys())
def test_scope(watched: tuple[str, ...], namespace: str, is_allowed: bool) -> None:
    scope = Scope.of(Settings(namespace="sanare-system", watch_namespaces=watched))
    refusal = scope.refusal(namespace)
    assert (refusal == "") is is_allowed
    assert is_allowed or namespace in refusal
