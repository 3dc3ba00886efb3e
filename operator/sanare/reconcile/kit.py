"""What the steps act with, and the two readings that most of them begin with."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Protocol

from sanare import errors
from sanare.actor.actor import Actor, Case, KeepUsage, Report
from sanare.api.attempt import DurabilityState
from sanare.api.incident import Incident
from sanare.api.policy import PolicySpec, Rung
from sanare.api.status import MemoryEntry
from sanare.api.verdict import Result, Verdict
from sanare.decision.ladder import is_durability_owed, standing_attempt
from sanare.evaluator.baseline import Baseline
from sanare.evaluator.durability import withheld
from sanare.evaluator.evaluator import Evaluator
from sanare.evaluator.snapshot import Snapshot
from sanare.kube.client import KubeClient
from sanare.kube.events import EventRecorder
from sanare.kube.records import read_record
from sanare.kubectl.gate import Gate
from sanare.reconcile.chronicle import Chronicle, Clock
from sanare.settings import Settings


class Actors(Protocol):
    """Who acts on which rung."""

    def for_rung(self, rung: Rung) -> Actor:
        """The model's actor where the rung names a model, else the runbook."""
        ...

    def require(self, policy: PolicySpec) -> None:
        """Raises InvalidIncident where a rung needs a model that is not usable (no key, no price)."""
        ...

    async def reflect(self, case: Case, report: Report, *, keep: KeepUsage) -> MemoryEntry:
        """One reflection on a failed attempt; what fails there falls back to plain feedback."""
        ...


@dataclass(frozen=True, slots=True)
class Kit:
    """The adapters of one operator. `kubectl` is the path of the binary."""

    kube: KubeClient
    evaluator: Evaluator
    gate: Gate
    actors: Actors
    recorder: EventRecorder
    settings: Settings
    clock: Clock
    kubectl: str


async def load_baseline(kube: KubeClient, incident: Incident) -> Baseline:
    """The baseline that status names. Raises InvalidIncident where somebody removed or replaced it, KubeError."""
    ref = incident.status.baseline
    if ref is None:
        raise errors.InvalidIncident("BaselineMissing", "status names no baseline; create the Incident anew")
    try:
        record = await read_record(kube, incident.metadata.namespace, ref.store)
    except errors.NotFound as error:
        raise errors.InvalidIncident(
            "BaselineMissing", f"IncidentRecord/{ref.store} is gone; create the Incident anew"
        ) from error
    if digest_of(record.data) != ref.digest:
        raise errors.InvalidIncident(
            "BaselineChanged",
            f"IncidentRecord/{ref.store} is not the one whose digest status names; create the Incident anew",
        )
    try:
        return Baseline.parse(json.loads(record.data))
    except ValueError as error:
        raise errors.InvalidIncident(
            "BaselineUnreadable",
            f"IncidentRecord/{ref.store} is of another version of the operator; create the Incident anew",
        ) from error


def digest_of(data: str) -> str:
    """The digest by which status names a record's text."""
    return f"sha256:{hashlib.sha256(data.encode()).hexdigest()}"


async def evaluate(
    kit: Kit, chronicle: Chronicle, policy: PolicySpec, *, hold: bool = True
) -> tuple[Verdict, Snapshot]:
    """What is true now, before anything is touched. Healthy counts only when it lasts the hold.

    The verdict is staged where it says something new; it is not written here. Without `hold` one look is enough:
    for an Incident that being healthy does not end.
    """
    incident = chronicle.incident
    baseline = await load_baseline(kit.kube, incident)
    verdict, snapshot = await kit.evaluator.judge_now(incident, policy, baseline)
    if verdict.result is Result.FIXED and hold:
        verdict, snapshot = await kit.evaluator.verify(
            incident, policy, baseline, previous=incident.status.verdict, since=chronicle.now()
        )
    if verdict.result is Result.FIXED:
        verdict = _as_far_as_tried(incident, policy, verdict)
    known = incident.status.verdict
    if known is None or (known.result, known.reason) != (verdict.result, verdict.reason):
        chronicle.verdict(verdict)
    return verdict, snapshot


def _as_far_as_tried(incident: Incident, policy: PolicySpec, verdict: Verdict) -> Verdict:
    """A healthy verdict, or Unverified where the durability that the policy asks for could not be tried."""
    made = standing_attempt(incident.status.attempts)
    tried = made.durability if made is not None and is_durability_owed(policy, made) else None
    if tried is None or tried.state is not DurabilityState.BLOCKED:
        return verdict
    return withheld(verdict, tried.workload, tried.message)
