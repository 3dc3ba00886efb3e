"""Requests from outside the pod, through the API server's proxy: what to ask, and what an answer means. Pure.

Any answer of the backend means reached, whatever its status. What the API server itself answers is a Status object:
it tells a refused connection from a Service without endpoints, and both from not being allowed to look.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import parse_qs

from sanare.api.manifest import Manifest, items, mapping, text
from sanare.evaluator.look import is_ready
from sanare.evaluator.ownership import (
    Ownership,
    containers,
    is_terminating,
    pod_template,
    selects,
    service_selector,
)
from sanare.evaluator.scope import Scope
from sanare.evaluator.service_facts import target_port
from sanare.evaluator.snapshot import Answer, Probe, Snapshot
from sanare.kube.client import RawAnswer
from sanare.text import clean, one_line

MAX_PROBES = 24
_PODS_PER_PORT = 5
_BODY = 512

# Words of the API server's proxy, and what they mean for reachability. Order matters: first match wins.
_DOWN = (
    ("connection refused", "connection refused"),
    ("no endpoints available", "no endpoints"),
    ("no service port", "no such port"),
    ("no route to host", "no route to host"),
    ("i/o timeout", "timeout"),
    ("context deadline exceeded", "timeout"),
    ("Client.Timeout exceeded", "timeout"),
    ("network is unreachable", "network is unreachable"),
    ("pod not ready", "pod not ready"),
    ("address not allowed", "no pod address"),
)
_OPEN = (
    "malformed HTTP",
    "connection reset by peer",
    "EOF",
    "HTTP/1.x transport connection broken",
    "tls:",
    "gave HTTP",
)


def address(namespace: str, probe: Probe) -> tuple[str, dict[str, tuple[str, ...]]]:
    """The API path and the query of a probe, with every value of each parameter."""
    plural = {"Service": "services", "Pod": "pods"}[probe.kind]
    target = f"{probe.name}:{probe.port}" if probe.port else probe.name
    path, _, query = probe.path.partition("?")
    values = {name: tuple(found) for name, found in parse_qs(query, keep_blank_values=True).items()}
    return f"/api/v1/namespaces/{namespace}/{plural}/{target}/proxy{path}", values


def read_answer(raw: RawAnswer) -> Answer:
    """What a proxied request met, told from the API server's own words."""
    status = raw.manifest() if raw.status >= 400 else {}
    if text(status, "kind") != "Status" or text(status, "apiVersion") != "v1":
        return Answer(status=raw.status, body=clean(raw.body.decode("utf-8", "replace"), _BODY))
    message = text(status, "message")
    if raw.status in (401, 403, 429):
        return Answer(failure=one_line(message, 300), known=False)
    down = next((meaning for words, meaning in _DOWN if words in message), "")
    if down:
        return Answer(failure=down, body=one_line(message, 300))
    if any(words in message for words in _OPEN):
        return Answer(body=one_line(message, 300))
    if raw.status == 404 and text(status, "reason") == "NotFound":
        return Answer(failure="not found", body=one_line(message, 300))
    return Answer(failure=one_line(message, 300), known=False)


@dataclass(frozen=True, slots=True)
class Plan:
    """The requests from outside that a look may make.

    Attributes:
        services: one to every port of every Service of the scope.
        declared: every HTTP probe by which the kubelet kills, of one pod.
        singly: the pods behind a Service one by one, where there are several.
        ports: how many Service ports there are to ask.
    """

    services: tuple[Probe, ...]
    declared: tuple[Probe, ...]
    singly: tuple[Probe, ...]

    @property
    def ports(self) -> int:
        """How many Service ports there are to ask."""
        return len(self.services)

    def within(self, room: int, *, thrifty: bool) -> tuple[Probe, ...]:
        """What is asked: Services and declared probes in any case, single pods where there is room.

        `thrifty` keeps to the room altogether: something else has failed, so that no answer can change the result.
        """
        needed = tuple(dict.fromkeys((*self.services, *self.declared)))[:MAX_PROBES]
        if thrifty:
            return needed[: max(room, 0)]
        asked = {(probe.name, probe.port) for probe in needed if probe.kind == "Pod"}
        singly = [probe for probe in self.singly if (probe.name, probe.port) not in asked]
        return (*needed, *singly[: max(room - len(needed), 0)])


def plan(snapshot: Snapshot, scope: Scope, owned: Ownership) -> Plan:
    """The requests that the scope of a snapshot offers."""
    return Plan(
        services=tuple(dict.fromkeys(_service_probes(snapshot, scope, owned))),
        declared=tuple(dict.fromkeys(_declared(snapshot, scope, owned))),
        singly=tuple(dict.fromkeys(_pod_probes(snapshot, scope))),
    )


def service_probe(service: Manifest, port: Manifest, scope: Scope, owned: Ownership) -> Probe:
    """The request that shows whether a Service port leads anywhere."""
    name = text(service, "metadata", "name")
    workloads = [owned.workloads[key] for key in scope.intended.get(name, ()) if key in owned.workloads]
    path = next(filter(None, (http_path(workload, target_port(port)) for workload in workloads)), "/")
    return Probe("Service", name, text(port, "name") or str(port.get("port")), path)


def pods_behind(snapshot: Snapshot, service: str, port: Manifest) -> Iterator[tuple[str, str]]:
    """Every ready endpoint of a Service port as pod name and port number.

    A look that has not listed the endpoint slices goes by the pods that the selector takes.
    """
    if "EndpointSlice" not in snapshot.objects and "EndpointSlice" not in snapshot.unseen:
        yield from ready_pods(snapshot, snapshot.find("Service", service) or {}, port)
    for endpoint_slice in slices_of(snapshot, service):
        numbers = [
            str(found.get("port"))
            for found in items(endpoint_slice, "ports")
            if text(found, "name") == text(port, "name") and found.get("port")
        ]
        for endpoint in items(endpoint_slice, "endpoints"):
            if is_ready_endpoint(endpoint) and text(endpoint, "targetRef", "name"):
                yield from ((text(endpoint, "targetRef", "name"), at) for at in numbers)


def ready_pods(snapshot: Snapshot, service: Manifest, port: Manifest) -> Iterator[tuple[str, str]]:
    """The pods to which a Service port should lead, with the number that its target has in each."""
    unready = bool(mapping(service, "spec").get("publishNotReadyAddresses"))
    for pod in matching_pods(snapshot, service):
        if not is_terminating(pod) and (unready or is_ready(pod)):
            target = target_port(port)
            numbers = (port_number(container, target) for container in items(pod, "spec", "containers"))
            number = target if target.isdigit() else next((found for found in numbers if found.isdigit()), "")
            if number:
                yield text(pod, "metadata", "name"), number


def is_ready_endpoint(endpoint: Manifest) -> bool:
    """Whether requests are sent to it; an endpoint that does not say counts as ready, as for kube-proxy."""
    return mapping(endpoint, "conditions").get("ready") is not False


def slices_of(snapshot: Snapshot, service: str) -> tuple[Manifest, ...]:
    """The endpoint slices that name the Service."""
    return tuple(
        item
        for item in snapshot.all("EndpointSlice")
        if text(item, "metadata", "labels", "kubernetes.io/service-name") == service
    )


def probed_ports(service: Manifest) -> Iterator[Manifest]:
    """The ports that can be asked over HTTP: TCP ones of a Service that has endpoints at all."""
    if text(service, "spec", "type") == "ExternalName":
        return
    for port in items(service, "spec", "ports"):
        if text(port, "protocol") in ("", "TCP"):
            yield port


def http_path(workload: Manifest, port: str) -> str:
    """The path of an HTTP readiness or liveness probe on that container port, or an empty string."""
    for container, _ in containers(pod_template(workload)):
        for name in ("readinessProbe", "livenessProbe"):
            action = mapping(container, name, "httpGet")
            if action and port_number(container, str(action.get("port"))) == port_number(container, port):
                return text(action, "path") or "/"
    return ""


def port_number(container: Manifest, port: str) -> str:
    """The number of a container port given by number or name; the name itself where it is not declared."""
    named = {
        text(item, "name"): str(item.get("containerPort")) for item in items(container, "ports") if item.get("name")
    }
    return named.get(port, port)


def declared_probes(pod: Manifest) -> Iterator[tuple[str, str, Probe]]:
    """The HTTP liveness and startup probes of a pod: container, probe field, and the same request from outside."""
    for container in items(pod, "spec", "containers"):
        for field in ("livenessProbe", "startupProbe"):
            action = mapping(container, field, "httpGet")
            if is_asked_from_outside(mapping(container, field)):
                port = port_number(container, str(action.get("port")))
                name = text(pod, "metadata", "name")
                yield text(container, "name"), field, Probe("Pod", name, port, text(action, "path") or "/")


def is_asked_from_outside(probe: Manifest) -> bool:
    """Whether a probe is a plain HTTP request, which anyone can make as the kubelet does."""
    action = mapping(probe, "httpGet")
    plain = text(action, "scheme") in ("", "HTTP") and not text(action, "host") and not action.get("httpHeaders")
    return bool(action) and plain


def _service_probes(snapshot: Snapshot, scope: Scope, owned: Ownership) -> Iterator[Probe]:
    for name in scope.services:
        service = snapshot.find("Service", name)
        for port in probed_ports(service) if service else ():
            yield service_probe(service, port, scope, owned)  # type: ignore[arg-type]


def _pod_probes(snapshot: Snapshot, scope: Scope) -> Iterator[Probe]:
    for name in scope.services:
        service = snapshot.find("Service", name)
        for port in probed_ports(service) if service else ():
            behind = list(dict.fromkeys(pods_behind(snapshot, name, port)))
            if len(behind) > 1:
                # Each look of a verification starts at another pod, so that a hold sees several.
                start = int(snapshot.taken_at.timestamp()) % len(behind)
                turned = [*behind[start:], *behind[:start]]
                yield from (Probe("Pod", pod, number) for pod, number in turned[:_PODS_PER_PORT])


def _declared(snapshot: Snapshot, scope: Scope, owned: Ownership) -> Iterator[Probe]:
    for key in scope.workloads:
        running = [pod for pod in owned.current(key) if text(pod, "status", "podIP")]
        for pod in running[:1]:
            yield from (probe for _, _, probe in declared_probes(pod))


def matching_pods(snapshot: Snapshot, service: Manifest) -> tuple[Manifest, ...]:
    """The pods that a Service's selector takes, ready or not."""
    selector = service_selector(service)
    return tuple(pod for pod in snapshot.all("Pod") if selects(selector, mapping(pod, "metadata", "labels")))
