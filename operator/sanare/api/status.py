"""IncidentStatus: the operator's answer. One writer; conditions are the truth and the phase follows from them."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from sanare.api.model import Model, Time


class Phase(StrEnum):
    """Where an Incident stands, computed from its conditions and never read back."""

    PENDING = "Pending"  # not looked at yet
    INVALID = "Invalid"  # cannot be worked on; the Accepted condition says why
    SUSPENDED = "Suspended"  # a person paused it
    OBSERVING = "Observing"  # mode Observe: evaluated, nothing is touched
    REPAIRING = "Repairing"  # the ladder is being climbed
    AWAITING_APPROVAL = "AwaitingApproval"  # a plan waits for a person
    ESCALATED = "Escalated"  # out of automatic means; a person has it
    RESOLVED = "Resolved"  # ended; the outcome says how


class Outcome(StrEnum):
    """How an Incident ended."""

    FIXED = "Fixed"  # an attempt or an approved plan repaired it, verified
    SELF_HEALED = "SelfHealed"  # healthy without a mutation of ours
    NOT_REPRODUCED = "NotReproduced"  # healthy when first looked at, while its alert fires
    REJECTED = "Rejected"  # a person said no
    TARGET_GONE = "TargetGone"  # the target or its namespace vanished
    EXHAUSTED = "Exhausted"  # the ladder ended and has no human rung


class Tier(StrEnum):
    """The rungs of the ladder, named as in Algorithm 1 of the study."""

    PLAIN_RETRY = "PlainRetry"
    REFLECTION_RETRY = "ReflectionRetry"
    STRONGER_MODEL = "StrongerModel"
    HUMAN = "Human"


class Result(StrEnum):
    """The evaluator's three values. Unknown is not success."""

    FIXED = "Fixed"
    NOT_FIXED = "NotFixed"
    UNVERIFIED = "Unverified"


class Signal(StrEnum):
    """The shape of what is still wrong; Partial and Multi make a reflection worth its price."""

    NONE = "None"  # nothing is wrong
    SINGLE = "Single"  # one resource, nothing improved
    PARTIAL = "Partial"  # some of what was wrong is right now
    MULTI = "Multi"  # several resources are inconsistent


class CheckResult(StrEnum):
    """What became of one check. `Unknown` is a check that could not run."""

    PASSED = "Passed"
    FAILED = "Failed"
    UNKNOWN = "Unknown"


class ConditionType(StrEnum):
    """The condition types of an Incident."""

    ACCEPTED = "Accepted"  # True: target, policy and actor are usable
    SUSPENDED = "Suspended"  # True: spec.suspend or a pause request holds it
    HEALTHY = "Healthy"  # the evaluator's verdict: True Fixed, False NotFixed, Unknown Unverified
    REPAIRING = "Repairing"  # True while an attempt is in flight
    AWAITING_APPROVAL = "AwaitingApproval"  # True while status.proposal waits for a person
    ESCALATED = "Escalated"  # True: automatic means are exhausted or unusable
    RESOLVED = "Resolved"  # True: ended; its reason is the outcome


class Condition(Model):
    """One condition, as in the Kubernetes API conventions."""

    type: ConditionType
    status: Literal["True", "False", "Unknown"]
    reason: str = Field(pattern=r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$", max_length=128)
    message: str = Field(default="", max_length=1024)
    last_transition_time: Time
    observed_generation: int = 0


class CheckOutcome(Model):
    """One check of a verdict: what was looked at and what was seen.

    `kind` groups reasons across clusters and runs: a CamelCase word of the evaluator's vocabulary, for example
    `ImagePull`, `NoEndpoints`, `Unreachable`, `ProbeRemoved`; it carries no names and no numbers.
    """

    name: str = Field(max_length=128)
    result: CheckResult
    kind: str = Field(default="", max_length=64)
    object: str = Field(default="", max_length=320)
    message: str = Field(default="", max_length=300)


class Verdict(Model):
    """The evaluator's decision, and the one sentence that the next attempt reads verbatim."""

    result: Result
    reason: str = Field(max_length=1024)
    signal: Signal = Signal.NONE
    kind: str = Field(default="", max_length=64)
    checks: tuple[CheckOutcome, ...] = Field(default=(), max_length=32)
    evaluated_at: Time
    healthy_since: Time | None = None
    observed_seconds: float = Field(default=0, ge=0)


class AttemptState(StrEnum):
    """How far an attempt got. `Running` found by a worker that did not start it means a crash."""

    RUNNING = "Running"
    ACTED = "Acted"
    JUDGED = "Judged"
    INTERRUPTED = "Interrupted"


class Mutation(Model):
    """One write that reached the API server (or, with `dryRun`, would have)."""

    at: Time
    verb: str = Field(max_length=16)
    object: str = Field(max_length=320)
    summary: str = Field(default="", max_length=300)
    undone: bool = False


class Attempt(Model):
    """One climb of a rung: who acted, what was done, what came of it."""

    number: int
    tier: Tier
    model: str = Field(default="", max_length=128)
    state: AttemptState
    started_at: Time
    ended_at: Time | None = None
    result: Result | None = None
    signal: Signal = Signal.NONE
    reason: str = Field(default="", max_length=1024)
    end: str = Field(default="", max_length=64)
    note: str = Field(default="", max_length=300)
    mutations: tuple[Mutation, ...] = Field(default=(), max_length=16)
    mutation_count: int = 0
    undone: bool = False
    leftovers: tuple[str, ...] = Field(default=(), max_length=8)


class MemoryEntry(Model):
    """One thing remembered for later attempts of this Incident, with where it came from."""

    attempt: int
    kind: Literal["Reflection", "Feedback"]
    text: str = Field(max_length=4000)


class ProposedAction(Model):
    """One command of a recorded plan with the change it makes, as the API server's dry run showed it."""

    argv: tuple[str, ...] = Field(max_length=64)
    stdin: str = Field(default="", max_length=16384)
    objects: tuple[str, ...] = Field(default=(), max_length=16)
    diff: str = Field(default="", max_length=8192)


class Proposal(Model):
    """A plan that waits for a person. `digest` covers the actions, the objects' uids and the diffs."""

    digest: str = Field(max_length=71)
    why: str = Field(default="", max_length=1024)
    actions: tuple[ProposedAction, ...] = Field(default=(), max_length=16)
    created_at: Time
    expires_at: Time
    approve: str = Field(default="", max_length=1024)


class Usage(Model):
    """What the model calls used. `costUSD` is null when the price of a model is unknown."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float | None = Field(default=0.0, alias="costUSD")


class AuditEntry(Model):
    """One entry of the hash chain; `hash` covers the entry and the hash before it."""

    seq: int
    at: Time
    event: str = Field(max_length=64)
    detail: str = Field(default="", max_length=400)
    hash: str = Field(max_length=64)


class Audit(Model):
    """The head of the chain, its newest entries, and where all of them stand."""

    head: str = Field(default="", max_length=64)
    entries: int = 0
    recent: tuple[AuditEntry, ...] = Field(default=(), max_length=40)
    store: tuple[str, ...] = Field(default=(), max_length=16)
    dropped: int = 0


class BaselineRef(Model):
    """What the scope looked like before the first attempt; the whole of it stands in an IncidentRecord."""

    taken_at: Time
    store: str = Field(max_length=253)
    digest: str = Field(max_length=71)
    summary: str = Field(default="", max_length=1024)


class IncidentStatus(Model):
    """Everything a person needs to trust or undo what was done."""

    observed_generation: int = 0
    phase: Phase = Phase.PENDING
    outcome: Outcome | None = None
    tier: Tier | None = None
    conditions: tuple[Condition, ...] = Field(default=(), max_length=16)
    baseline: BaselineRef | None = None
    verdict: Verdict | None = None
    attempts: tuple[Attempt, ...] = Field(default=(), max_length=16)
    memory: tuple[MemoryEntry, ...] = Field(default=(), max_length=8)
    proposal: Proposal | None = None
    usage: Usage = Field(default_factory=Usage)
    audit: Audit = Field(default_factory=Audit)
    started_at: Time | None = None
    resolved_at: Time | None = None
    target: str = Field(default="", max_length=320)
    approver: str = Field(default="", max_length=256)
