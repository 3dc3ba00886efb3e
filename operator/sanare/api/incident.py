"""Incident: what is broken, as a person or an alert states it. The status lives in `status.py`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from sanare.api.model import API_VERSION, Model, Name, Time
from sanare.api.status import IncidentStatus

Text = Annotated[str, Field(max_length=1024)]
Port = Annotated[int, Field(ge=1, le=65535)]


class Severity(StrEnum):
    """How bad it is; a rung of the ladder may ask for a minimum."""

    CRITICAL = "Critical"
    HIGH = "High"
    MEDIUM = "Medium"
    LOW = "Low"

    def at_least(self, other: Severity) -> bool:
        """Whether this severity is `other` or worse."""
        order = list(Severity)
        return order.index(self) <= order.index(other)


class Mode(StrEnum):
    """What the operator may do, loosest first."""

    ENFORCE = "Enforce"
    PROPOSE = "Propose"
    OBSERVE = "Observe"

    def tighter(self, other: Mode | None) -> Mode:
        """The stricter of the two; an Incident may tighten its policy's mode, never loosen it."""
        order = list(Mode)
        return self if other is None or order.index(self) >= order.index(other) else other


class Target(Model):
    """One object, in the Incident's own namespace, that is broken."""

    api_version: str = Field(default="apps/v1", max_length=128)
    kind: str = Field(min_length=1, max_length=63)
    name: Name


class Source(Model):
    """Where the Incident came from; immutable, because it is what was alerted."""

    type: Literal["Manual", "Alertmanager"] = "Manual"
    alert_name: str = Field(default="", max_length=256)
    fingerprint: str = Field(default="", max_length=64)
    group_key: str = Field(default="", max_length=1024)
    starts_at: Time | None = None
    labels: dict[str, Text] = Field(default_factory=dict, max_length=64)
    annotations: dict[str, Text] = Field(default_factory=dict, max_length=64)


class PolicyRef(Model):
    """The RemediationPolicy in the same namespace that governs the Incident."""

    name: Name


class RolloutCheck(Model):
    """The workload's rollout is complete and its pods are ready."""

    kind: Literal["Deployment", "StatefulSet", "DaemonSet"] = "Deployment"
    name: Name


class EndpointsCheck(Model):
    """The Service has at least `minReady` ready endpoints."""

    service: Name
    min_ready: int = Field(default=1, ge=1, le=1000)


class HttpCheck(Model):
    """A GET through the API server's Service proxy answers as stated."""

    service: Name
    port: str = Field(default="", max_length=63)
    path: str = Field(default="/", max_length=1024, pattern=r"^/[^\s]*$")
    status: int = Field(default=200, ge=100, le=599)
    contains: str = Field(default="", max_length=256)


class Check(Model):
    """What healthy means, declared by a person; exactly one of the members is set."""

    name: str = Field(min_length=1, max_length=63)
    rollout: RolloutCheck | None = None
    endpoints: EndpointsCheck | None = None
    http: HttpCheck | None = None


class Action(Model):
    """One kubectl command: its arguments without the word kubectl, and what goes to its standard input."""

    argv: tuple[Annotated[str, Field(max_length=4096)], ...] = Field(min_length=1, max_length=64)
    stdin: str = Field(default="", max_length=16384)


class Approval(Model):
    """A person's decision on `status.proposal`. Whoever sets it is named in `approver`."""

    decision: Literal["Approve", "Reject"]
    digest: str = Field(default="", max_length=71)
    approver: str = Field(default="", max_length=256)
    comment: str = Field(default="", max_length=1024)
    actions: tuple[Action, ...] = Field(default=(), max_length=16)


class IncidentSpec(Model):
    """What is broken and what may be done about it."""

    summary: str = Field(default="", max_length=1024)
    severity: Severity = Severity.MEDIUM
    targets: tuple[Target, ...] = Field(min_length=1, max_length=8)
    source: Source = Field(default_factory=Source)
    policy_ref: PolicyRef | None = None
    mode: Mode | None = None
    checks: tuple[Check, ...] = Field(default=(), max_length=16)
    suspend: bool = False
    approval: Approval | None = None


class ObjectMeta(Model):
    """The part of metadata that the operator reads."""

    name: str
    namespace: str
    uid: str = ""
    generation: int = 0
    resource_version: str = ""
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None


class Incident(Model):
    """One incident, from alert to verdict."""

    api_version: str = API_VERSION
    kind: Literal["Incident"] = "Incident"
    metadata: ObjectMeta
    spec: IncidentSpec
    status: IncidentStatus = Field(default_factory=IncidentStatus)
