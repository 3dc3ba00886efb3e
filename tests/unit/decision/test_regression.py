"""Watching a repair: when it is looked at, what counts as the same trouble, and what as a regression."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from sanare.api.attempt import Mutation
from sanare.api.incident import Incident
from sanare.api.status import BaselineRef, ConditionType, Outcome
from sanare.api.verdict import CheckOutcome, CheckResult, Result
from sanare.decision.regression import OnPurpose, decide_watch, failing_again, is_recurrence, looks, told_repair
from sanare.decision.step import Wait, Watch
from tests.unit.incidents import DIGEST, T0, attempt, incident, minutes, verdict

ENDED = {ConditionType.RESOLVED: ("True", "Fixed")}
REGRESSED = {**ENDED, ConditionType.REGRESSED: ("True", "TargetFailing")}


def repaired(**fields: Any) -> Incident:
    """Fixed at T0 and watched for an hour."""
    base: dict[str, Any] = {"outcome": Outcome.FIXED, "resolved_at": T0, "watched_until": minutes(60)}
    return incident(**{"conditions": ENDED, **base, **fields})


@pytest.mark.parametrize(
    ("window", "at"),
    [
        (timedelta(hours=1), [1, 3, 7, 15, 31, 60]),
        (timedelta(hours=24), [24, 72, 168, 360, 744, 1440]),
        (timedelta(seconds=3), [1 / 60, 3 / 60]),
    ],
    ids=["an hour", "a day", "three seconds"],
)
def test_the_looks_grow_apart_and_the_last_is_at_the_end(window: timedelta, at: list[float]) -> None:
    assert [moment - T0 for moment in looks(T0, T0 + window)] == [timedelta(minutes=each) for each in at]


@pytest.mark.parametrize(
    ("incident_", "now", "checked", "expected"),
    [
        (repaired(), 0.5, None, Wait(minutes(1))),
        (repaired(), 1, None, Watch()),
        (repaired(), 1, 1, Wait(minutes(3))),
        (repaired(), 3, 1, Watch()),
        (repaired(), 40, None, Watch()),
        (repaired(), 40, 40, Wait(minutes(60))),
        (repaired(), 60, 40, Watch()),
        (repaired(), 60, 60, Wait()),
        (repaired(), 62, None, Wait()),
        (repaired(watched_until=None), 5, None, Wait()),
        (repaired(outcome=Outcome.SELF_HEALED), 5, None, Wait()),
        (repaired(conditions=REGRESSED), 5, None, Wait()),
    ],
    ids=[
        "not due yet",
        "the first look",
        "the next one",
        "and that",
        "a restart catches up with one look",
        "then goes on",
        "the last look",
        "after it nothing",
        "nor after a restart behind the window",
        "without a watch",
        "not ours",
        "regressed already",
    ],
)
def test_what_has_ended_is_watched(
    incident_: Incident, now: float, checked: float | None, expected: Watch | Wait
) -> None:
    at = None if checked is None else minutes(checked)
    assert decide_watch(incident_, now=minutes(now), checked=at) == expected


def test_a_report_is_looked_at_at_once() -> None:
    assert decide_watch(repaired(), now=minutes(2), checked=minutes(1), recurred=True) == Watch()
    assert decide_watch(repaired(conditions=REGRESSED), now=minutes(2), checked=None, recurred=True) == Wait()


@pytest.mark.parametrize(("now", "expected"), [(2, Wait(minutes(4))), (4, Watch()), (70, Watch())])
def test_a_failure_is_looked_at_a_second_time(now: float, expected: Watch | Wait) -> None:
    assert decide_watch(repaired(), now=minutes(now), checked=minutes(1), confirm=minutes(4)) == expected


def later(*, at: float = 10, proved: float | None = 10, uid: str = "u2", **spec: Any) -> Incident:
    """Another Incident, broken at its first look, so many minutes after the repair."""
    first = BaselineRef(taken_at=minutes(at), store="x", digest=DIGEST)
    found = incident(spec=spec, baseline=first, proved_at=None if proved is None else minutes(proved))
    return found.model_copy(update={"metadata": found.metadata.model_copy(update={"name": "again", "uid": uid})})


OTHER = [{"kind": "Service", "name": "cart"}]
SHARED = [*OTHER, {"kind": "Deployment", "name": "web"}]
ALERT = {"type": "Alertmanager", "fingerprint": "c0ffee"}


@pytest.mark.parametrize(
    ("found", "earlier", "expected"),
    [
        (later(), repaired(), True),
        (later(targets=SHARED), repaired(), True),
        (later(targets=OTHER), repaired(), False),
        (later(targets=OTHER, source=ALERT), repaired(spec={"source": ALERT}), True),
        (later(targets=OTHER, source={"type": "Alertmanager"}), repaired(spec={"source": ALERT}), False),
        (later(at=61, proved=61), repaired(), False),
        (later(at=-5, proved=-5), repaired(), False),
        (later(proved=None), repaired(), False),
        (later(proved=12), repaired(), False),
        (later(uid="u1"), repaired(), False),
        (later(), repaired(conditions=REGRESSED), False),
    ],
    ids=[
        "the same target",
        "one target in common",
        "another target",
        "the same alert",
        "two without a fingerprint",
        "after the window",
        "before the repair",
        "it is healthy",
        "it was healthy at its first look",
        "itself",
        "told before",
    ],
)
def test_a_new_incident_is_a_recurrence(found: Incident, earlier: Incident, expected: bool) -> None:
    assert is_recurrence(found, earlier) is expected


SCALED = CheckOutcome(name="scale", result=CheckResult.FAILED, kind="ScaledDown", message="web was scaled down")
CRASH = CheckOutcome(name="containers", result=CheckResult.FAILED, kind="Crash", message="web crashes")
EMPTY = CheckOutcome(name="rollout", result=CheckResult.FAILED, kind="NoReplicas", message="nothing runs")


@pytest.mark.parametrize(
    ("result", "checks", "words"),
    [
        (Result.NOT_FIXED, (CRASH,), "web crashes"),
        (Result.NOT_FIXED, (SCALED,), ""),
        (Result.NOT_FIXED, (SCALED, CRASH), "web crashes"),
        (Result.NOT_FIXED, (SCALED, EMPTY), ""),
        (Result.NOT_FIXED, (EMPTY,), "nothing runs"),
        (Result.NOT_FIXED, (SCALED, EMPTY, CRASH), "web crashes"),
        (Result.UNVERIFIED, (), ""),
        (Result.FIXED, (), ""),
    ],
    ids=[
        "what does not work",
        "what people changed on purpose",
        "both",
        "what follows from that",
        "the same where nobody changed it",
        "something else beside it",
        "unknown",
        "well",
    ],
)
def test_a_regression_is_what_does_not_work(result: Result, checks: tuple[CheckOutcome, ...], words: str) -> None:
    purpose = OnPurpose({"ScaledDown", "ImageSwapped"}, {"ScaledDown"}, {"NoReplicas"})
    assert failing_again(verdict(result).model_copy(update={"checks": checks}), purpose) == words


def test_the_repair_is_told_with_who_did_what() -> None:
    made = tuple(Mutation(at=T0, verb="patch", object=f"Service/{n}", summary="port 1 -> 2") for n in range(5))
    assert told_repair(attempt(2, model="small", mutations=made, mutation_count=5)) == (
        "attempt 2 (PlainRetry, small) did patch Service/0: port 1 -> 2; patch Service/1: port 1 -> 2; "
        "patch Service/2: port 1 -> 2 and 2 more"
    )
