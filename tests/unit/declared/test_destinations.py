"""Where the operator connects to: pods of the namespace behind a selector, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from sanare.api.checks import HttpCheck
from sanare.evaluator.declared import proxied
from sanare.evaluator.declared.destination import Destination, destination
from sanare.evaluator.declared.reply import Reply
from sanare.evaluator.kinds import Kind
from sanare.evaluator.snapshot import Snapshot
from sanare.kube.client import KubeClient

POD = "10.1.0.7"


def shop(change: Callable[[dict[str, Any]], object] | None = None) -> Snapshot:
    """A Service `web` before one pod, changed by the case."""
    objects: dict[str, Any] = {
        "service": {
            "metadata": {"name": "web"},
            "spec": {
                "clusterIP": "10.96.0.9",
                "selector": {"app": "web"},
                "ports": [{"name": "http", "port": 80}, {"name": "dns", "port": 53, "protocol": "UDP"}],
            },
        },
        "pod": {
            "metadata": {"name": "web-1"},
            "status": {"podIP": POD, "podIPs": [{"ip": POD}, {"ip": "fd00::7"}]},
        },
        "slice": {
            "metadata": {"name": "web-x", "labels": {"kubernetes.io/service-name": "web"}},
            "ports": [{"name": "http", "port": 8080}],
            "endpoints": [{"addresses": [POD], "conditions": {"ready": True}}],
        },
        "unseen": {},
    }
    if change:
        change(objects)
    kinds = {"Service": "service", "Pod": "pod", "EndpointSlice": "slice"}
    listed = {kind: (objects[name],) for kind, name in kinds.items() if kind not in objects["unseen"]}
    return Snapshot("shop", datetime(2026, 11, 1, tzinfo=UTC), listed, unseen=objects["unseen"])


def spec(**fields: Any) -> Callable[[dict[str, Any]], object]:
    return lambda objects: objects["service"]["spec"].update(fields)


def address(*found: str) -> Callable[[dict[str, Any]], object]:
    return lambda objects: objects["slice"]["endpoints"].append({"addresses": list(found), "conditions": {}})


def unready(objects: dict[str, Any]) -> None:
    objects["service"]["spec"]["clusterIP"] = "None"
    objects["slice"]["endpoints"][0]["conditions"]["ready"] = False


LEADS: list[tuple[str, Callable[[dict[str, Any]], object] | None, str, Destination]] = [
    ("by name", None, "http", Destination("10.96.0.9", 80, "web.shop.svc")),
    ("by number", None, "80", Destination("10.96.0.9", 80, "web.shop.svc")),
    ("the first port", None, "", Destination("10.96.0.9", 80, "web.shop.svc")),
    ("headless", spec(clusterIP="None"), "http", Destination(POD, 8080, "web.shop.svc")),
    ("both families", address("fd00::7"), "http", Destination("10.96.0.9", 80, "web.shop.svc")),
]


@pytest.mark.parametrize(("change", "port", "where"), [case[1:] for case in LEADS], ids=[case[0] for case in LEADS])
def test_a_service_leads_to_its_own_address_or_pod(
    change: Callable[[dict[str, Any]], object] | None, port: str, where: Destination
) -> None:
    assert destination(shop(change), "web", port) == where


REFUSED: list[tuple[str, Callable[[dict[str, Any]], object], str, Kind]] = [
    ("an external name", spec(type="ExternalName", externalName="example.org"), "no selector", Kind.FORBIDDEN),
    ("no selector", spec(selector=None), "no selector", Kind.FORBIDDEN),
    ("an address written by hand", address("169.254.169.254"), "leads to 169.254.169.254", Kind.FORBIDDEN),
    ("an address of another namespace", address(POD, "10.1.0.99"), "leads to 10.1.0.99", Kind.FORBIDDEN),
    ("a UDP port", spec(ports=[{"port": 53, "protocol": "UDP"}]), "no TCP port http", Kind.NOT_FOUND),
    (
        "unlisted pods",
        lambda objects: objects["unseen"].update({"Pod": "Forbidden: no right"}),
        "Pod objects could not be listed",
        Kind.FORBIDDEN,
    ),
    (
        "unlisted endpoints",
        lambda objects: objects["unseen"].update({"EndpointSlice": "Timeout: 20 s"}),
        "EndpointSlice objects could not be listed",
        Kind.TIMEOUT,
    ),
]


@pytest.mark.parametrize(
    ("change", "says", "kind"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_nothing_is_connected_to_that_a_service_merely_claims(
    change: Callable[[dict[str, Any]], object], says: str, kind: Kind
) -> None:
    found = destination(shop(change), "web", "http")
    assert isinstance(found, Reply)
    assert (found.unknown, found.status) == (kind, 0)
    assert says in found.failure


def test_a_service_that_is_not_there_is_not_found() -> None:
    found = destination(shop(), "none", "http")
    assert isinstance(found, Reply)
    assert found.unknown is Kind.NOT_FOUND


def test_a_headless_service_without_a_ready_pod_has_no_endpoints() -> None:
    assert destination(shop(unready), "web", "http") == Reply(failure="no endpoints")


@pytest.mark.parametrize(
    ("where", "authority"),
    [
        pytest.param(Destination("10.0.0.1", 80, "web"), "10.0.0.1:80", id="IPv4"),
        pytest.param(Destination("fd00::1", 80, "web"), "[fd00::1]:80", id="IPv6"),
    ],
)
def test_an_address_is_written_as_a_url_wants_it(where: Destination, authority: str) -> None:
    assert where.authority == authority


def unseen(kind: str) -> Callable[[dict[str, Any]], object]:
    return lambda objects: objects["unseen"].update({kind: "Timeout: no answer"})


@pytest.mark.parametrize(
    ("change", "kind", "says"),
    [
        (address("169.254.169.254"), Kind.FORBIDDEN, "leads to 169.254.169.254"),
        (spec(selector=None), Kind.FORBIDDEN, "has no selector"),
        (spec(type="ExternalName", externalName="metadata"), Kind.FORBIDDEN, "has no selector"),
        (unseen("EndpointSlice"), Kind.TIMEOUT, "EndpointSlice objects could not be listed"),
        (unseen("Pod"), Kind.TIMEOUT, "Pod objects could not be listed"),
    ],
    ids=["by hand", "no selector", "an external name", "endpoints unseen", "pods unseen"],
)
async def test_the_api_server_is_sent_nowhere_else_either(
    change: Callable[[dict[str, Any]], object], kind: Kind, says: str
) -> None:
    nobody = cast(KubeClient, None)  # nothing may be asked
    check = HttpCheck.parse({"service": "web", "port": "80"})
    reply = await proxied.ask_http(nobody, shop(change), check)
    assert (reply.unknown, says in reply.failure) == (kind, True)
