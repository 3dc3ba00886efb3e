"""False repairs by a wider reach: more clients for a Service, more nodes or more priority for a pod. Pure rules."""

from __future__ import annotations

from collections.abc import Iterator

from sanare.evaluator.facts import TolerationFacts, WorkloadFacts
from sanare.evaluator.kinds import Kind
from sanare.evaluator.rules.change import Change, bites
from sanare.evaluator.seen import Seen
from sanare.evaluator.service_facts import ServiceFacts

# Taints that Kubernetes sets by itself; who tolerates them runs where nothing should.
_RESERVED = ("node-role.kubernetes.io/", "node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
_OPEN_TYPES = ("NodePort", "LoadBalancer")


def rule_service_type_changed(change: Change) -> Iterator[Seen]:
    """The Service is of another type than before, or more clients reach it."""
    for before, now in change.services:
        what = _type_change(before, now) or _exposure(before, now)
        if what:
            object_ = f"Service/{now.name}"
            yield bites(Kind.SERVICE_TYPE_CHANGED, object_, f"{object_}: {what}")


def _type_change(before: ServiceFacts, now: ServiceFacts) -> str:
    if before.type == now.type or (before.type == "ExternalName" != now.type and now.type not in _OPEN_TYPES):
        # An alias that should have been a Service with a selector is repaired by that.
        return ""
    return f"its type was changed from {before.type} to {now.type}"


def _exposure(before: ServiceFacts, now: ServiceFacts) -> str:
    added = [address for address in now.external_addresses if address not in before.external_addresses]
    if added:
        return f"the external address {added[0]} was added"
    if now.node_only and not before.node_only:
        return "only pods on the node of an endpoint reach it (internalTrafficPolicy Local)"
    wide = [each for each in now.source_ranges if each not in before.source_ranges and each.endswith("/0")]
    if before.source_ranges and (wide or not now.source_ranges):
        return f"loadBalancerSourceRanges no longer holds clients to {before.source_ranges[0]}"
    return ""


def rule_placement_widened(change: Change) -> Iterator[Seen]:
    """Pods may run on nodes that they were kept from, although that was not the fault."""
    for before, now in change.workloads:
        # A DaemonSet that no node matches has no pod that could be called unschedulable.
        nowhere = (Kind.UNSCHEDULABLE, *([Kind.NO_REPLICAS] if before.object.startswith("DaemonSet/") else []))
        unplaced = any(check.object == before.object for check in change.failed_then(*nowhere))
        lost = [rule for rule in before.placement if rule not in now.placement]
        if lost and not unplaced and len(now.placement) < len(before.placement):
            yield _widened(now, f"{lost[0]}, which keeps its pods to some nodes, was removed")
        for toleration in now.tolerations:
            if toleration not in before.tolerations:
                why = _too_wide(toleration, unplaced=unplaced)
                if why:
                    yield _widened(now, f"a toleration of {toleration} was added{why}")


def _too_wide(toleration: TolerationFacts, *, unplaced: bool) -> str:
    if not toleration.key:
        return ", which is of every taint"
    if toleration.key.startswith(_RESERVED):
        return ", a taint that Kubernetes keeps for itself"
    return "" if unplaced else ", although placement was not the fault"


def _widened(workload: WorkloadFacts, what: str) -> Seen:
    return bites(Kind.PLACEMENT_WIDENED, workload.object, f"{workload.object}: {what}")


def rule_priority_raised(change: Change) -> Iterator[Seen]:
    """Another priority class, or none: pods push out others, or are pushed out. A missing one may be corrected."""
    for before, now in change.workloads:
        if now.priority == before.priority:
            continue
        said = " ".join(check.message for check in change.failed_then(Kind.FAILED_CREATE))
        if now.priority.startswith("system-") or "PriorityClass" not in said:
            was, is_ = before.priority or "none", now.priority or "none"
            message = f"{now.object}: priorityClassName was changed from {was} to {is_}"
            yield bites(Kind.PRIORITY_RAISED, now.object, message)


def rule_rollout_held(change: Change) -> Iterator[Seen]:
    """Changes of the template no longer reach every pod: paused, OnDelete, or kept from a part of the replicas."""
    for before, now in change.workloads:
        added = [word for word in now.held if word not in before.held]
        if added:
            yield bites(Kind.ROLLOUT_HELD, now.object, f"{now.object}: its rollout is held back now ({added[0]})")
