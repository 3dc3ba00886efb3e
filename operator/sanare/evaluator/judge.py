"""From one look to one verdict. Pure: the same look gives the same words.

A failed check makes NotFixed; nothing failed but something could not be looked at makes Unverified; only when every
check passed it is Fixed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime

from sanare.api.incident import Incident
from sanare.api.policy import PolicySpec
from sanare.api.verdict import MAX_CHECKS, CheckOutcome, CheckResult, Counts, Result, Verdict
from sanare.decision.signal import Fault, Faults, Reading, decide_signal, measure_progress
from sanare.evaluator import health, traffic
from sanare.evaluator.baseline import Baseline
from sanare.evaluator.declared.judge import check_declared, with_policy_checks
from sanare.evaluator.kinds import CONSEQUENCES, FALSE_REPAIRS, Kind
from sanare.evaluator.look import Look, allowances
from sanare.evaluator.ownership import Ownership, ownership
from sanare.evaluator.rules.false_repairs import false_repairs
from sanare.evaluator.scope import scope_of
from sanare.evaluator.seen import Seen
from sanare.evaluator.sight import check_baseline_sight, check_guards_seen, check_sight
from sanare.evaluator.snapshot import Snapshot
from sanare.text import one_line

# Checks whose failure explains that the workload's Services do not answer.
_SOURCES = ("creation", "containers", "probes", "rollout")
_ALSO = 2
_READING = Reading(
    consequences=frozenset(kind.value for kind in CONSEQUENCES),
    worsened=FALSE_REPAIRS,
    stages=tuple(kind.value for kind in Kind),
)


CHECKS: tuple[Callable[[Look], Iterator[Seen]], ...] = (
    check_sight,
    check_baseline_sight,
    check_guards_seen,
    *health.CHECKS,
    *traffic.CHECKS,
    check_declared,
)


def assess(look: Look) -> list[Seen]:
    """Every check and, against a baseline, every rule: the deciding outcome first."""
    rules = false_repairs(look, look.baseline) if look.baseline else []
    found = [*rules, *(seen for check in CHECKS for seen in check(look))]
    return sorted(dict.fromkeys(found), key=lambda seen: seen.rank)


def verdict_of(seen: Sequence[Seen], look: Look, *, previous: Sequence[CheckOutcome] = ()) -> Verdict:
    """The verdict that a list of outcomes, sorted by rank, amounts to."""
    outcomes = tuple(each.outcome() for each in seen)
    now = _faults(outcomes, look.scope.intended)
    causes = [each for each in seen if each.result is not CheckResult.FAILED or _stands_for_itself(each, now)]
    first = causes[0] if causes else None
    if first is None:
        result, reason = Result.UNVERIFIED, "nothing of the Incident's targets could be checked"
    elif first.result is CheckResult.FAILED:
        result, reason = Result.NOT_FIXED, _with_others(causes)
    elif first.result is CheckResult.UNKNOWN:
        result, reason = Result.UNVERIFIED, f"nothing failed, but {_with_others(causes)}"
    else:
        result, reason = Result.FIXED, _health_in_words(look, seen)
    before = _faults(previous, look.scope.intended)
    start = _faults(look.baseline.failing, look.baseline.intended) if look.baseline else Faults()
    return Verdict(
        result=result,
        reason=one_line(reason, 1024),
        kind=(first.kind or "") if first else Kind.UNKNOWN,
        signal=decide_signal(now, before, _READING),
        checks=outcomes[:MAX_CHECKS],
        counts=_counts(outcomes),
        progress=measure_progress(now, before, start, _READING),
        evaluated_at=look.now,
    )


def _counts(outcomes: Sequence[CheckOutcome]) -> Counts:
    results = [each.result for each in outcomes]
    return Counts(
        passed=results.count(CheckResult.PASSED),
        failed=results.count(CheckResult.FAILED),
        unknown=results.count(CheckResult.UNKNOWN),
    )


def _faults(outcomes: Sequence[CheckOutcome], intended: Mapping[str, Sequence[str]]) -> Faults:
    return Faults.read(outcomes, _READING, derived=set(_derived(outcomes, intended)))


def _derived(outcomes: Sequence[CheckOutcome], intended: Mapping[str, Sequence[str]]) -> Iterator[Fault]:
    """Services that do not answer because their own pods do not run: these are no second fault."""
    broken = {each.object for each in outcomes if each.result is CheckResult.FAILED and each.name in _SOURCES}
    for each in outcomes:
        if each.kind == Kind.UNREACHABLE and broken & set(intended.get(each.object.removeprefix("Service/"), ())):
            yield each.object, each.kind


def _stands_for_itself(each: Seen, now: Faults) -> bool:
    fault = (each.object, each.kind or "")
    return fault in now.causes or each.kind in CONSEQUENCES


def _with_others(seen: Sequence[Seen]) -> str:
    """The deciding message, then at most two of other failures that stand for themselves."""
    first = seen[0]
    others: dict[tuple[str, str | None], str] = {(first.object, first.kind): first.message}
    for each in seen[1:]:
        if each.result is first.result and each.kind not in CONSEQUENCES:
            others.setdefault((each.object, each.kind), each.message)
    return "; also ".join(list(others.values())[: 1 + _ALSO])


def _health_in_words(look: Look, seen: Sequence[Seen]) -> str:
    asked = [each.message for each in seen if each.name == "reachability"][:1]
    tried = [each.message for each in seen if each.name == "durability"]
    subject = ", ".join((*look.scope.workloads, *(f"Service/{name}" for name in look.scope.services)))
    return "; ".join([f"{subject}: every check passes", *asked, *tried])


def look_at(
    snapshot: Snapshot,
    incident: Incident,
    policy: PolicySpec,
    baseline: Baseline | None = None,
    *,
    now: datetime,
    since: datetime | None = None,
    owned: Ownership | None = None,
) -> Look:
    """Everything that the checks read, derived from a snapshot; who owns which pod may have been read already."""
    owned = owned or ownership(snapshot)
    incident = with_policy_checks(incident, policy)
    scope = scope_of(snapshot, incident, owned, baseline=baseline)
    return Look(
        snapshot, incident, owned, scope, now, baseline, since, policy.verify.hold, allowances(incident, policy)
    )


def judge(
    snapshot: Snapshot,
    baseline: Baseline | None,
    incident: Incident,
    policy: PolicySpec,
    *,
    previous: Verdict | None = None,
    now: datetime,
    since: datetime | None = None,
) -> Verdict:
    """One verdict on one snapshot. `previous` (else the baseline) is what the signal compares with."""
    look = look_at(snapshot, incident, policy, baseline, now=now, since=since)
    before = previous.checks if previous else baseline.failing if baseline else ()
    return verdict_of(assess(look), look, previous=before)
