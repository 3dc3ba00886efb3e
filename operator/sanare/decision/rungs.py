"""Which rung of the ladder is open, and whose plan a person is shown. Pure."""

from __future__ import annotations

from sanare.api.attempt import Attempt, AttemptState, Tier
from sanare.api.incident import Incident
from sanare.api.policy import PolicySpec, Rung, When
from sanare.api.verdict import Signal

_RETRIES = (Tier.PLAIN_RETRY, Tier.REFLECTION_RETRY)


def choose_rung(incident: Incident, policy: PolicySpec) -> Rung | None:
    """The first rung, in the policy's order, that is not used up and that the last verdict is for."""
    return next((rung for rung in policy.ladder if _is_open(rung, incident, policy)), None)


def _is_open(rung: Rung, incident: Incident, policy: PolicySpec) -> bool:
    attempts = incident.status.attempts
    last = attempts[-1] if attempts else None
    used = [a for a in attempts if a.tier is rung.tier and a.model == rung.model]
    if rung.min_severity is not None and not incident.spec.severity.at_least(rung.min_severity):
        return False
    if rung.tier in _RETRIES and sum(a.tier in _RETRIES for a in attempts) >= policy.budget.attempts:
        return False
    if rung.tier is Tier.REFLECTION_RETRY and last is None:
        return False
    if rung.when is When.PARTIAL_OR_MULTI and (last is None or last.signal not in (Signal.PARTIAL, Signal.MULTI)):
        return False
    if rung.tier is not Tier.HUMAN and not rung.model and used and _found_nothing(used[-1]):
        return False  # the runbook is deterministic: where it found nothing to do, it finds nothing again
    return len(used) < rung.attempts


def _found_nothing(attempt: Attempt) -> bool:
    return attempt.mutation_count == 0 and attempt.state is not AttemptState.INTERRUPTED


def planning_rung(rung: Rung, incident: Incident, policy: PolicySpec) -> Rung:
    """Whose plan a person is shown: the rung's own, or at a Human rung that of the last rung which acted."""
    if rung.tier is not Tier.HUMAN:
        return rung
    acting = [r for r in policy.ladder if r.tier is not Tier.HUMAN]
    last = incident.status.attempts[-1] if incident.status.attempts else None
    same = [r for r in acting if last is not None and (r.tier, r.model) == (last.tier, last.model)]
    return (same or acting or [Rung(tier=Tier.PLAIN_RETRY)])[0]
