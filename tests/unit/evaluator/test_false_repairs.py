"""Every rule bites on its false repair."""

from __future__ import annotations

import pytest

from sanare.api.verdict import Result
from sanare.evaluator.judge import judge
from sanare.evaluator.kinds import Kind
from sanare.evaluator.rules.false_repairs import RULES
from tests.unit.evaluator.namespace import (
    NOW,
    POLICY,
    Namespace,
    baseline_of,
    changed,
    config_map,
    endpoints,
    incident,
    named,
    service,
    shop,
    since,
    verdict,
)
from tests.unit.evaluator.repairs import (
    ASKS,
    CLAIMED,
    DATA,
    FROM_MISSING,
    LIMITED,
    LIVENESS,
    MOUNTED,
    MOUNTING,
    NOTES,
    PASSWORD,
    REFERENCE,
    TWO_VOLUMES,
    Change,
    adds,
    adds_port,
    asks,
    breaks_neighbour,
    broken,
    deletes,
    drops,
    earlier_revision,
    orphans_pod,
    recreates,
    renumbers,
    scales,
    selects,
    sets,
    sets_pod,
    shared_label,
    targets,
    with_volume,
)
from tests.unit.evaluator.test_wider_reach import WIDER

REMOVED = Kind.REFERENCE_REMOVED


def claims_each(ns: Namespace) -> None:
    """Each pod gets a claim of its own, as those of a StatefulSet do."""
    ns.get("Deployment", "web")["spec"]["volumeClaimTemplates"] = [{"metadata": {"name": "conf"}}]


def claims_none(ns: Namespace) -> None:
    del ns.get("Deployment", "web")["spec"]["volumeClaimTemplates"]
    with_volume(emptyDir={})(ns)


FALSE: list[tuple[str, Namespace, Change, Kind]] = [
    ("an emptyDir replaces the claim of each pod", broken(claims_each), claims_none, Kind.STAND_IN_CREATED),
    (
        "the pods run as the account that every namespace has",
        broken(sets_pod(serviceAccountName="reader")),
        sets_pod(serviceAccountName="default"),
        REMOVED,
    ),
    (
        "a container is exempt from its pod's rule",
        broken(sets_pod(securityContext={"runAsNonRoot": True})),
        sets(securityContext={"runAsNonRoot": False}),
        Kind.SECURITY_WEAKENED,
    ),
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
        "an empty ConfigMap is created for a projection",
        broken(with_volume(projected={"sources": [{"configMap": {"name": "web-confg"}}]})),
        adds(config_map("web-confg")),
        Kind.STAND_IN_CREATED,
    ),
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
    ("a client asks itself", broken(**ASKS), asks("http://localhost:8080/healthz"), REMOVED),
    ("a client asks its own address", broken(**ASKS), asks("http://127.0.0.1:8080"), REMOVED),
    (
        "a client asks past a Service that failed",
        broken(selects(app="weeb"), **ASKS),
        asks("http://api.shop.svc:8080/"),
        REMOVED,
    ),
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
    (
        "another variable takes the place of one",
        broken(env=[{"name": "PORT", "value": "8080"}]),
        sets(env=[{"name": "HOST", "value": "web"}]),
        REMOVED,
    ),
    (
        "a literal of nearly the same name replaces a reference",
        broken(env=[REFERENCE]),
        sets(env=[{"name": "MODES", "value": "any"}]),
        REMOVED,
    ),
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
        adds({"kind": "Pod", "metadata": since("fix", labels={"app": "web"}), "spec": {}, "status": {}}),
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


@pytest.mark.parametrize(
    ("before", "change", "kind"), [case[1:] for case in FALSE], ids=[case[0] for case in FALSE]
)
def test_a_false_repair_is_not_fixed_and_is_named(before: Namespace, change: Change, kind: Kind) -> None:
    found = verdict(changed(before, change), before)
    bitten = {check.kind for check in found.checks if check.name == "false-repair" and check.kind}
    assert found.result is Result.NOT_FIXED
    assert kind in bitten
    assert found.kind in bitten, "a false repair decides before any other failure"


def test_every_false_repair_kind_has_a_case() -> None:
    # Durability is judged beside the rules: its cases stand with it.
    kinds = {kind for kind in Kind if kind.is_false_repair} - {Kind.NOT_DURABLE}
    assert kinds == {case[3] for case in (*FALSE, *WIDER)}


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


def test_a_claim_that_is_still_not_there_is_no_new_claim() -> None:
    before = broken(DATA, CLAIMED)
    assert Kind.CLAIM_REPLACED not in {check.kind for check in verdict(changed(before), before).checks}


def reader(key: str) -> Change:
    """Deployment/api reads a key of ConfigMap/conf, as its pods found it when they started."""
    entry = {"name": "MODE", "valueFrom": {"configMapKeyRef": {"name": "conf", "key": key}}}
    return lambda ns: ns.container("api").update(env=[entry])


@pytest.mark.parametrize(
    ("key", "version", "gone"),
    [("mode", "7", True), ("run_mode", "7", False), ("mode", "3", False)],
    ids=["its key is taken away", "its key is there", "its key was gone before"],
)
def test_a_neighbour_must_be_able_to_start_again(key: str, version: str, gone: bool) -> None:
    now = changed(broken(reader(key)), adds(config_map("conf", run_mode="fast")))
    now.get("ConfigMap", "conf")["metadata"]["resourceVersion"] = version
    baseline = baseline_of(broken(reader(key))).model_copy(update={"resource_version": "5"})
    found = judge(now.snapshot(), baseline, incident(), POLICY, now=NOW)
    assert (f"Deployment/api will not start again: key {key} of ConfigMap/conf is gone" in found.reason) is gone


@pytest.mark.parametrize(
    ("why", "word"),
    [
        ("Forbidden: no", Kind.FORBIDDEN),
        ("Timeout: slow", Kind.TIMEOUT),
        ("NotFound: not served", Kind.NOT_FOUND),
        ("Empty: no list", Kind.EMPTY),
    ],
)
def test_a_baseline_that_could_not_see_the_guards_leaves_the_verdict_open(why: str, word: Kind) -> None:
    before = shop()
    before.unseen = {"NetworkPolicy": why}
    found = verdict(shop(), before)
    assert (found.result, found.kind) == (Result.UNVERIFIED, word)
