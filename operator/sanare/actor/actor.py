"""The protocol between an attempt and whoever acts in it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from sanare.api.incident import Incident
from sanare.api.policy import PolicySpec, Rung
from sanare.api.status import MemoryEntry, Usage
from sanare.api.verdict import Verdict
from sanare.diagnosis.finding import Finding
from sanare.evaluator.snapshot import Snapshot
from sanare.kubectl.tool import Kubectl


class End(StrEnum):
    """How an actor's turn ended. None of them says that anything is fixed."""

    COMPLETE = "Complete"  # it says it is done
    NO_CANDIDATE = "NoCandidate"  # the runbook found nothing it may do
    GAVE_UP = "GaveUp"  # the model ended without FIX COMPLETE
    STEPS = "StepLimit"
    BUDGET = "BudgetExceeded"
    TIMEOUT = "Timeout"
    LOOP = "RepeatedCall"
    REFUSED = "ModelRefused"
    UNAVAILABLE = "ModelUnavailable"
    UNUSABLE = "ModelUnusable"


@dataclass(frozen=True, slots=True)
class Case:
    """What an actor is given: the incident, what is true now, and what earlier attempts left behind."""

    incident: Incident
    policy: PolicySpec
    rung: Rung
    snapshot: Snapshot
    verdict: Verdict
    findings: tuple[Finding, ...]
    memory: tuple[MemoryEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """One tool call and its answer, for the trajectory that a reflection reads."""

    command: str
    output: str
    exit_code: int


@dataclass(frozen=True, slots=True)
class Report:
    """What an actor did, in its own words and by count."""

    end: End
    note: str = ""
    trajectory: tuple[Turn, ...] = ()
    usage: Usage = field(default_factory=Usage)


KeepUsage = Callable[[Usage], Awaitable[None]]


class Actor(Protocol):
    """Acts once on a case with the kubectl it is given; bounded by the rung's time-out and the policy's budget."""

    def lacks_evidence(self, case: Case) -> bool:
        """Whether it could do nothing with the case as it stands, so that it is better looked again first. Pure."""
        ...

    async def act(self, case: Case, kubectl: Kubectl, *, now: datetime, keep: KeepUsage) -> Report:
        """Diagnose and repair. `keep` is awaited with the incident's whole usage after every model call."""
        ...
