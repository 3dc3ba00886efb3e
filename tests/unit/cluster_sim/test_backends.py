"""Which pods stand behind a Service, and on which ports."""

from __future__ import annotations

import pytest

from sanare_lab.cluster.controllers.backends import backends_of, slices_of, subsets_of, target_port
from sanare_lab.cluster.objects import Obj


def pod(name: str, ip: str, *, ready: bool = True, port_name: str = "http", number: int = 8080, **meta: str) -> Obj:
    return {
        "metadata": {"name": name, "namespace": "shop", "uid": name, **meta},
        "spec": {
            "nodeName": "node0",
            "containers": [{"name": "c", "ports": [{"name": port_name, "containerPort": number}]}],
        },
        "status": {
            "phase": "Running",
            "podIP": ip,
            "conditions": [{"type": "Ready", "status": str(ready)}],
        },
    }


def service(target: object, **spec: object) -> Obj:
    return {"spec": {"ports": [{"name": "web", "port": 80, "targetPort": target}], **spec}}


def addresses(found: Obj, field: str) -> list[str]:
    return [item["ip"] for item in found.get(field, [])]


@pytest.mark.parametrize(
    ("target", "expected"),
    [(8765, 8765), (None, 80), ("http", 8080), ("other", None)],
    ids=["number", "the port itself", "name", "no such name"],
)
def test_a_target_port_is_a_number_or_a_name_that_the_pod_declares(target: object, expected: int | None) -> None:
    assert target_port({"port": 80, "targetPort": target}, pod("a", "10.244.0.2")) == expected


def test_ready_pods_are_addresses_and_others_are_not() -> None:
    pods = [pod("a", "10.244.0.2"), pod("b", "10.244.0.3", ready=False)]
    (subset,) = subsets_of(backends_of(service("http"), pods))
    assert addresses(subset, "addresses") == ["10.244.0.2"]
    assert addresses(subset, "notReadyAddresses") == ["10.244.0.3"]
    assert subset["ports"] == [{"name": "web", "port": 8080, "protocol": "TCP"}]


def test_a_service_may_publish_pods_that_are_not_ready() -> None:
    pods = [pod("b", "10.244.0.3", ready=False)]
    (subset,) = subsets_of(backends_of(service("http", publishNotReadyAddresses=True), pods))
    assert addresses(subset, "addresses") == ["10.244.0.3"]


def test_a_name_that_two_pods_give_different_numbers_makes_two_subsets() -> None:
    pods = [pod("a", "10.244.0.2"), pod("b", "10.244.0.3", number=9090)]
    subsets = subsets_of(backends_of(service("http"), pods))
    assert [(subset["ports"][0]["port"], addresses(subset, "addresses")) for subset in subsets] == [
        (8080, ["10.244.0.2"]),
        (9090, ["10.244.0.3"]),
    ]


def test_a_name_that_no_container_declares_leaves_no_address_and_a_slice_without_ports() -> None:
    backends = backends_of(service("nope"), [pod("a", "10.244.0.2")])
    assert subsets_of(backends) == []
    (found,) = slices_of(backends)
    assert found["ports"] == []


def test_an_ending_pod_is_left_out_of_endpoints_and_marked_in_slices() -> None:
    ending = pod("a", "10.244.0.2", deletionTimestamp="2030-01-01T00:00:00Z")
    backends = backends_of(service("http"), [ending])
    assert subsets_of(backends) == []
    (found,) = slices_of(backends)
    assert found["endpoints"][0]["conditions"] == {"ready": False, "serving": True, "terminating": True}


def test_a_slice_holds_at_most_100_endpoints() -> None:
    pods = [pod(f"p{number:03}", f"10.244.1.{number}") for number in range(101)]
    assert [len(item["endpoints"]) for item in slices_of(backends_of(service(8080), pods))] == [100, 1]
