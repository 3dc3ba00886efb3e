"""Judge and Undo: the evaluator's word after an attempt, and putting back what a failed one changed."""

from __future__ import annotations

from datetime import datetime

from sanare import telemetry
from sanare.api.attempt import Attempt, Durability, DurabilityState
from sanare.api.policy import Feedback, PolicySpec
from sanare.api.status import ConditionType
from sanare.api.verdict import Result, Verdict
from sanare.decision.ladder import is_durability_owed
from sanare.decision.step import Judge, Undo
from sanare.evaluator.durability import Disruption
from sanare.kube.events import Happening
from sanare.kubectl.undo import undo as undo_mutations
from sanare.memory.episodic import feedback_entry, remember
from sanare.reconcile.attempt import grant_for
from sanare.reconcile.chronicle import Chronicle
from sanare.reconcile.journal import UndoJournal, load_journal, replace_attempt
from sanare.reconcile.kit import Kit, evaluate, load_baseline
from sanare.text import one_line


async def judge(kit: Kit, chronicle: Chronicle, policy: PolicySpec, step: Judge) -> None:
    """Wait for the cluster, hold, and write the verdict on the attempt."""
    attempt = step.attempt
    verdict = await _verify(kit, chronicle, policy, attempt)
    judged = attempt.model_copy(
        update={
            "result": verdict.result,
            "signal": verdict.signal,
            "reason": verdict.reason,
            "durability": _tried(attempt.durability, verdict, chronicle.now()),
        }
    )
    telemetry.VERIFY_SECONDS.observe(verdict.observed_seconds)
    if verdict.result is not Result.FIXED or not is_durability_owed(policy, judged):
        telemetry.ATTEMPTS.labels(tier=attempt.tier, result=verdict.result).inc()
    replace_attempt(chronicle, judged)
    chronicle.verdict(verdict)
    chronicle.note(
        "AttemptJudged", f"attempt {attempt.number}: {verdict.result} {verdict.signal}: {verdict.reason}"
    )
    chronicle.condition(
        ConditionType.REPAIRING, "False", "AttemptJudged", f"attempt {attempt.number}: {verdict.result}"
    )
    if verdict.result is Result.NOT_FIXED and policy.feedback is Feedback.VERBATIM:
        entry = feedback_entry(attempt.number, verdict)
        chronicle.change(memory=remember(chronicle.status.memory, entry))
    await chronicle.commit()
    if verdict.result is not Result.FIXED:
        await chronicle.tell(
            Happening("AttemptFailed", f"attempt {attempt.number}: {verdict.result}: {verdict.reason}", "Warning")
        )


async def _verify(kit: Kit, chronicle: Chronicle, policy: PolicySpec, attempt: Attempt) -> Verdict:
    baseline = await load_baseline(kit.kube, chronicle.incident)
    # Runs that crashed before the last mutation say nothing about it.
    since = max((mutation.at for mutation in attempt.mutations), default=attempt.started_at)
    disruption = None
    if (tried := attempt.durability) is not None and tried.state is DurabilityState.DELETED:
        disruption, since = Disruption(tried.workload, tried.pod, tried.uid), tried.at
        policy = _held_for_durability(policy)
    verdict, _ = await kit.evaluator.verify(
        chronicle.incident,
        policy,
        baseline,
        previous=chronicle.status.verdict,
        since=since,
        disruption=disruption,
    )
    return verdict


def _held_for_durability(policy: PolicySpec) -> PolicySpec:
    durability = policy.verify.durability
    if durability is None:  # the policy changed since the pod was deleted
        return policy
    return policy.model_copy(update={"verify": policy.verify.model_copy(update={"hold": durability.hold})})


def _tried(durability: Durability | None, verdict: Verdict, now: datetime) -> Durability | None:
    """What the verdict on a replaced pod makes of the test; one that could not be told stays open."""
    ends = {Result.FIXED: DurabilityState.PASSED, Result.NOT_FIXED: DurabilityState.FAILED}
    if durability is None or durability.state is not DurabilityState.DELETED or verdict.result not in ends:
        return durability
    return durability.model_copy(update={"state": ends[verdict.result], "at": now})


async def undo(kit: Kit, chronicle: Chronicle, policy: PolicySpec, step: Undo) -> None:
    """Put back what a failed attempt changed; what cannot be put back is listed for the next one and the person.

    Nothing is put back where the target is healthy by now, or where nobody can tell.
    """
    attempt = step.attempt
    verdict, _ = await evaluate(kit, chronicle, policy)
    if verdict.result is not Result.NOT_FIXED:
        await chronicle.commit()
        return
    records = await load_journal(kit.kube, chronicle.incident, attempt.number)
    missing = max(attempt.mutation_count - len(records), 0)
    grant = grant_for(kit, chronicle.incident, policy)
    journal = UndoJournal(chronicle, attempt.number)
    report = await undo_mutations(kit.kube, records, impersonate=grant.impersonate, journal=journal)
    unknown = (f"{missing} write(s) have no record and were not put back",) if missing else ()
    leftovers = tuple(one_line(text, 300) for text in (*unknown, *report.leftovers)[:8])
    replace_attempt(
        chronicle,
        attempt.model_copy(
            update={
                "undone": True,
                "leftovers": leftovers,
                "mutations": tuple(m.model_copy(update={"undone": not leftovers}) for m in attempt.mutations),
            }
        ),
    )
    done = ", ".join(str(ref) for ref in report.undone) or "nothing"
    chronicle.note("Undone", f"attempt {attempt.number}: {done}; left over: {'; '.join(leftovers) or 'nothing'}")
    await chronicle.commit()
    await chronicle.tell(Happening("AttemptUndone", f"attempt {attempt.number}: put back {done}"))
