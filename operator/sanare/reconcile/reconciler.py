"""The reconciler: fetch fresh, decide, do one step, say when to come back."""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from datetime import datetime

from pydantic import ValidationError

from sanare import errors, telemetry
from sanare.api.incident import Incident
from sanare.api.manifest import Manifest, text
from sanare.api.policy import PolicySpec
from sanare.api.status import ConditionType, Outcome
from sanare.decision import ladder, step
from sanare.decision.conditions import find_condition
from sanare.kube.events import Happening
from sanare.kube.status import fetch_incident
from sanare.reconcile.admission import admit, resolve_policy
from sanare.reconcile.approval import apply, propose
from sanare.reconcile.attempt import Trajectories, act, interrupt
from sanare.reconcile.chronicle import Chronicle
from sanare.reconcile.closing import disregard, escalate, finish, hold, reopen
from sanare.reconcile.durability import disrupt
from sanare.reconcile.judgement import judge, undo
from sanare.reconcile.kit import Kit, evaluate
from sanare.reconcile.not_reproduced import note_alert_end
from sanare.reconcile.queue import Key
from sanare.reconcile.regression import watch
from sanare.reconcile.watchlist import Watchlist

AGAIN = 0.0  # seconds: go on at once
_log = telemetry.logger(__name__)
_GONE = frozenset({"NamespaceGone", "TargetNotFound"})


class Reconciler:
    """One pass over one Incident at a time per key; the queue sees to that."""

    def __init__(self, kit: Kit, default_policy: PolicySpec) -> None:
        self._kit = kit
        self._default = default_policy
        self._trajectories = Trajectories()
        self._checked: OrderedDict[str, datetime] = OrderedDict()
        self._watchlist = Watchlist()

    def notice(self, manifest: Manifest) -> None:
        """Take in an Incident from a list, before it has a pass. Most are not watched, and need no reading."""
        if not text(manifest, "status", "watchedUntil"):
            return
        with suppress(ValidationError):
            self._watchlist.note(Incident.parse(manifest), now=self._kit.clock())

    def woken(self) -> tuple[Key, ...]:
        """The keys that the last passes made due beside their own."""
        return self._watchlist.woken()

    async def reconcile(self, key: Key) -> float | None:
        """One step. Returns the seconds until the next one, None for not before a change. Raises KubeError."""
        try:
            incident = await fetch_incident(self._kit.kube, key.namespace, key.name)
        except errors.NotFound:
            self._watchlist.forget(key)
            return None
        except ValidationError as error:
            _log.error("incident cannot be read", incident=str(key), error=str(error))
            return None
        if incident.metadata.deletion_timestamp is not None:
            return None
        chronicle = Chronicle(self._kit.kube, self._kit.recorder, incident, clock=self._kit.clock)
        try:
            return await self._step(chronicle)
        except errors.InvalidIncident as error:
            await self._refuse(chronicle, error)
            return ladder.RECHECK.total_seconds()

    async def _step(self, chronicle: Chronicle) -> float | None:
        incident, now = chronicle.incident, chronicle.now()
        key = Key.of(incident)
        has_ended = find_condition(incident.status.conditions, ConditionType.RESOLVED) is not None
        policy = None if has_ended else await resolve_policy(self._kit.kube, incident, self._default)
        chronicle.policy = policy
        decided = self._decide(key, incident, policy, now=now)
        telemetry.PASSES.labels(step=type(decided).__name__).inc()
        if isinstance(decided, step.Wait):
            return None if decided.until is None else max((decided.until - now).total_seconds(), 1.0)
        _log.info("step", incident=str(key), step=type(decided).__name__)
        await self._do(chronicle, decided, policy or await self._policy_of(incident))
        return AGAIN

    def _decide(self, key: Key, incident: Incident, policy: PolicySpec | None, *, now: datetime) -> step.Step:
        """The next step, by the status and by what is remembered of the looks before."""
        self._watchlist.note(incident, now=now)
        if incident.status.recurs is not None and policy is not None:  # told again until the earlier one is marked
            self._watchlist.report(Key(key.namespace, incident.status.recurs.incident), key.name)
        return ladder.decide(
            incident,
            policy,
            now=now,
            checked=self._checked.get(incident.metadata.uid),
            recurred=bool(self._watchlist.reported(key)),
            confirm=self._watchlist.confirm(key),
        )

    async def _policy_of(self, incident: Incident) -> PolicySpec:
        """The policy of an Incident that has ended; the default where it is gone by now."""
        try:
            return await resolve_policy(self._kit.kube, incident, self._default)
        except errors.InvalidIncident:
            return self._default

    async def _do(self, chronicle: Chronicle, decided: step.Step, policy: PolicySpec) -> None:
        kit = self._kit
        match decided:
            case step.Admit():
                await admit(kit, chronicle, policy, self._watchlist)
            case step.Act():
                await act(kit, chronicle, policy, decided, self._trajectories)
            case step.Undo():
                await undo(kit, chronicle, policy, decided)
            case step.Propose():
                await propose(kit, chronicle, policy, decided)
            case step.Apply():
                await apply(kit, chronicle, policy, decided)
            case step.Interrupt():
                await interrupt(kit.kube, chronicle, decided)
            case step.Judge() | step.Disrupt() | step.Recheck() | step.Watch():
                await self._look(chronicle, decided, policy)
                self._mark_checked(chronicle)
            case _:
                await _conclude(chronicle, decided)

    async def _look(
        self,
        chronicle: Chronicle,
        decided: step.Judge | step.Disrupt | step.Recheck | step.Watch,
        policy: PolicySpec,
    ) -> None:
        """The steps after which it need not be looked at again for a while."""
        match decided:
            case step.Judge():
                await judge(self._kit, chronicle, policy, decided)
            case step.Disrupt():
                await disrupt(self._kit, chronicle, policy, decided)
            case step.Recheck():
                await self._recheck(chronicle, policy)
            case step.Watch():
                await watch(self._kit, chronicle, policy, self._watchlist)

    async def _recheck(self, chronicle: Chronicle, policy: PolicySpec) -> None:
        before = chronicle.status
        is_parked = ladder.escalation(chronicle.incident) == ladder.NOT_REPRODUCED
        await evaluate(self._kit, chronicle, policy, hold=not is_parked)
        if is_parked:
            await note_alert_end(self._kit.kube, chronicle)
        if chronicle.status is not before:
            await chronicle.commit()

    def _mark_checked(self, chronicle: Chronicle) -> None:
        self._checked[chronicle.incident.metadata.uid] = chronicle.now()
        while len(self._checked) > 4096:
            self._checked.popitem(last=False)

    async def _refuse(self, chronicle: Chronicle, error: errors.InvalidIncident) -> None:
        """Write why the Incident cannot be worked on; one whose target vanished meanwhile has ended."""
        if error.reason in _GONE and chronicle.status.baseline is not None:
            await finish(chronicle, step.Finish(Outcome.TARGET_GONE, str(error)))
            return
        known = find_condition(chronicle.status.conditions, ConditionType.ACCEPTED)
        chronicle.condition(ConditionType.ACCEPTED, "False", error.reason, str(error))
        if known is not None and (known.status, known.reason) == ("False", error.reason):
            return
        chronicle.note("NotAccepted", f"{error.reason}: {error}")
        await chronicle.commit()
        await chronicle.tell(Happening("IncidentNotAccepted", f"{error.reason}: {error}", "Warning"))


async def _conclude(chronicle: Chronicle, decided: step.Step) -> None:
    """The steps that touch nothing but the status."""
    match decided:
        case step.Escalate():
            await escalate(chronicle, decided)
        case step.Reopen():
            await reopen(chronicle, decided)
        case step.Finish():
            await finish(chronicle, decided)
        case step.Hold():
            await hold(chronicle, decided)
        case step.Disregard():
            await disregard(chronicle, decided)
