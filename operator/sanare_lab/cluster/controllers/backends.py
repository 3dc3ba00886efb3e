"""Backends: which pods a Service's traffic may reach, and on which ports. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from sanare_lab.cluster.controllers.podstate import is_finished, is_ready
from sanare_lab.cluster.objects import Obj, dig, name_of, namespace_of

_PER_SLICE = 100
Port: TypeAlias = tuple[str, int, str]  # name, number, protocol


@dataclass(frozen=True, slots=True)
class Backend:
    """One pod behind a Service.

    Attributes:
        ready: the pod's readiness, whatever the Service says of it.
        hostname: its name below the Service's own in DNS, where it names the Service as its subdomain.
        published: whether traffic may go there: ready and not ending, or the Service publishes all.
    """

    pod: Obj
    ports: tuple[Port, ...]
    ready: bool
    ending: bool
    published: bool
    portless: bool
    hostname: str = ""

    @property
    def target(self) -> Obj:
        """The targetRef."""
        metadata = self.pod["metadata"]
        return {
            "kind": "Pod",
            "namespace": namespace_of(self.pod),
            "name": name_of(self.pod),
            "uid": metadata["uid"],
        }


def backends_of(service: Obj, pods: Iterable[Obj]) -> list[Backend]:
    """The pods of a Service that have an address and have not finished, in the order of their names."""
    publishes_all = bool(dig(service, "spec", "publishNotReadyAddresses"))
    wanted = dig(service, "spec", "ports") or []
    found = []
    for pod in sorted(pods, key=name_of):
        if not dig(pod, "status", "podIP") or is_finished(pod):
            continue
        ready, ending = is_ready(pod), bool(pod["metadata"].get("deletionTimestamp"))
        published = publishes_all or (ready and not ending)
        ports, hostname = tuple(_ports(wanted, pod)), _hostname(service, pod)
        found.append(Backend(pod, ports, ready, ending, published, not wanted, hostname))
    return found


def _hostname(service: Obj, pod: Obj) -> str:
    below = dig(pod, "spec", "subdomain")
    return str(dig(pod, "spec", "hostname") or "") if below and below == dig(service, "metadata", "name") else ""


def _ports(wanted: list[Obj], pod: Obj) -> Iterator[Port]:
    for port in wanted:
        number = target_port(port, pod)
        if number is not None:
            yield port.get("name") or "", number, port.get("protocol") or "TCP"


def target_port(port: Obj, pod: Obj) -> int | None:
    """The number that a Service port leads to in a pod; None where the pod names no such port."""
    target = port.get("targetPort")
    if target in (None, 0, ""):
        return int(port["port"])
    if isinstance(target, int):
        return target
    protocol = port.get("protocol") or "TCP"
    sidecars = [item for item in dig(pod, "spec", "initContainers") or [] if item.get("restartPolicy") == "Always"]
    for container in [*(dig(pod, "spec", "containers") or []), *sidecars]:
        for declared in container.get("ports") or []:
            if declared.get("name") == target and (declared.get("protocol") or "TCP") == protocol:
                return int(declared["containerPort"])
    return None


def subsets_of(backends: Iterable[Backend]) -> list[Obj]:
    """The subsets of an Endpoints object: addresses that share their ports."""
    groups: dict[tuple[Port, ...], tuple[list[Obj], list[Obj]]] = {}
    for item in backends:
        if (not item.ports and not item.portless) or (item.ending and not item.published):
            continue
        address = {"ip": dig(item.pod, "status", "podIP"), "targetRef": item.target}
        if dig(item.pod, "spec", "nodeName"):
            address["nodeName"] = item.pod["spec"]["nodeName"]
        groups.setdefault(item.ports, ([], []))[0 if item.published else 1].append(address)
    return [_subset(ports, up, down) for ports, (up, down) in sorted(groups.items())]


def _subset(ports: tuple[Port, ...], up: list[Obj], down: list[Obj]) -> Obj:
    subset: Obj = {}
    if up:
        subset["addresses"] = up
    if down:
        subset["notReadyAddresses"] = down
    if ports:
        subset["ports"] = [
            {**({"name": name} if name else {}), "port": number, "protocol": protocol}
            for name, number, protocol in ports
        ]
    return subset


def slices_of(backends: Iterable[Backend]) -> list[Obj]:
    """The `endpoints` and `ports` of each EndpointSlice: at most 100 endpoints that share their ports."""
    groups: dict[tuple[Port, ...], list[Obj]] = {}
    for item in backends:
        groups.setdefault(item.ports, []).append(_endpoint(item))
    return [
        {"endpoints": entries[start : start + _PER_SLICE], "ports": _slice_ports(ports)}
        for ports, entries in sorted(groups.items())
        for start in range(0, len(entries), _PER_SLICE)
    ]


def _slice_ports(ports: tuple[Port, ...]) -> list[Obj]:
    return [{"name": name, "port": number, "protocol": protocol} for name, number, protocol in ports]


def _endpoint(item: Backend) -> Obj:
    entry: Obj = {
        "addresses": [dig(item.pod, "status", "podIP")],
        "conditions": {"ready": item.published, "serving": item.ready, "terminating": item.ending},
        "targetRef": item.target,
    }
    if dig(item.pod, "spec", "nodeName"):
        entry["nodeName"] = item.pod["spec"]["nodeName"]
    if item.hostname:
        entry["hostname"] = item.hostname
    return entry
