"""RemediationPolicy: what may be done, in which order, at what price, and when it counts as fixed."""

from __future__ import annotations

import re
from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, PlainSerializer

from sanare.api.incident import Mode, ObjectMeta, Severity
from sanare.api.model import API_VERSION, Model
from sanare.api.status import Tier

_PART = re.compile(r"(\d+)(ms|h|m|s)")
_UNIT = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


def parse_duration(text: object) -> timedelta:
    """Read a Kubernetes duration such as `90s`, `1m30s` or `2h`. Raises ValueError naming the text."""
    if isinstance(text, timedelta):
        return text
    parts = _PART.findall(str(text))
    if not parts or "".join(number + unit for number, unit in parts) != str(text):
        raise ValueError(f"{text!r} is not a duration: write it like 90s, 5m or 1h30m")
    return timedelta(seconds=sum(int(number) * _UNIT[unit] for number, unit in parts))


def format_duration(value: timedelta) -> str:
    """The shortest Kubernetes duration that says the same."""
    seconds, milliseconds = divmod(round(value.total_seconds() * 1000), 1000)
    if milliseconds or not seconds:
        return f"{seconds * 1000 + milliseconds}ms" if milliseconds else "0s"
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return "".join(f"{n}{u}" for n, u in ((hours, "h"), (minutes, "m"), (seconds, "s")) if n)


Duration = Annotated[timedelta, BeforeValidator(parse_duration), PlainSerializer(format_duration, when_used="json")]


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

    tier: Tier
    model: str = Field(default="", max_length=128)
    attempts: int = Field(default=1, ge=1, le=8)
    when: When = When.ALWAYS
    min_severity: Severity | None = None
    timeout: Duration = _minutes(10)


class Budget(Model):
    """Limits of one Incident; `attempts` is B of Algorithm 1 and counts PlainRetry and ReflectionRetry."""

    attempts: int = Field(default=2, ge=1, le=8)
    cost_usd: float | None = Field(default=None, ge=0, le=10000, alias="costUSD")
    tokens: int | None = Field(default=None, ge=0)
    wall_clock: Duration = _minutes(60)


class Verify(Model):
    """When healthy counts as fixed: how long to wait for it, how long it must last."""

    converge_timeout: Duration = _minutes(3)
    hold: Duration = timedelta(seconds=15)


class Guard(Model):
    """What an agent's requests may touch, beyond what the gate always refuses."""

    kinds: tuple[str, ...] = Field(default=(), max_length=64)
    max_mutations: int = Field(default=10, ge=1, le=100)
    max_deletes: int = Field(default=2, ge=0, le=20)
    max_replicas: int = Field(default=50, ge=1, le=10000)


class PolicySpec(Model):
    """The default applies where an Incident names no policy."""

    mode: Mode = Mode.ENFORCE
    ladder: tuple[Rung, ...] = Field(
        default=(Rung(tier=Tier.PLAIN_RETRY, attempts=2), Rung(tier=Tier.HUMAN)), min_length=1, max_length=8
    )
    feedback: Feedback = Feedback.VERBATIM
    self_verify: bool = False
    budget: Budget = Field(default_factory=Budget)
    verify: Verify = Field(default_factory=Verify)
    rollback: Rollback = Rollback.ON_FAILURE
    guard: Guard = Field(default_factory=Guard)
    approval_expiry: Duration = timedelta(hours=24)
    pause_requests: tuple[Annotated[str, Field(max_length=128)], ...] = Field(default=(), max_length=16)


class RemediationPolicy(Model):
    """How Incidents that name it are handled."""

    api_version: str = API_VERSION
    kind: Literal["RemediationPolicy"] = "RemediationPolicy"
    metadata: ObjectMeta
    spec: PolicySpec
