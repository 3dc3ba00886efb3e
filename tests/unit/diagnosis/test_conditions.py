"""What keeps pods from being placed, made, ready or updated beyond their containers' own faults."""

from __future__ import annotations

from typing import Any

import pytest

from sanare.diagnosis.finding import Finding
from tests.unit.diagnosis.builders import (
    App,
    Object,
    app,
    box,
    config_map,
    crashed,
    found,
    metadata,
    only,
    patch_of,
    service,
    thing,
    up_not_ready,
    values,
    waiting,
)

SHORT = waiting("", "", "0/3 nodes are available: 3 Insufficient cpu. preemption: not helpful.")
APART = waiting("", "", "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules.")


def wants(name: str, cpu: str, **more: Any) -> App:
    return app(name, box(name, resources={"requests": {"cpu": cpu}}), **more)


@pytest.mark.parametrize(
    ("parts", "right"),
    [
        pytest.param([wants("web", "50", state=SHORT), wants("cart", "50m")], ["50m"], id="a-neighbour"),
        pytest.param(
            [wants("web", "50", state=SHORT, annotations={"size": "50m of CPU"})], ["50m"], id="annotation"
        ),
        pytest.param([wants("web", "50", state=SHORT), wants("cart", "20m")], [], id="another-figure"),
        pytest.param([wants("web", "50m", state=SHORT), wants("cart", "50")], [], id="larger"),
        pytest.param([wants("web", "50"), wants("cart", "50m")], None, id="placed"),
    ],
)
def test_a_request_with_a_slip_in_its_unit_is_corrected(parts: list[App], right: list[str] | None) -> None:
    findings = found(*parts)
    assert [values(finding) for finding in findings] == ([] if right is None else [right])
    assert all(finding.missing or finding.repair for finding in findings)


def limited(limit: str, request: str, allowed: str) -> App:
    resources = {"limits": {"memory": limit}, "requests": {"memory": request}}
    made = app("web", box(resources=resources), replicas=0)
    message = f'pods "web-9-x" is forbidden: maximum memory usage per Container is {allowed}, but limit is {limit}'
    made.objects[0]["spec"]["replicas"] = 1
    made.objects[0]["status"]["conditions"] = [{"type": "ReplicaFailure", "status": "True", "message": message}]
    return made


@pytest.mark.parametrize(
    ("request_", "right"), [("64Mi", ["256Mi"]), ("300Mi", [])], ids=["fits", "the-request-is-too-large-too"]
)
def test_a_limit_comes_down_to_what_the_range_allows(request_: str, right: list[str]) -> None:
    finding = only(found(limited("1Gi", request_, "256Mi")), "LimitAboveRange")
    assert values(finding) == right
    assert bool(finding.missing) is not bool(right)


def daemon_set(name: str, *, scheduled: int, **selector: str) -> Object:
    template = {
        "metadata": {"labels": {"app": name}},
        "spec": {"containers": [box(name)], "nodeSelector": selector},
    }
    status = {"desiredNumberScheduled": scheduled, "numberReady": scheduled, "updatedNumberScheduled": scheduled}
    return {"kind": "DaemonSet", "metadata": metadata(name), "spec": {"template": template}, "status": status}


def test_a_daemon_set_on_no_node_gets_a_value_that_a_node_has() -> None:
    node = thing("Node", "n1")
    node["metadata"]["labels"] = {"disk": "flash"}
    parts = (daemon_set("shipper", scheduled=0, disk="falsh"), daemon_set("meter", scheduled=1, disk="flash"), node)
    finding = only(found(*parts, target="DaemonSet/shipper"), "NodeSelectorUnsatisfied")
    assert values(finding) == ["flash"]


def test_a_daemon_set_on_a_node_is_left_alone() -> None:
    assert found(daemon_set("shipper", scheduled=1, disk="falsh"), target="DaemonSet/shipper") == ()


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        pytest.param(
            app("web", state=up_not_ready(), readinessGates=[{"conditionType": "example.org/in"}]),
            "ReadinessGateUnset",
            id="gate",
        ),
        pytest.param(app("web", state=APART), "AntiAffinityUnsatisfied", id="anti-affinity"),
    ],
)
def test_what_only_people_know_is_named_and_left(part: App, kind: str) -> None:
    finding = only(found(part), kind)
    assert finding.repair is None
    assert finding.missing


TLS = {"httpGet": {"path": "/up", "port": 8080, "scheme": "HTTPS"}}
PLAIN = 'Readiness probe failed: Get "https://10.1.0.7:8080/up": http: server gave HTTP response to HTTPS client'


def test_a_probe_speaks_what_the_server_speaks() -> None:
    finding = only(found(app("web", box(readinessProbe=TLS), state=up_not_ready("", PLAIN))), "ProbeSchemeWrong")
    assert patch_of(finding)[1]["value"] == "HTTP"


def test_a_probe_whose_certificate_is_refused_keeps_its_scheme() -> None:
    refused = 'Readiness probe failed: Get "https://10.1.0.7:8080/up": tls: handshake failure'
    assert found(app("web", box(readinessProbe=TLS), state=up_not_ready("", refused))) == ()


def stateful(**pod: Any) -> list[Object]:
    template = {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [box("db")]}}
    status = {"observedGeneration": 1, "updateRevision": "db-2", "replicas": 1, "readyReplicas": 0}
    owner = [{"kind": "StatefulSet", "name": "db", "uid": "uid-db", "controller": True}]
    labels = {"app": "db", "controller-revision-hash": pod.get("revision", "db-1")}
    ready = [{"type": "Ready", "status": str(pod.get("ready", False))}]
    return [
        {
            "kind": "StatefulSet",
            "metadata": metadata("db", generation=pod.get("generation", 1)),
            "spec": {"replicas": 2, "serviceName": "db", "template": template},
            "status": status,
        },
        {
            "kind": "Pod",
            "metadata": metadata("db-0", labels=labels, ownerReferences=owner),
            "spec": template["spec"],
            "status": {"conditions": ready},
        },
    ]


def headless(name: str) -> Object:
    made = service(name, selector={"app": "db"})
    made["spec"]["clusterIP"] = "None"
    return made


def about_db(*parts: Object) -> tuple[Finding, ...]:
    return found(*parts, target="StatefulSet/db")


def test_a_pod_that_an_update_waits_for_is_deleted() -> None:
    finding = only(about_db(*stateful(), headless("db")), "UpdateWaitsForPod")
    assert finding.repair is not None
    assert [command.argv for command in finding.repair.commands] == [("delete", "pod", "db-0", "--wait=false")]


@pytest.mark.parametrize(
    "pod",
    [
        pytest.param({"ready": True}, id="ready"),
        pytest.param({"revision": "db-2"}, id="of-the-present-revision"),
        pytest.param({"generation": 2}, id="not-seen-by-its-controller"),
    ],
)
def test_a_pod_that_no_update_waits_for_is_left_alone(pod: dict[str, Any]) -> None:
    assert about_db(*stateful(**pod), headless("db")) == ()


def test_a_governing_service_that_is_not_there_is_named_with_the_one_that_fits() -> None:
    finding = only(about_db(*stateful(revision="db-2"), headless("db-peers")), "GoverningServiceMissing")
    assert finding.repair is None
    assert "db-peers would fit" in finding.missing


def alias(**spec: Any) -> Object:
    made = service("web")
    made["spec"].update({"type": "ExternalName", "externalName": "web.example.org", **spec})
    return made


def test_an_alias_that_selects_pods_leads_to_them() -> None:
    finding = only(found(app("web"), alias()), "ServiceIsAlias")
    operations = [(each["op"], each["path"]) for each in patch_of(finding)]
    assert operations == [
        ("test", "/spec/type"),
        ("replace", "/spec/type"),
        ("test", "/spec/externalName"),
        ("remove", "/spec/externalName"),
    ]


@pytest.mark.parametrize("spec", [{"selector": None}, {"ports": []}], ids=["no-selector", "no-port"])
def test_an_alias_that_is_meant_is_left_alone(spec: dict[str, Any]) -> None:
    assert found(app("web"), alias(**spec)) == ()


IN_USE = crashed("listen tcp :8080: bind: address already in use")


def pair(env: list[Object], **second: Any) -> App:
    first = box("web", ports=[{"containerPort": 8080}])
    return app("web", first, box("meter", "shop/meter:2", env=env, **second), state=IN_USE)


@pytest.mark.parametrize(
    ("second", "right"),
    [
        pytest.param({"ports": [{"containerPort": 9400}]}, ["9400"], id="declared"),
        pytest.param({"readinessProbe": {"tcpSocket": {"port": 9400}}}, ["9400"], id="probed"),
        pytest.param({}, [], id="nowhere"),
        pytest.param({"ports": [{"containerPort": 9400}, {"containerPort": 9401}]}, ["9400", "9401"], id="two"),
    ],
)
def test_a_container_whose_port_is_taken_gets_its_own(second: dict[str, Any], right: list[str]) -> None:
    finding = only(found(pair([{"name": "METER_PORT", "value": "8080"}], **second)), "PortCollision")
    assert values(finding) == right
    assert (finding.repair is None) is (len(right) != 1)


def misses(prefix: str, data: dict[str, str], *names: str) -> tuple[App, Object]:
    source = {"configMapRef": {"name": "web-env"}, **({"prefix": prefix} if prefix else {})}
    log = "\n".join(f"missing required environment variable {name}" for name in names)
    return app("web", box(envFrom=[source]), state=crashed(log)), config_map("web-env", data)


@pytest.mark.parametrize(
    ("prefix", "names", "right"),
    [
        pytest.param("SHP_", ["SHOP_ZONE"], "SHOP_", id="slip"),
        pytest.param("SHOP_", ["ZONE"], "(none)", id="one-too-many"),
    ],
)
def test_a_prefix_gives_the_variables_that_are_missed(prefix: str, names: list[str], right: str) -> None:
    finding = only(found(*misses(prefix, {"ZONE": "north", "TIER": "gold"}, *names)), "VariablePrefixWrong")
    assert values(finding) == [right]


@pytest.mark.parametrize(
    ("prefix", "data"),
    [("SHP_", {"TIER": "gold"}), ("", {"ZONE": "north"})],
    ids=["explains-nothing", "without-a-prefix"],
)
def test_other_sources_keep_the_prefix_they_have(prefix: str, data: dict[str, str]) -> None:
    finding = only(found(*misses(prefix, data, "SHOP_ZONE")), "EnvironmentVariableMissing")
    assert finding.repair is None


def missing_image(**spec: Any) -> list[Object]:
    """A StatefulSet whose first pod cannot pull its image, beside a Deployment that runs the tag that exists."""
    stateful_set, pod = stateful(revision="db-2")
    stateful_set["spec"] |= spec
    state = {"waiting": {"reason": "ImagePullBackOff", "message": "not found"}}
    pod["status"]["containerStatuses"] = [{"name": "db", "state": state, "ready": False}]
    stateful_set["spec"]["template"]["spec"]["containers"] = [box("db", "shop/app:1.0.l")]
    return [stateful_set, pod, headless("db")]


@pytest.mark.parametrize(
    ("policy", "verbs"),
    [("OrderedReady", ["patch", "delete"]), ("Parallel", ["patch"])],
    ids=["in-order", "all-at-once"],
)
def test_a_changed_stateful_set_is_released_from_the_pod_it_would_wait_for(policy: str, verbs: list[str]) -> None:
    cart, broken = app("cart", box("cart", "shop/app:1.0.1")), missing_image(podManagementPolicy=policy)
    finding = only(found(cart, *broken, target="StatefulSet/db"), "ImageNotPullable")
    assert finding.repair is not None
    assert [command.argv[0] for command in finding.repair.commands] == verbs
