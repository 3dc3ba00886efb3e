"""Traffic: endpoints follow pods, and requests reach what they would reach."""

from __future__ import annotations

import pytest

from sanare_lab.cluster.node import ConnectionRefused, NoRoute
from sanare_lab.cluster.objects import Obj, dig, labels_of, name_of
from sanare_lab.cluster.resources import DEPLOYMENTS, ENDPOINT_SLICES, ENDPOINTS, PODS, SERVICES, STATEFUL_SETS
from tests.integration.cluster_behaviour.world import World, condition, template_of


def addresses(world: World, name: str = "web", field: str = "addresses") -> list[str]:
    found = world.store.get(ENDPOINTS, "shop", name) or {}
    return [item["ip"] for subset in found.get("subsets", []) for item in subset.get(field, [])]


def slices(world: World, name: str = "web") -> list[Obj]:
    every = world.store.list(ENDPOINT_SLICES, "shop")
    return [item for item in every if labels_of(item)["kubernetes.io/service-name"] == name]


async def body(world: World, port: int = 8080, path: str = "/") -> bytes:
    pod = name_of(world.pods()[0])
    return (await world.cluster.node.http("shop", pod, port, "GET", path)).body


async def asked_from_a_pod(world: World, name: str, url: str, **pod: object) -> int:
    """The status of a pod's front page that asks the URL in turn: 200, or 502 where that is not answered."""
    container = {"env": [{"name": "BACKEND_URL", "value": url}]}
    world.deployment(name, replicas=1, pod={"container": container, **pod})
    await world.available(name, count=1)
    return (await world.cluster.node.http("shop", name_of(world.pods(name)[0]), 8080, "GET", "/")).status


async def test_endpoints_hold_the_ready_pods_and_lose_the_deleted(world: World) -> None:
    world.service()
    world.deployment()
    await world.until(lambda: len(addresses(world)) == 2)
    world.change(DEPLOYMENTS, "web", lambda copy: copy["spec"].update(replicas=1))
    await world.until(lambda: len(addresses(world)) == 1)
    (found,) = slices(world)
    await world.until(lambda: len(slices(world)[0]["endpoints"]) == 1)
    assert found["metadata"]["ownerReferences"][0]["kind"] == "Service"


async def test_a_selector_that_takes_no_pod_leaves_no_endpoints_until_it_is_put_right(world: World) -> None:
    world.service()
    world.change(SERVICES, "web", lambda copy: copy["spec"].update(selector={"app": "wbe"}))
    world.deployment()
    await world.available()
    assert addresses(world) == []
    world.change(SERVICES, "web", lambda copy: copy["spec"].update(selector={"app": "web"}))
    await world.until(lambda: len(addresses(world)) == 2)


async def test_pods_that_are_not_ready_are_listed_apart(world: World) -> None:
    world.service()
    probe = {"httpGet": {"path": "/wrong", "port": 8080}}
    world.deployment(replicas=1, pod={"container": {"readinessProbe": probe}})
    await world.until(lambda: len(addresses(world, field="notReadyAddresses")) == 1)
    assert addresses(world) == []


async def test_hand_written_endpoints_of_a_service_without_selector_are_kept_and_mirrored(world: World) -> None:
    world.create(SERVICES, "out", {"ports": [{"port": 80}]})
    subsets = [{"addresses": [{"ip": "10.9.9.9"}], "ports": [{"port": 80}]}]
    world.create(ENDPOINTS, "out", subsets=subsets)
    await world.until(lambda: slices(world, "out"))
    assert slices(world, "out")[0]["endpoints"][0]["addresses"] == ["10.9.9.9"]
    assert world.get(ENDPOINTS, "out")["subsets"][0]["addresses"] == [{"ip": "10.9.9.9"}]


async def test_hand_written_endpoints_of_a_service_with_selector_are_overwritten(world: World) -> None:
    world.service()
    await world.until(lambda: world.store.get(ENDPOINTS, "shop", "web"))
    forged = [{"addresses": [{"ip": "10.9.9.9"}], "ports": [{"port": 80}]}]
    world.change(ENDPOINTS, "web", lambda copy: copy.update(subsets=forged))
    await world.until(lambda: addresses(world) == [])


async def test_a_request_gets_the_apps_answer(world: World) -> None:
    env = [{"name": "NONCE", "value": "n-1"}]
    world.deployment(replicas=1, pod={"container": {"env": env}})
    await world.available(count=1)
    assert await body(world) == b"n-1\n"
    assert await body(world, path="/healthz") == b"ok\n"


@pytest.mark.parametrize(("env", "port"), [({"name": "BIND", "value": "127.0.0.1"}, 8080), ({"name": "A"}, 8081)])
async def test_a_port_that_nothing_listens_on_refuses(world: World, env: Obj, port: int) -> None:
    world.deployment(replicas=1, pod={"container": {"env": [env], "readinessProbe": None}})
    await world.available(count=1)
    with pytest.raises(ConnectionRefused, match=f":{port}: connect: connection refused"):
        await body(world, port)


async def test_the_host_network_does_not_open_what_is_bound_to_loopback(world: World) -> None:
    env = [{"name": "BIND", "value": "127.0.0.1"}]
    world.deployment(replicas=1, pod={"hostNetwork": True, "container": {"env": env, "readinessProbe": None}})
    await world.available(count=1)
    assert dig(world.pods()[0], "status", "podIP") == dig(world.pods()[0], "status", "hostIP")
    with pytest.raises(ConnectionRefused):
        await body(world)


async def test_a_pod_without_address_has_no_route(world: World) -> None:
    world.deployment(replicas=1, pod={"nodeSelector": {"none": "such"}})
    await world.until(world.pods)
    with pytest.raises(NoRoute):
        await body(world)


@pytest.mark.parametrize("host", ["api", "api.shop", "api.shop.svc", "api.shop.svc.cluster.local"])
async def test_an_app_reaches_its_backend_by_the_services_name(world: World, host: str) -> None:
    world.service("api")
    world.deployment("api", replicas=1)
    env = [{"name": "BACKEND_URL", "value": f"http://{host}/"}, {"name": "NONCE", "value": "front"}]
    world.deployment(replicas=1, pod={"container": {"env": env}})
    await world.available("api", 1)
    await world.available(count=1)
    await world.until(lambda: addresses(world, "api"))
    assert await body(world) == b"front\n"
    world.change(SERVICES, "api", lambda copy: copy["spec"]["ports"][0].update(targetPort=9999))
    await world.until(lambda: slices(world, "api")[0]["ports"][0]["port"] == 9999)
    assert await body(world) == b"backend unreachable\n"


async def test_two_apps_that_ask_each_other_for_ever_end_as_unreachable(world: World) -> None:
    world.service()
    env = [{"name": "BACKEND_URL", "value": "http://web/"}]
    world.deployment(replicas=1, pod={"container": {"env": env}})
    await world.available(count=1)
    await world.until(lambda: addresses(world))
    assert await body(world) == b"backend unreachable\n"


async def test_logs_of_this_run_and_of_the_one_before(world: World) -> None:
    container = {"command": ["sh", "-c", "echo one; echo two; exit 1"], "readinessProbe": None}
    world.deployment(replicas=1, pod={"container": container})
    await world.until(
        lambda: any(dig(pod, "status", "containerStatuses", 0, "restartCount") for pod in world.pods())
    )
    pod, node = name_of(world.pods()[0]), world.cluster.node
    assert node.logs("shop", pod, "app", previous=True) == "one\ntwo\n"
    assert node.logs("shop", pod, "app", previous=True, tail_lines=1) == "two\n"
    assert node.logs("shop", "none", "app") is None
    assert world.get(PODS, pod)["status"]["phase"] == "Running"


async def test_a_pod_of_a_stateful_set_has_a_name_below_the_service_that_its_set_names(world: World) -> None:
    for name, governing in (("store", "store"), ("cache", "stash")):
        spec = {"selector": {"matchLabels": {"app": name}}, "template": template_of(name), "serviceName": governing}
        world.create(STATEFUL_SETS, name, {"replicas": 1, **spec})
        world.service(name, clusterIP="None")
    await world.until(lambda: [len(addresses(world, name)) for name in ("store", "cache")] == [1, 1])
    assert await asked_from_a_pod(world, "right", "http://store-0.store:8080/") == 200
    assert await asked_from_a_pod(world, "astray", "http://cache-0.cache:8080/") == 502


@pytest.mark.parametrize(
    ("policy", "status"), [("ClusterFirst", 200), ("Default", 502)], ids=["the-cluster's", "the-node's"]
)
async def test_the_resolver_of_a_pod_decides_whether_a_service_has_a_name(
    world: World, policy: str, status: int
) -> None:
    world.deployment("store", replicas=1)
    world.service("store")
    await world.available("store", count=1)
    assert await asked_from_a_pod(world, "asker", "http://store:80/", dnsPolicy=policy) == status


async def test_a_readiness_gate_waits_for_a_condition_that_others_set(world: World) -> None:
    world.deployment("web", replicas=1, pod={"readinessGates": [{"conditionType": "shop.local/warm"}]})
    await world.until(
        lambda: any(condition(pod, "ContainersReady").get("status") == "True" for pod in world.pods())
    )
    closed = condition(world.pods()[0], "Ready")
    assert (closed["status"], closed["reason"]) == ("False", "ReadinessGatesNotReady")
    assert closed["message"] == 'corresponding condition of pod readiness gate "shop.local/warm" does not exist.'
    (pod,) = world.pods()
    opened = {"type": "shop.local/warm", "status": "True"}
    pod = {**pod, "status": {**pod["status"], "conditions": [*pod["status"]["conditions"], opened]}}
    world.store.update(PODS, pod, subresource="status")
    await world.available("web", count=1)


async def test_a_probe_that_speaks_tls_to_a_plain_server_fails(world: World) -> None:
    probe = {"httpGet": {"path": "/readyz", "port": 8080, "scheme": "HTTPS"}, "periodSeconds": 1}
    world.deployment("web", replicas=1, pod={"container": {"readinessProbe": probe}})
    said = await world.until(lambda: world.messages("Unhealthy"))
    assert any("server gave HTTP response to HTTPS client" in message for message in said)
