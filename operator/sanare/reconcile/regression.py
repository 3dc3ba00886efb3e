"""Watch: what ended Fixed is looked at again; a new Incident is told which repair it shows to have regressed."""

from __future__ import annotations

from sanare import errors, telemetry
from sanare.api.incident import Incident
from sanare.api.policy import PolicySpec
from sanare.api.status import ConditionType, Recurrence
from sanare.api.verdict import Result
from sanare.decision.ladder import standing_attempt
from sanare.decision.regression import OnPurpose, failing_again, is_recurrence, told_repair
from sanare.evaluator.kinds import ABSENCES, FALSE_REPAIRS, REMOVALS
from sanare.kube.events import Happening
from sanare.kube.status import fetch_incident
from sanare.reconcile.chronicle import Chronicle
from sanare.reconcile.kit import Kit, load_baseline
from sanare.reconcile.queue import Key
from sanare.reconcile.watchlist import Watchlist
from sanare.text import one_line

_log = telemetry.logger(__name__)
_ON_PURPOSE = OnPurpose(FALSE_REPAIRS, REMOVALS, ABSENCES)


async def watch(kit: Kit, chronicle: Chronicle, policy: PolicySpec, watchlist: Watchlist) -> None:
    """One look at a repair: what another Incident reports of it, else what the cluster shows.

    A failure counts when a second look, the policy's convergeTimeout later, still sees one: a rollout of somebody's
    fails for a while too. No worker waits for that. A look at which nobody can tell decides nothing: another takes
    its place while the window is open.
    """
    key = Key.of(chronicle.incident)
    if reporter := watchlist.reported(key):
        watchlist.settle(key)
        later = await _find(kit, key.namespace, reporter)
        if later is not None and is_recurrence(later, chronicle.incident):
            broken = later.status.baseline.summary if later.status.baseline is not None else ""
            await _regressed(chronicle, "NewIncident", f"incident/{reporter} found it broken again: {broken}")
        return
    try:
        failing = await _failing(kit, chronicle, policy)
    except errors.InvalidIncident as error:  # it has ended: there is nobody to refuse it to
        _log.warning("repair cannot be watched", incident=str(key), error=str(error))
        failing = ""
    confirm, now = watchlist.confirm(key), chronicle.now()
    again, until = now + policy.verify.converge_timeout, chronicle.status.watched_until
    if failing is None and confirm is not None and until is not None and again <= until:
        watchlist.suspect(key, until=again)
    elif not failing:
        watchlist.acquit(key)
    elif confirm is not None and confirm <= now:
        await _regressed(chronicle, "TargetFailing", failing)
    elif confirm is None:
        watchlist.suspect(key, until=again)


async def _find(kit: Kit, namespace: str, name: str) -> Incident | None:
    try:
        return await fetch_incident(kit.kube, namespace, name)
    except errors.NotFound:
        return None


async def _failing(kit: Kit, chronicle: Chronicle, policy: PolicySpec) -> str | None:
    """What fails at one look; None where nobody can tell."""
    baseline = await load_baseline(kit.kube, chronicle.incident)
    verdict, _ = await kit.evaluator.judge_now(chronicle.incident, policy, baseline)
    return None if verdict.result is Result.UNVERIFIED else failing_again(verdict, _ON_PURPOSE)


async def _regressed(chronicle: Chronicle, reason: str, message: str) -> None:
    """Say it in the condition and beside the verdict, whose own words stay; and count it."""
    verdict, made = chronicle.status.verdict, standing_attempt(chronicle.status.attempts)
    if verdict is not None:
        chronicle.change(verdict=verdict.model_copy(update={"regressed_at": chronicle.now()}))
    chronicle.condition(ConditionType.REGRESSED, "True", reason, message)
    chronicle.note("Regressed", f"{reason}: {message}")
    await chronicle.commit(closing=True)
    if made is not None:
        telemetry.REGRESSIONS.labels(tier=made.tier, model=made.model or "runbook").inc()
    await chronicle.tell(Happening("RepairRegressed", message, "Warning"))


async def recall(kit: Kit, chronicle: Chronicle, watchlist: Watchlist) -> None:
    """At the first look: remember the repair of a short while ago that this Incident shows to have regressed."""
    status, meta = chronicle.status, chronicle.incident.metadata
    if status.verdict is None or status.verdict.result is not Result.NOT_FIXED or status.baseline is None:
        return
    found = watchlist.earlier(chronicle.incident, at=status.baseline.taken_at)
    earlier = await _find(kit, found.namespace, found.name) if found is not None else None
    if earlier is None or not is_recurrence(chronicle.incident, earlier) or earlier.status.resolved_at is None:
        return
    made = standing_attempt(earlier.status.attempts)
    repair = one_line(told_repair(made), 1024) if made is not None else ""
    name, ended = earlier.metadata.name, earlier.status.resolved_at
    chronicle.change(recurs=Recurrence(incident=name, resolved_at=ended, repair=repair))
    chronicle.note("Recurs", f"incident/{name}, Fixed at {ended:%Y-%m-%dT%H:%M:%SZ}: {repair}")
    watchlist.report(Key(meta.namespace, name), meta.name)


def told_recurrence(chronicle: Chronicle) -> str:
    """For the person on call: what this is a repetition of, and what had helped; empty where it is none."""
    recurs = chronicle.status.recurs
    if recurs is None:
        return ""
    minutes = max(round((chronicle.now() - recurs.resolved_at).total_seconds() / 60), 0)
    return f"; Fixed {minutes} min before in incident/{recurs.incident}, where {recurs.repair}"
