"""The reconciler: fetch fresh, decide, do one step, say when to come back."""

from __future__ import annotations

from collections import OrderedDict
from datetime import datetime

from pydantic import ValidationError

from sanare import errors, telemetry
from sanare.api.policy import PolicySpec
from sanare.api.status import ConditionType, Outcome
from sanare.decision import ladder
from sanare.decision.conditions import find_condition
from sanare.kube.events import Happening
from sanare.kube.status import fetch_incident
from sanare.reconcile.admission import admit, resolve_policy
from sanare.reconcile.approval import apply, propose
from sanare.reconcile.attempt import Trajectories, act, interrupt
from sanare.reconcile.chronicle import Chronicle
from sanare.reconcile.closing import escalate, finish, hold
from sanare.reconcile.judgement import judge, undo
from sanare.reconcile.kit import Kit, evaluate
from sanare.reconcile.queue import Key

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

    async def reconcile(self, key: Key) -> float | None:
        """One step. Returns the seconds until the next one, None for not before a change. Raises KubeError."""
        try:
            incident = await fetch_incident(self._kit.kube, key.namespace, key.name)
        except errors.NotFound:
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
        incident = chronicle.incident
        policy = None
        if find_condition(incident.status.conditions, ConditionType.RESOLVED) is None:
            policy = await resolve_policy(self._kit.kube, incident, self._default)
        chronicle.policy = policy
        now = chronicle.now()
        step = ladder.decide(incident, policy, now=now, checked=self._checked.get(incident.metadata.uid))
        telemetry.PASSES.labels(step=type(step).__name__).inc()
        if isinstance(step, ladder.Wait):
            return None if step.until is None else max((step.until - now).total_seconds(), 1.0)
        _log.info(
            "step", incident=f"{incident.metadata.namespace}/{incident.metadata.name}", step=type(step).__name__
        )
        await self._do(chronicle, step, policy or self._default)
        return AGAIN

    async def _do(self, chronicle: Chronicle, step: ladder.Step, policy: PolicySpec) -> None:
        kit = self._kit
        match step:
            case ladder.Admit():
                await admit(kit, chronicle, policy)
            case ladder.Act():
                await act(kit, chronicle, policy, step, self._trajectories)
            case ladder.Judge():
                await judge(kit, chronicle, policy, step)
                self._mark_checked(chronicle)
            case ladder.Undo():
                await undo(kit, chronicle, policy, step)
            case ladder.Propose():
                await propose(kit, chronicle, policy, step)
            case ladder.Apply():
                await apply(kit, chronicle, policy, step)
            case ladder.Recheck():
                await self._recheck(chronicle, policy)
            case ladder.Interrupt():
                await interrupt(kit.kube, chronicle, step)
            case _:
                await _conclude(chronicle, step)

    async def _recheck(self, chronicle: Chronicle, policy: PolicySpec) -> None:
        before = chronicle.status.verdict
        await evaluate(self._kit, chronicle, policy)
        self._mark_checked(chronicle)
        if chronicle.status.verdict is not before:
            await chronicle.commit()

    def _mark_checked(self, chronicle: Chronicle) -> None:
        self._checked[chronicle.incident.metadata.uid] = chronicle.now()
        while len(self._checked) > 4096:
            self._checked.popitem(last=False)

    async def _refuse(self, chronicle: Chronicle, error: errors.InvalidIncident) -> None:
        """Write why the Incident cannot be worked on; one whose target vanished meanwhile has ended."""
        if error.reason in _GONE and chronicle.status.baseline is not None:
            await finish(chronicle, ladder.Finish(Outcome.TARGET_GONE, str(error)))
            return
        known = find_condition(chronicle.status.conditions, ConditionType.ACCEPTED)
        chronicle.condition(ConditionType.ACCEPTED, "False", error.reason, str(error))
        if known is not None and (known.status, known.reason) == ("False", error.reason):
            return
        chronicle.note("NotAccepted", f"{error.reason}: {error}")
        await chronicle.commit()
        await chronicle.tell(Happening("IncidentNotAccepted", f"{error.reason}: {error}", "Warning"))


async def _conclude(chronicle: Chronicle, step: ladder.Step) -> None:
    """The steps that touch nothing but the status."""
    match step:
        case ladder.Escalate():
            await escalate(chronicle, step)
        case ladder.Finish():
            await finish(chronicle, step)
        case ladder.Hold():
            await hold(chronicle, step)
