"""The next step of an Incident: Algorithm 1 of the study as a pure function of (status, policy, now).

    decide ──> Admit | Interrupt | Judge | Undo | Attempt | Propose | Apply | Escalate | Finish | Recheck | Wait

Nothing here acts. `reconcile` has one function per step, and every step ends with a status from which `decide`
finds the next one, so that a crash anywhere costs at most the step it fell into.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from sanare.api.incident import Incident, Mode
from sanare.api.policy import PolicySpec, Rollback, Rung, When
from sanare.api.status import (
    MAX_ATTEMPTS,
    Attempt,
    AttemptState,
    ConditionType,
    Outcome,
    Result,
    Signal,
    Tier,
)
from sanare.decision.conditions import find_condition, is_true

RECHECK = timedelta(seconds=60)  # how often what waits for people is evaluated again
UNVERIFIED_PATIENCE = timedelta(minutes=5)  # how long a verdict may stay unknown before a person is asked
GONE_KIND = "Deleted"  # the evaluator's word for a target that was there and is no more
_RETRIES = (Tier.PLAIN_RETRY, Tier.REFLECTION_RETRY)


@dataclass(frozen=True, slots=True)
class Admit:
    """Resolve policy and targets, take the baseline, give the first verdict."""


@dataclass(frozen=True, slots=True)
class Interrupt:
    """A worker died in the middle of this attempt: say so; its effects are judged next, nothing is repeated."""

    attempt: Attempt


@dataclass(frozen=True, slots=True)
class Judge:
    """An actor has ended its turn: let the evaluator decide."""

    attempt: Attempt


@dataclass(frozen=True, slots=True)
class Undo:
    """The attempt failed and improved nothing: put back what it changed."""

    attempt: Attempt


@dataclass(frozen=True, slots=True)
class Act:
    """Climb this rung. `number` counts attempts from 1; `reflect` asks for a reflection first."""

    rung: Rung
    number: int
    reflect: bool


@dataclass(frozen=True, slots=True)
class Propose:
    """Record what this rung would do and ask a person."""

    rung: Rung


@dataclass(frozen=True, slots=True)
class Apply:
    """A person approved: apply exactly that. `rung` is the one that proposed it."""

    rung: Rung
    number: int


@dataclass(frozen=True, slots=True)
class Escalate:
    """Automatic means end here; a person takes over."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Finish:
    """The Incident ends."""

    outcome: Outcome
    message: str


@dataclass(frozen=True, slots=True)
class Recheck:
    """Evaluate again without touching anything."""


@dataclass(frozen=True, slots=True)
class Hold:
    """A person paused it, or resumed it: make the Suspended condition say so."""

    suspended: bool
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do before `until`, or before the object changes when it is None."""

    until: datetime | None = None


Step: TypeAlias = (
    Admit | Interrupt | Judge | Undo | Act | Propose | Apply | Escalate | Finish | Recheck | Hold | Wait
)


def decide(
    incident: Incident, policy: PolicySpec | None, *, now: datetime, checked: datetime | None = None
) -> Step:
    """The next step. `policy` is None while it could not be resolved; `checked` is the last evaluation's time."""
    status = incident.status
    if find_condition(status.conditions, ConditionType.RESOLVED) is not None:
        return Wait()
    last = status.attempts[-1] if status.attempts else None
    if last is not None and last.state is AttemptState.RUNNING:
        return Interrupt(last)
    if policy is None or not is_true(status.conditions, ConditionType.ACCEPTED) or status.baseline is None:
        return Admit()
    held = _held(incident, policy)
    if held is not None:
        return held
    if last is not None and last.result is None:
        return Judge(last)
    return _after_verdict(incident, policy, last, now=now, checked=checked)


def _held(incident: Incident, policy: PolicySpec) -> Step | None:
    """Suspension by the Incident or by the policy's pause requests; a change of it is a step of its own."""
    said = is_true(incident.status.conditions, ConditionType.SUSPENDED)
    if incident.spec.suspend:
        return Wait() if said else Hold(True, "SuspendedBySpec", "spec.suspend is true; set it to false to go on")
    if policy.pause_requests:
        names = ", ".join(policy.pause_requests)
        return Wait() if said else Hold(True, "PausedByPolicy", f"the policy's pauseRequests hold it: {names}")
    return Hold(False, "Resumed", "nothing holds it") if said else None


def _after_verdict(
    incident: Incident, policy: PolicySpec, last: Attempt | None, *, now: datetime, checked: datetime | None
) -> Step:
    status = incident.status
    verdict = status.verdict
    if verdict is None:
        return Recheck()
    if (
        last is not None
        and last.result is Result.UNVERIFIED
        and not is_true(status.conditions, ConditionType.ESCALATED)
    ):
        return _on_unverified(incident, last, now=now, checked=checked)
    if verdict.result is Result.FIXED:
        return _healthy(incident, last)
    if _owes_undo(policy, last):
        assert last is not None  # noqa: S101 - for the type checker: _owes_undo is False without an attempt
        return Undo(last)
    if is_target_gone(incident):
        return Finish(Outcome.TARGET_GONE, f"{verdict.reason}; nothing is left to repair")
    mode = policy.mode.tighter(incident.spec.mode)
    if mode is Mode.OBSERVE or is_true(status.conditions, ConditionType.ESCALATED):
        return _recheck_or_wait(now, checked)
    if verdict.result is Result.UNVERIFIED:
        return _on_unverified(incident, None, now=now, checked=checked)
    if status.proposal is not None:
        return _on_proposal(incident, policy, now=now, checked=checked)
    if status.started_at is not None and now - status.started_at >= policy.budget.wall_clock:
        return Escalate("WallClock", "the policy's budget.wallClock is used up; the last verdict stands in status")
    return _climb(incident, policy, mode)


def is_target_gone(incident: Incident) -> bool:
    """Whether the target vanished without a mutation of ours that deleted it."""
    verdict, attempts = incident.status.verdict, incident.status.attempts
    ours = any(m.verb == "delete" and not m.undone for attempt in attempts for m in attempt.mutations)
    return verdict is not None and verdict.kind == GONE_KIND and not ours


def _healthy(incident: Incident, last: Attempt | None) -> Finish:
    """Which good end a healthy verdict is: ours only when a judged attempt of ours made it."""
    verdict = incident.status.verdict
    reason = verdict.reason if verdict is not None else ""
    if last is not None and last.result is Result.FIXED and last.mutation_count:
        return Finish(Outcome.FIXED, reason)
    if last is None and incident.spec.source.type == "Alertmanager" and _first_look(incident):
        return Finish(Outcome.NOT_REPRODUCED, f"healthy when first looked at, while its alert fires: {reason}")
    return Finish(Outcome.SELF_HEALED, reason)


def _first_look(incident: Incident) -> bool:
    healthy = find_condition(incident.status.conditions, ConditionType.HEALTHY)
    baseline = incident.status.baseline
    return healthy is not None and baseline is not None and healthy.last_transition_time <= baseline.taken_at


def _owes_undo(policy: PolicySpec, last: Attempt | None) -> bool:
    """A failed attempt is undone unless it made progress: partial progress is what the next attempt stands on."""
    return (
        last is not None
        and policy.rollback is Rollback.ON_FAILURE
        and last.result is Result.NOT_FIXED
        and last.signal is not Signal.PARTIAL
        and last.mutation_count > 0
        and not last.undone
    )


def _recheck_or_wait(now: datetime, checked: datetime | None) -> Step:
    due = now if checked is None else checked + RECHECK
    return Recheck() if due <= now else Wait(due)


def _on_unverified(incident: Incident, last: Attempt | None, *, now: datetime, checked: datetime | None) -> Step:
    """What could not be looked at is looked at again for a while; nothing is done to what cannot be judged."""
    healthy = find_condition(incident.status.conditions, ConditionType.HEALTHY)
    if healthy is not None and now - healthy.last_transition_time >= UNVERIFIED_PATIENCE:
        return Escalate("Unverified", f"the evaluator cannot tell: {healthy.message}")
    again = _recheck_or_wait(now, checked)
    return Judge(last) if last is not None and isinstance(again, Recheck) else again


def _on_proposal(incident: Incident, policy: PolicySpec, *, now: datetime, checked: datetime | None) -> Step:
    proposal, approval = incident.status.proposal, incident.spec.approval
    assert proposal is not None  # noqa: S101 - for the type checker: the caller looked
    if approval is not None and approval.decision == "Reject" and approval.digest in ("", proposal.digest):
        who = approval.approver or "a person"
        return Finish(
            Outcome.REJECTED, f"{who} rejected the plan{': ' + approval.comment if approval.comment else ''}"
        )
    if now >= proposal.expires_at:
        return Escalate(
            "ApprovalExpired", "nobody decided before the plan expired; a new Incident makes a new plan"
        )
    if approval is not None and approval.decision == "Approve" and approval.digest == proposal.digest:
        rung = choose_rung(incident, policy) or Rung(tier=Tier.HUMAN)
        return Apply(rung, len(incident.status.attempts) + 1)
    wake = _recheck_or_wait(now, checked)
    return Wait(min(wake.until, proposal.expires_at)) if isinstance(wake, Wait) and wake.until else wake


def _climb(incident: Incident, policy: PolicySpec, mode: Mode) -> Step:
    rung = choose_rung(incident, policy)
    number = len(incident.status.attempts) + 1
    if rung is None and not any(r.tier is Tier.HUMAN for r in policy.ladder):
        return Finish(Outcome.EXHAUSTED, "every rung of the ladder is used and none of them is Human")
    if rung is None or number > MAX_ATTEMPTS:
        return Escalate(
            "LadderUsed", "every rung of the ladder is used; the attempts and their reasons stand in status"
        )
    if rung.tier is Tier.HUMAN or mode is Mode.PROPOSE:
        return Propose(rung)
    return Act(rung, number, reflect=rung.tier is Tier.REFLECTION_RETRY)


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
