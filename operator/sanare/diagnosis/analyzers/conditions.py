"""What keeps running pods from being ready or placed, and what only people know: gates and kept distances."""

from __future__ import annotations

from collections.abc import Iterator

from sanare.api.manifest import items, text
from sanare.diagnosis.asked import asked_of, complaint_about
from sanare.diagnosis.finding import Candidate, Confidence, Finding
from sanare.diagnosis.patch import Change, patch
from sanare.diagnosis.view import View

_APART = "didn't match pod anti-affinity rules"


def readiness_gates(view: View) -> Iterator[Finding]:
    """Readiness gates whose condition no pod has. Whether its setter is late or gone, no object says."""
    for workload in view.troubled:
        for index, gate in enumerate(items(workload.pod_spec, "readinessGates")):
            kind = text(gate, "conditionType")
            conditions = [text(c, "type") for pod in workload.pods for c in items(pod, "status", "conditions")]
            if workload.pods and kind not in conditions:
                yield Finding(
                    kind="ReadinessGateUnset",
                    ref=workload.ref,
                    field=f"{'.'.join(workload.path)}.readinessGates[{index}]",
                    observed=kind,
                    expected="a condition that something sets",
                    confidence=Confidence.HIGH,
                    missing=f"what sets the condition {kind} of pods, and whether it is still wanted",
                )


def kept_distances(view: View) -> Iterator[Finding]:
    """Anti-affinity that no node satisfies. Which distance is wanted is a decision of people."""
    for workload in view.troubled:
        if _APART in view.complaints(workload):
            yield Finding(
                kind="AntiAffinityUnsatisfied",
                ref=workload.ref,
                field=f"{'.'.join(workload.path)}.affinity.podAntiAffinity",
                observed="required, and every node has such a pod",
                expected="a distance that the nodes allow",
                confidence=Confidence.HIGH,
                missing="whether the rule names the right pods, and whether it must hold or is a wish",
            )


def probe_schemes(view: View) -> Iterator[Finding]:
    """HTTP probes that speak TLS to a server that does not."""
    for workload in view.troubled:
        for asked in asked_of(workload):
            scheme = text(asked.spec, "httpGet", "scheme")
            plain = "server gave HTTP response to HTTPS client" in complaint_about(view, asked)
            if scheme == "HTTPS" and plain:
                change = Change(workload.pointer(asked.container, asked.field, "httpGet", "scheme"), scheme, "HTTP")
                evidence = "the server answers the probe's TLS with plain HTTP"
                yield Finding(
                    kind="ProbeSchemeWrong",
                    ref=workload.ref,
                    field=workload.field(asked.container, f"{asked.field}.httpGet.scheme"),
                    observed=scheme,
                    expected="the scheme that the server speaks",
                    confidence=Confidence.HIGH,
                    candidates=(Candidate("HTTP", evidence, (patch(workload.ref, change),)),),
                )
