"""Collateral damage: what was well beside the scope and is not any more, and who else may scale. Pure rules."""

from __future__ import annotations

from collections.abc import Iterator

from sanare.api.manifest import Manifest, items, number, owners, text
from sanare.evaluator.facts import Health, asked_for, workload_facts
from sanare.evaluator.health import is_available
from sanare.evaluator.kinds import Kind
from sanare.evaluator.look import condition
from sanare.evaluator.ownership import is_terminating, key, scale_target
from sanare.evaluator.rules.change import Change, bites
from sanare.evaluator.rules.needed import missing_keys, required_maps
from sanare.evaluator.scope import selected_workloads
from sanare.evaluator.seen import Seen
from sanare.evaluator.service_facts import client_port
from sanare.evaluator.traffic import serves
from sanare.text import one_line

# A neighbour may be in the middle of a restart of its own; longer than this many seconds is collateral damage.
_NEIGHBOUR_SECONDS = 20.0


def rule_neighbour_removed(change: Change) -> Iterator[Seen]:
    """Something outside the scope is gone or was made smaller, healthy or not: it was nobody's to take away."""
    for before in change.then.neighbours:
        what = _removal(change, before)
        if what:
            was = "it was healthy before the first attempt" if before.healthy else "it is none of the Incident's"
            yield bites(Kind.NEIGHBOUR_BROKEN, before.object, f"{before.object} {what}; {was}")
    known = {*(each.object for each in change.then.neighbours), *(each.object for each in change.then.workloads)}
    for name in () if change.is_unseen("CronJob") else change.then.names.get("CronJob", ()):
        object_ = f"CronJob/{name}"
        if object_ not in known and change.look.snapshot.find("CronJob", name) is None:
            yield bites(Kind.NEIGHBOUR_BROKEN, object_, f"{object_} was deleted; it is none of the Incident's")


def _removal(change: Change, before: Health) -> str:
    kind, _, name = before.object.partition("/")
    if change.is_unseen(kind) or before.object in change.look.scope.workloads:
        return ""
    found = change.look.snapshot.find("Service", name) if kind == "Service" else _workload(change, before)
    return _shrunk(change, before, found) if found is not None else "was deleted"


def _workload(change: Change, before: Health) -> Manifest | None:
    return change.look.owned.workloads.get(before.object)


def _shrunk(change: Change, before: Health, found: Manifest) -> str:
    if is_terminating(found):
        return "is being deleted"
    if text(found, "kind") == "Service":
        kept = {client_port(port) for port in items(found, "spec", "ports")}
        lost = [number for port in before.ports if (number := port.partition("->")[0]) not in kept]
        return f"lost its port {lost[0]}" if lost else ""
    asked = asked_for(found)
    if asked >= before.replicas or is_scaled(change, before.object, asked):
        return ""
    if text(found, "kind") == "DaemonSet":
        # Nodes come and go by themselves; fewer of them by another placement are somebody's doing.
        moved = before.nodes != workload_facts(found).nodes
        return f"is kept to {asked} of {before.replicas} nodes" if moved else ""
    return "was suspended" if not asked and text(found, "kind") == "CronJob" else _fewer(before.replicas, asked)


def _fewer(before: int, now: int) -> str:
    return f"was scaled down from {before} to {now} replicas"


def rule_neighbour_retargeted(change: Change) -> Iterator[Seen]:
    """A Service outside the scope takes pods of other workloads than before, by its selector or by their labels."""
    for before in change.then.neighbours:
        name = before.object.removeprefix("Service/")
        found = change.look.snapshot.find("Service", name) if name != before.object else None
        if found is None or name in change.look.scope.services:
            continue
        selected = [each for each in selected_workloads(found, change.look.owned) if not _is_part(change, each)]
        added = [each for each in selected if each not in before.selected and _was_there(change, each)]
        # What did not work may have got the pods that it was meant for; those of the scope are not.
        taken = added if before.healthy else [each for each in added if each in change.look.scope.workloads]
        if taken and before.selected:
            message = f"{before.object}, beside the scope, now takes pods of {' and '.join(taken)}"
            yield bites(Kind.NEIGHBOUR_BROKEN, before.object, message)


def _is_part(change: Change, workload: str) -> bool:
    """Whether what looks like a workload is what a deleted one left: it outlives its owner for a moment."""
    return next(owners(change.look.owned.workloads[workload]), None) is not None


def _was_there(change: Change, workload: str) -> bool:
    kind, _, name = workload.partition("/")
    return kind != "Pod" and not change.is_new(kind, name)


def rule_neighbour_broken(change: Change) -> Iterator[Seen]:
    """Something outside the scope was healthy before and is not now, or will not start again."""
    for before in change.then.neighbours:
        kind = before.object.partition("/")[0]
        if not before.healthy or change.is_unseen(kind) or before.object in change.look.scope.workloads:
            continue
        if _removal(change, before):
            continue
        what = _service_loss(change, before) if kind == "Service" else _workload_loss(change, before)
        if what:
            message = f"{before.object} {what}; it was healthy before the first attempt"
            settles = _NEIGHBOUR_SECONDS if what.startswith(_UNWELL) else 0.0
            yield bites(Kind.NEIGHBOUR_BROKEN, before.object, message, settles=settles)


_UNWELL = "is not healthy any more"


def _service_loss(change: Change, before: Health) -> str:
    name = before.object.removeprefix("Service/")
    there = change.look.snapshot.find("Service", name) is not None
    asleep = before.selected and all(_sleeps(change, each) for each in before.selected)
    return _UNWELL if there and not asleep and not serves(change.look, name) else ""


def _sleeps(change: Change, workload: str) -> bool:
    """Whether an autoscaler that wakes it again has put a workload to sleep."""
    found = change.look.owned.workloads.get(workload)
    return found is not None and not asked_for(found) and is_scaled(change, workload, 0)


def _workload_loss(change: Change, before: Health) -> str:
    found = _workload(change, before)
    if found is None:
        return ""
    if is_available(change.look, before.object) or _sleeps(change, before.object):
        return _next_start(change, found)
    pushed = next(filter(None, (_eviction(pod) for pod in change.look.owned.pods.get(before.object, ()))), "")
    return f"{_UNWELL}{pushed}"


def _next_start(change: Change, found: Manifest) -> str:
    """What it reads at its next start and will not find: a ConfigMap of before, or a key of a changed one."""
    for name in () if change.is_unseen("ConfigMap") else required_maps(found):
        if change.then.has("ConfigMap", name) and change.look.snapshot.find("ConfigMap", name) is None:
            return f"will not start again: ConfigMap/{name} is gone"
    for holder, name in missing_keys(found, change.look.snapshot):
        if change.is_written(holder):
            return f"will not start again: key {name} of {key(holder)} is gone"
    return ""


def _eviction(pod: Manifest) -> str:
    """Why a pod was pushed off its node, where it was: the node is short of something that others took."""
    if text(pod, "status", "reason") in ("Evicted", "Preempting", "NodeShutdown"):
        return f" (its pod was pushed off its node: {one_line(text(pod, 'status', 'message'), 120)})"
    disrupted = condition(pod, "DisruptionTarget")
    if text(disrupted, "reason") in ("PreemptionByScheduler", "TerminationByKubelet"):
        return f" (its pod was pushed off its node: {text(disrupted, 'reason')})"
    return ""


def is_scaled(change: Change, workload: str, replicas: int) -> bool:
    """Whether an autoscaler of before may have chosen the number of replicas by itself."""
    for item in change.look.snapshot.all("HorizontalPodAutoscaler"):
        known = not change.is_new("HorizontalPodAutoscaler", text(item, "metadata", "name"))
        least = 0 if _wakes(item) else number(item, "spec", "minReplicas", default=1)
        if scale_target(item) == workload and known and replicas >= least:
            return True
    return False


def _wakes(autoscaler: Manifest) -> bool:
    """Whether KEDA made the autoscaler: beside it, it scales to nothing and back as events come."""
    return any(owner.kind == "ScaledObject" for owner in owners(autoscaler))
