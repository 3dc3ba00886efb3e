"""The Incident that an alert becomes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sanare.api.incident import IncidentSpec, Severity
from sanare.api.manifest import Ref
from sanare.ingest.incident import incident_name, incident_of, severity_of
from sanare.ingest.payload import Alert

START = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
WEB = Ref(kind="Deployment", namespace="shop", name="web")


def alert(**fields: Any) -> Alert:
    return Alert.model_validate({"status": "firing", "fingerprint": "c0ffee", "startsAt": START, **fields})


def spec_of(made: Alert, target: Ref = WEB) -> IncidentSpec:
    return IncidentSpec.parse(incident_of(made, target, group_key="group")["spec"])


def test_a_name_is_the_same_for_every_delivery() -> None:
    utc = alert(startsAt="2026-01-02T03:04:05.678Z", labels={"alertname": "Down"})
    elsewhere = alert(startsAt="2026-01-02T05:04:05.678000000+02:00", annotations={"summary": "text that changed"})
    assert incident_name(utc) == incident_name(elsewhere)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"startsAt": START + timedelta(milliseconds=1)}, id="the next firing"),
        pytest.param({"fingerprint": "c0ffef"}, id="another alert"),
    ],
)
def test_another_firing_has_another_name(other: dict[str, Any]) -> None:
    assert incident_name(alert()) != incident_name(alert(**other))


def test_a_name_holds_nothing_of_the_labels() -> None:
    made = alert(labels={"alertname": "payments-down"}, fingerprint="payments")
    assert incident_name(made).removeprefix("alert-").isalnum()
    assert "payments" not in incident_name(made)


SEVERITIES = {
    "critical": Severity.CRITICAL,
    " Critical ": Severity.CRITICAL,
    "page": Severity.CRITICAL,
    "error": Severity.HIGH,
    "warning": Severity.MEDIUM,
    "info": Severity.LOW,
    "whatever": Severity.MEDIUM,
    "": Severity.MEDIUM,
}


@pytest.mark.parametrize(("label", "severity"), SEVERITIES.items())
def test_severity(label: str, severity: Severity) -> None:
    assert severity_of({"severity": label}) is severity


def test_what_was_alerted_is_kept() -> None:
    labels = {"alertname": "ShopDown", "severity": "critical", "namespace": "shop", "deployment": "web"}
    spec = spec_of(alert(labels=labels, annotations={"summary": "the shop is down"}))
    assert (spec.summary, spec.severity) == ("the shop is down", Severity.CRITICAL)
    assert [(t.api_version, t.kind, t.name) for t in spec.targets] == [("apps/v1", "Deployment", "web")]
    source = spec.source
    assert (source.type, source.alert_name, source.fingerprint) == ("Alertmanager", "ShopDown", "c0ffee")
    assert (source.group_key, dict(source.labels)) == ("group", labels)


@pytest.mark.parametrize(
    ("annotations", "summary"),
    [
        ({"summary": "short", "description": "long"}, "short"),
        ({"description": "two\nlines"}, "two lines"),
        ({"message": "old style"}, "old style"),
        ({}, "ShopDown"),
    ],
)
def test_the_summary_is_the_first_thing_said(annotations: dict[str, str], summary: str) -> None:
    assert spec_of(alert(labels={"alertname": "ShopDown"}, annotations=annotations)).summary == summary


def test_nothing_but_the_target_chooses_policy_mode_or_approval() -> None:
    labels = {"mode": "Enforce", "policyRef": "loose", "approval": "Approve", "sanare_mode": "Enforce"}
    spec = spec_of(alert(labels=labels, annotations=labels))
    assert (spec.mode, spec.policy_ref, spec.approval, spec.checks) == (None, None, None, ())


def test_text_is_cleaned_redacted_and_cut() -> None:
    said = {
        "summary": "down \x1b[31mred\x1b[0m\u202e",
        "description": "Authorization: Bearer abcdefghijklmnop",
        "long": "\N{GRINNING FACE}" * 5000,
    }
    spec = spec_of(alert(annotations=said, labels={"big": "x" * 60000}))
    assert spec.summary == "down red"
    assert "abcdefghijklmnop" not in spec.source.annotations["description"]
    assert len(spec.source.annotations["long"].encode()) <= 1024
    assert len(spec.source.labels["big"]) <= 256


def test_an_incident_stays_small_whatever_the_alert() -> None:
    flood = {f"key{n:03}": "x" * 60000 for n in range(256)}
    wire = incident_of(alert(labels=flood, annotations=flood), WEB, group_key="x" * 60000)
    assert len(str(wire)) < 48 * 1024


def test_a_service_is_a_target_of_the_core_group() -> None:
    (target,) = spec_of(alert(), Ref(kind="Service", namespace="shop", name="web")).targets
    assert (target.api_version, target.kind) == ("v1", "Service")


NOW = START + timedelta(hours=1)
FIRING = {
    "without an end": ({}, True),
    "with Go's zero time as its end": ({"endsAt": "0001-01-01T00:00:00Z"}, True),
    "with an end to come": ({"endsAt": NOW + timedelta(minutes=1)}, True),
    "delivered after its end": ({"endsAt": NOW - timedelta(minutes=1)}, False),
    "resolved": ({"status": "resolved", "endsAt": NOW - timedelta(minutes=1)}, False),
}


@pytest.mark.parametrize(("fields", "is_firing"), FIRING.values(), ids=FIRING.keys())
def test_an_alert_fires(fields: dict[str, Any], is_firing: bool) -> None:
    assert alert(**fields).is_firing(NOW) is is_firing
