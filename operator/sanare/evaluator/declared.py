"""The checks that people declare in `spec.checks`: what healthy means to them. Pure.

What they ask of the API server is planned here too, so that the snapshot holds the answers.
"""

from __future__ import annotations

from collections.abc import Iterator

from sanare.api.checks import Check, EndpointsCheck, HttpCheck, RolloutCheck
from sanare.api.incident import Incident
from sanare.api.manifest import items, text
from sanare.evaluator.health import is_healthy
from sanare.evaluator.kinds import Kind
from sanare.evaluator.look import Look
from sanare.evaluator.reach import slices_of
from sanare.evaluator.seen import Seen, failed, passed, unknown
from sanare.evaluator.snapshot import Probe, Snapshot


def declared_requests(incident: Incident, snapshot: Snapshot) -> Iterator[Probe]:
    """The requests that the declared HTTP checks need."""
    for check in incident.spec.checks:
        if check.http:
            yield _probe(check.http, snapshot)


def check_declared(look: Look) -> Iterator[Seen]:
    """Every check that the Incident declares."""
    for check in look.incident.spec.checks:
        yield _judge(look, check)


def _judge(look: Look, check: Check) -> Seen:
    name = f"declared/{check.name}"
    if check.rollout:
        return _rollout(look, name, check.rollout)
    if check.endpoints:
        return _endpoints(look, name, check.endpoints)
    if check.http:
        return _http(look, name, check.http)
    return unknown(name, Kind.UNKNOWN, name, f'check "{check.name}" says nothing that could be checked')


def _rollout(look: Look, name: str, check: RolloutCheck) -> Seen:
    object_ = f"{check.kind}/{check.name}"
    if check.kind in look.snapshot.unseen:
        return unknown(
            name, Kind.UNKNOWN, object_, f"{object_} could not be looked at: {look.snapshot.unseen[check.kind]}"
        )
    if not is_healthy(look, object_):
        return failed(name, Kind.DECLARED, object_, f"{object_}: its rollout is not complete, as {name} asks")
    return passed(name, object_, f"{object_}: the rollout is complete")


def _endpoints(look: Look, name: str, check: EndpointsCheck) -> Seen:
    object_ = f"Service/{check.service}"
    if "EndpointSlice" in look.snapshot.unseen:
        return unknown(name, Kind.UNKNOWN, object_, look.snapshot.unseen["EndpointSlice"])
    ready = sum(
        endpoint.get("conditions", {}).get("ready") is not False
        for each in slices_of(look.snapshot, check.service)
        for endpoint in items(each, "endpoints")
    )
    if ready < check.min_ready:
        message = f"{object_}: {ready} ready endpoints, {name} asks for {check.min_ready}"
        return failed(name, Kind.DECLARED, object_, message)
    return passed(name, object_, f"{object_}: {ready} ready endpoints")


def _http(look: Look, name: str, check: HttpCheck) -> Seen:
    object_ = f"Service/{check.service}"
    answer = look.snapshot.answers.get(_probe(check, look.snapshot))
    asked = f"{object_} GET {check.path}"
    if answer is None or not answer.known:
        why = answer.failure if answer else "it was not asked"
        return unknown(name, Kind.UNKNOWN, object_, f"{asked} could not be asked: {why}")
    if answer.failure or not answer.status:
        why = answer.failure or "the answer is not HTTP"
        return failed(name, Kind.DECLARED, object_, f"{asked}: {why}")
    if answer.status != check.status:
        return failed(name, Kind.DECLARED, object_, f"{asked} is answered with {answer.status}, not {check.status}")
    if check.contains and check.contains not in answer.body:
        return failed(name, Kind.DECLARED, object_, f'{asked}: the answer does not contain "{check.contains}"')
    return passed(name, object_, f"{asked} is answered with {answer.status}")


def _probe(check: HttpCheck, snapshot: Snapshot) -> Probe:
    """The request of an HTTP check; without a port, the Service's first one."""
    service = snapshot.find("Service", check.service)
    ports = items(service, "spec", "ports")
    first = (text(ports[0], "name") or str(ports[0].get("port"))) if ports else ""
    return Probe("Service", check.service, check.port or first, check.path)
