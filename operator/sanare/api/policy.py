"""RemediationPolicy: what may be done, in which order, at what price, and when it counts as fixed."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from sanare.api.allowed import AllowedChange
from sanare.api.attempt import Tier
from sanare.api.checks import Check
from sanare.api.duration import Duration
from sanare.api.incident import Mode, ObjectMeta, Severity
from sanare.api.model import API_VERSION, Model, rules


def _minutes(value: float) -> timedelta:
    return timedelta(minutes=value)


class When(StrEnum):
    """Which last verdict a rung is for."""

    ALWAYS = "Always"
    PARTIAL_OR_MULTI = "PartialOrMulti"


class Feedback(StrEnum):
    """What of the evaluator's verdict the next attempt reads."""

    VERBATIM = "Verbatim"
    NONE = "None"


class Rollback(StrEnum):
    """What becomes of a failed attempt's mutations."""

    ON_FAILURE = "OnFailure"
    NEVER = "Never"


class Rung(Model):
    """One step of the ladder. Without a model the deterministic runbook acts."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            (
                "!(self.tier in ['ReflectionRetry', 'StrongerModel']) || (has(self.model) && self.model != '')",
                "ReflectionRetry and StrongerModel need a model",
            ),
            (
                "self.tier != 'Human' || !has(self.model) || self.model == ''",
                "the Human step has no model",
            ),
            (
                "!has(self.timeout) || duration(self.timeout) >= duration('1s')",
                "a step's timeout is at least 1s",
            ),
        )
    )

    tier: Tier
    """What the step is: PlainRetry, ReflectionRetry, StrongerModel or Human."""
    model: str = Field(default="", max_length=128)
    """The model that acts; empty means the deterministic runbook, without any model. Required for ReflectionRetry
    and StrongerModel, not allowed for Human.
    """
    attempts: int = Field(default=1, ge=1, le=8)
    """How many attempts this step may make."""
    when: When = When.ALWAYS
    """Always, or PartialOrMulti: only after a verdict with that signal."""
    min_severity: Severity | None = None
    """The step is skipped for Incidents below this severity."""
    timeout: Duration = _minutes(10)
    """The longest that one attempt may act, for example `10m`."""


class Budget(Model):
    """Limits of one Incident; `attempts` is B of Algorithm 1 and counts PlainRetry and ReflectionRetry."""

    attempts: int = Field(default=2, ge=1, le=8)
    """How many PlainRetry and ReflectionRetry attempts there may be: B of Algorithm 1."""
    cost_usd: float | None = Field(default=None, ge=0, le=10000, alias="costUSD")
    """The most that model calls may cost, in US dollars; unset means no limit. A model whose price is unknown is
    not called under a limit.
    """
    tokens: int | None = Field(default=None, ge=0, le=1_000_000_000)
    """The most tokens that model calls may use, in and out; unset means no limit."""
    wall_clock: Duration = _minutes(60)
    """The longest from the first look to a verdict, waiting for people not counted."""


class Durability(Model):
    """A test of the repair on a new pod, before it counts as Fixed."""

    delete_pod: bool = False
    """True deletes one pod of the repaired workload through the eviction API, which keeps PodDisruptionBudgets, and
    verifies what comes back. The agent's account needs the right to create pods/eviction.
    """
    hold: Duration = timedelta(seconds=20)
    """How long what came back must be healthy."""


class Verify(Model):
    """When healthy counts as fixed: how long to wait for it, how long it must last."""

    converge_timeout: Duration = _minutes(3)
    """How long the evaluator waits for the cluster to settle after an attempt."""
    hold: Duration = timedelta(seconds=15)
    """How long the healthy state must last before it counts as Fixed."""
    durability: Durability | None = None
    """What a repair must survive before it counts as Fixed; unset means nothing more than the hold."""
    watch: Duration = timedelta(hours=1)
    """How long a repair that was Fixed is looked at again, at growing intervals; `0s` means not at all."""
    checks: tuple[Check, ...] = Field(default=(), max_length=16)
    """What healthy means for every Incident under this policy, beside the Incident's own checks. Names are looked
    up in the Incident's namespace.
    """
    allowed_changes: tuple[AllowedChange, ...] = Field(default=(), max_length=16)
    """Changes that are no false repair under this policy, beside those that the Incident allows."""
    allow_pods: bool = False
    """True lets declared checks run pods in the Incident's namespace: `job`, and `from: ProbePod`."""


class Guard(Model):
    """What an agent's requests may touch, beyond what the gate always refuses."""

    kinds: tuple[Annotated[str, Field(min_length=1, max_length=63)], ...] = Field(default=(), max_length=64)
    """The kinds that may be written; empty means the kinds that the gate knows to be repairable."""
    max_mutations: int = Field(default=10, ge=1, le=100)
    """The most writes of one attempt."""
    max_deletes: int = Field(default=2, ge=0, le=20)
    """The most deletions of one attempt."""
    max_replicas: int = Field(default=50, ge=1, le=10000)
    """The most replicas that an attempt may scale a workload to."""
    registries: tuple[Annotated[str, Field(min_length=1, max_length=253)], ...] = Field(default=(), max_length=64)
    """Where new images may come from: `NAME` is one repository, `HOST/` or `HOST/PATH/` everything below it. Empty
    means that tags and digests may change and that another repository needs a person's approval.
    """


class PolicySpec(Model):
    """The default applies where an Incident names no policy."""

    mode: Mode = Mode.ENFORCE
    """Enforce repairs, Propose records a plan and waits for a person, Observe only evaluates."""
    ladder: tuple[Rung, ...] = Field(
        default=(Rung(tier=Tier.PLAIN_RETRY, attempts=2), Rung(tier=Tier.HUMAN)),
        min_length=1,
        max_length=8,
        json_schema_extra=rules(
            (
                "self.all(r, r.tier != 'Human') || "
                "(self.exists_one(r, r.tier == 'Human') && self[self.size() - 1].tier == 'Human')",
                "there is at most one Human step and it is the last",
            )
        ),
    )
    """The steps in the order they are tried."""
    feedback: Feedback = Feedback.VERBATIM
    """Verbatim gives the next attempt the evaluator's own words, None keeps them from it."""
    self_verify: bool = False
    """True lets the actor check its own work before it stops. The evaluator decides in any case."""
    budget: Budget = Budget()
    """The limits of one Incident."""
    verify: Verify = Verify()
    """When healthy counts as fixed."""
    rollback: Rollback = Rollback.ON_FAILURE
    """OnFailure undoes the mutations of a failed attempt, Never leaves them."""
    guard: Guard = Guard()
    """What an attempt may touch, beyond what the gate always refuses."""
    approval_expiry: Duration = timedelta(hours=24)
    """How long a proposal waits for a person."""
    pause_requests: tuple[Annotated[str, Field(max_length=128)], ...] = Field(default=(), max_length=16)
    """While there is any, no attempt starts under this policy. Each names who asks and why."""


class RemediationPolicy(Model):
    """How Incidents that name it are handled."""

    api_version: str = API_VERSION
    kind: Literal["RemediationPolicy"] = "RemediationPolicy"
    metadata: ObjectMeta
    spec: PolicySpec
