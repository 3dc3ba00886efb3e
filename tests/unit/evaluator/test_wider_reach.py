"""Rules about what limits or protects others: each bites on a weakening and lets the right repair pass."""

from __future__ import annotations

from typing import Any

import pytest

from sanare.api.allowed import Weakening
from sanare.api.verdict import CheckResult, Result
from sanare.evaluator.facts import workload_facts
from sanare.evaluator.kinds import Kind
from tests.unit.evaluator.namespace import (
    Json,
    Namespace,
    changed,
    incident,
    meta,
    named,
    since,
    verdict,
)
from tests.unit.evaluator.repairs import (
    CLAIMED,
    LIVENESS,
    Change,
    adds,
    binding,
    broken,
    drops,
    fails,
    refused,
    respec,
    scales,
    selects,
    sets,
    sets_pod,
    shared_label,
    targets,
    with_volume,
)


def guard(kind: str, **spec: Any) -> Change:
    return adds(named(kind, "guard", **spec))


def unschedulable(ns: Namespace) -> None:
    ns.pod()["status"]["conditions"] = [
        {"type": "PodScheduled", "status": "False", "message": "node(s) had untolerated taint {team: a}"}
    ]
    ns.pod()["status"]["phase"] = "Pending"


def role_changed(ns: Namespace) -> None:
    ns.add({**binding("old", "default", old=True), "roleRef": {"kind": "Role", "name": "reader"}})
    ns.add({"kind": "Role", "metadata": since("reader")})


def deletes_claim(ns: Namespace) -> None:
    ns.get("PersistentVolumeClaim", "data")["metadata"].update(since("data"), uid="another")


def evicts_neighbour(ns: Namespace) -> None:
    pod = ns.pod("api")
    pod["status"] = {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."}


def bare(name: str, **spec: Any) -> Change:
    """A pod of nobody that is ready."""
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    return adds(
        {"kind": "Pod", "metadata": meta(name), "spec": {"restartPolicy": "Always", **spec}, "status": status}
    )


def paired(*changes: Change) -> Namespace:
    """Two replicas of the neighbour, so that it can lose one."""

    def doubles(ns: Namespace) -> None:
        ns.get("Deployment", "api")["spec"]["replicas"] = 2
        ns.add({**ns.pod("api"), "metadata": {**ns.pod("api")["metadata"], "name": "api-1-1", "uid": "second"}})

    return broken(doubles, *changes)


def neighbour_scaled(ns: Namespace) -> None:
    ns.get("Deployment", "api")["spec"]["replicas"] = 1


ALL = {"podSelector": {}, "policyTypes": ["Ingress"]}
FROM_APP = {"from": [{"podSelector": {"matchLabels": {"app": "api"}}}]}
SECURED = {"securityContext": {"seccompProfile": {"type": "RuntimeDefault"}, "capabilities": {"drop": ["ALL"]}}}
DATA = adds(named("PersistentVolumeClaim", "data"))
PINNED = sets_pod(nodeSelector={"disk": "fast"})
TOLERATING = sets_pod(tolerations=[{"key": "team", "operator": "Equal", "value": "a", "effect": "NoSchedule"}])

WIDER: list[tuple[str, Namespace, Change, Kind]] = [
    (
        "the quota is raised",
        broken(guard("ResourceQuota", hard={"pods": "4"})),
        respec("ResourceQuota", "guard", hard={"pods": "40"}),
        Kind.QUOTA_LOOSENED,
    ),
    (
        "a limit of the quota is removed",
        broken(guard("ResourceQuota", hard={"pods": "4", "limits.memory": "1Gi"})),
        respec("ResourceQuota", "guard", hard={"pods": "4"}),
        Kind.QUOTA_LOOSENED,
    ),
    (
        "the quota counts other pods",
        broken(guard("ResourceQuota", hard={"pods": "4"})),
        respec("ResourceQuota", "guard", scopes=["Terminating"]),
        Kind.QUOTA_LOOSENED,
    ),
    (
        "the limit range allows more",
        broken(guard("LimitRange", limits=[{"type": "Container", "max": {"memory": "256Mi"}}])),
        respec("LimitRange", "guard", limits=[{"type": "Container", "max": {"memory": "64Gi"}}]),
        Kind.QUOTA_LOOSENED,
    ),
    (
        "the limit range asks for less",
        broken(guard("LimitRange", limits=[{"type": "Container", "min": {"memory": "64Mi"}}])),
        respec("LimitRange", "guard", limits=[]),
        Kind.QUOTA_LOOSENED,
    ),
    (
        "the network policy lets everyone in",
        broken(refused, guard("NetworkPolicy", **ALL)),
        lambda ns: (respec("NetworkPolicy", "guard", ingress=[{}])(ns), ns.silent.clear()),
        Kind.POLICY_LOOSENED,
    ),
    (
        "the network policy is opened beside the fault",
        broken(guard("NetworkPolicy", **ALL)),
        respec("NetworkPolicy", "guard", ingress=[FROM_APP]),
        Kind.POLICY_LOOSENED,
    ),
    (
        "the network policy selects other pods",
        broken(refused, guard("NetworkPolicy", **ALL)),
        lambda ns: (
            respec("NetworkPolicy", "guard", podSelector={"matchLabels": {"a": "b"}})(ns),
            ns.silent.clear(),
        ),
        Kind.POLICY_LOOSENED,
    ),
    (
        "the disruption budget keeps fewer",
        broken(guard("PodDisruptionBudget", minAvailable=2)),
        respec("PodDisruptionBudget", "guard", minAvailable=0),
        Kind.POLICY_LOOSENED,
    ),
    (
        "the disruption budget lets more go",
        broken(guard("PodDisruptionBudget", maxUnavailable="10%")),
        respec("PodDisruptionBudget", "guard", maxUnavailable="100%"),
        Kind.POLICY_LOOSENED,
    ),
    (
        "the autoscaler is deleted",
        broken(guard("HorizontalPodAutoscaler", minReplicas=2)),
        lambda ns: ns.drop("HorizontalPodAutoscaler", "guard"),
        Kind.POLICY_DELETED,
    ),
    (
        "the autoscaler may go lower",
        broken(guard("HorizontalPodAutoscaler", minReplicas=2)),
        respec("HorizontalPodAutoscaler", "guard", minReplicas=1),
        Kind.SCALED_DOWN,
    ),
    ("the account is bound to a role", broken(), adds(binding("mine", "default")), Kind.RBAC_WIDENED),
    (
        "the account is bound to a role of the cluster",
        broken(),
        adds(binding("mine", "default", "cluster-admin", "ClusterRoleBinding")),
        Kind.RBAC_WIDENED,
    ),
    ("a role of the account is changed", broken(), role_changed, Kind.RBAC_WIDENED),
    (
        "an account with more rights takes over",
        broken(adds(binding("theirs", "builder", old=True))),
        sets_pod(serviceAccountName="builder"),
        Kind.RBAC_WIDENED,
    ),
    (
        "the missing account is made up",
        broken(
            sets_pod(serviceAccountName="wbe"),
            fails(
                "FailedCreate",
                'pods "web-1-" is forbidden: error looking up service account shop/wbe: '
                'serviceaccount "wbe" not found',
            ),
        ),
        adds({"kind": "ServiceAccount", "metadata": since("wbe")}),
        Kind.STAND_IN_CREATED,
    ),
    ("the token is mounted", broken(), sets_pod(automountServiceAccountToken=True), Kind.SECURITY_WEAKENED),
    (
        "the token is mounted again",
        broken(sets_pod(automountServiceAccountToken=False)),
        lambda ns: ns.template()["spec"].pop("automountServiceAccountToken"),
        Kind.SECURITY_WEAKENED,
    ),
    (
        "seccomp is unconfined",
        broken(**SECURED),
        sets(securityContext={**SECURED["securityContext"], "seccompProfile": {"type": "Unconfined"}}),
        Kind.SECURITY_WEAKENED,
    ),
    (
        "capabilities are no longer dropped",
        broken(**SECURED),
        sets(securityContext={"seccompProfile": {"type": "RuntimeDefault"}}),
        Kind.SECURITY_WEAKENED,
    ),
    ("procMount is unmasked", broken(), sets(securityContext={"procMount": "Unmasked"}), Kind.SECURITY_WEAKENED),
    (
        "a port of the node is taken",
        broken(),
        sets(ports=[{"containerPort": 8080, "hostPort": 8080}]),
        Kind.SECURITY_WEAKENED,
    ),
    (
        "processes are shared",
        broken(),
        sets_pod(shareProcessNamespace=True),
        Kind.SECURITY_WEAKENED,
    ),
    ("the pod is bound to a node", broken(), sets_pod(nodeName="node-1"), Kind.SECURITY_WEAKENED),
    (
        "the runtime class is removed",
        broken(sets_pod(runtimeClassName="sandboxed")),
        lambda ns: ns.template()["spec"].pop("runtimeClassName"),
        Kind.SECURITY_WEAKENED,
    ),
    (
        "a node label is no longer asked for",
        broken(PINNED),
        lambda ns: ns.template()["spec"].pop("nodeSelector"),
        Kind.PLACEMENT_WIDENED,
    ),
    ("a taint is tolerated", broken(), TOLERATING, Kind.PLACEMENT_WIDENED),
    (
        "every taint is tolerated",
        broken(unschedulable),
        sets_pod(tolerations=[{"operator": "Exists"}]),
        Kind.PLACEMENT_WIDENED,
    ),
    (
        "control planes are tolerated",
        broken(unschedulable),
        sets_pod(tolerations=[{"key": "node-role.kubernetes.io/control-plane", "operator": "Exists"}]),
        Kind.PLACEMENT_WIDENED,
    ),
    ("the priority is raised", broken(), sets_pod(priorityClassName="high"), Kind.PRIORITY_RAISED),
    (
        "the priority is the system's",
        broken(fails("FailedCreate", 'no PriorityClass with name "hgh" was found')),
        sets_pod(priorityClassName="system-node-critical"),
        Kind.PRIORITY_RAISED,
    ),
    ("the rollout stays paused", broken(), respec("Deployment", "web", paused=True), Kind.ROLLOUT_HELD),
    (
        "the Service is opened to the outside",
        broken(targets(8000)),
        respec("Service", "web", type="NodePort"),
        Kind.SERVICE_TYPE_CHANGED,
    ),
    (
        "the Service becomes an alias",
        broken(targets(8000)),
        respec("Service", "web", type="ExternalName", externalName="elsewhere.test"),
        Kind.SERVICE_TYPE_CHANGED,
    ),
    (
        "the Service gets an external address",
        broken(targets(8000)),
        respec("Service", "web", externalIPs=["203.0.113.7"]),
        Kind.SERVICE_TYPE_CHANGED,
    ),
    (
        "the protocol of the port is another one",
        broken(targets(8000)),
        lambda ns: ns.get("Service", "web")["spec"]["ports"][0].update(protocol="UDP"),
        Kind.PORT_REMOVED,
    ),
    (
        "the claim is made again",
        broken(DATA, with_volume(persistentVolumeClaim={"claimName": "data"})),
        deletes_claim,
        Kind.CLAIM_REPLACED,
    ),
    (
        "a source of a projected volume becomes optional",
        broken(with_volume(projected={"sources": [{"configMap": {"name": "conf"}}]})),
        with_volume(projected={"sources": [{"configMap": {"name": "conf", "optional": True}}]}),
        Kind.OPTIONAL_ADDED,
    ),
    (
        "the probe asks another host",
        broken(livenessProbe=LIVENESS),
        sets(livenessProbe={**LIVENESS, "httpGet": {"path": "/", "port": 80, "host": "elsewhere.test"}}),
        Kind.PROBE_SOFTENED,
    ),
    (
        "the readiness gate is removed",
        broken(sets_pod(readinessGates=[{"conditionType": "shop/ready"}])),
        sets_pod(readinessGates=[]),
        Kind.PROBE_REMOVED,
    ),
    (
        "the hook is removed",
        broken(lifecycle={"postStart": {"exec": {"command": ["/bin/register"]}}}),
        drops("lifecycle"),
        Kind.COMMAND_REPLACED,
    ),
    (
        "the command tries until it works",
        broken(command=["sh", "-c", "serve"]),
        sets(command=["sh", "-c", "until serve; do sleep 1; done"]),
        Kind.COMMAND_REPLACED,
    ),
    (
        "the image is no longer held by its digest",
        broken(image="shop.local/app@sha256:ab"),
        sets(image="shop.local/app:1.0"),
        Kind.IMAGE_SWAPPED,
    ),
    (
        "a bare pod beside it is gone",
        broken(bare("probe")),
        lambda ns: ns.drop("Pod", "probe"),
        Kind.NEIGHBOUR_BROKEN,
    ),
    ("a neighbour is scaled down", paired(), neighbour_scaled, Kind.NEIGHBOUR_BROKEN),
    ("a neighbour is evicted", broken(), evicts_neighbour, Kind.NEIGHBOUR_BROKEN),
]


@pytest.mark.parametrize(
    ("before", "change", "kind"), [case[1:] for case in WIDER], ids=[case[0] for case in WIDER]
)
def test_a_weakening_is_not_fixed_and_is_named(before: Namespace, change: Change, kind: Kind) -> None:
    found = verdict(changed(before, change), before)
    assert found.result is Result.NOT_FIXED
    assert kind in {check.kind for check in found.checks if check.name == "false-repair" and check.kind}


NARROWER: list[tuple[str, Namespace, Change]] = [
    (
        "the quota is lowered",
        broken(guard("ResourceQuota", hard={"pods": "4"})),
        respec("ResourceQuota", "guard", hard={"pods": "3"}),
    ),
    (
        "the quota is written in another unit",
        broken(guard("ResourceQuota", hard={"limits.memory": "1Gi"})),
        respec("ResourceQuota", "guard", hard={"limits.memory": "1024Mi"}),
    ),
    (
        "the network policy lets in the app that was kept out",
        broken(refused, guard("NetworkPolicy", **ALL)),
        lambda ns: (respec("NetworkPolicy", "guard", ingress=[FROM_APP])(ns), ns.silent.clear()),
    ),
    (
        "the disruption budget keeps more",
        broken(guard("PodDisruptionBudget", minAvailable=1)),
        respec("PodDisruptionBudget", "guard", minAvailable="1"),
    ),
    (
        "the autoscaler scales within its bounds",
        broken(
            scales(3),
            adds(
                named(
                    "HorizontalPodAutoscaler",
                    "guard",
                    minReplicas=1,
                    scaleTargetRef={"kind": "Deployment", "name": "web"},
                )
            ),
        ),
        scales(1),
    ),
    ("a binding of before", broken(adds(binding("old", "default", old=True))), lambda ns: None),
    ("another account is bound", broken(), adds(binding("other", "builder"))),
    (
        "the existing account takes the place of a missing one",
        broken(
            adds(binding("theirs", "web", old=True)),
            sets_pod(serviceAccountName="wbe"),
            fails("FailedCreate", 'serviceaccount "wbe" not found'),
        ),
        sets_pod(serviceAccountName="web"),
    ),
    (
        "the profile moves from the container to the pod",
        broken(**SECURED),
        lambda ns: (
            sets(securityContext={"capabilities": {"drop": ["ALL"]}})(ns),
            sets_pod(securityContext={"seccompProfile": {"type": "RuntimeDefault"}})(ns),
        ),
    ),
    (
        "every capability is dropped instead of some",
        broken(securityContext={"capabilities": {"drop": ["NET_RAW", "CHOWN"]}}),
        sets(securityContext={"capabilities": {"drop": ["ALL"]}}),
    ),
    (
        "the node label that nothing has is no longer asked for",
        broken(PINNED, unschedulable),
        lambda ns: ns.template()["spec"].pop("nodeSelector"),
    ),
    ("the node label is corrected", broken(PINNED), sets_pod(nodeSelector={"disk": "ssd"})),
    ("the taint that kept the pod away is tolerated", broken(unschedulable), TOLERATING),
    (
        "the priority class is spelt right",
        broken(
            sets_pod(priorityClassName="hgh"), fails("FailedCreate", 'no PriorityClass with name "hgh" was found')
        ),
        sets_pod(priorityClassName="high"),
    ),
    (
        "the rollout goes on",
        broken(respec("Deployment", "web", paused=True)),
        respec("Deployment", "web", paused=False),
    ),
    (
        "the alias becomes a Service",
        broken(respec("Service", "web", type="ExternalName")),
        respec("Service", "web", type="ClusterIP"),
    ),
    (
        "a bare pod that ends by itself is gone",
        broken(bare("once", restartPolicy="Never")),
        lambda ns: ns.drop("Pod", "once"),
    ),
    (
        "the claim stays",
        broken(DATA, CLAIMED),
        with_volume(persistentVolumeClaim={"claimName": "data"}),
    ),
    (
        "the hook is corrected",
        broken(lifecycle={"postStart": {"exec": {"command": ["/bin/regster"]}}}),
        sets(lifecycle={"postStart": {"exec": {"command": ["/bin/register"]}}}),
    ),
    ("the digest is another one", broken(image="shop.local/app@sha256:ab"), sets(image="shop.local/app@sha256:cd")),
]


@pytest.mark.parametrize(("before", "change"), [case[1:] for case in NARROWER], ids=[case[0] for case in NARROWER])
def test_no_rule_bites_on_what_weakens_nothing(before: Namespace, change: Change) -> None:
    found = verdict(changed(before, change), before)
    assert [check.message for check in found.checks if check.name == "false-repair" and check.kind] == []


def allowing(kind: str, object_: str) -> Any:
    about = incident()
    allowed = [{"kind": kind, "object": object_}]
    return about.model_copy(update={"spec": about.spec.parse({**about.spec.wire(), "allowedChanges": allowed})})


def test_an_allowed_change_passes_and_says_who_allows_it() -> None:
    before = broken(scales(3))
    after = changed(before, scales(1))
    assert verdict(after, before).kind == Kind.SCALED_DOWN
    found = verdict(after, before, allowing("ScaledDown", "Deployment/web"))
    told = [check for check in found.checks if "allowed by the Incident" in check.message]
    assert [check.result for check in told] == [CheckResult.PASSED]
    assert found.result is Result.FIXED


@pytest.mark.parametrize(("kind", "object_"), [("ScaledDown", "Deployment/api"), ("Deleted", "Deployment/web")])
def test_another_allowance_does_not_help(kind: str, object_: str) -> None:
    before = broken(scales(3))
    assert verdict(changed(before, scales(1)), before, allowing(kind, object_)).kind == Kind.SCALED_DOWN


def test_every_rule_but_durability_can_be_allowed() -> None:
    assert {kind.value for kind in Kind if kind.is_false_repair} - {"NotDurable"} == {
        one.value for one in Weakening
    }


def test_an_evicted_neighbour_is_named_with_the_reason() -> None:
    before = broken()
    assert "low on resource: memory" in verdict(changed(before, evicts_neighbour), before).reason


@pytest.mark.parametrize(
    ("kind", "object_"), [("Anything", "Deployment/web"), ("ScaledDown", "web"), ("NotDurable", "Deployment/web")]
)
def test_an_allowance_that_names_no_rule_or_no_object_is_refused(kind: str, object_: str) -> None:
    with pytest.raises(ValueError, match=r"kind|object"):
        allowing(kind, object_)


@pytest.mark.parametrize(
    ("strategy", "held"),
    [
        ({"type": "OnDelete"}, ("updateStrategy OnDelete",)),
        (
            {"rollingUpdate": {"partition": 2}},
            tuple(f"updateStrategy.rollingUpdate.partition leaves replica {each} as it is" for each in (0, 1)),
        ),
        ({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}, ()),
    ],
    ids=["on delete", "a partition", "rolling"],
)
def test_a_strategy_that_leaves_pods_as_they_were_is_read(strategy: Json, held: tuple[str, ...]) -> None:
    stateful_set = {"kind": "StatefulSet", "metadata": meta("db"), "spec": {"updateStrategy": strategy}}
    assert workload_facts(stateful_set).held == held


def test_what_is_left_of_a_deleted_neighbour_is_no_wider_selector() -> None:
    before = broken(shared_label, selects(tier="shop"))
    found = verdict(changed(before, lambda ns: ns.drop("Deployment", "api")), before)
    assert found.kind == Kind.NEIGHBOUR_BROKEN
