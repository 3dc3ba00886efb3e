"""Incident: what is broken, as a person or an alert states it. The status lives in `status.py`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from sanare.api.allowed import AllowedChange
from sanare.api.checks import Check
from sanare.api.model import API_VERSION, Model, Name, Time, rules
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
    """API version of the kind, for example `apps/v1` or `v1`."""
    kind: str = Field(min_length=1, max_length=63)
    """Kind of the object, for example `Deployment`."""
    name: Name
    """Name of the object."""


class Source(Model):
    """Where the Incident came from; immutable, because it is what was alerted."""

    type: Literal["Manual", "Alertmanager"] = "Manual"
    """What created the Incident: Manual for a person, Alertmanager for the webhook."""
    alert_name: str = Field(default="", max_length=256)
    """The alert's name (label `alertname`)."""
    fingerprint: str = Field(default="", max_length=64)
    """The alert's fingerprint, as Alertmanager computed it."""
    group_key: str = Field(default="", max_length=1024)
    """The group that the alert was sent in."""
    starts_at: Time | None = None
    """When the alert began to fire."""
    labels: dict[str, Text] = Field(default_factory=dict, max_length=64)
    """The alert's labels. Untrusted text."""
    annotations: dict[str, Text] = Field(default_factory=dict, max_length=64)
    """The alert's annotations. Untrusted text."""


class PolicyRef(Model):
    """The RemediationPolicy in the same namespace that governs the Incident."""

    name: Name
    """Name of the RemediationPolicy."""


class Action(Model):
    """One kubectl command: its arguments without the word kubectl, and what goes to its standard input."""

    argv: tuple[Annotated[str, Field(max_length=4096)], ...] = Field(min_length=1, max_length=64)
    """The arguments, one by one, without the word kubectl."""
    stdin: str = Field(default="", max_length=16384)
    """What goes to standard input, for example a manifest for `apply -f -`."""


class Approval(Model):
    """A person's decision on `status.proposal`. Whoever sets it is named in `approver`."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            (
                "self.decision != 'Approve' || (has(self.digest) && self.digest != '')",
                "an approval names the plan: copy status.proposal.digest into spec.approval.digest",
            ),
            (
                "self.decision == 'Approve' || !has(self.actions) || self.actions.size() == 0",
                "actions belong to an approval: a rejection has none",
            ),
        )
    )

    decision: Literal["Approve", "Reject"]
    """Approve runs the plan that `digest` names, or the person's own `actions`; Reject ends the Incident."""
    digest: str = Field(default="", max_length=71, pattern=r"^(sha256:[0-9a-f]{64})?$")
    """The digest of `status.proposal` that is decided on, `sha256:` and 64 hexadecimal digits; required to
    approve.
    """
    approver: str = Field(default="", max_length=256)
    """Who decides, as a name a reader knows."""
    comment: str = Field(default="", max_length=1024)
    """Why, for the record."""
    actions: tuple[Action, ...] = Field(default=(), max_length=16)
    """An edited plan: these commands run instead of the proposed ones, through the same gate."""


class IncidentSpec(Model):
    """What is broken and what may be done about it."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            (
                "!has(oldSelf.mode) || oldSelf.mode == 'Enforce' || (has(self.mode) && "
                "(self.mode == 'Observe' || self.mode == oldSelf.mode))",
                "mode may only be tightened: from Enforce (or unset) to Propose to Observe",
            )
        )
    )

    summary: str = Field(default="", max_length=1024)
    """What is wrong, in a sentence."""
    severity: Severity = Severity.MEDIUM
    """How bad it is: Critical, High, Medium or Low. Rungs of the ladder may ask for a minimum."""
    targets: tuple[Target, ...] = Field(
        min_length=1,
        max_length=8,
        json_schema_extra=rules(
            ("self == oldSelf", "targets are what was alerted and cannot change: create another Incident")
        ),
    )
    """The objects that are broken, the most important one first. Immutable."""
    source: Source = Field(
        default=Source(),
        json_schema_extra=rules(
            ("self == oldSelf", "source is what was alerted and cannot change: create another Incident")
        ),
    )
    """Where the Incident came from. Immutable."""
    policy_ref: PolicyRef | None = None
    """The RemediationPolicy that governs the Incident; without one the operator's default applies."""
    mode: Mode | None = None
    """What may be done: Enforce, Propose or Observe. The stricter of this and the policy's mode applies; it may
    only be tightened.
    """
    checks: tuple[Check, ...] = Field(default=(), max_length=16)
    """What healthy means beyond what the evaluator looks at by itself. Written by people, never by a model."""
    allowed_changes: tuple[AllowedChange, ...] = Field(default=(), max_length=16)
    """Changes that a rule would call a false repair and that are part of this repair, for example scaling down a
    workload that should not run. Written by people, never by a model or an alert.
    """
    suspend: bool = False
    """True holds the Incident: nothing is started until it is false again."""
    approval: Approval | None = None
    """A person's decision on `status.proposal`."""


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
