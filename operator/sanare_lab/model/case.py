"""One plain case to give an actor: a Deployment in `shop` whose image does not exist."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sanare.actor.actor import Case
from sanare.api.attempt import Attempt, AttemptState, Tier
from sanare.api.incident import Incident, IncidentSpec, ObjectMeta, Severity, Source, Target
from sanare.api.manifest import Ref
from sanare.api.policy import Budget, Feedback, PolicySpec, Rung
from sanare.api.status import IncidentStatus, MemoryEntry, Usage
from sanare.api.verdict import CheckOutcome, CheckResult, Result, Signal, Verdict
from sanare.diagnosis.finding import Confidence, Finding
from sanare.evaluator.snapshot import Snapshot

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
REASON = 'Deployment/web: container web waits with ImagePullBackOff on image "nginx:1.255"'

VERDICT = Verdict(
    result=Result.NOT_FIXED,
    reason=REASON,
    signal=Signal.PARTIAL,
    kind="ImagePull",
    checks=(
        CheckOutcome(
            name="rollout", result=CheckResult.FAILED, object="Deployment/web", message="0 of 2 available"
        ),
        CheckOutcome(name="neighbours", result=CheckResult.PASSED, object="Deployment/api"),
        CheckOutcome(name="http", result=CheckResult.UNKNOWN, object="Service/web", message="no endpoints"),
    ),
    evaluated_at=NOW,
)

FINDING = Finding(
    kind="ImageNotFound",
    ref=Ref(kind="Deployment", namespace="shop", name="web"),
    field="spec.template.spec.containers[web].image",
    observed="nginx:1.255",
    expected="an image that exists",
    confidence=Confidence.HIGH,
)


def sample_incident(*, source: Source | None = None, usage: Usage | None = None, attempts: int = 0) -> Incident:
    """The incident of the case, after so many attempts."""
    status = IncidentStatus(
        started_at=NOW,
        usage=usage or Usage(),
        attempts=tuple(
            Attempt(number=number, tier=Tier.PLAIN_RETRY, state=AttemptState.ACTED, started_at=NOW)
            for number in range(1, attempts + 1)
        ),
    )
    spec = IncidentSpec(
        summary="the shop does not answer",
        severity=Severity.HIGH,
        targets=(Target(kind="Deployment", name="web"),),
        source=source or Source(),
    )
    return Incident(metadata=ObjectMeta(name="shop-down", namespace="shop", uid="u1"), spec=spec, status=status)


def sample_case(
    *,
    model: str = "claude-haiku-5-5",
    tier: Tier = Tier.PLAIN_RETRY,
    timeout: timedelta = timedelta(seconds=30),
    feedback: Feedback = Feedback.VERBATIM,
    self_verify: bool = False,
    budget: Budget | None = None,
    incident: Incident | None = None,
    memory: tuple[MemoryEntry, ...] = (),
) -> Case:
    """The case, with what a test wants different."""
    rung = Rung(tier=tier, model=model, timeout=timeout)
    return Case(
        incident=incident or sample_incident(),
        policy=PolicySpec(ladder=(rung,), feedback=feedback, self_verify=self_verify, budget=budget or Budget()),
        rung=rung,
        snapshot=Snapshot(namespace="shop", taken_at=NOW),
        verdict=VERDICT,
        findings=(FINDING,),
        memory=memory,
    )
