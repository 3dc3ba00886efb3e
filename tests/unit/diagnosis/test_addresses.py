"""URLs of other apps that lead nowhere: misspelt hosts, other ports, unexpanded variables, foreign resolvers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.diagnosis.builders import App, Object, app, box, found, only, patch_of, service, values


def asks(name: str, url: str, **pod: Any) -> App:
    return app(name, box(name, env=[{"name": "UPSTREAM", "value": url}]), **pod)


def at(name: str, *ports: int) -> App:
    """An app that runs, and its Service with these ports."""
    made, running = service(name), app(name)
    made["spec"]["ports"] = [{"name": f"p{port}", "port": port, "targetPort": 8080} for port in ports]
    return App((*running.objects, made), running.logs)


@pytest.mark.parametrize(
    ("url", "right"),
    [
        pytest.param("http://invetory:9000/api", "http://inventory:9000/api", id="short-name"),
        pytest.param("http://invetory.shop:9000", "http://inventory.shop:9000", id="with-namespace"),
        pytest.param(
            "http://invetory.shop.svc.cluster.local:9000/",
            "http://inventory.shop.svc.cluster.local:9000/",
            id="full-name",
        ),
    ],
)
def test_a_host_that_is_a_slip_of_a_service_is_spelt_right(url: str, right: str) -> None:
    finding = only(found(asks("web", url), at("inventory", 9000)), "BackendHostUnknown")
    assert values(finding) == [right]


def test_a_neighbour_that_asks_it_so_is_evidence() -> None:
    parts = (asks("web", "http://invetory:9000"), asks("till", "http://inventory:9000"), at("inventory", 9000))
    (candidate,) = only(found(*parts), "BackendHostUnknown").candidates
    assert candidate.evidence.endswith("Deployment/till asks it so")


def test_two_services_that_are_alike_leave_the_host_to_people() -> None:
    finding = only(found(asks("web", "http://stor:80"), at("stork", 80), at("store", 80)), "BackendHostUnknown")
    assert finding.repair is None
    assert "store, stork" in finding.missing


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("http://inventory:9000", id="right"),
        pytest.param("http://invetory.example.org:9000", id="outside"),
        pytest.param("http://invetory:9001", id="port-of-nobody"),
        pytest.param("http://10.0.0.9:9000", id="an-address"),
        pytest.param("http://localhost:9000", id="itself"),
        pytest.param("http://invetory:port", id="no-port"),
        pytest.param("invetory:9000", id="no-url"),
    ],
)
def test_other_addresses_are_left_alone(url: str) -> None:
    assert found(asks("web", url), at("inventory", 9000)) == ()


@pytest.mark.parametrize(
    ("url", "ports", "right"),
    [
        pytest.param("http://inventory:9001/x", (9000,), ["http://inventory:9000/x"], id="one-port"),
        pytest.param("http://inventory/x", (9000,), ["http://inventory:9000/x"], id="the-scheme's-port"),
        pytest.param(
            "http://inventory:1", (9000, 9090), ["http://inventory:9000", "http://inventory:9090"], id="two-ports"
        ),
    ],
)
def test_a_port_that_the_service_has_not_becomes_its_own(
    url: str, ports: tuple[int, ...], right: list[str]
) -> None:
    finding = only(found(asks("web", url), at("inventory", *ports)), "BackendPortUnknown")
    assert values(finding) == right
    assert (finding.repair is None) is (len(right) > 1)


HOST, URL = {"name": "API_HOST", "value": "api"}, {"name": "API_URL", "value": "http://$(API_HOST):80"}
OTHER = {"name": "MODE", "value": "fast"}


def test_a_variable_is_defined_before_it_is_used() -> None:
    finding = only(found(app("web", box(env=[OTHER, URL, HOST]))), "VariableUsedBeforeDefined")
    test, replace = patch_of(finding)
    assert (test["op"], replace["value"]) == ("test", [OTHER, HOST, URL])


@pytest.mark.parametrize(
    ("env", "sources"),
    [
        pytest.param([HOST, URL], [], id="in-order"),
        pytest.param([URL], [], id="never-defined"),
        pytest.param([URL, HOST], [{"configMapRef": {"name": "web-config"}}], id="maybe-from-a-source"),
    ],
)
def test_a_use_in_order_or_unknown_is_left_alone(env: list[Object], sources: list[Object]) -> None:
    findings = found(app("web", box(env=env, envFrom=sources)))
    assert "VariableUsedBeforeDefined" not in {finding.kind for finding in findings}


@pytest.mark.parametrize(
    ("pod", "right"),
    [
        pytest.param({"dnsPolicy": "Default"}, ["ClusterFirst"], id="the-node's"),
        pytest.param(
            {"dnsPolicy": "ClusterFirst", "hostNetwork": True}, ["ClusterFirstWithHostNet"], id="host-network"
        ),
        pytest.param({"dnsPolicy": "ClusterFirst"}, [], id="the-cluster's"),
        pytest.param({"dnsPolicy": "None", "dnsConfig": {"nameservers": ["10.0.0.2"]}}, [], id="its-own"),
    ],
)
def test_a_client_of_a_service_asks_the_dns_of_the_cluster(pod: Object, right: list[str]) -> None:
    findings = found(asks("web", "http://inventory:9000", **pod), at("inventory", 9000))
    assert [value for finding in findings for value in values(finding)] == right


def test_the_whole_list_of_variables_is_tested_before_it_is_replaced() -> None:
    finding = only(found(app("web", box(env=[URL, HOST]))), "VariableUsedBeforeDefined")
    (command,) = finding.candidates[0].commands
    assert json.loads(command.argv[-1])[0]["value"] == [URL, HOST]
