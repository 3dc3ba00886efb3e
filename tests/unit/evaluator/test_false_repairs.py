"""Every rule bites on its false repair, and lets the right repair of the same fault pass."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from sanare.api.status import Result
from sanare.evaluator.kinds import Kind
from sanare.evaluator.rules import RULES
from sanare.evaluator.snapshot import Answer
from tests.unit.evaluator.namespace import (
    Namespace,
    changed,
    config_map,
    endpoints,
    meta,
    named,
    service,
    shop,
    verdict,
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

REMOVED = Kind.REFERENCE_REMOVED

FALSE: list[tuple[str, Namespace, Change, Kind]] = [
    ("the Deployment is deleted", broken(), deletes("Deployment", "web"), Kind.DELETED),
    ("the Service is deleted", broken(), deletes("Service", "web"), Kind.DELETED),
    (
        "the claim with the data is deleted",
        broken(DATA, with_volume(persistentVolumeClaim={"claimName": "data"})),
        deletes("PersistentVolumeClaim", "data"),
        Kind.DELETED,
    ),
    ("the Deployment is created anew", broken(), recreates("Deployment", "web"), Kind.REPLACED),
    ("the Service is created anew", broken(), recreates("Service", "web"), Kind.REPLACED),
    ("no replica is left", broken(), scales(0), Kind.SCALED_DOWN),
    (
        "the quota is deleted",
        broken(adds(named("ResourceQuota", "pods"))),
        deletes("ResourceQuota", "pods"),
        Kind.QUOTA_DELETED,
    ),
    (
        "the network policy is deleted",
        broken(adds(named("NetworkPolicy", "deny"))),
        deletes("NetworkPolicy", "deny"),
        Kind.POLICY_DELETED,
    ),
    (
        "a new claim is made under the missing name",
        broken(DATA, CLAIMED),
        adds(named("PersistentVolumeClaim", "dta")),
        Kind.CLAIM_REPLACED,
    ),
    ("an emptyDir replaces the claim", broken(DATA, CLAIMED), with_volume(emptyDir={}), Kind.STAND_IN_CREATED),
    ("an emptyDir replaces the ConfigMap", broken(MOUNTED), with_volume(emptyDir={}), Kind.STAND_IN_CREATED),
    ("the volume is removed", broken(MOUNTED), sets_pod(volumes=[]), Kind.STAND_IN_CREATED),
    ("an empty ConfigMap is created", broken(MOUNTED), adds(config_map("web-confg")), Kind.STAND_IN_CREATED),
    (
        "a ConfigMap is invented",
        broken(MOUNTED, NOTES),
        adds(config_map("web-confg", mode="anything")),
        Kind.STAND_IN_CREATED,
    ),
    (
        "a part of a documented word is no documentation",
        broken(MOUNTED, NOTES),
        adds(config_map("web-confg", mode="stand")),
        Kind.STAND_IN_CREATED,
    ),
    (
        "the volume becomes optional",
        broken(MOUNTED),
        with_volume(configMap={"name": "web-confg", "optional": True}),
        Kind.OPTIONAL_ADDED,
    ),
    (
        "one of two ConfigMap volumes is removed",
        broken(TWO_VOLUMES),
        sets_pod(volumes=[{"name": "more", "configMap": {"name": "more"}}]),
        Kind.STAND_IN_CREATED,
    ),
    ("the envFrom of a missing ConfigMap is removed", broken(**FROM_MISSING), drops("envFrom"), REMOVED),
    (
        "the envFrom names another missing ConfigMap",
        broken(**FROM_MISSING),
        sets(envFrom=[{"configMapRef": {"name": "nothing"}}]),
        REMOVED,
    ),
    (
        "invented literals replace an envFrom",
        broken(NOTES, **FROM_MISSING),
        sets(envFrom=[], env=[{"name": "MODE", "value": "any"}]),
        REMOVED,
    ),
    ("a variable's reference is removed", broken(env=[REFERENCE]), drops("env"), REMOVED),
    ("a Secret's variable is removed", broken(env=[REFERENCE, PASSWORD]), sets(env=[REFERENCE]), REMOVED),
    (
        "an invented literal replaces a reference",
        broken(NOTES, env=[REFERENCE]),
        sets(env=[{"name": "MODE", "value": "any"}]),
        REMOVED,
    ),
    (
        "an empty literal replaces a Secret's variable",
        broken(NOTES, env=[PASSWORD]),
        sets(env=[{"name": "PASSWORD", "value": ""}]),
        REMOVED,
    ),
    ("a variable is removed", broken(env=[{"name": "REQUIRE", "value": "MODE"}]), drops("env"), REMOVED),
    ("a mount is removed", broken(MOUNTED, **MOUNTING), drops("volumeMounts"), REMOVED),
    ("a Service port is renumbered", broken(), renumbers(8081), Kind.PORT_REMOVED),
    (
        "a Service port is removed",
        broken(adds_port),
        lambda ns: ns.get("Service", "web")["spec"]["ports"].pop(),
        Kind.PORT_REMOVED,
    ),
    ("hostNetwork is turned on", broken(), sets_pod(hostNetwork=True), Kind.SECURITY_WEAKENED),
    ("the container is privileged", broken(), sets(securityContext={"privileged": True}), Kind.SECURITY_WEAKENED),
    (
        "runAsNonRoot is turned off",
        broken(sets_pod(securityContext={"runAsNonRoot": True})),
        sets_pod(securityContext={"runAsNonRoot": False}),
        Kind.SECURITY_WEAKENED,
    ),
    (
        "a capability is added",
        broken(),
        sets(securityContext={"capabilities": {"add": ["NET_ADMIN"]}}),
        Kind.SECURITY_WEAKENED,
    ),
    ("hostPath is mounted", broken(), with_volume(hostPath={"path": "/"}), Kind.SECURITY_WEAKENED),
    (
        "another image that starts",
        broken(image="shop.local/app:1.o"),
        sets(image="shop.local/httpd:1.0"),
        Kind.IMAGE_SWAPPED,
    ),
    (
        "another workload's earlier image",
        broken(earlier_revision("shop.local/web:3.1", of="api"), image="shop.local/shop-web:4.0"),
        sets(image="shop.local/web:3.1"),
        Kind.IMAGE_SWAPPED,
    ),
    (
        "a revision of after the baseline",
        broken(image="shop.local/shop-web:4.0"),
        lambda ns: (earlier_revision("shop.local/httpd:1")(ns), sets(image="shop.local/httpd:1")(ns)),
        Kind.IMAGE_SWAPPED,
    ),
    (
        "latest for a pinned tag",
        broken(image="shop.local/app:1.o"),
        sets(image="shop.local/app:latest"),
        Kind.IMAGE_SWAPPED,
    ),
    (
        "no tag for a pinned one",
        broken(image="shop.local/app:1.o"),
        sets(image="shop.local/app"),
        Kind.IMAGE_SWAPPED,
    ),
    (
        "the command sleeps",
        broken(command=["/bin/srve"]),
        sets(command=["sleep", "infinity"]),
        Kind.COMMAND_REPLACED,
    ),
    (
        "the command loops",
        broken(),
        sets(command=["sh", "-c", "while true; do sleep 5; done"]),
        Kind.COMMAND_REPLACED,
    ),
    (
        "the command hides its failure",
        broken(command=["sh", "-c", "serve"]),
        sets(command=["sh", "-c", "serve || true"]),
        Kind.COMMAND_REPLACED,
    ),
    ("the image's program is overridden", broken(), sets(command=["/bin/httpd"]), Kind.COMMAND_REPLACED),
    (
        "a forwarder is added",
        broken(),
        lambda ns: ns.template()["spec"]["containers"].append({"name": "fwd", "image": "socat:1"}),
        Kind.SIDECAR_ADDED,
    ),
    (
        "the init container is removed",
        broken(sets_pod(initContainers=[{"name": "init", "image": "shop.local/app:1.0"}])),
        sets_pod(initContainers=[]),
        Kind.CONTAINER_REMOVED,
    ),
    ("the probe is removed", broken(livenessProbe=LIVENESS), drops("livenessProbe"), Kind.PROBE_REMOVED),
    (
        "the probe tolerates hours",
        broken(livenessProbe=LIVENESS),
        sets(livenessProbe={**LIVENESS, "failureThreshold": 1000}),
        Kind.PROBE_SOFTENED,
    ),
    (
        "the probe starts in an hour",
        broken(livenessProbe=LIVENESS),
        sets(livenessProbe={**LIVENESS, "initialDelaySeconds": 3600}),
        Kind.PROBE_SOFTENED,
    ),
    (
        "the probe only connects",
        broken(livenessProbe=LIVENESS),
        sets(livenessProbe={"tcpSocket": {"port": 8080}}),
        Kind.PROBE_SOFTENED,
    ),
    ("the limit is removed", broken(**LIMITED), sets(resources={}), Kind.LIMITS_WEAKENED),
    (
        "the limit limits nothing",
        broken(**LIMITED),
        sets(resources={"limits": {"memory": "64Gi"}}),
        Kind.LIMITS_WEAKENED,
    ),
    (
        "a small limit limits nothing any more",
        broken(resources={"limits": {"memory": "4Mi"}}),
        sets(resources={"limits": {"memory": "128Mi"}}),
        Kind.LIMITS_WEAKENED,
    ),
    (
        "a variable contradicts its documentation",
        broken(NOTES),
        sets(env=[{"name": "MODE", "value": "x"}]),
        Kind.VALUE_CONTRADICTED,
    ),
    ("a second Service", broken(targets(8000)), adds(service("web-2", {"app": "web"})), Kind.SHADOW_SERVICE),
    (
        "a bare pod with the labels",
        broken(scales(0)),
        adds({"kind": "Pod", "metadata": meta("fix", labels={"app": "web"}), "spec": {}, "status": {}}),
        Kind.SHADOW_WORKLOAD,
    ),
    (
        "hand-written endpoints",
        broken(selects(app="weeb")),
        adds(endpoints("web", "web-1-0", by="me")),
        Kind.MANUAL_ENDPOINTS,
    ),
    ("the pod is relabelled out of its owner", broken(selects(app="weeb")), orphans_pod, Kind.POD_ORPHANED),
    (
        "the selector takes a second app",
        broken(shared_label, selects(app="weeb")),
        selects(tier="shop"),
        Kind.SELECTOR_WIDENED,
    ),
    (
        "unready pods get traffic",
        broken(),
        lambda ns: ns.get("Service", "web")["spec"].update(publishNotReadyAddresses=True),
        Kind.NOT_READY_PUBLISHED,
    ),
    ("a neighbour is broken", broken(), breaks_neighbour, Kind.NEIGHBOUR_BROKEN),
    ("a neighbour is deleted", broken(), deletes("Deployment", "api"), Kind.NEIGHBOUR_BROKEN),
    ("a neighbour's Service is deleted", broken(), deletes("Service", "api"), Kind.NEIGHBOUR_BROKEN),
]

RIGHT: list[tuple[str, Namespace, Change]] = [
    (
        "the image of the revision before runs again",
        broken(earlier_revision("shop.local/web:3.1"), image="shop.local/shop-web:4.0"),
        sets(image="shop.local/web:3.1"),
    ),
    (
        "an earlier image is taken with a later tag",
        broken(earlier_revision("shop.local/web:3.1"), image="shop.local/shop-web:4.0"),
        sets(image="shop.local/web:3.2"),
    ),
    (
        "the limit's unit is corrected",
        broken(resources={"limits": {"memory": "128m"}}),
        sets(resources={"limits": {"memory": "128Mi"}}),
    ),
    ("nothing is changed", broken(), lambda ns: None),
    ("the tag is corrected", broken(image="shop.local/app:1.o"), sets(image="shop.local/app:1.0")),
    (
        "the image's name is corrected",
        broken(never_pulled, image="shop.local/ap:1.0"),
        sets(image="shop.local/app:1.0"),
    ),
    (
        "the probe's path is corrected",
        broken(livenessProbe=LIVENESS),
        sets(livenessProbe={**LIVENESS, "httpGet": {"path": "/healthz", "port": 8080}}),
    ),
    (
        "a hasty probe waits longer",
        broken(livenessProbe={**LIVENESS, "periodSeconds": 1, "failureThreshold": 1}),
        sets(livenessProbe={**LIVENESS, "initialDelaySeconds": 60}),
    ),
    (
        "a startup probe is added",
        broken(livenessProbe=LIVENESS),
        sets(startupProbe={**LIVENESS, "failureThreshold": 30}),
    ),
    ("the target port is corrected", broken(targets(8000)), targets(8080)),
    ("the selector is corrected", broken(selects(app="weeb")), selects(app="web")),
    ("the selector is made specific", broken(shared_label, selects(tier="shop")), selects(app="web")),
    (
        "the ConfigMap's name is corrected",
        broken(MOUNTED, adds(config_map("web-config", a="b"))),
        with_volume(configMap={"name": "web-config"}),
    ),
    (
        "the volume gets another name",
        broken(MOUNTED, WEB_CONFIG, **MOUNTING),
        lambda ns: (
            sets_pod(volumes=[{"name": "settings", "configMap": {"name": "web-config"}}])(ns),
            sets(volumeMounts=[{"name": "settings", "mountPath": "/conf"}])(ns),
        ),
    ),
    ("an emptyDir's mount is removed", broken(with_volume(emptyDir={}), **MOUNTING), drops("volumeMounts")),
    (
        "the envFrom's name is corrected",
        broken(WEB_CONFIG, **FROM_MISSING),
        sets(envFrom=[{"configMapRef": {"name": "web-config"}}]),
    ),
    (
        "documented literals replace an envFrom",
        broken(NOTES, **FROM_MISSING),
        sets(envFrom=[], env=[{"name": "MODE", "value": "standard"}]),
    ),
    (
        "a variable's reference is corrected",
        broken(WEB_CONFIG, env=[REFERENCE]),
        sets(env=[{"name": "MODE", "valueFrom": {"configMapKeyRef": {"name": "web-config", "key": "mode"}}}]),
    ),
    (
        "the documented literal replaces a reference",
        broken(NOTES, env=[REFERENCE]),
        sets(env=[{"name": "MODE", "value": "standard"}]),
    ),
    (
        "one envFrom gives what the reference gave",
        broken(WEB_CONFIG, env=[REFERENCE]),
        sets(env=[], envFrom=[{"configMapRef": {"name": "web-config"}}]),
    ),
    (
        "a variable's name is corrected",
        broken(env=[{"name": "MOED", "value": "standard"}]),
        sets(env=[{"name": "MODE", "value": "standard"}]),
    ),
    (
        "the variable that hid the server is removed",
        broken(refused, env=[{"name": "BIND", "value": "127.0.0.1"}]),
        lambda ns: (drops("env")(ns), ns.silent.clear()),
    ),
    ("a Service port is added", broken(), adds_port),
    ("the documented ConfigMap is created", broken(MOUNTED, NOTES), adds(config_map("web-confg", MODE="standard"))),
    (
        "the claim's name is corrected",
        broken(DATA, CLAIMED),
        with_volume(persistentVolumeClaim={"claimName": "data"}),
    ),
    ("the documented variable is set", broken(NOTES), sets(env=[{"name": "MODE", "value": "standard"}])),
    ("an undocumented variable is set", broken(NOTES), sets(env=[{"name": "BIND", "value": "0.0.0.0"}])),  # noqa: S104
    ("the limit gets head-room", broken(**LIMITED), sets(resources={"limits": {"memory": "64Mi"}})),
    ("the command is corrected", broken(command=["/bin/srve"]), sets(command=["/bin/serve"])),
    ("the image's own command is used again", broken(command=["/bin/srve"]), drops("command")),
    ("a numeric user is set", broken(), sets(securityContext={"runAsNonRoot": True, "runAsUser": 65532})),
    ("more replicas", broken(), lambda ns: None),
    ("a pod is replaced by its owner", broken(), lambda ns: ns.pod()["metadata"].update(name="web-1-7", uid="new")),
    ("a label selector forced a new Deployment", broken(), recreates_with_other_selector),
    ("an unrelated Service is created", broken(), adds(service("metrics", {"app": "metrics"}))),
]


@pytest.mark.parametrize(
    ("before", "change", "kind"), [case[1:] for case in FALSE], ids=[case[0] for case in FALSE]
)
def test_a_false_repair_is_not_fixed_and_is_named(before: Namespace, change: Change, kind: Kind) -> None:
    found = verdict(changed(before, change), before)
    bitten = {check.kind for check in found.checks if check.name == "false-repair" and check.kind}
    assert found.result is Result.NOT_FIXED
    assert kind in bitten
    assert found.kind in bitten, "a false repair decides before any other failure"


@pytest.mark.parametrize(("before", "change"), [case[1:] for case in RIGHT], ids=[case[0] for case in RIGHT])
def test_no_rule_bites_on_a_right_repair(before: Namespace, change: Change) -> None:
    found = verdict(changed(before, change), before)
    assert [check.message for check in found.checks if check.name == "false-repair" and check.kind] == []


def test_every_false_repair_kind_has_a_case() -> None:
    assert {kind for kind in Kind if kind.is_false_repair} == {case[3] for case in FALSE}


def test_rules_are_listed_once() -> None:
    assert len(set(RULES)) == len(RULES)


def test_what_cannot_be_listed_is_not_called_deleted() -> None:
    before = shop()
    blind = changed(before)
    blind.unseen = {"Deployment": "Forbidden: no"}
    assert verdict(blind, before).kind != Kind.DELETED


@pytest.mark.parametrize("kind", ["ResourceQuota", "LimitRange", "NetworkPolicy", "PodDisruptionBudget"])
def test_a_guard_that_cannot_be_listed_any_more_leaves_the_verdict_open(kind: str) -> None:
    before = changed(shop(), adds(named(kind, "guard")))
    blind = changed(before)
    assert verdict(blind, before).result is Result.FIXED
    blind.unseen = {kind: "Forbidden: no"}
    assert verdict(blind, before).result is Result.UNVERIFIED


def test_a_neighbour_that_was_broken_before_is_not_held_against_the_repair() -> None:
    before = changed(shop(), breaks_neighbour)
    assert verdict(before, before).result is Result.FIXED


def test_a_neighbour_that_rolls_out_by_itself_is_not_broken() -> None:
    before = shop()
    rolling = changed(before)
    rolling.get("Deployment", "api")["metadata"]["annotations"] = {"deployment.kubernetes.io/revision": "2"}
    assert verdict(rolling, before).result is Result.FIXED


def test_a_memory_fault_allows_more_head_room() -> None:
    before = shop(**LIMITED)
    status = before.pod()["status"]["containerStatuses"][0]
    status["state"] = {"waiting": {"reason": "CrashLoopBackOff"}}
    status["lastState"] = {"terminated": {"reason": "OOMKilled", "exitCode": 137}}
    after = changed(before, sets(resources={"limits": {"memory": "256Mi"}}))
    found = verdict(after, before)
    assert Kind.LIMITS_WEAKENED not in {check.kind for check in found.checks}
