"""What of one Service is compared before and after. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from sanare.api.manifest import Manifest, items, labels, mapping, text
from sanare.api.model import Model
from sanare.evaluator.container_facts import words
from sanare.evaluator.ownership import service_selector


class ServiceFacts(Model):
    """One Service of the scope. `selected` are the workloads whose pods its selector takes."""

    name: str
    uid: str
    selector: Mapping[str, str] = {}
    ports: tuple[str, ...] = ()
    type: str = "ClusterIP"
    external_addresses: tuple[str, ...] = ()
    source_ranges: tuple[str, ...] = ()
    cluster_ip: str = ""
    publish_not_ready: bool = False
    node_only: bool = False
    selected: tuple[str, ...] = ()
    intended: tuple[str, ...] = ()
    foreign_slices: tuple[str, ...] = ()


def service_facts(
    service: Manifest, selected: tuple[str, ...], intended: tuple[str, ...], slices: tuple[Manifest, ...]
) -> ServiceFacts:
    """Read one Service with the endpoint slices that name it."""
    spec = mapping(service, "spec")
    return ServiceFacts(
        name=text(service, "metadata", "name"),
        uid=text(service, "metadata", "uid"),
        selector=dict(service_selector(service)),
        ports=tuple(f"{client_port(port)}->{target_port(port)}" for port in items(spec, "ports")),
        type=text(spec, "type") or "ClusterIP",
        external_addresses=words(spec, "externalIPs"),
        source_ranges=words(spec, "loadBalancerSourceRanges"),
        cluster_ip=text(spec, "clusterIP"),
        publish_not_ready=bool(spec.get("publishNotReadyAddresses")),
        node_only=text(spec, "internalTrafficPolicy") == "Local",
        selected=selected,
        intended=intended,
        foreign_slices=tuple(sorted(text(item, "metadata", "name") for item in slices if is_manual(item))),
    )


def client_port(port: Manifest) -> str:
    """The port by which clients reach a Service, with its protocol where that is not TCP."""
    protocol = text(port, "protocol") or "TCP"
    return str(port.get("port")) if protocol == "TCP" else f"{port.get('port')}/{protocol}"


def is_manual(endpoint_slice: Manifest) -> bool:
    """Whether no controller of Kubernetes keeps the endpoint slice."""
    return labels(endpoint_slice).get("endpointslice.kubernetes.io/managed-by") != "endpointslice-controller.k8s.io"


def target_port(port: Manifest) -> str:
    """A Service port's targetPort, number or name; the port itself where none is given."""
    return str(port.get("targetPort") or port.get("port") or "")
