"""Builders of Incidents in every state, for tests that decide about them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sanare.api.attempt import Attempt, AttemptState, Tier
from sanare.api.incident import Incident
from sanare.api.status import BaselineRef, ConditionType, IncidentStatus, Proposal
from sanare.api.verdict import Result, Signal, Verdict
from sanare.decision.conditions import Truth, set_condition

DIGEST = "sha256:" + "a" * 64
T0 = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)


def minutes(count: float) -> datetime:
    """That many minutes after T0."""
    return T0 + timedelta(minutes=count)


def verdict(
    result: Result = Result.NOT_FIXED,
    *,
    signal: Signal = Signal.SINGLE,
    kind: str = "ImagePull",
    reason: str = "why",
) -> Verdict:
    return Verdict(result=result, reason=reason, signal=signal, kind=kind, evaluated_at=T0)


def attempt(number: int = 1, **fields: Any) -> Attempt:
    """A judged, failed, undone attempt of the runbook, changed by `fields`."""
    base: dict[str, Any] = {
        "number": number,
        "tier": Tier.PLAIN_RETRY,
        "state": AttemptState.ACTED,
        "started_at": T0,
        "ended_at": T0,
        "result": Result.NOT_FIXED,
        "signal": Signal.SINGLE,
        "mutation_count": 1,
        "undone": True,
    }
    return Attempt(**(base | fields))


def proposal(digest: str = DIGEST, *, expires: datetime | None = None) -> Proposal:
    return Proposal(digest=digest, created_at=T0, expires_at=expires or minutes(60))


def incident(
    *,
    conditions: dict[ConditionType, tuple[Truth, str]] | None = None,
    spec: dict[str, Any] | None = None,
    **status: Any,
) -> Incident:
    """An accepted Incident with a baseline and a NotFixed verdict, changed by `spec` and `status` fields."""
    wanted = {ConditionType.ACCEPTED: ("True", "Accepted"), ConditionType.HEALTHY: ("False", "ImagePull")}
    built = IncidentStatus(
        baseline=BaselineRef(taken_at=T0, store="web-baseline-0", digest=DIGEST),
        verdict=verdict(),
        started_at=T0,
    ).model_copy(update=status)
    for kind, (truth, reason) in (wanted | (conditions or {})).items():
        built = built.model_copy(
            update={
                "conditions": set_condition(
                    built.conditions, kind, truth, reason=reason, message="", now=T0, generation=1
                )
            }
        )
    return Incident.parse(
        {
            "metadata": {"name": "web", "namespace": "shop", "uid": "u1", "generation": 1},
            "spec": {"targets": [{"kind": "Deployment", "name": "web"}], **(spec or {})},
        }
    ).model_copy(update={"status": built})
