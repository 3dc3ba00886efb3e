"""One Incident during one pass: its latest state, and the only way in which that state changes.

Steps stage changes (`change`, `condition`, `note`) and `commit` them in one write: status, phase and audit chain
together. Full audit entries move to IncidentRecords before they leave the status.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from sanare import errors, telemetry
from sanare.api.incident import Incident, Mode, Target
from sanare.api.manifest import Ref
from sanare.api.model import API_VERSION
from sanare.api.policy import PolicySpec
from sanare.api.status import ConditionType, IncidentStatus
from sanare.api.verdict import Result, Verdict
from sanare.decision.bounds import SOFT_BYTES, size
from sanare.decision.conditions import Truth, phase_of, set_condition
from sanare.kube.client import KubeClient
from sanare.kube.events import EventRecorder, Happening
from sanare.kube.records import read_record, record_name, save_record
from sanare.kube.resources import BY_KIND
from sanare.kube.status import write_status
from sanare.memory import audit
from sanare.text import clean

_log = telemetry.logger(__name__)

MESSAGE_BYTES = 1024
Clock = Callable[[], datetime]

_TRUTH: dict[str, Truth] = {"Fixed": "True", "NotFixed": "False", "Unverified": "Unknown"}


class Chronicle:
    """The open record of one Incident. Not shared between passes."""

    def __init__(self, kube: KubeClient, recorder: EventRecorder, incident: Incident, *, clock: Clock) -> None:
        self._kube = kube
        self._recorder = recorder
        self._incident = incident
        self._staged = incident.status
        self._clock = clock
        self._writing = asyncio.Lock()  # the gate's requests and the actor's calls may commit at the same time
        self.policy: PolicySpec | None = None

    @property
    def incident(self) -> Incident:
        """The Incident with every staged change."""
        return self._incident.model_copy(update={"status": self._staged})

    @property
    def status(self) -> IncidentStatus:
        """The status with every staged change."""
        return self._staged

    def now(self) -> datetime:
        """The time, UTC, in whole seconds as Kubernetes keeps it."""
        return self._clock().replace(microsecond=0)

    def change(self, **fields: Any) -> None:
        """Stage new values of status fields, by their Python names."""
        self._staged = self._staged.model_copy(update=fields)

    def condition(self, kind: ConditionType, status: Truth, reason: str, message: str) -> None:
        """Stage a condition; the message is cleaned and capped (bytes)."""
        conditions = set_condition(
            self._staged.conditions,
            kind,
            status,
            reason=reason,
            message=clean(message, MESSAGE_BYTES),
            now=self.now(),
            generation=self._incident.metadata.generation,
        )
        self.change(conditions=conditions)

    def verdict(self, verdict: Verdict) -> None:
        """Stage a verdict and its Healthy condition, and an audit entry where it decides otherwise than the last.

        A reason that alone changes, such as a log line with a time in it, is no entry: the chain has a bound.
        """
        known = self._staged.verdict
        self.change(verdict=verdict, **_clocked(self._staged, verdict))
        reason = verdict.kind if verdict.kind and verdict.result != "Fixed" else str(verdict.result)
        self.condition(ConditionType.HEALTHY, _TRUTH[verdict.result], reason, verdict.reason)
        if known is None or (known.result, known.kind) != (verdict.result, verdict.kind):
            self.note("Judged", f"{verdict.result} {verdict.signal}: {verdict.reason}")

    def note(self, event: str, detail: str) -> None:
        """Stage an audit entry."""
        self.change(audit=audit.append(self._staged.audit, event, detail, at=self.now()))

    async def commit(self, *, closing: bool = False) -> None:
        """Write everything staged; at the close, the whole audit chain stands in records. Raises KubeError."""
        async with self._writing:
            await self._commit(closing=closing)

    async def _commit(self, *, closing: bool) -> None:
        await self._store_audit(everything=size(self._staged) > SOFT_BYTES)
        observing = self.policy is not None and self.policy.mode.tighter(self._incident.spec.mode) is Mode.OBSERVE
        self.change(
            phase=phase_of(self._staged.conditions, observing=observing),
            observed_generation=self._incident.metadata.generation,
            target=target_column(self._incident),
        )
        await self._write()
        if closing:
            await self._store_audit(everything=True)
            await self._write()

    async def _write(self) -> None:
        sent = self._staged
        telemetry.STATUS_BYTES.observe(size(sent))
        self._incident = await write_status(self._kube, self._incident, sent)
        if self._staged is sent:  # else something was staged meanwhile: it stands on what was sent
            self._staged = self._incident.status

    async def tell(self, happening: Happening) -> None:
        """Post an Event on the Incident and on each of its targets, and a line in the log."""
        meta = self._incident.metadata
        say = _log.info if happening.type == "Normal" else _log.warning
        say(happening.reason, incident=f"{meta.namespace}/{meta.name}", message=happening.message)
        await self._recorder.record(
            Ref("Incident", meta.namespace, meta.name, API_VERSION, meta.uid), happening, now=self.now()
        )
        for target in self._incident.spec.targets:
            await self._recorder.record(await self._reference(target), happening, now=self.now())

    async def _reference(self, target: Target) -> Ref:
        """The target with its uid, by which `kubectl describe` finds its Events; without one where it is gone."""
        namespace = self._incident.metadata.namespace
        named = Ref(target.kind, namespace, target.name, target.api_version)
        resource = BY_KIND.get(target.kind)
        if resource is None:
            return named
        try:
            return replace(named, uid=Ref.of(await self._kube.get(resource, namespace, target.name)).uid)
        except errors.KubeError:
            return named

    async def _store_audit(self, *, everything: bool) -> None:
        """Move entries to a record. Only written ones: a record must never know more than the status did."""
        entries = audit.overflow(self._incident.status.audit, everything=everything)
        if not entries:
            return
        part = len(self._staged.audit.store)
        try:
            name = await save_record(self._kube, self._incident, "Audit", part, audit.pack(entries))
        except errors.Conflict:  # a crash came between this record and the status that names it
            name = record_name(self._incident.metadata, "Audit", part)
            record = await read_record(self._kube, self._incident.metadata.namespace, name)
            entries = audit.unpack(record.data)
        self.change(audit=audit.stored(self._staged.audit, entries, name))


def _clocked(status: IncidentStatus, verdict: Verdict) -> dict[str, Any]:
    """The two ends of the time to verified: the proof, and the start of the first healthy window that lasted."""
    if verdict.result is Result.NOT_FIXED:
        # In whole seconds, as it will be read back: it is compared with other times of the status.
        proved = status.proved_at or verdict.evaluated_at.replace(microsecond=0)
        return {"proved_at": proved, "verified_seconds": None}
    known = status.verified_seconds is not None or status.proved_at is None
    if verdict.result is not Result.FIXED or known or verdict.healthy_since is None:
        return {}
    assert status.proved_at is not None  # noqa: S101 - for the type checker: `known` says so
    return {"verified_seconds": round(max((verdict.healthy_since - status.proved_at).total_seconds(), 0.0), 3)}


def target_column(incident: Incident) -> str:
    """What `kubectl get` shows as the target: the first one, and how many more there are."""
    first, *rest = incident.spec.targets
    return f"{first.kind}/{first.name}" + (f" +{len(rest)}" if rest else "")
