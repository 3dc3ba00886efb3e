"""What keeps a container from starting or staying: commands, memory, users, nodes, quotas, pauses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.diagnosis.builders import (
    App,
    Object,
    State,
    app,
    box,
    crashed,
    found,
    only,
    patch_of,
    running,
    thing,
    values,
    waiting,
)

NO_EXECUTABLE = 'failed to create task: exec: "serv": executable file not found in $PATH: unknown'
NOT_THERE = crashed(code=128, reason="StartError", message=NO_EXECUTABLE)


def bad(*command: str, **more: Any) -> App:
    return app("web", box(command=list(command)), state=NOT_THERE, **more)


def init(command: list[str], state: State) -> App:
    return app("web", state=state, initContainers=[box("setup", "shop/tools:1", command=command)])


COMMANDS: dict[str, tuple[list[App], str]] = {
    "a neighbour's command": ([bad("serv"), app("cart", box("cart", command=["serve"]))], "serve"),
    "of two neighbours' commands the one that is a slip away": (
        [bad("serv"), app("a", box("a", command=["serve"])), app("b", box("b", command=["migrate"]))],
        "serve",
    ),
    "the image's own, as a neighbour has it": (
        [bad("launch"), app("cart", box("cart"))],
        "the image's own command",
    ),
    "an earlier revision's": ([bad("serv", old=[(box(command=["serve"]), 0)])], "serve"),
}


@pytest.mark.parametrize(("parts", "command"), COMMANDS.values(), ids=COMMANDS)
def test_one_command_is_the_repair(parts: list[App], command: str) -> None:
    assert values(only(found(*parts), "ExecutableMissing")) == [command]


def test_the_image_s_own_command_is_had_by_removing_the_wrong_one() -> None:
    finding = only(found(bad("launch"), app("cart", box("cart"))), "ExecutableMissing")
    assert patch_of(finding) == [
        {"op": "test", "path": "/spec/template/spec/containers/0/command", "value": ["launch"]},
        {"op": "remove", "path": "/spec/template/spec/containers/0/command"},
    ]


def test_an_init_container_s_shell_line_is_repaired_from_a_neighbour() -> None:
    broken = init(["sh", "-c", "ech ready"], crashed("sh: ech: not found", code=127))
    neighbour = app(
        "cart",
        box("cart", "shop/cart:2"),
        initContainers=[box("setup", "shop/tools:1", command=["sh", "-c", "echo ready"])],
    )
    findings = [f for f in found(broken, neighbour) if "setup" in f.field]
    assert patch_of(findings[0])[1]["path"] == "/spec/template/spec/initContainers/0/command"
    assert patch_of(findings[0])[1]["value"] == ["sh", "-c", "echo ready"]


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param([bad("serv")], id="nobody runs the image"),
        pytest.param(
            [bad("serv"), app("cart", box("cart", "shop/other:1", command=["serve"]))], id="another image"
        ),
        pytest.param(
            [bad("serv"), app("a", box("a", command=["one"])), app("b", box("b", command=["two"]))],
            id="two other commands",
        ),
        pytest.param(
            [bad("serv"), app("cart", box("cart", command=["serve"]), state=crashed("x"))],
            id="a neighbour that crashes",
        ),
        pytest.param(
            [bad("serv"), app("cart", box("cart", command=["serve"]), replicas=0)], id="a neighbour without a pod"
        ),
    ],
)
def test_doubt_about_a_command_is_said_and_not_repaired(parts: list[App]) -> None:
    finding = only(found(*parts), "ExecutableMissing")
    assert finding.repair is None
    assert finding.missing


KILLED = crashed(code=137, reason="OOMKilled")


def limited(limit: str, name: str = "web", state: State = KILLED, **variables: str) -> App:
    entries = [{"name": key, "value": value} for key, value in variables.items()]
    return app(name, box(name, resources={"limits": {"memory": limit}}, env=entries), state=state)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param([limited("32Mi", ALLOC_MB="96")], ["192Mi"], id="what a variable tells it to use"),
        pytest.param([limited("256Mi", JAVA_OPTS="-Xmx1g")], ["1568Mi"], id="a heap flag"),
        pytest.param(
            [limited("32Mi"), limited("128Mi", "cart", running())],
            ["128Mi"],
            id="a ready neighbour with the same image",
        ),
        pytest.param([limited("512Mi", ALLOC_MB="96")], [], id="it has that much already"),
        pytest.param([limited("32Mi")], [], id="nothing tells it"),
        pytest.param(
            [limited("32Mi", ALLOC_MB="96"), limited("64Mi", "cart", running(), ALLOC_MB="8")],
            ["192Mi"],
            id="a neighbour that works less is no measure",
        ),
    ],
)
def test_a_memory_limit_is_raised_to_what_is_known_to_be_needed(parts: list[App], expected: list[str]) -> None:
    finding = only(found(*parts), "MemoryLimitTooLow")
    assert values(finding) == expected
    assert bool(finding.missing) is not bool(expected)


UNSCHEDULABLE = "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."


def homeless(value: str) -> App:
    pending = app("web", state=waiting("", ""), nodeSelector={"disk": value})
    pod = next(item for item in pending.objects if item["kind"] == "Pod")
    pod["status"]["conditions"].append({"type": "PodScheduled", "status": "False", "message": UNSCHEDULABLE})
    return pending


def node(**its_labels: str) -> Object:
    return {"kind": "Node", "metadata": {"name": "n1", "labels": its_labels}}


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param([homeless("sdd"), node(disk="ssd")], ["ssd"], id="a slip of a node's value"),
        pytest.param(
            [homeless("sdd"), app("cart", nodeSelector={"disk": "ssd"})], ["ssd"], id="a neighbour's, nodes unseen"
        ),
        pytest.param([homeless("nvme"), node(disk="ssd")], [], id="a value that is no slip needs a node"),
        pytest.param([homeless("sdd")], [], id="nodes unseen and no neighbour"),
    ],
)
def test_a_node_selector_is_repaired_from_what_nodes_have(parts: list[Any], expected: list[str]) -> None:
    finding = only(found(*parts), "NodeSelectorUnsatisfied")
    assert values(finding) == expected
    assert bool(finding.missing) is not bool(expected)


ROOT = waiting("CreateContainerConfigError", "container has runAsNonRoot and image will run as root")


def test_a_root_image_gets_the_user_that_a_neighbour_runs_it_as() -> None:
    broken = app("web", box(securityContext={"runAsNonRoot": True}), state=ROOT)
    neighbour = app("cart", box("cart", securityContext={"runAsUser": 65532}))
    finding = only(found(broken, neighbour), "RunsAsRoot")
    assert patch_of(finding)[1]["value"] == {"runAsNonRoot": True, "runAsUser": 65532}
    assert only(found(broken, app("cart", box("cart"))), "RunsAsRoot").repair is None


def test_an_exhausted_quota_is_named_and_left_to_people() -> None:
    refused = app("web", state=waiting(""))
    deployment = refused.objects[0]
    message = 'pods "web-9-b" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2'
    deployment["status"]["conditions"] = [{"type": "ReplicaFailure", "status": "True", "message": message}]
    finding = only(found(refused), "QuotaExceeded")
    assert finding.repair is None
    assert "ResourceQuota/small" in finding.missing


def applied(replicas: int) -> dict[str, str]:
    return {"kubectl.kubernetes.io/last-applied-configuration": json.dumps({"spec": {"replicas": replicas}})}


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param([app("web", replicas=0, annotations=applied(3))], ["3"], id="what was applied"),
        pytest.param(
            [
                app("web", replicas=0),
                thing(
                    "HorizontalPodAutoscaler",
                    "web",
                    spec={"minReplicas": 2, "scaleTargetRef": {"kind": "Deployment", "name": "web"}},
                ),
            ],
            ["2"],
            id="the least of its autoscaler",
        ),
        pytest.param(
            [app("web", replicas=0, annotations={"shop.example/replicas": "4"})], ["4"], id="an annotation"
        ),
        pytest.param([app("web", replicas=0)], [], id="nothing tells it"),
        pytest.param([app("web", replicas=0, annotations=applied(9000))], [], id="an absurd number"),
    ],
)
def test_a_workload_without_pods_gets_as_many_as_it_had(parts: list[Any], expected: list[str]) -> None:
    assert values(only(found(*parts), "ScaledToZero")) == expected


def test_a_paused_rollout_goes_on_only_where_it_is_stuck() -> None:
    stuck, fine = app("web", state=waiting("")), app("web")
    for each in (stuck, fine):
        each.objects[0]["spec"]["paused"] = True
    assert patch_of(only(found(stuck), "RolloutPaused"))[1]["value"] is False
    assert found(fine) == ()
