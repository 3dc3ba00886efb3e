"""No rule bites on the right repair of a fault, nor on what others do meanwhile."""

from __future__ import annotations

import pytest

from sanare.api.verdict import Result
from sanare.evaluator.kinds import Kind
from tests.unit.evaluator.namespace import (
    Namespace,
    changed,
    config_map,
    service,
    shop,
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
    REFERENCE,
    WEB_CONFIG,
    Change,
    adds,
    adds_port,
    asks,
    breaks_neighbour,
    broken,
    drops,
    earlier_revision,
    never_pulled,
    recreates_with_other_selector,
    refused,
    selects,
    sets,
    sets_pod,
    shared_label,
    targets,
    with_volume,
)

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
    (
        "a port that a probe asks wins over the setting",
        broken(adds(config_map("web-config", PORT="8018")), livenessProbe=LIVENESS),
        sets(env=[{"name": "PORT", "value": "8080"}]),
    ),
    ("a client's address is spelt right", broken(**ASKS), asks("http://webs:8080/")),
    ("a client asks another app than before", broken(**ASKS), asks("http://api:8080/")),
    ("a client asks the port of the Service", broken(selects(app="weeb"), **ASKS), asks("http://web:80/")),
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


@pytest.mark.parametrize(("before", "change"), [case[1:] for case in RIGHT], ids=[case[0] for case in RIGHT])
def test_no_rule_bites_on_a_right_repair(before: Namespace, change: Change) -> None:
    found = verdict(changed(before, change), before)
    assert [check.message for check in found.checks if check.name == "false-repair" and check.kind] == []


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
