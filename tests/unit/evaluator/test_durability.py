"""A repair on trial: which pod is deleted, what must follow it, and what is said where it cannot be tried."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from sanare.api.manifest import text
from sanare.api.policy import PolicySpec
from sanare.api.verdict import CheckResult, Result
from sanare.evaluator.durability import Disruption, choose_pod, with_durability, withheld
from sanare.evaluator.judge import assess, look_at, verdict_of
from sanare.evaluator.kinds import Kind
from sanare.evaluator.look import Look
from sanare.evaluator.snapshot import Answer
from tests.unit.evaluator.namespace import (
    NOW,
    Namespace,
    baseline_of,
    endpoints,
    incident,
    pod,
    service,
    shop,
    workload,
)

POLICY = PolicySpec()
AFTER = NOW + timedelta(seconds=10)


def look(namespace: Namespace, target: str = "Deployment/web") -> Look:
    return look_at(namespace.snapshot(), incident(target), POLICY, now=NOW)


def deleted(namespace: Namespace) -> Disruption:
    """The trial of the first pod, whose place the others may take."""
    chosen = choose_pod(look(namespace))
    assert not isinstance(chosen, str)
    name, uid = text(chosen, "metadata", "name"), text(chosen, "metadata", "uid")
    return Disruption("Deployment/web", name, uid)


def replaced(namespace: Namespace) -> None:
    gone = namespace.objects["Pod"].pop(0)
    fresh = pod("web", 9, gone["spec"])
    fresh["metadata"]["creationTimestamp"] = AFTER.isoformat()
    namespace.objects["Pod"].insert(0, fresh)


def test_the_first_ready_pod_of_a_workload_that_makes_it_anew_is_chosen() -> None:
    chosen = choose_pod(look(shop()))
    assert not isinstance(chosen, str)
    assert text(chosen, "metadata", "name") == "web-1-0"


def unready(namespace: Namespace) -> None:
    namespace.pod()["status"]["conditions"] = [{"type": "Ready", "status": "False"}]


def without_pods(namespace: Namespace) -> None:
    namespace.objects["Pod"] = []


def bare(namespace: Namespace) -> None:
    namespace.pod()["metadata"].pop("ownerReferences")


@pytest.mark.parametrize(
    ("change", "target", "words"),
    [
        (unready, "Deployment/web", "a pod that is not ready (web-1-0)"),
        (without_pods, "Deployment/web", "no pod"),
        (bare, "Pod/web-1-0", "makes a deleted pod anew"),
    ],
)
def test_where_no_pod_may_go_it_is_said(change: Callable[[Namespace], None], target: str, words: str) -> None:
    namespace = shop()
    change(namespace)
    chosen = choose_pod(look(namespace, target))
    assert isinstance(chosen, str)
    assert words in chosen


@pytest.mark.parametrize(
    ("is_replaced", "answers", "result", "kind"),
    [
        (True, True, Result.FIXED, ""),
        (True, False, Result.NOT_FIXED, Kind.NOT_DURABLE),
        (False, True, Result.NOT_FIXED, Kind.NOT_DURABLE),
    ],
    ids=["its successor is healthy", "its successor is not", "it has none yet"],
)
def test_what_follows_the_deleted_pod_decides(is_replaced: bool, answers: bool, result: Result, kind: str) -> None:
    namespace = shop()
    baseline, trial = baseline_of(shop()), deleted(namespace)
    if is_replaced:
        replaced(namespace)
    if not answers:
        namespace.silent["web"] = Answer(failure="connection refused")
    seen = look_at(namespace.snapshot(), incident(), POLICY, baseline, now=AFTER)
    verdict = verdict_of(with_durability(seen, trial, assess(seen)), seen)
    assert (verdict.result, verdict.kind) == (result, kind)
    assert verdict.progress.repaired == 0
    assert ("connection refused" in verdict.reason) is not answers


def outcome(namespace: Namespace, trial: Disruption) -> CheckResult:
    seen = look(namespace)
    (told,) = (each for each in with_durability(seen, trial, assess(seen)) if each.name == "durability")
    return told.result


def test_a_successor_counts_whatever_the_clocks_say() -> None:
    namespace = shop()
    trial = deleted(namespace)
    replaced(namespace)
    namespace.objects["Pod"][0]["metadata"]["creationTimestamp"] = (NOW - timedelta(minutes=5)).isoformat()
    assert outcome(namespace, trial) is CheckResult.PASSED


def test_a_sibling_is_no_successor() -> None:
    namespace = Namespace().add(
        *workload("web", replicas=2), service("web"), endpoints("web", "web-1-0", "web-1-1")
    )
    trial = deleted(namespace)
    del namespace.objects["Pod"][0]
    namespace.objects["Pod"][0]["metadata"]["creationTimestamp"] = AFTER.isoformat()
    assert outcome(namespace, trial) is CheckResult.FAILED


def test_what_cannot_be_seen_is_unknown() -> None:
    namespace = shop()
    trial = deleted(namespace)
    namespace.unseen["Pod"] = "Forbidden: no"
    assert outcome(namespace, trial) is CheckResult.UNKNOWN


def test_a_durability_that_could_not_be_tried_is_unverified_in_words() -> None:
    seen = look(shop())
    healthy = verdict_of(assess(seen), seen)
    held = withheld(healthy, "Deployment/web", "pod web-1-0 may not go: a budget")
    assert (held.result, held.counts.unknown) == (Result.UNVERIFIED, healthy.counts.unknown + 1)
    assert held.reason == (
        "healthy, but the policy's verify.durability could not be tried: pod web-1-0 may not go: a budget"
    )
    assert (held.checks[0].name, held.checks[0].object) == ("durability", "Deployment/web")
