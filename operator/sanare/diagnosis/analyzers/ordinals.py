"""StatefulSets: updates that wait for a pod which does not get ready, and governing Services that are not there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sanare.api.manifest import Manifest, labels, mapping, number, text
from sanare.diagnosis.finding import Candidate, Confidence, Finding
from sanare.diagnosis.view import View, selects
from sanare.diagnosis.workload import Workload, is_ready
from sanare.kubectl.tool import Command

_REVISION = "controller-revision-hash"
_WAITS = "UpdateWaitsForPod"


def waiting_updates(view: View) -> Iterator[Finding]:
    """Updates that do not begin: a pod of an earlier revision is waited for as long as it is not ready."""
    for workload in view.troubled:
        if workload.ref.kind == "StatefulSet" and _is_observed(workload.manifest):
            stuck = sorted(_stuck(workload), key=lambda pod: text(pod, "metadata", "name"))
            if stuck:
                yield _of_pod(workload, text(stuck[0], "metadata", "name"))


def _is_observed(manifest: Manifest) -> bool:
    return number(manifest, "status", "observedGeneration") >= number(manifest, "metadata", "generation")


def _stuck(workload: Workload) -> Iterator[Manifest]:
    update = text(workload.manifest, "status", "updateRevision")
    for pod in workload.pods:
        if update and labels(pod).get(_REVISION) not in (update, None) and not is_ready(pod):
            yield pod


def _of_pod(workload: Workload, pod: str) -> Finding:
    evidence = f"{pod} is of an earlier revision and not ready, and {workload.ref} replaces no pod before it is"
    return Finding(
        kind=_WAITS,
        ref=workload.ref,
        field="status.updateRevision",
        observed=f"{pod} has an earlier revision",
        expected="every pod of the present revision",
        confidence=Confidence.HIGH,
        candidates=(Candidate(f"{pod} deleted", evidence, (Command(("delete", "pod", pod, "--wait=false")),)),),
    )


def with_release(view: View, finding: Finding) -> Finding:
    """The finding, each candidate followed by the deletion of the pod that its changed StatefulSet waits for."""
    workload = next((each for each in view.targets if each.ref == finding.ref), None)
    if workload is None or finding.ref.kind != "StatefulSet" or finding.kind == _WAITS:
        return finding
    unready = sorted(text(pod, "metadata", "name") for pod in workload.pods if not is_ready(pod))
    if not unready or text(workload.manifest, "spec", "podManagementPolicy") == "Parallel":
        return finding
    release = Command(("delete", "pod", unready[0], "--wait=false"))
    changed = tuple(
        replace(candidate, commands=(*candidate.commands, release)) if _changes(candidate, workload) else candidate
        for candidate in finding.candidates
    )
    return replace(finding, candidates=changed)


def _changes(candidate: Candidate, workload: Workload) -> bool:
    target = f"statefulset/{workload.name}"
    return any(command.argv[:2] == ("patch", target) for command in candidate.commands)


def governing_services(view: View) -> Iterator[Finding]:
    """StatefulSets whose Service does not exist: their pods have no names of their own in DNS."""
    if not view.is_listed("Service"):
        return
    for workload in view.targets:
        named = text(workload.manifest, "spec", "serviceName")
        if workload.ref.kind != "StatefulSet" or not named or view.snapshot.find("Service", named):
            continue
        headless = [
            text(service, "metadata", "name")
            for service in view.snapshot.all("Service")
            if mapping(service, "spec").get("clusterIP") == "None" and selects(service, workload.pod_labels)
        ]
        if headless:
            yield Finding(
                kind="GoverningServiceMissing",
                ref=workload.ref,
                field="spec.serviceName",
                observed=named,
                expected="a headless Service that selects its pods",
                confidence=Confidence.HIGH,
                missing=f"the field is immutable: {workload.ref} has to be made anew; {headless[0]} would fit",
            )
