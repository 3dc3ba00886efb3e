"""Collateral damage: what was well beside the scope and is not any more, and who else may scale. Pure rules."""

from __future__ import annotations

from collections.abc import Iterator

from sanare.api.manifest import Manifest, number, text
from sanare.evaluator.facts import Health
from sanare.evaluator.health import is_available
from sanare.evaluator.kinds import Kind
from sanare.evaluator.look import condition
from sanare.evaluator.ownership import key, scale_target
from sanare.evaluator.rules.change import Change, bites
from sanare.evaluator.rules.needed import missing_keys
from sanare.evaluator.seen import Seen
from sanare.evaluator.traffic import serves
from sanare.text import one_line

# A neighbour may be in the middle of a restart of its own; longer than this many seconds is collateral damage.
_NEIGHBOUR_SECONDS = 20.0


def rule_neighbour_broken(change: Change) -> Iterator[Seen]:
    """Something outside the scope was healthy before and is not now, or was made smaller."""
    for before in change.then.neighbours:
        kind, _, name = before.object.partition("/")
        if not before.healthy or change.is_unseen(kind) or before.object in change.look.scope.workloads:
            continue
        what = _service_loss(change, name) if kind == "Service" else _workload_loss(change, before)
        if what:
            message = f"{before.object} {what}; it was healthy before the first attempt"
            settles = _NEIGHBOUR_SECONDS if what.startswith(_UNWELL) else 0.0
            yield bites(Kind.NEIGHBOUR_BROKEN, before.object, message, settles=settles)


_UNWELL = "is not healthy any more"


def _service_loss(change: Change, name: str) -> str:
    if change.look.snapshot.find("Service", name) is None:
        return "was deleted"
    return "" if serves(change.look, name) else _UNWELL


def _workload_loss(change: Change, before: Health) -> str:
    found = change.look.owned.workloads.get(before.object)
    if found is None:
        return "was deleted"
    asked = number(found, "spec", "replicas", default=1)
    if before.replicas and asked < before.replicas and not is_scaled(change, before.object, asked):
        return f"was scaled down from {before.replicas} to {asked} replicas"
    if is_available(change.look, before.object):
        return _next_start(change, found)
    pushed = next(filter(None, (_eviction(pod) for pod in change.look.owned.pods.get(before.object, ()))), "")
    return f"{_UNWELL}{pushed}"


def _next_start(change: Change, found: Manifest) -> str:
    """What it reads at its next start and will not find, in a ConfigMap that was changed after the baseline."""
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
        if scale_target(item) == workload and known and replicas >= number(item, "spec", "minReplicas", default=1):
            return True
    return False
