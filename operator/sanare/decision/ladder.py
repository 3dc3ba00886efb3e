"""The next step of an Incident: Algorithm 1 of the study as a pure function of (status, policy, now).

    decide ──> Admit | Interrupt | Judge | Disrupt | Undo | Act | Propose | Apply | Disregard | Escalate | Reopen
               | Finish | Recheck | Watch | Hold | Wait

Nothing here acts. `reconcile` has one function per step, and every step ends with a status from which `decide`
finds the next one, so that a crash anywhere costs at most the step it fell into.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from sanare.api.attempt import Attempt, AttemptState, DurabilityState, Tier
from sanare.api.incident import Incident, Mode
from sanare.api.policy import PolicySpec, Rollback, Rung
from sanare.api.status import MAX_ATTEMPTS, ConditionType, Outcome
from sanare.api.verdict import Result, Signal
from sanare.decision.conditions import find_condition, is_true
from sanare.decision.regression import decide_watch
from sanare.decision.rungs import choose_rung
from sanare.decision.step import (
    Act,
    Admit,
    Apply,
    Disregard,
    Disrupt,
    Escalate,
    Finish,
    Hold,
    Interrupt,
    Judge,
    Propose,
    Recheck,
    Reopen,
    Step,
    Undo,
    Wait,
)

RECHECK = timedelta(seconds=60)  # how often what waits for people is evaluated again
UNVERIFIED_PATIENCE = timedelta(minutes=5)  # how long a verdict may stay unknown before a person is asked
GONE_KIND = "Deleted"  # the evaluator's word for a target that was there and is no more
UNVERIFIED = "Unverified"  # why an Incident is a person's: nobody can tell whether it is repaired
NOT_REPRODUCED = "NotReproduced"  # why it is a person's: its alert fires and nothing is found broken


def decide(
    incident: Incident,
    policy: PolicySpec | None,
    *,
    now: datetime,
    checked: datetime | None = None,
    recurred: bool = False,
    confirm: datetime | None = None,
) -> Step:
    """The next step. `policy` is None while it could not be resolved; `checked` is the last evaluation's time.

    Of one that ended Fixed, `recurred` says that another Incident reports what it had repaired, and `confirm` when
    a failure is to be looked at a second time.
    """
    status = incident.status
    if find_condition(status.conditions, ConditionType.RESOLVED) is not None:
        return decide_watch(incident, now=now, checked=checked, recurred=recurred, confirm=confirm)
    last = status.attempts[-1] if status.attempts else None
    if last is not None and last.state is AttemptState.RUNNING:
        return Interrupt(last)
    if policy is None or not is_true(status.conditions, ConditionType.ACCEPTED) or status.baseline is None:
        return Admit()
    held = _held(incident, policy)
    if held is not None:
        return held
    unjudged = next((attempt for attempt in status.attempts if attempt.result is None), None)
    if unjudged is not None:
        return Judge(unjudged)
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
    verdict = incident.status.verdict
    escalated = escalation(incident)
    if verdict is None:
        return Recheck()
    if escalated and (closed := _closed(incident, escalated)):
        return closed
    if last is not None and last.result is Result.UNVERIFIED and not escalated:
        return _on_unverified(incident, last, now=now, checked=checked)
    if verdict.result is Result.FIXED:
        return _healthy(incident, policy, escalated, now=now, checked=checked)
    if verdict.result is Result.UNVERIFIED:
        # Neither an attempt nor an undo touches what cannot be judged.
        quiet = bool(escalated) or policy.mode.tighter(incident.spec.mode) is Mode.OBSERVE
        again = _recheck_or_wait(now, checked)
        return again if quiet else _on_unverified(incident, None, now=now, checked=checked)
    return _broken(incident, policy, last, escalated, now=now, checked=checked)


def _broken(
    incident: Incident,
    policy: PolicySpec,
    last: Attempt | None,
    escalated: str,
    *,
    now: datetime,
    checked: datetime | None,
) -> Step:
    """What follows on NotFixed."""
    status = incident.status
    reason = status.verdict.reason if status.verdict is not None else ""
    mode = policy.mode.tighter(incident.spec.mode)
    if last is not None and mode is not Mode.OBSERVE and _owes_undo(policy, last):
        return Undo(last)
    if is_target_gone(incident):
        return Finish(Outcome.TARGET_GONE, f"{reason}; nothing is left to repair")
    if escalated == NOT_REPRODUCED:
        return Reopen(f"it shows now: {reason}")
    if mode is Mode.OBSERVE or escalated:
        return _recheck_or_wait(now, checked)
    if status.proposal is not None:
        return _on_proposal(incident, policy, now=now, checked=checked)
    if status.started_at is not None and now - status.started_at >= policy.budget.wall_clock:
        return Escalate("WallClock", "the policy's budget.wallClock is used up; the last verdict stands in status")
    return _climb(incident, policy, mode)


def escalation(incident: Incident) -> str:
    """Why the Incident is a person's; empty while it is not."""
    escalated = find_condition(incident.status.conditions, ConditionType.ESCALATED)
    return escalated.reason if escalated is not None and escalated.status == "True" else ""


def is_target_gone(incident: Incident) -> bool:
    """Whether the target vanished without a mutation of ours that deleted it."""
    verdict, attempts = incident.status.verdict, incident.status.attempts
    ours = any(m.verb == "delete" and not m.undone for attempt in attempts for m in attempt.mutations)
    return verdict is not None and verdict.result is Result.NOT_FIXED and verdict.kind == GONE_KIND and not ours


def _healthy(
    incident: Incident, policy: PolicySpec, escalated: str, *, now: datetime, checked: datetime | None
) -> Step:
    """Which good end a healthy verdict is, or what is still owed to it.

    It is ours when a change of ours stands, also where the target became healthy only after the verdict on it.
    """
    status = incident.status
    reason = status.verdict.reason if status.verdict is not None else ""
    made = standing_attempt(status.attempts)
    if made is None:
        return _untouched(incident, escalated, reason, now=now, checked=checked)
    if escalated and escalated != UNVERIFIED:
        return Finish(Outcome.SELF_HEALED, f"{reason}; what attempt {made.number} changed stands")
    if not is_durability_owed(policy, made):
        return Finish(Outcome.FIXED, reason)
    if made.durability is not None and made.durability.state is DurabilityState.DELETED:
        return Judge(made)
    watching = escalated or policy.mode.tighter(incident.spec.mode) is Mode.OBSERVE
    return _recheck_or_wait(now, checked) if watching else Disrupt(made)


def _untouched(incident: Incident, escalated: str, reason: str, *, now: datetime, checked: datetime | None) -> Step:
    """Healthy, and nothing of ours made it so."""
    if escalated == NOT_REPRODUCED:
        if incident.status.alert_ended_at is None:
            return _recheck_or_wait(now, checked)
        return Finish(Outcome.NOT_REPRODUCED, f"its alert ended, and it was healthy whenever looked at: {reason}")
    if not incident.status.attempts and not incident.status.proved_at and _is_alerted(incident):
        return Escalate(
            NOT_REPRODUCED,
            f"healthy when first looked at, while its alert fires: {reason}. What the alert sees and no check does "
            "can be said in spec.checks of another Incident. This one goes on by itself should it fail, and ends "
            "with its alert or with spec.approval.decision Reject",
        )
    return Finish(Outcome.SELF_HEALED, reason)


def _is_alerted(incident: Incident) -> bool:
    return incident.spec.source.type == "Alertmanager"


def standing_attempt(attempts: tuple[Attempt, ...]) -> Attempt | None:
    """The last attempt that was found to have repaired it, or whose changes were not (all) taken back."""
    for attempt in reversed(attempts):
        stands = attempt.result is Result.FIXED or not attempt.undone or bool(attempt.leftovers)
        if attempt.mutation_count and stands:
            return attempt
    return None


def is_durability_owed(policy: PolicySpec, attempt: Attempt) -> bool:
    """Whether the policy wants a proof of durability that the attempt has not given."""
    wanted = policy.verify.durability is not None and policy.verify.durability.delete_pod
    return wanted and (attempt.durability is None or attempt.durability.state is not DurabilityState.PASSED)


def _closed(incident: Incident, escalated: str) -> Finish | None:
    """Whether the person who was given the Incident has closed it: a rejection where no plan waits."""
    approval, verdict = incident.spec.approval, incident.status.verdict
    if approval is None or approval.decision != "Reject" or approval.digest or incident.status.proposal is not None:
        return None
    said = f"{approval.approver or 'a person'} closed it{': ' + approval.comment if approval.comment else ''}"
    healthy = verdict is not None and verdict.result is Result.FIXED and escalated == NOT_REPRODUCED
    return Finish(Outcome.NOT_REPRODUCED if healthy else Outcome.REJECTED, said)


def _owes_undo(policy: PolicySpec, last: Attempt) -> bool:
    """A failed attempt is undone unless it made progress: partial progress is what the next attempt stands on."""
    return (
        policy.rollback is Rollback.ON_FAILURE
        and last.result is Result.NOT_FIXED
        and last.signal is not Signal.PARTIAL
        and last.mutation_count > 0
        and not last.undone
    )


def _recheck_or_wait(now: datetime, checked: datetime | None) -> Recheck | Wait:
    due = now if checked is None else checked + RECHECK
    return Recheck() if due <= now else Wait(due)


def _on_unverified(incident: Incident, last: Attempt | None, *, now: datetime, checked: datetime | None) -> Step:
    """What could not be looked at is looked at again for a while; nothing is done to what cannot be judged."""
    healthy = find_condition(incident.status.conditions, ConditionType.HEALTHY)
    if healthy is not None and now - healthy.last_transition_time >= UNVERIFIED_PATIENCE:
        return Escalate(UNVERIFIED, f"the evaluator cannot tell: {healthy.message}")
    again = _recheck_or_wait(now, checked)
    if last is None or isinstance(again, Wait):
        return again
    blocked = last.durability is not None and last.durability.state is DurabilityState.BLOCKED
    return Disrupt(last) if blocked else Judge(last)


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
    if approval is not None and _is_news(incident):
        told = f"the decision in spec.approval is about another plan; the one that waits is {proposal.digest}"
        return Disregard(told)
    wake = _recheck_or_wait(now, checked)
    return Wait(min(wake.until, proposal.expires_at)) if isinstance(wake, Wait) and wake.until else wake


def _is_news(incident: Incident) -> bool:
    """Whether spec changed after it was said that the plan waits."""
    waiting = find_condition(incident.status.conditions, ConditionType.AWAITING_APPROVAL)
    return waiting is not None and waiting.observed_generation < incident.metadata.generation


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
