"""IncidentStatus: the operator's answer. One writer; conditions are the truth and the phase follows from them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, computed_field, model_validator

from sanare.api.attempt import Attempt, Tier
from sanare.api.model import Model, ObjectName, Time
from sanare.api.verdict import Verdict

MAX_ATTEMPTS = 16


class Phase(StrEnum):
    """Where an Incident stands, computed from its conditions and never read back."""

    PENDING = "Pending"  # not looked at yet
    INVALID = "Invalid"  # cannot be worked on; the Accepted condition says why
    SUSPENDED = "Suspended"  # a person paused it
    OBSERVING = "Observing"  # mode Observe: evaluated, nothing is touched
    REPAIRING = "Repairing"  # the ladder is being climbed
    AWAITING_APPROVAL = "AwaitingApproval"  # a plan waits for a person
    ESCALATED = "Escalated"  # out of automatic means; a person has it
    RESOLVED = "Resolved"  # ended healthy; the outcome says how
    REGRESSED = "Regressed"  # ended Fixed, and failed again within the watch
    FAILED = "Failed"  # ended without a healthy verdict; the outcome says why


class Outcome(StrEnum):
    """How an Incident ended. The first three are healthy ends."""

    FIXED = "Fixed"  # an attempt or an approved plan repaired it, verified
    SELF_HEALED = "SelfHealed"  # became healthy outside any attempt, by itself or by a person
    NOT_REPRODUCED = "NotReproduced"  # healthy whenever looked at; its alert ended, or a person closed it
    REJECTED = "Rejected"  # a person said no
    TARGET_GONE = "TargetGone"  # the target or its namespace vanished
    EXHAUSTED = "Exhausted"  # the ladder ended and has no human rung


class ConditionType(StrEnum):
    """The condition types of an Incident."""

    ACCEPTED = "Accepted"  # True: target, policy and actor are usable
    SUSPENDED = "Suspended"  # True: spec.suspend or a pause request holds it
    HEALTHY = "Healthy"  # the evaluator's verdict: True Fixed, False NotFixed, Unknown Unverified
    REPAIRING = "Repairing"  # True while an attempt is in flight
    AWAITING_APPROVAL = "AwaitingApproval"  # True while status.proposal waits for a person
    ESCALATED = "Escalated"  # True: automatic means are exhausted or unusable
    RESOLVED = "Resolved"  # True: ended healthy; False: ended otherwise; its reason is the outcome
    REGRESSED = "Regressed"  # True: what was Fixed fails again; its message says what, or which Incident says so


class Condition(Model):
    """One condition, as in the Kubernetes API conventions."""

    type: ConditionType
    """Type of the condition."""
    status: Literal["True", "False", "Unknown"]
    """True, False or Unknown."""
    reason: str = Field(pattern=r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$", max_length=128)
    """CamelCase word for why it is so."""
    message: str = Field(default="", max_length=1024)
    """The same for people, with what to do where something is to be done."""
    last_transition_time: Time
    """When `status` last changed."""
    observed_generation: int = 0
    """The generation of the spec that the condition speaks of."""


class MemoryEntry(Model):
    """One thing remembered for later attempts of this Incident, with where it came from."""

    attempt: int
    """The attempt it stems from."""
    kind: Literal["Reflection", "Feedback"]
    """Reflection of a model, or Feedback of the evaluator."""
    text: str = Field(max_length=4000)
    """The text that later attempts read."""


class ProposedAction(Model):
    """One command of a recorded plan with the change it makes, as the API server's dry run showed it."""

    argv: tuple[Annotated[str, Field(max_length=4096)], ...] = Field(max_length=64)
    """The kubectl command's arguments, without the word kubectl."""
    stdin: str = Field(default="", max_length=16384)
    """What goes to its standard input."""
    objects: tuple[ObjectName, ...] = Field(default=(), max_length=16)
    """The objects that it changes, as Kind/name."""
    diff: str = Field(default="", max_length=8192)
    """The change that the API server's dry run showed."""


class Proposal(Model):
    """A plan that waits for a person. `digest` covers the actions, the objects' uids and the diffs."""

    digest: str = Field(max_length=71)
    """`sha256:` and the hash over the actions, the objects' uids and the diffs."""
    why: str = Field(default="", max_length=1024)
    """Why this plan."""
    actions: tuple[ProposedAction, ...] = Field(default=(), max_length=16)
    """The commands, in order."""
    created_at: Time
    """When it was recorded."""
    expires_at: Time
    """After this moment it can no longer be approved."""
    approve: str = Field(default="", max_length=1024)
    """The line that approves it, ready to paste."""


class Usage(Model):
    """What the model calls used. `costUSD` is null when the price of a model is unknown."""

    calls: int = 0
    """Calls to a model."""
    input_tokens: int = 0
    """Tokens sent and billed in full."""
    output_tokens: int = 0
    """Tokens received."""
    cache_read_tokens: int = 0
    """Tokens read from the prompt cache."""
    cache_write_tokens: int = 0
    """Tokens written to the prompt cache."""
    cost_usd: float | None = Field(default=0.0, alias="costUSD")
    """Their price in US dollars; unset when the price of a model is unknown."""

    @model_validator(mode="before")
    @classmethod
    def _unset_cost_is_unknown(cls, data: object) -> object:
        """The wire form leaves null out; where calls were made, no cost means an unknown one and not 0."""
        if isinstance(data, dict) and data.get("calls") and not data.keys() & {"costUSD", "cost_usd"}:
            return {**data, "costUSD": None}
        return data


class AuditEntry(Model):
    """One entry of the hash chain; `hash` covers the entry and the hash before it."""

    seq: int
    """Number of the entry, from 1."""
    at: Time
    """When it happened."""
    event: str = Field(max_length=64)
    """What happened, as a CamelCase word."""
    detail: str = Field(default="", max_length=400)
    """The particulars, cut."""
    hash: str = Field(max_length=64)
    """SHA-256 over the hash before it and this entry."""


class Audit(Model):
    """The head of the chain, its newest entries, and where all of them stand."""

    head: str = Field(default="", max_length=64)
    """Hash of the newest entry."""
    entries: int = 0
    """How many entries the chain has."""
    recent: tuple[AuditEntry, ...] = Field(default=(), max_length=40)
    """The newest entries."""
    store: tuple[ObjectName, ...] = Field(default=(), max_length=16)
    """Names of the IncidentRecords that hold all of them."""
    stored: int = 0
    """Sequence number of the last entry that stands in the store."""
    dropped: int = 0
    """Entries that found no room in the store."""


class BaselineRef(Model):
    """What the scope looked like before the first attempt; the whole of it stands in an IncidentRecord."""

    taken_at: Time
    """When it was taken."""
    store: str = Field(max_length=253)
    """Name of the IncidentRecord that holds it."""
    digest: str = Field(max_length=71)
    """`sha256:` and its hash."""
    summary: str = Field(default="", max_length=1024)
    """What it says of the target, in a sentence."""


class Recurrence(Model):
    """An earlier Incident of the same alert or target that had been Fixed a short while before."""

    incident: str = Field(max_length=253)
    """Name of the earlier Incident."""
    resolved_at: Time
    """When it ended Fixed."""
    repair: str = Field(default="", max_length=1024)
    """What repaired it then."""


class IncidentStatus(Model):
    """Everything a person needs to trust or undo what was done."""

    observed_generation: int = 0
    """The generation of the spec that this status answers."""
    phase: Phase = Phase.PENDING
    """Where the Incident stands, computed from the conditions: Pending, Invalid, Suspended, Observing, Repairing,
    AwaitingApproval, Escalated, Resolved, Regressed or Failed.
    """
    outcome: Outcome | None = None
    """How it ended: Fixed, SelfHealed, NotReproduced, Rejected, TargetGone or Exhausted."""
    tier: Tier | None = None
    """The step of the ladder it is on, or ended on."""
    conditions: tuple[Condition, ...] = Field(default=(), max_length=16)
    """What is true of the Incident. The rest of the status explains them."""
    baseline: BaselineRef | None = None
    """What the scope looked like before the first attempt."""
    verdict: Verdict | None = None
    """The evaluator's last decision."""
    attempts: tuple[Attempt, ...] = Field(default=(), max_length=MAX_ATTEMPTS)
    """What has been tried, oldest first."""
    memory: tuple[MemoryEntry, ...] = Field(default=(), max_length=8)
    """What later attempts are told of earlier ones."""
    proposal: Proposal | None = None
    """The plan that waits for a person."""
    usage: Usage = Field(default_factory=Usage)
    """What model calls have used."""
    audit: Audit = Field(default_factory=Audit)
    """The audit chain's head and newest entries."""
    started_at: Time | None = None
    """When the operator first looked at it."""
    proved_at: Time | None = None
    """When the evaluator first saw it broken."""
    verified_seconds: float | None = None
    """Time to verified: from `provedAt` to the start of the first healthy window that lasted the hold."""
    alert_ended_at: Time | None = None
    """When its alert ended, where Alertmanager said so of one that was not reproduced."""
    resolved_at: Time | None = None
    """When it ended."""
    watched_until: Time | None = None
    """Until when a repair that was Fixed is looked at again."""
    recurs: Recurrence | None = None
    """The earlier Incident that this one shows to have regressed."""
    target: str = Field(default="", max_length=320)
    """The first target as Kind/name."""
    approver: str = Field(default="", max_length=256)
    """Who decided on the last proposal."""

    @computed_field  # type: ignore[prop-decorator]  # mypy knows no decorator on a property; pydantic wants it
    @property
    def attempt_count(self) -> int:
        """How many attempts there have been, for the printer column: the list keeps only the newest."""
        return max((attempt.number for attempt in self.attempts), default=0)
