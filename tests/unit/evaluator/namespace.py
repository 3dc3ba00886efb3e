"""A small namespace as the API server would list it, healthy until a test changes it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from sanare.api.incident import Incident
from sanare.api.policy import PolicySpec
from sanare.api.verdict import Verdict
from sanare.evaluator.baseline import Baseline
from sanare.evaluator.judge import assess, judge, look_at
from sanare.evaluator.snapshot import Answer, Probe, Snapshot
from sanare.evaluator.survey import take_baseline
from sanare.evaluator.wanted import BINDINGS, EVERYTHING

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
EARLIER = "2026-05-04T11:00:00Z"
POLICY = PolicySpec()
# What a look lists where something plays a part in it; here all of it, there or not.
LISTED = ("Pod", "Service", *EVERYTHING, *BINDINGS)

Json: TypeAlias = dict[str, Any]


@dataclass
class Namespace:
    """Objects by kind and the answers to probes; every Service answers unless `silent` says why not."""

    objects: dict[str, list[Json]] = field(default_factory=dict)
    silent: dict[str, Answer] = field(default_factory=dict)
    answers: dict[Probe, Answer] = field(default_factory=dict)
    logs: dict[str, str] = field(default_factory=dict)
    unseen: dict[str, str] = field(default_factory=dict)

    def add(self, *manifests: Json) -> Namespace:
        for manifest in manifests:
            self.objects.setdefault(manifest["kind"], []).append(manifest)
        return self

    def get(self, kind: str, name: str) -> Json:
        return next(item for item in self.objects[kind] if item["metadata"]["name"] == name)

    def drop(self, kind: str, name: str) -> None:
        self.objects[kind].remove(self.get(kind, name))

    def container(self, name: str = "web") -> Json:
        found: Json = self.get("Deployment", name)["spec"]["template"]["spec"]["containers"][0]
        return found

    def template(self, name: str = "web") -> Json:
        found: Json = self.get("Deployment", name)["spec"]["template"]
        return found

    def pod(self, name: str = "web") -> Json:
        return next(pod for pod in self.objects["Pod"] if pod["metadata"]["name"].startswith(name))

    def roll_out(self, name: str = "web") -> None:
        """Let the pods follow the template, as a finished rollout does."""
        for pod in self.objects["Pod"]:
            deployed = any(item["metadata"]["name"] == name for item in self.objects["Deployment"])
            if deployed and pod["metadata"]["name"].startswith(f"{name}-"):
                pod["spec"] = copy.deepcopy(self.template(name)["spec"])

    def snapshot(self) -> Snapshot:
        """What a collector would have brought back, its own probes answered."""
        objects = {
            kind: tuple(copy.deepcopy(self.objects.get(kind, [])))
            for kind in (*LISTED, *self.objects)
            if kind not in self.unseen
        }
        return Snapshot("shop", NOW, objects, {**self._service_answers(), **self.answers}, self.logs, self.unseen)

    def _service_answers(self) -> dict[Probe, Answer]:
        return {
            Probe(
                "Service", service["metadata"]["name"], str(port.get("name") or port["port"]), path
            ): self.silent.get(service["metadata"]["name"], Answer(status=200, body="ok"))
            for service in self.objects.get("Service", [])
            for port in service["spec"]["ports"]
            for path in ("/", "/healthz", "/readyz")
        }


def meta(name: str, uid: str = "", **more: Any) -> Json:
    return {"name": name, "namespace": "shop", "uid": uid or f"uid-{name}", "creationTimestamp": EARLIER, **more}


def since(name: str, **more: Any) -> Json:
    """Metadata of an object that was created after the baseline."""
    return {**meta(name, **more), "creationTimestamp": (NOW + timedelta(seconds=5)).isoformat()}


def owner(kind: str, name: str) -> list[Json]:
    return [{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": f"uid-{kind}-{name}", "controller": True}]


def workload(name: str, *, replicas: int = 1, image: str = "shop.local/app:1.0", **container: Any) -> list[Json]:
    """A Deployment whose rollout is complete, with its ReplicaSet and its ready pods."""
    labels = {"app": name}
    spec = {"containers": [{"name": name, "image": image, "ports": [{"containerPort": 8080}], **container}]}
    annotations = {"deployment.kubernetes.io/revision": "1"}
    counts = {
        "replicas": replicas,
        "readyReplicas": replicas,
        "availableReplicas": replicas,
        "observedGeneration": 1,
    }
    deployment = {
        "kind": "Deployment",
        "apiVersion": "apps/v1",
        "metadata": meta(name, f"uid-Deployment-{name}", generation=1, annotations=annotations),
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": dict(labels)}, "spec": spec},
        },
        "status": {**counts, "updatedReplicas": replicas},
    }
    replica_set = {
        "kind": "ReplicaSet",
        "apiVersion": "apps/v1",
        "metadata": meta(
            f"{name}-1",
            f"uid-ReplicaSet-{name}-1",
            annotations=annotations,
            ownerReferences=owner("Deployment", name),
        ),
        "spec": {"replicas": replicas, "template": copy.deepcopy(deployment["spec"]["template"])},  # type: ignore[index]
        "status": counts,
    }
    return [deployment, replica_set, *(pod(name, number, spec) for number in range(replicas))]


def pod(name: str, number: int, spec: Json) -> Json:
    container = spec["containers"][0]["name"]
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": meta(
            f"{name}-1-{number}", labels={"app": name}, ownerReferences=owner("ReplicaSet", f"{name}-1")
        ),
        "spec": {"restartPolicy": "Always", **copy.deepcopy(spec)},
        "status": {
            "phase": "Running",
            "podIP": "192.0.2.7",
            "conditions": [{"type": "Ready", "status": "True"}, {"type": "PodScheduled", "status": "True"}],
            "containerStatuses": [
                {
                    "name": container,
                    "ready": True,
                    "started": True,
                    "restartCount": 0,
                    "imageID": "sha256:0",
                    "state": {"running": {"startedAt": EARLIER}},
                }
            ],
        },
    }


def service(name: str, selector: Json | None = None, target: Any = 8080, **spec: Any) -> Json:
    return {
        "kind": "Service",
        "apiVersion": "v1",
        "metadata": meta(name, f"uid-Service-{name}", labels={"app": name}),
        "spec": {
            "selector": selector or {"app": name},
            "ports": [{"port": 80, "targetPort": target, "protocol": "TCP"}],
            "clusterIP": "198.51.100.4",
            **spec,
        },
    }


def endpoints(name: str, *pods: str, port: int = 8080, by: str = "endpointslice-controller.k8s.io") -> Json:
    labels = {"kubernetes.io/service-name": name, "endpointslice.kubernetes.io/managed-by": by}
    return {
        "kind": "EndpointSlice",
        "apiVersion": "discovery.k8s.io/v1",
        "metadata": meta(f"{name}-abc", labels=labels),
        "ports": [{"name": "", "port": port, "protocol": "TCP"}],
        "endpoints": [
            {
                "addresses": ["192.0.2.7"],
                "conditions": {"ready": True},
                "targetRef": {"kind": "Pod", "name": each},
            }
            for each in pods
        ],
    }


def config_map(config_name: str, **data: str) -> Json:
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": meta(config_name), "data": data}


def named(kind: str, name: str, **spec: Any) -> Json:
    return {"kind": kind, "apiVersion": "v1", "metadata": meta(name), "spec": spec}


def warning(about: Json, reason: str, message: str, at: str = EARLIER) -> Json:
    return {
        "kind": "Event",
        "metadata": meta(f"event-{reason}-{about['metadata']['name']}-{at}"),
        "involvedObject": {"uid": about["metadata"]["uid"]},
        "reason": reason,
        "message": message,
        "lastTimestamp": at,
        "type": "Warning",
    }


def shop(**container: Any) -> Namespace:
    """Deployment and Service `web`, which Incidents are about, and the healthy neighbour `api`."""
    return Namespace().add(
        *workload("web", **container),
        service("web"),
        endpoints("web", "web-1-0"),
        *workload("api"),
        service("api"),
        endpoints("api", "api-1-0"),
    )


def incident(*targets: str, checks: tuple[Json, ...] = ()) -> Incident:
    named_targets = [target.partition("/") for target in targets or ("Deployment/web",)]
    return Incident.parse(
        {
            "metadata": {"name": "one", "namespace": "shop"},
            "spec": {"targets": [{"kind": k, "name": n} for k, _, n in named_targets], "checks": checks},
        }
    )


def baseline_of(before: Namespace, about: Incident | None = None) -> Baseline:
    """The baseline as `capture` takes it."""
    look = look_at(before.snapshot(), about or incident(), POLICY, now=NOW)
    failing = tuple(seen.outcome() for seen in assess(look) if seen.result == "Failed")
    return take_baseline(look, failing)


def verdict(
    now: Namespace,
    before: Namespace | None = None,
    about: Incident | None = None,
    *,
    since: datetime | None = None,
) -> Verdict:
    """The verdict on a namespace, compared with what it was before where that is given."""
    about = about or incident()
    baseline = baseline_of(before, about) if before else None
    return judge(now.snapshot(), baseline, about, POLICY, now=NOW, since=since)


def changed(before: Namespace, *changes: Callable[[Namespace], object]) -> Namespace:
    """A copy of the namespace with changes made and rolled out."""
    after = copy.deepcopy(before)
    for change in changes:
        change(after)
    after.roll_out()
    return after


def ago(seconds: float) -> str:
    return (NOW - timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
