"""Whether traffic gets to the workloads of the scope: endpoints, whose they are, an answer from outside. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from sanare.api.manifest import Manifest, items, labels, number, text
from sanare.evaluator.kinds import Kind
from sanare.evaluator.look import Look, is_ready
from sanare.evaluator.ownership import containers, pod_template, selects, service_selector
from sanare.evaluator.reach import (
    http_path,
    is_ready_endpoint,
    matching_pods,
    pods_behind,
    probed_ports,
    ready_pods,
    service_probe,
    slices_of,
)
from sanare.evaluator.seen import Seen, failed, passed, unknown
from sanare.evaluator.service_facts import target_port
from sanare.evaluator.snapshot import Answer, Probe

Check = Callable[[Look], Iterator[Seen]]

_SERVER_ERROR = 500


def services(look: Look) -> Iterator[tuple[str, Manifest]]:
    """The Services of the scope that exist and choose pods."""
    for name in look.scope.services:
        service = look.snapshot.find("Service", name)
        if service is not None and not _is_external(service):
            yield name, service


def _is_external(service: Manifest) -> bool:
    return text(service, "spec", "type") == "ExternalName"


def check_endpoints(look: Look) -> Iterator[Seen]:
    """Every Service of the scope has ready endpoints, and they are the intended workload's pods."""
    if "EndpointSlice" in look.snapshot.unseen:
        return
    yield from _sent_away(look)
    for name, service in services(look):
        found = list(_selection(look, name, service)) or list(_endpoints(look, name, service))
        yield from found
        if not found:
            yield passed("endpoints", f"Service/{name}", f"Service/{name}: every port has a ready endpoint")


def _sent_away(look: Look) -> Iterator[Seen]:
    """Services that select pods of the scope and, being of type ExternalName, send nobody to them."""
    for name in look.scope.services:
        service = look.snapshot.find("Service", name)
        if service is not None and _is_external(service) and look.scope.intended.get(name):
            where = text(service, "spec", "externalName")
            message = (
                f"Service/{name} is of type ExternalName: its clients are sent to {where} and none to the pods of "
                f"{' and '.join(look.scope.intended[name])}, which it selects"
            )
            yield failed("endpoints", Kind.NO_ENDPOINTS, f"Service/{name}", message, settles=3.0)


def _selection(look: Look, name: str, service: Manifest) -> Iterator[Seen]:
    """Whether the selector takes pods at all, and whose."""
    selector, object_ = service_selector(service), f"Service/{name}"
    intended = look.scope.intended.get(name, ())
    if not selector or "Pod" in look.snapshot.unseen:
        return
    pods = matching_pods(look.snapshot, service)
    takers = {look.owned.owner.get(text(pod, "metadata", "name"), "") for pod in pods}
    templates = [key for key in intended if key in look.owned.workloads and _carries(look, key, selector)]
    if not pods and not templates:
        message = f"{object_} selector {_pairs(selector)} matches no pod{_carried(look, intended)}"
        yield failed("endpoints", Kind.SELECTOR_MATCHES_NOTHING, object_, message, settles=3.0)
        return
    foreign = sorted(taker for taker in takers if taker and intended and taker not in intended)
    if foreign and intended:
        what = " and ".join(foreign)
        message = (
            f"{object_} selector {_pairs(selector)} takes pods of {what}, it is meant for {' and '.join(intended)}"
        )
        yield failed("endpoints", Kind.FOREIGN_ENDPOINTS, object_, message, settles=5.0)
    elif intended and not templates:
        message = f"{object_} selector {_pairs(selector)} does not match {' and '.join(intended)}"
        yield failed("endpoints", Kind.SELECTOR_MATCHES_NOTHING, object_, message, settles=3.0)


def _endpoints(look: Look, name: str, service: Manifest) -> Iterator[Seen]:
    """Whether each port has a ready endpoint behind it."""
    object_ = f"Service/{name}"
    for port in items(service, "spec", "ports"):
        if any(pods_behind(look.snapshot, name, port)) or _addresses(look, name, port):
            continue
        target = target_port(port)
        unknown_name = not target.isdigit() and not _declares(look, name, target)
        if unknown_name and look.scope.intended.get(name):
            message = (
                f'{object_} port {port.get("port")} targetPort "{target}" is declared by no container of '
                f"{' and '.join(look.scope.intended[name])}{_declared_ports(look, name)}"
            )
            yield failed("endpoints", Kind.PORT_NAME_UNKNOWN, object_, message, settles=3.0)
        else:
            message = f"{object_} port {port.get('port')} has no ready endpoint"
            yield failed("endpoints", Kind.NO_ENDPOINTS, object_, message)


def _addresses(look: Look, name: str, port: Manifest) -> bool:
    """Ready endpoints without a pod behind them: hand-written ones."""
    return any(
        any(is_ready_endpoint(endpoint) for endpoint in items(each, "endpoints"))
        and any(text(found, "name") == text(port, "name") for found in items(each, "ports"))
        for each in slices_of(look.snapshot, name)
        if not any(text(endpoint, "targetRef", "name") for endpoint in items(each, "endpoints"))
    )


def check_reachability(look: Look) -> Iterator[Seen]:
    """A request from outside the pod, through the Service, is answered, and so is one to each pod behind it."""
    for name, service in services(look):
        for port in probed_ports(service):
            probe = service_probe(service, port, look.scope, look.owned)
            answer = look.snapshot.answers.get(probe)
            yield _reached(look, name, port, probe, answer) if answer else _unasked(name, port)


def _unasked(name: str, port: Manifest) -> Seen:
    object_ = f"Service/{name}"
    message = f"{object_} port {port.get('port')} was not asked: one look makes a limited number of requests"
    return unknown("reachability", Kind.NOT_ASKED, object_, message)


def _reached(look: Look, name: str, port: Manifest, probe: Probe, answer: Answer) -> Seen:
    object_, where = f"Service/{name}", f"Service/{name} port {port.get('port')} -> {target_port(port)}"
    behind = list(dict.fromkeys(pods_behind(look.snapshot, name, port)))
    singly = _from_pods(look, set(behind))
    silent = [each for each in singly if each.known and each.failure]
    if not answer.known:
        kind = Kind.FORBIDDEN if "forbidden" in answer.failure else Kind.UNKNOWN
        return unknown("reachability", kind, object_, f"{where} could not be asked: {answer.failure}")
    if silent and answer.reached:
        message = f"{where}: {len(silent)} of {len(behind)} endpoints do not answer ({silent[0].failure})"
        return failed("reachability", Kind.UNREACHABLE, object_, message, settles=_patience(look, name))
    if answer.status >= _SERVER_ERROR and _is_declared(look, name, port):
        message = (
            f"{where}: GET {probe.path}, which a probe of the container asks, is answered with {answer.status}"
        )
        return failed("reachability", Kind.UNREACHABLE, object_, message, settles=_patience(look, name))
    if answer.status >= _SERVER_ERROR:
        message = (
            f"{where}: answered with the server error {answer.status} on {probe.path}, which no probe declares"
        )
        return passed("reachability", object_, message)
    if answer.reached:
        said = f"answered with {answer.status}" if answer.status else "open, without an HTTP answer"
        return passed("reachability", object_, f"{where}: {said}")
    if answer.failure == "no endpoints" and _is_out_of_reach(look, name, port):
        message = (
            f"{where} could not be asked: the API server's proxy asks pods, and no pod is behind its endpoints"
        )
        return unknown("reachability", Kind.UNKNOWN, object_, message)
    if answer.failure == "no endpoints":
        return failed("reachability", Kind.NO_ENDPOINTS, object_, f"{where}: no endpoint to send a request to")
    ready = f" although {len(behind)} endpoint{'s are' if len(behind) > 1 else ' is'} ready" if behind else ""
    message = f"{where}: {answer.failure} from outside the pod{ready}"
    return failed("reachability", Kind.UNREACHABLE, object_, message, settles=_patience(look, name))


def _is_out_of_reach(look: Look, name: str, port: Manifest) -> bool:
    """Whether a Service without a selector may lead to addresses, which the proxy counts as no endpoints at all.

    One with a selector is meant for pods: what else is written behind it does not make it work.
    """
    service = look.snapshot.find("Service", name) or {}
    is_listed = "EndpointSlice" in look.snapshot.objects
    return not service_selector(service) and (not is_listed or _addresses(look, name, port))


def _from_pods(look: Look, behind: set[tuple[str, str]]) -> list[Answer]:
    """What single pods answered on their ports, whatever the path."""
    asked = look.snapshot.answers.items()
    return [answer for probe, answer in asked if probe.kind == "Pod" and (probe.name, probe.port) in behind]


def _is_declared(look: Look, name: str, port: Manifest) -> bool:
    """Whether an HTTP probe of an intended workload asks on the port, so that its path has to answer well."""
    workloads = (look.owned.workloads.get(key, {}) for key in look.scope.intended.get(name, ()))
    return any(http_path(workload, target_port(port)) for workload in workloads)


def _patience(look: Look, name: str) -> float | None:
    """How long a refused connection may last before it is final: never during a rollout, longer where no readiness
    probe says that the container has started."""
    workloads = [
        look.owned.workloads[key] for key in look.scope.intended.get(name, ()) if key in look.owned.workloads
    ]
    pods = [pod for key in look.scope.intended.get(name, ()) for pod in look.owned.current(key)]
    if not pods or not all(is_ready(pod) for pod in pods):
        return None
    if any(_is_rolling(look, key) for key in look.scope.intended.get(name, ())):
        return None
    probed = all(
        any("readinessProbe" in container for container, _ in containers(pod_template(workload)))
        for workload in workloads
    )
    return 5.0 if probed else 12.0


def _is_rolling(look: Look, key: str) -> bool:
    """Whether pods of an earlier revision still exist, or the controller has not counted the present ones yet."""
    workload = look.owned.workloads.get(key, {})
    wanted = number(workload, "spec", "replicas")
    counted = number(workload, "status", "availableReplicas") if text(workload, "kind") == "Deployment" else wanted
    return bool(look.owned.old(key)) or len(look.owned.current(key)) < wanted or counted != wanted


def _carries(look: Look, key: str, selector: Mapping[str, str]) -> bool:
    return selects(selector, labels(pod_template(look.owned.workloads[key])))


def _carried(look: Look, intended: tuple[str, ...]) -> str:
    """What the intended pods carry instead, for the message."""
    for key in intended:
        workload = look.owned.workloads.get(key)
        if workload:
            return f"; the pods of {key} carry {_pairs(labels(pod_template(workload)))}"
    return ""


def _pairs(values: Mapping[str, str]) -> str:
    pairs = sorted(f"{name}={value}" for name, value in values.items() if name != "pod-template-hash")
    return ",".join(pairs[:6])


def _declares(look: Look, name: str, port_name: str) -> bool:
    return port_name in dict(_container_ports(look, name))


def _declared_ports(look: Look, name: str) -> str:
    found = sorted(f'"{port}" ({number})' for port, number in _container_ports(look, name) if port)
    return f", which declares {', '.join(found)}" if found else ""


def _container_ports(look: Look, name: str) -> Iterator[tuple[str, str]]:
    for key in look.scope.intended.get(name, ()):
        for container, _ in containers(pod_template(look.owned.workloads.get(key, {}))):
            for port in items(container, "ports"):
                yield text(port, "name"), str(port.get("containerPort"))


CHECKS: tuple[Check, ...] = (check_endpoints, check_reachability)


def serves(look: Look, name: str) -> bool:
    """Whether a Service outside the scope has at least one ready pod to send its requests to."""
    service = look.snapshot.find("Service", name) or {}
    return any(any(ready_pods(look.snapshot, service, port)) for port in items(service, "spec", "ports"))
