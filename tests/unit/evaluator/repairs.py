"""Changes to the small namespace, as people and models make them: the words of the tables of repairs."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from sanare.evaluator.snapshot import Answer
from tests.unit.evaluator.namespace import (
    Json,
    Namespace,
    changed,
    config_map,
    meta,
    named,
    shop,
    since,
    workload,
)

Change = Callable[[Namespace], object]

LIVENESS = {"httpGet": {"path": "/wrong", "port": 8080}, "periodSeconds": 10, "failureThreshold": 3}


def sets(**fields: Any) -> Change:
    """A change to the container of Deployment/web."""
    return lambda ns: ns.container().update(fields)


def drops(field: str) -> Change:
    return lambda ns: ns.container().pop(field)


def sets_pod(**fields: Any) -> Change:
    return lambda ns: ns.template()["spec"].update(fields)


def with_volume(**source: Any) -> Change:
    return sets_pod(volumes=[{"name": "conf", **source}])


ASKS = {"env": [{"name": "BACKEND_URL", "value": "http://web:8080/"}]}


def asks(url: str) -> Change:
    """Another address in the variable of `ASKS`."""
    return sets(env=[{"name": "BACKEND_URL", "value": url}])


def selects(**labels: str) -> Change:
    return lambda ns: ns.get("Service", "web")["spec"].update(selector=labels)


def targets(port: Any) -> Change:
    return lambda ns: ns.get("Service", "web")["spec"]["ports"][0].update(targetPort=port)


def earlier_revision(image: str, of: str = "web") -> Change:
    """The ReplicaSet of the revision before, without a pod."""

    def add(ns: Namespace) -> None:
        old = copy.deepcopy(ns.get("ReplicaSet", f"{of}-1"))
        old["metadata"].update(name=f"{of}-0", uid="old", annotations={"deployment.kubernetes.io/revision": "0"})
        old["spec"]["replicas"] = 0
        old["spec"]["template"]["spec"]["containers"][0]["image"] = image
        ns.add(old)

    return add


def renumbers(number: int) -> Change:
    return lambda ns: ns.get("Service", "web")["spec"]["ports"][0].update(port=number)


def adds_port(ns: Namespace) -> None:
    ns.get("Service", "web")["spec"]["ports"].append({"name": "metrics", "port": 9090, "targetPort": 9090})


def refused(ns: Namespace) -> None:
    ns.silent["web"] = Answer(failure="connection refused")


def scales(replicas: int) -> Change:
    return lambda ns: ns.get("Deployment", "web")["spec"].update(replicas=replicas)


def adds(*manifests: Any) -> Change:
    return lambda ns: ns.add(*manifests)


def deletes(kind: str, name: str) -> Change:
    return lambda ns: ns.drop(kind, name)


def recreates(kind: str, name: str, **metadata: Any) -> Change:
    return lambda ns: ns.get(kind, name)["metadata"].update(uid="another", **metadata)


def orphans_pod(ns: Namespace) -> None:
    metadata = ns.pod()["metadata"]
    metadata.pop("ownerReferences")
    metadata["labels"] = {"app": "weeb"}
    ns.add(*workload("web")[2:])
    ns.objects["Pod"][-1]["metadata"]["name"] = "web-1-9"


def breaks_neighbour(ns: Namespace) -> None:
    ns.pod("api")["status"]["conditions"] = [{"type": "Ready", "status": "False"}]


def shared_label(ns: Namespace) -> None:
    for name in ("web", "api"):
        ns.template(name)["metadata"]["labels"]["tier"] = "shop"
        ns.pod(name)["metadata"]["labels"]["tier"] = "shop"


def never_pulled(ns: Namespace) -> None:
    ns.pod()["status"]["containerStatuses"][0]["imageID"] = ""


def recreates_with_other_selector(ns: Namespace) -> None:
    deployment = ns.get("Deployment", "web")
    deployment["spec"]["selector"]["matchLabels"] = {"app": "web", "tier": "front"}
    deployment["metadata"]["uid"] = "another"
    ns.get("ReplicaSet", "web-1")["metadata"]["ownerReferences"][0]["uid"] = "another"


def broken(*changes: Change, **container: Any) -> Namespace:
    return changed(shop(**container), *changes)


def respec(kind: str, name: str, **spec: Any) -> Change:
    return lambda ns: ns.get(kind, name)["spec"].update(spec)


def of(kind: str, name: str, spec: Json, **status: Any) -> Json:
    """A workload with a template and what it is about."""
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": name, "image": "i:1"}]}}
    body = {"jobTemplate": {"spec": {"template": template}}} if kind == "CronJob" else {"template": template}
    return {
        "kind": kind,
        "apiVersion": "apps/v1",
        "metadata": meta(name),
        "spec": {**body, **spec},
        "status": status,
    }


def daemons(name: str, number: int, **pod: Any) -> Change:
    """A DaemonSet on that many nodes, each pod of it ready."""

    def add(ns: Namespace) -> None:
        ns.objects.setdefault("DaemonSet", [])
        ns.objects["DaemonSet"] = [each for each in ns.objects["DaemonSet"] if each["metadata"]["name"] != name]
        ns.objects["Pod"] = [
            each for each in ns.objects["Pod"] if not each["metadata"]["name"].startswith(f"{name}-")
        ]
        counts = ("desiredNumberScheduled", "updatedNumberScheduled", "numberReady", "numberAvailable")
        made = of("DaemonSet", name, {}, **dict.fromkeys(counts, number))
        made["spec"]["template"]["spec"].update(pod)
        ns.add(made)
        for each in range(number):
            one = copy.deepcopy(ns.pod("api"))
            reference = {"kind": "DaemonSet", "name": name, "uid": f"uid-{name}", "controller": True}
            one["metadata"] = meta(f"{name}-{each}", labels={"app": name}, ownerReferences=[reference])
            one["spec"] = {**copy.deepcopy(made["spec"]["template"]["spec"]), "restartPolicy": "Always"}
            one["status"]["containerStatuses"][0]["name"] = name
            ns.add(one)

    return add


def both(*changes: Change) -> Change:
    return lambda ns: [change(ns) for change in changes]


def fails(reason: str, message: str, kind: str = "ReplicaFailure") -> Change:
    """The controller of Deployment/web could not create a pod."""

    def refuse(ns: Namespace) -> None:
        ns.objects["Pod"] = [pod for pod in ns.objects["Pod"] if not pod["metadata"]["name"].startswith("web-")]
        condition = {"type": kind, "status": "True", "reason": reason, "message": message}
        ns.get("ReplicaSet", "web-1")["status"]["conditions"] = [condition]

    return refuse


def binding(name: str, account: str, role: str = "edit", kind: str = "RoleBinding", *, old: bool = False) -> Json:
    return {
        "kind": kind,
        "metadata": meta(name) if old else since(name),
        "roleRef": {"kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": "shop"}],
    }


LIMITED = {"resources": {"limits": {"memory": "16Mi"}}}
MOUNTED = with_volume(configMap={"name": "web-confg"})
CLAIMED = with_volume(persistentVolumeClaim={"claimName": "dta"})
FROM_MISSING = {"envFrom": [{"configMapRef": {"name": "web-confg"}}]}
REFERENCE = {"name": "MODE", "valueFrom": {"configMapKeyRef": {"name": "web-confg", "key": "mode"}}}
PASSWORD = {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "web", "key": "password"}}}
WEB_CONFIG = adds(config_map("web-config", MODE="standard", mode="standard"))
TWO_VOLUMES = sets_pod(
    volumes=[{"name": "conf", "configMap": {"name": "web-confg"}}, {"name": "more", "configMap": {"name": "more"}}]
)
MOUNTING = {"volumeMounts": [{"name": "conf", "mountPath": "/conf"}]}
DATA = adds(named("PersistentVolumeClaim", "data"))
NOTES = adds(config_map("notes", text="Set MODE=standard before the first start."))
