"""Pods that cannot be placed or created: node selectors, rights, quotas, pauses, and workloads without pods."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from sanare.api.manifest import Manifest, dig, labels, mapping, number, text
from sanare.diagnosis.finding import Candidate, Confidence, Finding
from sanare.diagnosis.likeness import nearest
from sanare.diagnosis.patch import Change, patch
from sanare.diagnosis.view import View
from sanare.diagnosis.workload import Container, Workload

_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_NO_NODE = re.compile(r"didn't match Pod's node affinity/selector|node\(s\) didn't match node selector")
_ROOT_IMAGE = re.compile(r"runAsNonRoot and (?:image will run as root|image has non-numeric user)")
_QUOTA = re.compile(r"exceeded quota: ([\w.-]{1,253})")
_MAX_REPLICAS = 50


def node_selectors(view: View) -> Iterator[Finding]:
    """Node selectors that no node satisfies."""
    for workload in view.targets:
        wanted = mapping(workload.pod_spec, "nodeSelector")
        nowhere = workload.ref.kind == "DaemonSet" and not workload.wanted and not workload.pods
        if wanted and (nowhere or (workload in view.troubled and _NO_NODE.search(view.complaints(workload)))):
            yield from (_of_selector(view, workload, key, str(value)) for key, value in wanted.items())


def _of_selector(view: View, workload: Workload, key: str, value: str) -> Finding:
    known: dict[str, str] = {}
    for node in view.snapshot.all("Node"):
        if key in labels(node):
            known.setdefault(labels(node)[key], f"Node/{text(node, 'metadata', 'name')} has it")
    for other in view.workloads:
        its = text(other.pod_spec, "nodeSelector", key)
        if its and other.ref != workload.ref and other.is_proven:
            known.setdefault(its, f"the pods of {other.ref} found a node with it")
    chosen = () if value in known else nearest(value, known)
    pointer = (*workload.path, "nodeSelector", key)
    return Finding(
        kind="NodeSelectorUnsatisfied",
        ref=workload.ref,
        field=".".join((*workload.path, "nodeSelector", key)),
        observed=value,
        expected="a value that a node has",
        confidence=Confidence.HIGH if chosen else Confidence.MEDIUM,
        candidates=tuple(Candidate(v, known[v], (patch(workload.ref, Change(pointer, value, v)),)) for v in chosen),
        missing="" if len(chosen) == 1 else f"no node that can be seen has a value of {key} like {value}",
    )


def root_images(view: View) -> Iterator[Finding]:
    """Containers that must not run as root while their image would."""
    for workload in view.troubled:
        for container in workload.containers:
            if any(_ROOT_IMAGE.search(state.message) for state in workload.states(container)):
                yield _of_user(view, workload, container)


def _of_user(view: View, workload: Workload, container: Container) -> Finding:
    users: dict[int, str] = {}
    for other, neighbour in view.neighbours(workload, container):
        user = number(neighbour.spec, "securityContext", "runAsUser") or number(
            other.pod_spec, "securityContext", "runAsUser"
        )
        if user > 0 and other.is_proven:
            users.setdefault(user, f"{other.ref} runs the same image as this user")
    pointer = workload.pointer(container, "securityContext")
    old = container.spec.get("securityContext")
    new = mapping(container.spec, "securityContext")
    return Finding(
        kind="RunsAsRoot",
        ref=workload.ref,
        field=workload.field(container, "securityContext.runAsUser"),
        observed="the image's own user, root",
        expected="the number of a user that is not root",
        confidence=Confidence.HIGH if len(users) == 1 else Confidence.MEDIUM,
        candidates=tuple(
            Candidate(str(user), words, (patch(workload.ref, Change(pointer, old, {**new, "runAsUser": user})),))
            for user, words in users.items()
        ),
        missing="" if len(users) == 1 else f"no ready neighbour runs {container.image} as one other user",
    )


def quotas(view: View) -> Iterator[Finding]:
    """Workloads whose pods a quota refuses. What to free is a decision of people."""
    for workload in view.troubled:
        match = _QUOTA.search(view.complaints(workload))
        if match:
            yield Finding(
                kind="QuotaExceeded",
                ref=workload.ref,
                field="spec.replicas",
                observed=f"pods are refused by ResourceQuota/{match[1]}",
                expected="room in the quota",
                confidence=Confidence.HIGH,
                missing=f"which of the users of ResourceQuota/{match[1]} may give way, or whether it may grow",
            )


def pauses(view: View) -> Iterator[Finding]:
    """Deployments whose rollout is paused while it is not complete, or that have no pods at all."""
    for workload in view.targets:
        paused = workload.ref.kind == "Deployment" and dig(workload.manifest, "spec", "paused") is True
        if paused and not workload.is_proven:
            yield _of_pause(workload)


def _of_pause(workload: Workload) -> Finding:
    command = patch(workload.ref, Change(("spec", "paused"), True, False))
    return Finding(
        kind="RolloutPaused",
        ref=workload.ref,
        field="spec.paused",
        observed="true",
        expected="false",
        confidence=Confidence.HIGH,
        candidates=(Candidate("false", "the rollout cannot go on while it is paused", (command,)),),
    )


def without_pods(view: View) -> Iterator[Finding]:
    """Deployments and StatefulSets that ask for no pods."""
    for workload in view.targets:
        if workload.ref.kind in ("Deployment", "StatefulSet") and not workload.wanted:
            yield _of_replicas(view, workload)


def _of_replicas(view: View, workload: Workload) -> Finding:
    known = {count: words for count, words in _counts(view, workload) if 0 < count <= _MAX_REPLICAS}
    return Finding(
        kind="ScaledToZero",
        ref=workload.ref,
        field="spec.replicas",
        observed="0",
        expected="as many pods as there were",
        confidence=Confidence.HIGH if len(known) == 1 else Confidence.MEDIUM,
        candidates=tuple(
            Candidate(str(count), words, (patch(workload.ref, Change(("spec", "replicas"), 0, count)),))
            for count, words in known.items()
        ),
        missing="" if len(known) == 1 else "no autoscaler, annotation or applied configuration tells their number",
    )


def _counts(view: View, workload: Workload) -> Iterator[tuple[int, str]]:
    for scaler in view.snapshot.all("HorizontalPodAutoscaler"):
        target = mapping(scaler, "spec", "scaleTargetRef")
        if (text(target, "kind"), text(target, "name")) == (workload.ref.kind, workload.name):
            name = f"HorizontalPodAutoscaler/{text(scaler, 'metadata', 'name')}"
            yield number(scaler, "spec", "minReplicas", default=1), f"the least that {name} asks for"
    yield _applied(workload.manifest), f"annotation {_LAST_APPLIED} asks for it"
    for key, value in mapping(workload.manifest, "metadata", "annotations").items():
        if key.endswith("replicas") and isinstance(value, str) and value.isdecimal() and len(value) < 5:
            yield int(value), f"annotation {key} says so"
    for event in view.snapshot.all("Event"):
        about = mapping(event, "involvedObject")
        match = re.search(r"^Scaled down replica set \S+ from (\d+) to 0$", text(event, "message"))
        if match and text(about, "uid") == workload.ref.uid:
            yield int(match[1]), "the event of the scale-down says so"


def _applied(manifest: Manifest) -> int:
    try:
        applied: object = json.loads(text(manifest, "metadata", "annotations", _LAST_APPLIED))
    except ValueError:
        return 0
    return number(applied, "spec", "replicas")
