"""Escalate, Finish, Hold and Disregard: where automatic means or the Incident end, and what is told to people."""

from __future__ import annotations

from sanare import telemetry
from sanare.api.status import ConditionType, Outcome
from sanare.decision.conditions import HEALTHY_ENDS
from sanare.decision.ladder import standing_attempt
from sanare.decision.step import Disregard, Escalate, Finish, Hold, Reopen
from sanare.kube.events import Happening
from sanare.reconcile.chronicle import Chronicle


async def escalate(chronicle: Chronicle, step: Escalate) -> None:
    """Hand over to a person: nothing more is tried; the target is still evaluated, in case it becomes healthy."""
    _nothing_pending(chronicle)
    chronicle.condition(ConditionType.ESCALATED, "True", step.reason, step.message)
    chronicle.note("Escalated", f"{step.reason}: {step.message}")
    await chronicle.commit()
    verdict = chronicle.status.verdict
    last = f" Last verdict: {verdict.reason}" if verdict is not None else ""
    await chronicle.tell(Happening("IncidentEscalated", f"{step.reason}: {step.message}.{last}", "Warning"))


async def finish(chronicle: Chronicle, step: Finish) -> None:
    """End the Incident with its outcome."""
    healthy = step.outcome in HEALTHY_ENDS
    now = chronicle.now()
    _nothing_pending(chronicle)
    chronicle.change(outcome=step.outcome, resolved_at=now)
    if step.outcome is Outcome.FIXED and chronicle.policy is not None and chronicle.policy.verify.watch:
        chronicle.change(watched_until=now + chronicle.policy.verify.watch)
    chronicle.condition(
        ConditionType.RESOLVED, "True" if healthy else "False", str(step.outcome), step.message or str(step.outcome)
    )
    chronicle.note("Ended", f"{step.outcome}: {step.message}")
    await chronicle.commit(closing=True)
    telemetry.INCIDENTS_ENDED.labels(outcome=step.outcome).inc()
    if step.outcome is Outcome.FIXED:
        _measure(chronicle)
    reason = "IncidentResolved" if healthy else "IncidentFailed"
    await chronicle.tell(Happening(reason, f"{step.outcome}: {step.message}", "Normal" if healthy else "Warning"))


def _measure(chronicle: Chronicle) -> None:
    seconds, made = chronicle.status.verified_seconds, standing_attempt(chronicle.status.attempts)
    if seconds is not None and made is not None:
        telemetry.TIME_TO_VERIFIED.labels(tier=made.tier).observe(seconds)


async def reopen(chronicle: Chronicle, step: Reopen) -> None:
    """Take back from a person what was not reproduced and shows now; the wall clock starts here."""
    chronicle.change(started_at=chronicle.now())
    chronicle.condition(ConditionType.ESCALATED, "False", "Reproduced", step.message)
    chronicle.note("Reproduced", step.message)
    await chronicle.commit()
    await chronicle.tell(Happening("IncidentReproduced", step.message, "Warning"))


async def hold(chronicle: Chronicle, step: Hold) -> None:
    """Make the Suspended condition say what is."""
    chronicle.condition(ConditionType.SUSPENDED, "True" if step.suspended else "False", step.reason, step.message)
    chronicle.note("Suspended" if step.suspended else "Resumed", step.message)
    await chronicle.commit()


async def disregard(chronicle: Chronicle, step: Disregard) -> None:
    """Tell whoever decided on another plan; the phase stays, so that the right decision still counts."""
    chronicle.condition(ConditionType.AWAITING_APPROVAL, "True", "OtherPlanDecided", step.message)
    await chronicle.commit()
    await chronicle.tell(Happening("OtherPlanDecided", step.message, "Warning"))


def _nothing_pending(chronicle: Chronicle) -> None:
    chronicle.change(proposal=None)
    for kind in (ConditionType.REPAIRING, ConditionType.AWAITING_APPROVAL):
        if any(
            c.type is kind and (c.status == "True" or c.reason == "AwaitingApproval")
            for c in chronicle.status.conditions
        ):
            chronicle.condition(kind, "False", "Ended", "nothing is in flight")
