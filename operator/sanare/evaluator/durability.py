"""Durability: whether a repair survives that a pod is deleted and made anew. Pure; `reconcile` deletes the pod."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sanare.api.manifest import Manifest, text
from sanare.api.verdict import MAX_CHECKS, CheckOutcome, CheckResult, Result, Verdict
from sanare.evaluator.health import desired_pods
from sanare.evaluator.kinds import Kind
from sanare.evaluator.look import Look, is_ready
from sanare.evaluator.seen import Seen, failed, passed, unknown
from sanare.text import one_line

# Workloads that make a pod anew as it was. A Job counts a deleted pod as a failure, a bare pod is simply gone.
_RECREATING = ("Deployment/", "StatefulSet/", "DaemonSet/", "ReplicaSet/", "ReplicationController/")


@dataclass(frozen=True, slots=True)
class Disruption:
    """One pod that was deleted so that its successor is judged."""

    workload: str
    pod: str
    uid: str


def choose_pod(look: Look) -> Manifest | str:
    """The pod to delete, of the first workload that makes it anew; in words, why there is none."""
    named = [name for name in look.scope.workloads if name.startswith(_RECREATING)]
    if not named:
        return "no workload of this Incident makes a deleted pod anew"
    pods = look.owned.current(named[0])
    unready = [text(pod, "metadata", "name") for pod in pods if not is_ready(pod)]
    if not pods or unready:
        return f"{named[0]} has {f'a pod that is not ready ({unready[0]})' if unready else 'no pod'}"
    return min(pods, key=lambda pod: text(pod, "metadata", "name"))


def with_durability(look: Look, disruption: Disruption, seen: Sequence[Seen]) -> list[Seen]:
    """The outcomes of a look after the deletion, with its own among them, sorted."""
    return sorted([_outcome(look, disruption, seen), *seen], key=lambda each: each.rank)


def _outcome(look: Look, disruption: Disruption, seen: Sequence[Seen]) -> Seen:
    workload, pod = disruption.workload, disruption.pod
    if "Pod" in look.snapshot.unseen:
        return unknown("durability", Kind.UNKNOWN, workload, f"what follows pod {pod} cannot be seen")
    if not _is_replaced(look, disruption):
        return failed(
            "durability", Kind.NOT_DURABLE, workload, f"{workload}: nothing has replaced deleted pod {pod}"
        )
    if any(each.result is CheckResult.FAILED for each in seen):
        told = f"{workload}: the repair does not outlast pod {pod}, which was deleted to prove it"
        return failed("durability", Kind.NOT_DURABLE, workload, told)
    return passed("durability", workload, f"pod {pod} was deleted, and what replaced it is healthy")


def _is_replaced(look: Look, disruption: Disruption) -> bool:
    """Whether the pod is gone or going and there are as many as should be without it.

    There were as many when it was deleted, so that one of them is its successor. Times of creation would not tell:
    they are of the API server's clock.
    """
    current = look.owned.current(disruption.workload)
    remains = any(text(pod, "metadata", "uid") == disruption.uid for pod in current)
    wanted = desired_pods(look.owned.workloads.get(disruption.workload, {}))
    return not remains and len(current) >= max(wanted, 1)


def withheld(verdict: Verdict, workload: str, why: str) -> Verdict:
    """A healthy verdict whose durability could not be tried: Unverified, in words."""
    seen = CheckOutcome(
        name="durability",
        result=CheckResult.UNKNOWN,
        kind=Kind.NOT_ASKED,
        object=one_line(workload, 320),
        message=one_line(why, 300),
    )
    return verdict.model_copy(
        update={
            "result": Result.UNVERIFIED,
            "kind": str(Kind.NOT_ASKED),
            "reason": one_line(f"healthy, but the policy's verify.durability could not be tried: {why}", 1024),
            "checks": (seen, *verdict.checks)[:MAX_CHECKS],
            "counts": verdict.counts.model_copy(update={"unknown": verdict.counts.unknown + 1}),
        }
    )
