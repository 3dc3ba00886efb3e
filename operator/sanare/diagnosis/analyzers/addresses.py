"""Addresses of other apps that a container gets as URLs, and that lead nowhere: host, port, order, resolver."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from sanare.api.manifest import Manifest, items, mapping, number, text
from sanare.diagnosis.finding import Candidate, Confidence, Finding
from sanare.diagnosis.likeness import nearest
from sanare.diagnosis.patch import Change, patch
from sanare.diagnosis.view import View
from sanare.diagnosis.workload import Container, Workload

_USED = re.compile(r"\$\(([A-Za-z_][A-Za-z0-9_]*)\)")
_SCHEME_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class _Address:
    """A URL in a variable of a container: the name of a Service of the namespace, and a port of it."""

    workload: Workload
    container: Container
    variable: str
    url: str
    host: str
    port: int

    @property
    def field(self) -> str:
        return self.workload.field(self.container, f"env[{self.variable}]")

    def becomes(self, url: str, evidence: str) -> Candidate:
        """The candidate that another URL is right."""
        entry = {"name": self.variable, "value": url}
        return Candidate(url, evidence, (self.workload.set_variable(self.container, entry),))


def backend_addresses(view: View) -> Iterator[Finding]:
    """URLs whose host no Service of the namespace has, or whose port that Service has not."""
    if not view.is_listed("Service"):
        return
    services = {text(service, "metadata", "name"): service for service in view.snapshot.all("Service")}
    for workload in view.targets:
        for address in _addresses(workload, view.snapshot.namespace):
            service = services.get(address.host)
            if service is None:
                yield from _unknown_host(view, address, services)
            elif _ports(service) and address.port not in _ports(service):
                yield _unknown_port(address, _ports(service))


def _addresses(workload: Workload, namespace: str) -> Iterator[_Address]:
    for container in workload.containers:
        for entry in items(container.spec, "env"):
            url = text(entry, "value")
            host, port = _host_and_port(url)
            name, _, rest = host.partition(".")
            own = rest in ("", namespace) or rest.startswith(f"{namespace}.svc")
            if name and port and own and name != "localhost":
                yield _Address(workload, container, text(entry, "name"), url, name, port)


def _host_and_port(url: str) -> tuple[str, int]:
    """Host and port of a URL that is written out; empty and 0 for anything else, an IP address included."""
    if "://" not in url or "$(" in url:
        return "", 0
    try:
        parts = urlsplit(url)
        port = parts.port or _SCHEME_PORTS.get(parts.scheme, 0)
    except ValueError:
        return "", 0
    host = parts.hostname or ""
    return ("", 0) if ":" in host or host[:1].isdigit() else (host, port)


def _ports(service: Manifest) -> tuple[int, ...]:
    return tuple(number(port, "port") for port in items(service, "spec", "ports"))


def _unknown_host(view: View, address: _Address, services: Mapping[str, Manifest]) -> Iterator[Finding]:
    near = [name for name in nearest(address.host, services) if address.port in _ports(services[name])]
    if not near:
        return
    asked = dict(_asked_by_others(view, address))
    candidates = []
    for name in near:
        url = address.url.replace(f"//{address.host}", f"//{name}", 1)
        evidence = f"Service/{name} is there and has the port {address.port}"
        evidence += f"; {asked[url]} asks it so" if url in asked else ""
        candidates.append(address.becomes(url, evidence))
    yield Finding(
        kind="BackendHostUnknown",
        ref=address.workload.ref,
        field=address.field,
        observed=address.url,
        expected="the name of a Service of the namespace",
        confidence=Confidence.HIGH,
        candidates=tuple(candidates),
        missing="" if len(near) == 1 else f"Services {', '.join(near)} are all like {address.host}",
    )


def _asked_by_others(view: View, address: _Address) -> Iterator[tuple[str, str]]:
    for other in view.workloads:
        if other.ref != address.workload.ref and other.is_proven:
            yield from ((each.url, str(other.ref)) for each in _addresses(other, view.snapshot.namespace))


def _unknown_port(address: _Address, ports: tuple[int, ...]) -> Finding:
    written = re.compile(rf"(//[^/:]+)(?::{address.port})?(?=[/?#]|$)")
    candidates = [
        address.becomes(written.sub(rf"\g<1>:{port}", address.url, count=1), f"Service/{address.host} has the port")
        for port in ports
    ]
    return Finding(
        kind="BackendPortUnknown",
        ref=address.workload.ref,
        field=address.field,
        observed=address.url,
        expected=f"a port of Service/{address.host}",
        confidence=Confidence.HIGH,
        candidates=tuple(candidates),
        missing="" if len(ports) == 1 else f"Service/{address.host} has the ports {', '.join(map(str, ports))}",
    )


def unexpanded_variables(view: View) -> Iterator[Finding]:
    """Values that use a variable which is defined only further down: Kubernetes leaves such a use as it stands."""
    for workload in view.targets:
        for container in workload.containers:
            entries = items(container.spec, "env")
            names = [text(entry, "name") for entry in entries]
            for index, entry in enumerate(entries):
                late = [name for name in _USED.findall(text(entry, "value")) if name in names[index + 1 :]]
                if late and not set(late) & set(names[:index]) and not items(container.spec, "envFrom"):
                    yield _out_of_order(workload, container, entries, index, names.index(late[0]))


def _out_of_order(
    workload: Workload, container: Container, entries: list[Manifest], use: int, definition: int
) -> Finding:
    used, defined = text(entries[use], "name"), text(entries[definition], "name")
    ordered = [entry for at, entry in enumerate(entries) if at != definition]
    ordered.insert(use, entries[definition])
    change = Change(workload.pointer(container, "env"), entries, ordered)
    evidence = f"the value of {used} uses $({defined}), which is defined further down and therefore not expanded"
    return Finding(
        kind="VariableUsedBeforeDefined",
        ref=workload.ref,
        field=workload.field(container, f"env[{used}]"),
        observed=text(entries[use], "value"),
        expected=f"{defined} defined above it",
        confidence=Confidence.HIGH,
        candidates=(Candidate(f"{defined} before {used}", evidence, (patch(workload.ref, change),)),),
    )


def resolvers(view: View) -> Iterator[Finding]:
    """Pods that ask another DNS than the cluster's for the name of a Service of their namespace."""
    services = {text(service, "metadata", "name") for service in view.snapshot.all("Service")}
    for workload in view.targets:
        policy, on_host = text(workload.pod_spec, "dnsPolicy"), workload.pod_spec.get("hostNetwork") is True
        foreign = policy == "Default" or (on_host and policy == "ClusterFirst")
        asked = [a for a in _addresses(workload, view.snapshot.namespace) if a.host in services]
        if foreign and asked and not mapping(workload.pod_spec, "dnsConfig"):
            yield _of_resolver(workload, policy, asked[0], on_host=on_host)


def _of_resolver(workload: Workload, policy: str, asked: _Address, *, on_host: bool) -> Finding:
    right = "ClusterFirstWithHostNet" if on_host else "ClusterFirst"
    pointer = (*workload.path, "dnsPolicy")
    evidence = f"{asked.variable} asks Service/{asked.host}, a name that only the DNS of the cluster knows"
    return Finding(
        kind="ResolverForeign",
        ref=workload.ref,
        field=".".join(pointer),
        observed=policy,
        expected="a policy that asks the DNS of the cluster",
        confidence=Confidence.HIGH,
        candidates=(Candidate(right, evidence, (patch(workload.ref, Change(pointer, policy, right)),)),),
    )
