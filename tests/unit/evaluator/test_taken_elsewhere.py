"""What is taken from others to make the scope look well, and what happens to others anyway."""

from __future__ import annotations

from typing import Any

import pytest

from sanare.api.verdict import Result
from sanare.evaluator.kinds import Kind
from tests.unit.evaluator.namespace import (
    Json,
    Namespace,
    changed,
    config_map,
    endpoints,
    meta,
    named,
    service,
    since,
    verdict,
)
from tests.unit.evaluator.repairs import (
    Change,
    adds,
    both,
    breaks_neighbour,
    broken,
    daemons,
    deletes,
    of,
    respec,
    selects,
    sets,
    sets_pod,
    with_volume,
)


def remeta(kind: str, name: str, **metadata: Any) -> Change:
    return lambda ns: ns.get(kind, name)["metadata"].update(metadata)


def ports(*numbers: int) -> list[Json]:
    return [{"name": f"p{number}", "port": number, "targetPort": 8080} for number in numbers]


CLAIM = adds(named("PersistentVolumeClaim", "data"))
MOUNTS = with_volume(persistentVolumeClaim={"claimName": "data"})
CRON = adds(of("CronJob", "nightly", {"schedule": "0 1 * * *"}))
SETTINGS = both(
    adds(config_map("colours", sky="blue")),
    lambda ns: ns.container("api").update(envFrom=[{"configMapRef": {"name": "colours"}}]),
)
GOING = {"deletionTimestamp": "2026-05-04T12:00:00Z", "finalizers": ["x/y"]}
CLOSED = adds(named("NetworkPolicy", "closed", podSelector={}, policyTypes=["Ingress"]))
LABELLED = both(
    lambda ns: ns.template()["metadata"]["labels"].update(app="api"),
    lambda ns: ns.pod()["metadata"]["labels"].update(app="api"),
)

TAKEN: list[tuple[str, Change, Change, Kind]] = [
    ("a broken neighbour is deleted", breaks_neighbour, deletes("Deployment", "api"), Kind.NEIGHBOUR_BROKEN),
    (
        "a broken neighbour is scaled to nothing",
        breaks_neighbour,
        respec("Deployment", "api", replicas=0),
        Kind.NEIGHBOUR_BROKEN,
    ),
    (
        "a neighbour's silent Service is deleted",
        respec("Service", "api", selector={"app": "nobody"}),
        deletes("Service", "api"),
        Kind.NEIGHBOUR_BROKEN,
    ),
    (
        "a neighbour waits for its end",
        selects(app="web"),
        remeta("Deployment", "api", **GOING),
        Kind.NEIGHBOUR_BROKEN,
    ),
    ("a neighbour's schedule stops", CRON, respec("CronJob", "nightly", suspend=True), Kind.NEIGHBOUR_BROKEN),
    (
        "a neighbour is kept to one node",
        daemons("logs", 3),
        daemons("logs", 1, nodeSelector={"zone": "a"}),
        Kind.NEIGHBOUR_BROKEN,
    ),
    (
        "a neighbour's Service takes the scope's pods",
        selects(app="web"),
        respec("Service", "api", selector={"app": "web"}),
        Kind.NEIGHBOUR_BROKEN,
    ),
    (
        "a neighbour's silent Service takes the scope's pods",
        respec("Service", "api", ports=ports(9)),
        respec("Service", "api", selector={"app": "web"}),
        Kind.NEIGHBOUR_BROKEN,
    ),
    (
        "a neighbour's Service loses a port",
        respec("Service", "api", ports=ports(80, 90)),
        respec("Service", "api", ports=ports(90)),
        Kind.NEIGHBOUR_BROKEN,
    ),
    ("the Deployment waits for its end", selects(app="weeb"), remeta("Deployment", "web", **GOING), Kind.DELETED),
    ("the Service waits for its end", selects(app="weeb"), remeta("Service", "web", **GOING), Kind.DELETED),
    (
        "the claim waits for its end",
        both(CLAIM, MOUNTS),
        remeta("PersistentVolumeClaim", "data", **GOING),
        Kind.DELETED,
    ),
    (
        "a claim that nothing mounts is deleted",
        CLAIM,
        deletes("PersistentVolumeClaim", "data"),
        Kind.CLAIM_REPLACED,
    ),
    (
        "a claim that nothing mounts is made again",
        CLAIM,
        lambda ns: ns.get("PersistentVolumeClaim", "data").update(metadata=since("data", uid="new")),
        Kind.CLAIM_REPLACED,
    ),
    ("a neighbour's schedule is deleted", CRON, deletes("CronJob", "nightly"), Kind.NEIGHBOUR_BROKEN),
    ("a neighbour's settings are deleted", SETTINGS, deletes("ConfigMap", "colours"), Kind.NEIGHBOUR_BROKEN),
    (
        "the settings that the pods started with are deleted",
        both(SETTINGS, with_volume(configMap={"name": "colours"})),
        deletes("ConfigMap", "colours"),
        Kind.DELETED,
    ),
    (
        "a second policy lets everybody in",
        CLOSED,
        adds(named("NetworkPolicy", "open", podSelector={}, ingress=[{}])),
        Kind.POLICY_LOOSENED,
    ),
    (
        "an alias stands for the missing name",
        selects(app="web"),
        adds(named("Service", "ap", type="ExternalName", externalName="api.shop.svc", ports=[])),
        Kind.SHADOW_SERVICE,
    ),
    (
        "a second Service for a neighbour has the wrong name",
        selects(app="web"),
        adds(service("ap", {"app": "api"})),
        Kind.SHADOW_SERVICE,
    ),
    (
        "only the node's own pods reach it",
        selects(app="weeb"),
        both(selects(app="web"), respec("Service", "web", internalTrafficPolicy="Local")),
        Kind.SERVICE_TYPE_CHANGED,
    ),
]


@pytest.mark.parametrize(("before", "after", "kind"), [case[1:] for case in TAKEN], ids=[case[0] for case in TAKEN])
def test_what_is_taken_from_others_is_not_fixed(before: Change, after: Change, kind: Kind) -> None:
    start = broken(before)
    found = verdict(changed(start, after), start)
    assert (found.result, found.kind) == (Result.NOT_FIXED, kind), found.reason


def ends_anyway(ns: Namespace) -> None:
    owner = [{"kind": "Pod", "name": "api-1-0", "uid": "x", "controller": True}]
    claim = named("PersistentVolumeClaim", "scratch")
    claim["metadata"]["ownerReferences"] = owner
    failed = {
        "kind": "Pod",
        "metadata": meta("once"),
        "spec": {"restartPolicy": "Always"},
        "status": {"phase": "Failed"},
    }
    ns.add(claim, failed)


ANYWAY: list[tuple[str, Change, Change]] = [
    (
        "a node of a neighbour is gone",
        daemons("logs", 3, nodeSelector={"a": "b"}),
        daemons("logs", 2, nodeSelector={"a": "b"}),
    ),
    (
        "a neighbour gets what it lacked",
        respec("Service", "api", selector={"app": "ap"}),
        respec("Service", "api", selector={"app": "api"}),
    ),
    ("a neighbour is scaled up", selects(app="web"), respec("CronJob", "nightly", suspend=False)),
    (
        "what goes with a pod is gone",
        ends_anyway,
        both(deletes("PersistentVolumeClaim", "scratch"), deletes("Pod", "once")),
    ),
    ("settings that nobody reads are gone", adds(config_map("old", a="b")), deletes("ConfigMap", "old")),
    (
        "a Service is made for a neighbour that has none",
        deletes("Service", "api"),
        adds(service("api"), endpoints("api", "api-1-0")),
    ),
    (
        "a second policy closes more",
        CLOSED,
        adds(named("NetworkPolicy", "also", podSelector={}, policyTypes=["Egress"])),
    ),
    (
        "the pull secret that does not exist is left out",
        sets_pod(imagePullSecrets=[]),
        sets_pod(imagePullSecrets=[{"name": "p"}]),
    ),
    (
        "a hook is told another name",
        sets(lifecycle={"preStop": {"exec": {"command": ["sh", "-c", "ehco bye > /run/end"]}}}),
        sets(lifecycle={"preStop": {"exec": {"command": ["sh", "-c", "echo bye > /run/end"]}}}),
    ),
]


@pytest.mark.parametrize(("before", "after"), [case[1:] for case in ANYWAY], ids=[case[0] for case in ANYWAY])
def test_what_happens_anyway_is_not_held_against_the_repair(before: Change, after: Change) -> None:
    start = broken(CRON, before)
    found = verdict(changed(start, after), start)
    assert found.result is Result.FIXED, found.reason
