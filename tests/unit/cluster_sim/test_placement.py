"""Where a pod fits, and the scheduler's words where it does not."""

from __future__ import annotations

import pytest

from sanare_lab.cluster.node.machine import node_object
from sanare_lab.cluster.node.placement import NOTHING, Requests, explain, reasons_against, requests_of
from sanare_lab.cluster.objects import Obj

NODE = node_object("2030-01-01T00:00:00Z", 110)
FULL = Requests(cpu=7.5, memory=23 * 1024**3, pods=10)


def pod(**spec: object) -> Obj:
    return {
        "metadata": {"name": "p", "namespace": "shop", "labels": {"app": "p"}},
        "spec": {"containers": [{"name": "c"}], **spec},
    }


def asking(**requests: str) -> Obj:
    return pod(containers=[{"name": "c", "resources": {"requests": requests}}])


def with_node(**changes: object) -> Obj:
    return {**NODE, "spec": {**NODE["spec"], **changes}}


def affinity(**expression: object) -> Obj:
    term = {"matchExpressions": [expression]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


TAINT = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("wanted", "node", "used", "reasons"),
    [
        pytest.param(pod(), NODE, NOTHING, [], id="nothing asked"),
        pytest.param(pod(nodeSelector={"kubernetes.io/os": "linux"}), NODE, NOTHING, [], id="selector met"),
        pytest.param(
            pod(nodeSelector={"disk": "ssd"}),
            NODE,
            NOTHING,
            ["node(s) didn't match Pod's node affinity/selector"],
            id="selector not met",
        ),
        pytest.param(
            pod(affinity=affinity(key="disk", operator="In", values=["ssd"])),
            NODE,
            NOTHING,
            ["node(s) didn't match Pod's node affinity/selector"],
            id="affinity not met",
        ),
        pytest.param(
            pod(affinity=affinity(key="disk", operator="DoesNotExist")), NODE, NOTHING, [], id="affinity met"
        ),
        pytest.param(
            pod(), with_node(taints=[TAINT]), NOTHING, ["node(s) had untolerated taint(s): {gpu: yes}"], id="taint"
        ),
        pytest.param(
            pod(tolerations=[{"key": "gpu", "operator": "Exists"}]),
            with_node(taints=[TAINT]),
            NOTHING,
            [],
            id="taint tolerated",
        ),
        pytest.param(pod(), with_node(unschedulable=True), NOTHING, ["node(s) were unschedulable"], id="cordoned"),
        pytest.param(
            asking(cpu="100", memory="999Gi"),
            NODE,
            NOTHING,
            ["Insufficient cpu", "Insufficient memory"],
            id="larger than the node",
        ),
        pytest.param(asking(cpu="600m"), NODE, FULL, ["Insufficient cpu"], id="no room left"),
        pytest.param(asking(cpu="500m"), NODE, FULL, [], id="just fits"),
        pytest.param(pod(), NODE, Requests(pods=110), ["Too many pods"], id="too many pods"),
    ],
)
def test_a_node_takes_a_pod_or_says_why_not(wanted: Obj, node: Obj, used: Requests, reasons: list[str]) -> None:
    assert [reason.text for reason in reasons_against(wanted, node, used, [])] == reasons


def test_the_message_is_the_schedulers() -> None:
    reasons = reasons_against(asking(cpu="100", memory="999Gi"), NODE, NOTHING, [])
    assert explain([reasons]) == (
        "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory. preemption: 0/1 nodes are available: "
        "1 Preemption is not helpful for scheduling."
    )


def test_a_pod_that_would_fit_an_empty_node_has_no_victims() -> None:
    reasons = reasons_against(asking(cpu="600m"), NODE, FULL, [])
    assert explain([reasons]).endswith("1 No preemption victims found for incoming pod.")


def test_anti_affinity_keeps_two_of_a_kind_apart() -> None:
    term = {"labelSelector": {"matchLabels": {"app": "p"}}, "topologyKey": "kubernetes.io/hostname"}
    wanted = pod(affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})
    assert reasons_against(wanted, NODE, NOTHING, []) == []
    reasons = reasons_against(wanted, NODE, NOTHING, [pod()])
    assert [reason.text for reason in reasons] == ["node(s) didn't match pod anti-affinity rules"]


def test_a_port_of_the_node_is_given_once() -> None:
    ports = {"ports": [{"containerPort": 8080}]}
    wanted = pod(hostNetwork=True, containers=[{"name": "c", **ports}])
    assert reasons_against(wanted, NODE, NOTHING, [pod(containers=[{"name": "c", **ports}])]) == []
    reasons = reasons_against(wanted, NODE, NOTHING, [wanted])
    assert [reason.text for reason in reasons] == ["node(s) didn't have free ports for the requested pod ports"]


def test_requests_are_the_sum_of_containers_or_the_largest_init_container() -> None:
    def container(cpu: str, **more: object) -> Obj:
        return {"name": "c", "resources": {"requests": {"cpu": cpu}}, **more}

    both = [container("100m"), container("200m")]
    assert requests_of(pod(containers=both)).cpu == pytest.approx(0.3)
    assert requests_of(pod(containers=both, initContainers=[container("1")])).cpu == pytest.approx(1)
    sidecar = container("1", restartPolicy="Always")
    assert requests_of(pod(containers=both, initContainers=[sidecar])).cpu == pytest.approx(1.3)


def test_a_limit_without_a_request_is_the_request() -> None:
    wanted = pod(containers=[{"name": "c", "resources": {"limits": {"memory": "64Mi"}}}])
    assert requests_of(wanted).memory == 64 * 1024**2
