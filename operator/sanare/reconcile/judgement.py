"""Judge and Undo: the evaluator's word after an attempt, and putting back what a failed one changed."""

from __future__ import annotations

from sanare import telemetry
from sanare.api.policy import Feedback, PolicySpec
from sanare.api.status import ConditionType, Result
from sanare.decision.ladder import Judge, Undo
from sanare.kube.events import Happening
from sanare.kubectl.undo import undo as undo_mutations
from sanare.memory.episodic import feedback_entry, remember
from sanare.reconcile.attempt import grant_for
from sanare.reconcile.chronicle import Chronicle
from sanare.reconcile.journal import UndoJournal, load_journal, replace_attempt
from sanare.reconcile.kit import Kit, load_baseline
from sanare.text import one_line


async def judge(kit: Kit, chronicle: Chronicle, policy: PolicySpec, step: Judge) -> None:
    """Wait for the cluster, hold, and write the verdict on the attempt."""
    attempt = step.attempt
    baseline = await load_baseline(kit, chronicle.incident)
    before = chronicle.status.verdict
    # Runs that crashed before the last mutation say nothing about it.
    since = max((mutation.at for mutation in attempt.mutations), default=attempt.started_at)
    verdict, _ = await kit.evaluator.verify(chronicle.incident, policy, baseline, previous=before, since=since)
    telemetry.VERIFY_SECONDS.observe(verdict.observed_seconds)
    telemetry.ATTEMPTS.labels(tier=attempt.tier, result=verdict.result).inc()
    judged = attempt.model_copy(
        update={"result": verdict.result, "signal": verdict.signal, "reason": verdict.reason}
    )
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


async def undo(kit: Kit, chronicle: Chronicle, policy: PolicySpec, step: Undo) -> None:
    """Put back what a failed attempt changed; what cannot be put back is listed for the next one and the person."""
    attempt = step.attempt
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
