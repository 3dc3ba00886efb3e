"""Placement: on which node a pod fits, and in the scheduler's own words why on none. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sanare_lab.cluster.objects import Obj, dig, labels_of, name_of, namespace_of
from sanare_lab.cluster.quantity import quantity
from sanare_lab.cluster.selectors import has_all, holds, selects

NO_MATCH = "node(s) didn't match Pod's node affinity/selector"
_NOT_HELPFUL = "Preemption is not helpful for scheduling"
_NO_VICTIMS = "No preemption victims found for incoming pod"


@dataclass(frozen=True, slots=True)
class Requests:
    """What a pod asks of a node: cores, bytes, and itself."""

    cpu: float = 0.0
    memory: float = 0.0
    pods: int = 1

    def __add__(self, other: Requests) -> Requests:
        return Requests(self.cpu + other.cpu, self.memory + other.memory, self.pods + other.pods)


NOTHING = Requests(pods=0)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a node does not take a pod; `curable` where the end of another pod could change it."""

    text: str
    curable: bool = False


def requests_of(pod: Obj) -> Requests:
    """The sum over the containers, or the largest init container where that is more; sidecars add to the sum."""
    total = NOTHING
    for container in dig(pod, "spec", "containers") or []:
        total += _asked(container)
    largest = NOTHING
    for container in dig(pod, "spec", "initContainers") or []:
        asked = _asked(container)
        if container.get("restartPolicy") == "Always":
            total += asked
        else:
            largest = Requests(max(largest.cpu, asked.cpu), max(largest.memory, asked.memory), 0)
    return Requests(max(total.cpu, largest.cpu), max(total.memory, largest.memory), 1)


def _asked(container: Obj) -> Requests:
    resources = container.get("resources") or {}
    asked = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return Requests(quantity(asked.get("cpu", "0")), quantity(asked.get("memory", "0")), 0)


def reasons_against(pod: Obj, node: Obj, used: Requests, neighbours: Sequence[Obj]) -> list[Reason]:
    """Why this node does not take the pod; none where it does. Filters in the scheduler's order, first one wins."""
    if dig(node, "spec", "unschedulable") and not _tolerates(pod, _CORDON):
        return [Reason("node(s) were unschedulable")]
    taint = _untolerated(pod, node)
    if taint is not None:
        return [Reason(f"node(s) had untolerated taint(s): {{{taint['key']}: {taint.get('value', '')}}}")]
    if not _matches_node(pod, node):
        return [Reason(NO_MATCH)]
    if host_ports(pod) & {port for other in neighbours for port in host_ports(other)}:
        return [Reason("node(s) didn't have free ports for the requested pod ports", curable=True)]
    return _short_of(requests_of(pod), node, used) or _affinity(pod, neighbours)


def host_ports(pod: Obj) -> set[int]:
    """The ports of the node that a pod wants: with the host's network, every port that its containers declare."""
    if (dig(pod, "status", "phase")) in ("Succeeded", "Failed"):
        return set()
    field = "containerPort" if dig(pod, "spec", "hostNetwork") else "hostPort"
    containers = dig(pod, "spec", "containers") or []
    return {int(port[field]) for item in containers for port in item.get("ports") or [] if port.get(field)}


_CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def _untolerated(pod: Obj, node: Obj) -> Obj | None:
    for taint in dig(node, "spec", "taints") or []:
        if taint.get("effect") in ("NoSchedule", "NoExecute") and not _tolerates(pod, taint):
            found: Obj = taint
            return found
    return None


def _tolerates(pod: Obj, taint: Obj) -> bool:
    return any(_is_tolerated(item, taint) for item in dig(pod, "spec", "tolerations") or [])


def _is_tolerated(toleration: Obj, taint: Obj) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool(toleration.get("key")) and (toleration.get("value") or "") == (taint.get("value") or "")


def _matches_node(pod: Obj, node: Obj) -> bool:
    labels = labels_of(node)
    if not has_all(dig(pod, "spec", "nodeSelector") or {}, labels):
        return False
    required = dig(pod, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    terms = (required or {}).get("nodeSelectorTerms")
    return terms is None or any(_term_holds(term, node, labels) for term in terms)


def _term_holds(term: Obj, node: Obj, labels: Mapping[str, str]) -> bool:
    expressions, fields = term.get("matchExpressions") or [], term.get("matchFields") or []
    if not expressions and not fields:
        return False
    by_field = {"metadata.name": name_of(node)}
    return all(holds(item, labels) for item in expressions) and all(holds(item, by_field) for item in fields)


def _short_of(asked: Requests, node: Obj, used: Requests) -> list[Reason]:
    room = dig(node, "status", "allocatable") or {}
    found = []
    if used.pods + 1 > quantity(room.get("pods", "0")):
        found.append(Reason("Too many pods", curable=True))
    for name, want, taken in (("cpu", asked.cpu, used.cpu), ("memory", asked.memory, used.memory)):
        total = quantity(room.get(name, "0"))
        if want and taken + want > total:
            found.append(Reason(f"Insufficient {name}", curable=want <= total))
    return found


def _affinity(pod: Obj, neighbours: Sequence[Obj]) -> list[Reason]:
    affinity = dig(pod, "spec", "affinity") or {}
    key = "requiredDuringSchedulingIgnoredDuringExecution"
    for term in dig(affinity, "podAntiAffinity", key) or []:
        if _any_selected(term, pod, neighbours):
            return [Reason("node(s) didn't match pod anti-affinity rules", curable=True)]
    for term in dig(affinity, "podAffinity", key) or []:
        own = selects(term.get("labelSelector"), labels_of(pod))
        if not own and not _any_selected(term, pod, neighbours):
            return [Reason("node(s) didn't match pod affinity rules")]
    return []


def _any_selected(term: Obj, pod: Obj, neighbours: Sequence[Obj]) -> bool:
    spaces = term.get("namespaces") or [namespace_of(pod)]
    return any(
        namespace_of(other) in spaces and selects(term.get("labelSelector"), labels_of(other))
        for other in neighbours
    )


def explain(by_node: Iterable[Sequence[Reason]]) -> str:
    """The message of FailedScheduling: `0/1 nodes are available: 1 Insufficient cpu. preemption: ...`."""
    refused = list(by_node)
    total = len(refused)
    if not total:
        return "no nodes available to schedule pods"
    counts = Counter(reason.text for reasons in refused for reason in reasons)
    listed = ", ".join(sorted(f"{count} {text}" for text, count in counts.items()))
    hopeless = sum(1 for reasons in refused if not all(reason.curable for reason in reasons))
    preempted = [
        f"{count} {text}" for count, text in ((total - hopeless, _NO_VICTIMS), (hopeless, _NOT_HELPFUL)) if count
    ]
    return (
        f"0/{total} nodes are available: {listed}. preemption: 0/{total} nodes are available: "
        f"{', '.join(preempted)}."
    )
