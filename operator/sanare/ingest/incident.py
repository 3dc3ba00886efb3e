"""The Incident that an alert becomes. Pure: cleaned, bounded, and named from a hash, never from a label."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC
from typing import Any

from sanare.api.incident import IncidentSpec, Severity, Source, Target
from sanare.api.manifest import Ref
from sanare.api.model import API_VERSION
from sanare.ingest.payload import Alert
from sanare.kube.resources import BY_KIND
from sanare.text import clean, one_line

_LABELS = 64
_LABEL_BYTES = 256
_ANNOTATIONS = 16
_ANNOTATION_BYTES = 1024
_KEY_BYTES = 128

_SEVERITIES = {
    "critical": Severity.CRITICAL,
    "page": Severity.CRITICAL,
    "emergency": Severity.CRITICAL,
    "error": Severity.HIGH,
    "high": Severity.HIGH,
    "major": Severity.HIGH,
    "warning": Severity.MEDIUM,
    "medium": Severity.MEDIUM,
    "minor": Severity.LOW,
    "low": Severity.LOW,
    "info": Severity.LOW,
    "none": Severity.LOW,
}


def incident_name(alert: Alert) -> str:
    """The same for every delivery of one firing, another for the next firing of the same alert."""
    moment = alert.starts_at.astimezone(UTC).isoformat(timespec="microseconds")
    return "alert-" + hashlib.sha256(f"{alert.fingerprint}\n{moment}".encode()).hexdigest()[:16]


def severity_of(labels: Mapping[str, str]) -> Severity:
    """The label `severity` in the words of the API; Medium where it is missing or unknown."""
    return _SEVERITIES.get(labels.get("severity", "").strip().lower(), Severity.MEDIUM)


def incident_of(alert: Alert, target: Ref, *, group_key: str) -> dict[str, Any]:
    """The Incident as the API server takes it."""
    said = alert.annotations
    summary = said.get("summary") or said.get("description") or said.get("message") or alert.name
    spec = IncidentSpec(
        summary=one_line(summary, 1024),
        severity=severity_of(alert.labels),
        targets=(Target(api_version=BY_KIND[target.kind].api_version, kind=target.kind, name=target.name),),
        source=Source(
            type="Alertmanager",
            alert_name=one_line(alert.name, 256),
            fingerprint=one_line(alert.fingerprint, 64),
            group_key=one_line(group_key, 1024),
            starts_at=alert.starts_at,
            labels=_bounded(alert.labels, count=_LABELS, size=_LABEL_BYTES),
            annotations=_bounded(said, count=_ANNOTATIONS, size=_ANNOTATION_BYTES),
        ),
    )
    return {
        "apiVersion": API_VERSION,
        "kind": "Incident",
        "metadata": {
            "name": incident_name(alert),
            "namespace": target.namespace,
            "labels": {"app.kubernetes.io/managed-by": "sanare", "sanare.dev/source": "alertmanager"},
        },
        "spec": spec.wire(),
    }


def _bounded(pairs: Mapping[str, str], *, count: int, size: int) -> dict[str, str]:
    """The first `count` pairs by key, each cleaned and cut to its bytes."""
    kept = sorted(pairs.items())[:count]
    return {one_line(key, _KEY_BYTES): clean(value, size) for key, value in kept}
