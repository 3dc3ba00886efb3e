"""Declared checks in a verdict: those that the snapshot answers, and what was asked for the others. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from sanare.api.checks import Check, EndpointsCheck, RolloutCheck
from sanare.api.incident import Incident
from sanare.api.manifest import items
from sanare.api.policy import PolicySpec
from sanare.evaluator.declared.reply import check_name
from sanare.evaluator.health import is_healthy
from sanare.evaluator.kinds import Kind, blindness
from sanare.evaluator.look import Look
from sanare.evaluator.reach import is_ready_endpoint, slices_of
from sanare.evaluator.seen import Seen, failed, passed, unknown
from sanare.evaluator.snapshot import Snapshot


def with_policy_checks(incident: Incident, policy: PolicySpec) -> Incident:
    """The Incident with the policy's checks beside its own; theirs are called `policy/NAME`."""
    named = [check.model_copy(update={"name": f"policy/{check.name}"}) for check in policy.verify.checks]
    added = [check for check in named if check not in incident.spec.checks]
    if not added:
        return incident
    spec = incident.spec.model_copy(update={"checks": (*incident.spec.checks, *added)})
    return incident.model_copy(update={"spec": spec})


def check_declared(look: Look) -> Iterator[Seen]:
    """Every declared check of the Incident and its policy."""
    for check in look.incident.spec.checks:
        yield _judge(look, check)


def _judge(look: Look, check: Check) -> Seen:
    name = check_name(check)
    if check.rollout:
        return _rollout(look, name, check.rollout)
    if check.endpoints:
        return _endpoints(look, name, check.endpoints)
    asked = look.snapshot.declared.get(name)
    if asked is not None:
        return asked
    why = "it is asked when everything else is healthy" if check.is_costly else "it was not asked"
    return unknown(name, Kind.NOT_ASKED, name, f"{name}: {why}")


def _rollout(look: Look, name: str, check: RolloutCheck) -> Seen:
    object_ = f"{check.kind}/{check.name}"
    gap = _gap(look.snapshot, name, check.kind, check.name)
    if gap:
        return gap
    if not is_healthy(look, object_):
        return failed(name, Kind.DECLARED, object_, f"{object_}: its rollout is not complete, as {name} asks")
    return passed(name, object_, f"{object_}: the rollout is complete")


def _endpoints(look: Look, name: str, check: EndpointsCheck) -> Seen:
    object_ = f"Service/{check.service}"
    gap = _gap(look.snapshot, name, "Service", check.service)
    if gap:
        return gap
    if "EndpointSlice" in look.snapshot.unseen:
        return _unseen(look.snapshot, name, "EndpointSlice", object_)
    ready = sum(
        is_ready_endpoint(endpoint)
        for each in slices_of(look.snapshot, check.service)
        for endpoint in items(each, "endpoints")
    )
    if ready < check.min_ready:
        message = f"{object_}: {ready} ready endpoints, {name} asks for {check.min_ready}"
        return failed(name, Kind.DECLARED, object_, message)
    return passed(name, object_, f"{object_}: {ready} ready endpoints")


def _gap(snapshot: Snapshot, name: str, kind: str, bare: str) -> Seen | None:
    """Why the object cannot be looked at: its kind could not be listed, or it is not there."""
    object_ = f"{kind}/{bare}"
    if kind in snapshot.unseen:
        return _unseen(snapshot, name, kind, object_)
    if snapshot.find(kind, bare) is None:
        return unknown(name, Kind.NOT_FOUND, object_, f"{object_}, which {name} names, does not exist")
    return None


def _unseen(snapshot: Snapshot, name: str, kind: str, object_: str) -> Seen:
    why = snapshot.unseen[kind]
    return unknown(name, blindness(why), object_, f"{object_} could not be looked at: {why}")
