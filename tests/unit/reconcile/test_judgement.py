"""Judging and undoing: what is looked at first, what a verdict makes of an attempt, and what is left alone."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sanare.api.attempt import Attempt, DurabilityState
from sanare.api.attempt import Durability as Tried
from sanare.api.policy import Durability, PolicySpec, Verify
from sanare.api.status import IncidentStatus
from sanare.api.verdict import Result, Signal
from sanare.decision.step import Judge, Undo
from sanare.evaluator.durability import Disruption
from sanare.reconcile.judgement import judge, undo
from sanare.reconcile.kit import evaluate
from tests.unit.incidents import T0, attempt, minutes, verdict
from tests.unit.reconcile.shelf import Shelf
from tests.unit.reconcile.stage import Eyes, about, staged, with_baseline

POLICY = PolicySpec(verify=Verify(durability=Durability(delete_pod=True, hold=timedelta(seconds=40))))
GONE = Tried(state=DurabilityState.DELETED, workload="Deployment/web", pod="web-1", uid="u1", at=minutes(1))
ON_TRIAL = attempt(result=None, undone=False, durability=GONE)
BLOCKED = Tried(state=DurabilityState.BLOCKED, workload="Deployment/web", at=T0, message="a budget")


async def judged(on_trial: Attempt, result: Result) -> tuple[Attempt, Eyes, IncidentStatus]:
    shelf = with_baseline(Shelf(about(attempts=(on_trial,))))
    eyes = Eyes(verdict(result, signal=Signal.SINGLE))
    kit, chronicle = staged(shelf, eyes)
    await judge(kit, chronicle, POLICY, Judge(on_trial))
    (after,) = shelf.incident.status.attempts
    return after, eyes, shelf.incident.status


@pytest.mark.parametrize(
    ("result", "state"),
    [
        (Result.FIXED, DurabilityState.PASSED),
        (Result.NOT_FIXED, DurabilityState.FAILED),
        (Result.UNVERIFIED, DurabilityState.DELETED),
    ],
)
async def test_what_followed_the_deleted_pod_is_watched_for_its_own_hold(
    result: Result, state: DurabilityState
) -> None:
    after, eyes, _ = await judged(ON_TRIAL, result)
    assert after.durability is not None
    assert (after.result, after.durability.state) == (result, state)
    (asked,) = eyes.asked
    assert asked["disruption"] == Disruption("Deployment/web", "web-1", "u1")
    assert (asked["since"], asked["hold"]) == (minutes(1), timedelta(seconds=40))


async def test_an_attempt_without_a_trial_is_watched_for_the_hold() -> None:
    after, eyes, _ = await judged(attempt(result=None, undone=False), Result.FIXED)
    (asked,) = eyes.asked
    assert (after.durability, asked["disruption"], asked["hold"]) == (None, None, timedelta(seconds=15))


async def test_a_failed_attempt_is_remembered_with_the_progress_that_it_made() -> None:
    _, _, status = await judged(attempt(result=None, undone=False), Result.NOT_FIXED)
    assert [entry.kind for entry in status.memory] == ["Feedback"]


@pytest.mark.parametrize("result", [Result.FIXED, Result.UNVERIFIED])
async def test_nothing_is_undone_where_it_is_healthy_by_now_or_nobody_can_tell(result: Result) -> None:
    failed = attempt(undone=False)
    shelf = with_baseline(Shelf(about(attempts=(failed,))))
    kit, chronicle = staged(shelf, Eyes(verdict(result, reason="all well")))
    await undo(kit, chronicle, POLICY, Undo(failed))
    assert shelf.incident.status.attempts == (failed,)
    assert shelf.incident.status.verdict is not None
    assert shelf.incident.status.verdict.result is result


async def test_what_still_fails_is_undone() -> None:
    failed = attempt(undone=False, mutation_count=0)
    shelf = with_baseline(Shelf(about(attempts=(failed,))))
    kit, chronicle = staged(shelf, Eyes(verdict()))
    await undo(kit, chronicle, POLICY, Undo(failed))
    assert shelf.incident.status.attempts[0].undone


@pytest.mark.parametrize(
    ("policy", "result"), [(POLICY, Result.UNVERIFIED), (PolicySpec(), Result.FIXED)], ids=["wanted", "no longer"]
)
async def test_health_whose_durability_could_not_be_tried_stays_unverified(
    policy: PolicySpec, result: Result
) -> None:
    untold = attempt(result=Result.UNVERIFIED, undone=False, durability=BLOCKED)
    shelf = with_baseline(Shelf(about(attempts=(untold,))))
    kit, chronicle = staged(shelf, Eyes(verdict(Result.FIXED, reason="all well")))
    found, _ = await evaluate(kit, chronicle, policy)
    assert found.result is result


async def test_an_incident_that_health_does_not_end_is_looked_at_once() -> None:
    eyes = Eyes(verdict(Result.FIXED, reason="all well"))
    kit, chronicle = staged(with_baseline(Shelf(about())), eyes)
    await evaluate(kit, chronicle, PolicySpec(), hold=False)
    assert eyes.asked == []
