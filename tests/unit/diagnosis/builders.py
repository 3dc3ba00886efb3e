"""Small snapshots by hand: an application is a Deployment with a ReplicaSet and one pod in a stated state."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sanare.api.incident import Incident
from sanare.api.manifest import text
from sanare.diagnosis.diagnose import diagnose
from sanare.diagnosis.finding import Finding
from sanare.evaluator.snapshot import Answer, Probe, Snapshot

NAMESPACE = "shop"
Object = dict[str, Any]


@dataclass(frozen=True)
class State:
    """What the kubelet says of the pod's containers, and the log they left."""

    status: Mapping[str, Any] = field(default_factory=dict)
    ready: bool = False
    log: str = ""
    events: tuple[str, ...] = ()


def running(log: str = "") -> State:
    return State({"state": {"running": {}}, "ready": True, "imageID": "sha256:1"}, ready=True, log=log)


def up_not_ready(log: str = "", *events: str, restarts: int = 0) -> State:
    status = {"state": {"running": {}}, "ready": False, "imageID": "sha256:1", "restartCount": restarts}
    return State(status, log=log, events=events)


def waiting(reason: str, message: str = "", *events: str) -> State:
    return State({"state": {"waiting": {"reason": reason, "message": message}}, "ready": False}, events=events)


def crashed(
    log: str = "", *events: str, code: int = 1, reason: str = "Error", message: str = "", restarts: int = 3
) -> State:
    status = {
        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
        "lastState": {"terminated": {"reason": reason, "exitCode": code, "message": message}},
        "ready": False,
        "restartCount": restarts,
        "imageID": "sha256:1",
    }
    return State(status, log=log, events=events)


def box(name: str = "web", image: str = "shop/app:1.0", **spec: Any) -> Object:
    return {"name": name, "image": image, **spec}


def metadata(name: str, **more: Any) -> Object:
    return {"name": name, "namespace": NAMESPACE, "uid": f"uid-{name}", **more}


def owned_by(kind: str, name: str) -> list[Object]:
    return [{"kind": kind, "name": name, "apiVersion": "apps/v1", "uid": f"uid-{name}", "controller": True}]


@dataclass(frozen=True)
class App:
    """The objects of one application."""

    objects: tuple[Object, ...]
    logs: Mapping[str, str]


def app(
    name: str,
    *containers: Object,
    state: State | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    replicas: int = 1,
    old: Iterable[tuple[Object, int]] = (),
    **pod_spec: Any,
) -> App:
    """A Deployment; `old` are containers of earlier revisions with their ready pods, newest first."""
    state = state or running()
    boxes = list(containers) or [box(name)]
    its_labels = dict(labels or {"app": name})
    template = {"metadata": {"labels": its_labels}, "spec": {"containers": boxes, **pod_spec}}
    ready, earlier_ones = int(state.ready and replicas > 0), list(old)
    standing = sum(its_ready for _, its_ready in earlier_ones)
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(name, annotations=dict(annotations or {}), generation=1),
        "spec": {"replicas": replicas, "selector": {"matchLabels": its_labels}, "template": template},
        "status": {
            "observedGeneration": 1,
            "replicas": replicas + standing,
            "readyReplicas": ready + standing,
            "updatedReplicas": replicas,
        },
    }
    sets = [_replica_set(name, 9, template, ready)]
    for age, (container, its_ready) in enumerate(earlier_ones):
        earlier = {"metadata": {"labels": its_labels}, "spec": {"containers": [container]}}
        sets.append(_replica_set(name, 8 - age, earlier, its_ready))
    pods = [_pod(name, template, state)] if replicas else []
    logs = {f"{name}-9-a/{item['name']}": state.log for item in boxes if state.log}
    events = [_event(name, item["name"], message, at) for item in boxes for at, message in enumerate(state.events)]
    return App((deployment, *sets, *pods, *events), logs)


def _replica_set(name: str, revision: int, template: Object, ready: int) -> Object:
    annotations = {"deployment.kubernetes.io/revision": str(revision)}
    return {
        "kind": "ReplicaSet",
        "metadata": metadata(
            f"{name}-{revision}", annotations=annotations, ownerReferences=owned_by("Deployment", name)
        ),
        "spec": {"template": template},
        "status": {"readyReplicas": ready},
    }


def _pod(name: str, template: Object, state: State) -> Object:
    statuses = [{"name": item["name"], **state.status} for item in template["spec"]["containers"]]
    inits = [{"name": item["name"], **state.status} for item in template["spec"].get("initContainers", [])]
    return {
        "kind": "Pod",
        "metadata": metadata(
            f"{name}-9-a",
            labels=template["metadata"]["labels"],
            ownerReferences=owned_by("ReplicaSet", f"{name}-9"),
        ),
        "spec": template["spec"],
        "status": {
            "phase": "Running" if state.ready else "Pending",
            "conditions": [{"type": "Ready", "status": str(state.ready)}],
            "containerStatuses": statuses,
            "initContainerStatuses": inits,
        },
    }


def _event(name: str, container: str, message: str, at: int) -> Object:
    pod = f"{name}-9-a"
    about = {"kind": "Pod", "name": pod, "uid": f"uid-{pod}", "fieldPath": f"spec.containers{{{container}}}"}
    stamp = f"2026-01-01T00:00:{at:02d}Z"
    return {"kind": "Event", "metadata": {"name": f"{pod}.{at}"}, "involvedObject": about, "message": message,
            "lastTimestamp": stamp}  # fmt: skip


def service(
    name: str, *, selector: Mapping[str, str] | None = None, target: object = 8080, port_name: str = ""
) -> Object:
    port = {"port": 80, "targetPort": target, **({"name": port_name} if port_name else {})}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(name),
        "spec": {
            "selector": dict(selector or {"app": name}),
            "ports": [{"port": 80, "targetPort": target, **port}],
        },
    }


def config_map(name: str, data: Mapping[str, str] | None = None, **more: Any) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata(name), "data": dict(data or {}), **more}


def thing(kind: str, name: str, **more: Any) -> Object:
    return {"kind": kind, "metadata": metadata(name), **more}


LISTED = (
    "Pod",
    "Deployment",
    "ReplicaSet",
    "Service",
    "ConfigMap",
    "Event",
    "PersistentVolumeClaim",
    "ServiceAccount",
)


def snapshot(
    *parts: App | Object, answers: Mapping[Probe, Answer] | None = None, unseen: Mapping[str, str] | None = None
) -> Snapshot:
    objects: dict[str, list[Object]] = {kind: [] for kind in LISTED if kind not in (unseen or {})}
    logs: dict[str, str] = {}
    for part in parts:
        for item in part.objects if isinstance(part, App) else (part,):
            objects.setdefault(item["kind"], []).append(item)
        logs.update(part.logs if isinstance(part, App) else {})
    return Snapshot(
        NAMESPACE,
        datetime(2026, 1, 1, tzinfo=UTC),
        {kind: tuple(found) for kind, found in objects.items()},
        answers or {},
        logs,
        unseen or {},
    )


def incident(*targets: str) -> Incident:
    """An Incident about targets written as `Deployment/web`."""
    named = [dict(zip(("kind", "name"), target.split("/"), strict=True)) for target in targets]
    return Incident.parse({"metadata": {"name": "i", "namespace": NAMESPACE}, "spec": {"targets": named}})


def found(
    *parts: App | Object, target: str = "Deployment/web", answers: Mapping[Probe, Answer] | None = None
) -> tuple[Finding, ...]:
    return diagnose(snapshot(*parts, answers=answers), incident(target))


def only(findings: tuple[Finding, ...], kind: str) -> Finding:
    """The one finding of that kind; anything else found is an error of the test's snapshot."""
    assert [finding.kind for finding in findings] == [kind]
    return findings[0]


def values(finding: Finding) -> list[str]:
    return sorted(candidate.value for candidate in finding.candidates)


def patch_of(finding: Finding, command: int = 0) -> Any:
    """The body of the repair's patch, parsed."""
    repair = finding.repair
    assert repair is not None
    return json.loads(repair.commands[command].argv[-1])


def reached(name: str, port: int, path: str = "/", status: int = 200) -> dict[Probe, Answer]:
    return {Probe("Pod", f"{name}-9-a", str(port), path): Answer(status=status)}


def refused(name: str, *ports: int) -> dict[Probe, Answer]:
    return {Probe("Pod", f"{name}-9-a", str(port)): Answer(failure="connection refused") for port in ports}


def service_refused(name: str, port: str = "80") -> dict[Probe, Answer]:
    return {Probe("Service", name, port): Answer(failure="connection refused")}


def names(snapshot_: Snapshot, kind: str) -> list[str]:
    return [text(item, "metadata", "name") for item in snapshot_.all(kind)]
